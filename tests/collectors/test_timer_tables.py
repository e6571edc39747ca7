"""Megatron's timers of all ranks: work and wait of each, by one table that one rank prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_doctor import diagnose

SLOW, USUAL = {"forward-backward": 1190.0, "all-grads-sync": 38.0}, {"forward-backward": 412.0, "all-grads-sync": 820.0}


def table(step: int, ranks: list[dict[str, float]], head: str = "times across ranks (ms):", prefix: str = "") -> str:
    lines = [
        f" [2026-10-09 09:{step // 60:02d}:{step % 60:02d}] iteration {step:8d}/  500000 | lm loss: 2.8E+00 |",
        head,
    ]
    for timer in ranks[0]:
        lines.append(f"  {timer}:")
        lines += [f"     rank {rank:2d}: {times[timer]:.2f}" for rank, times in enumerate(ranks)]
    return "".join(f"{prefix}{line}\n" for line in lines)


def roots(folder: Path, text: str) -> list[tuple[str, tuple[int, ...]]]:
    (folder / "train.log").write_text(text)
    report = diagnose([str(folder)])
    return [(one.cause, one.place.ranks) for one in report.findings if one.id in report.root_causes]


@pytest.mark.parametrize("prefix", ["", "23: ", "[ip-10-0-0-3:7]: "])
def test_the_rank_that_computes_longer_while_all_others_sync_longer_is_slow(tmp_path: Path, prefix: str) -> None:
    ranks = [SLOW if rank == 5 else USUAL for rank in range(8)]
    text = "".join(table(step, ranks, prefix=prefix) for step in range(600, 800, 20))
    assert roots(tmp_path, text) == [("straggler", (5,))]


@pytest.mark.parametrize(
    "ranks",
    [
        [USUAL] * 8,
        [USUAL if rank < 4 else SLOW for rank in range(8)],  # half of them: uneven work by design
        [
            {"forward-backward": 1190.0 if rank == 5 else 412.0, "all-grads-sync": 38.0} for rank in range(8)
        ],  # nobody waits
        [{**(SLOW if rank == 5 else USUAL), "forward-recv": 3.0} for rank in range(8)],  # stages of a pipeline
        [{"forward-backward": times["forward-backward"]} for times in [SLOW, *[USUAL] * 7]],  # no wait is told
    ],
)
def test_uneven_work_and_stages_of_a_pipeline_convict_nobody(tmp_path: Path, ranks: list[dict[str, float]]) -> None:
    assert roots(tmp_path, "".join(table(step, ranks) for step in range(600, 800, 20))) == []


def test_one_slow_interval_and_the_shortest_and_longest_alone_tell_nothing(tmp_path: Path) -> None:
    once = [[SLOW if rank == 5 and step == 780 else USUAL for rank in range(8)] for step in range(600, 800, 20)]
    assert roots(tmp_path, "".join(table(600 + 20 * n, ranks) for n, ranks in enumerate(once))) == []
    least = " iteration      600/  500000 | lm loss: 2\n(min, max) time across ranks (ms):\n"
    least += "    forward-backward ...............: (410.2, 1195.1)\n"
    assert roots(tmp_path, least * 10) == []


def test_what_is_within_forward_and_backward_and_is_no_compute_is_a_wait(tmp_path: Path) -> None:
    inner = {"forward-backward": 1190.0, "all-grads-sync": 38.0}
    usual = {**inner, "forward-compute": 130.0, "backward-compute": 270.0}
    slow = {**inner, "forward-compute": 380.0, "backward-compute": 790.0}
    text = "".join(table(step, [usual, slow, *[usual] * 6]) for step in range(600, 800, 20))
    assert roots(tmp_path, text) == [("straggler", (1,))]
