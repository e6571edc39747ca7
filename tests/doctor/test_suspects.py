"""Where no rank is convicted, those among whom the one at fault is stand in the alternatives, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import neuron_doctor


def _dump(folder: Path, rank: int, names: list[str], world: list[int]) -> None:
    entries = [
        {
            "record_id": number,
            "pg_id": 0,
            "process_group": ["0", "default_pg"],
            "collective_seq_id": number + 1,
            "p2p_seq_id": 0,
            "profiling_name": f"nccl:{name}",
            "time_created_ns": 1_790_000_000_000_000_000 + number,
            "input_sizes": [[64]],
            "input_dtypes": ["Float"],
            "output_sizes": [[64]],
            "output_dtypes": ["Float"],
            "state": "scheduled" if number == len(names) - 1 else "completed",
            "retired": number < len(names) - 1,
            "is_p2p": False,
        }
        for number, name in enumerate(names)
    ]
    config = {"0": {"name": "0", "desc": "default_pg", "ranks": str(world)}}
    content = {"version": "2.10", "pg_config": config, "entries": entries}
    (folder / f"nccl_trace_rank_{rank}").write_text(json.dumps(content), "utf-8")


def _suspects(folder: Path) -> list[tuple[str, tuple[int, ...], list[tuple[str, tuple[int, ...]]]]]:
    found = neuron_doctor.diagnose([str(folder)]).findings
    return [(one.cause, one.place.ranks, [(a.cause, a.place.ranks) for a in one.alternatives]) for one in found]


def test_both_halves_of_a_tie_are_suspects(tmp_path: Path) -> None:
    for rank, last in enumerate(["all_reduce", "broadcast"]):
        _dump(tmp_path, rank, ["all_reduce", last], [0, 1])
    assert _suspects(tmp_path) == [("collectives-op-mismatch", (), [("collectives-op-mismatch", (0, 1))])]


def test_a_convicted_rank_leaves_no_suspects(tmp_path: Path) -> None:
    for rank, last in enumerate(["all_reduce", "all_reduce", "all_reduce", "broadcast"]):
        _dump(tmp_path, rank, ["all_reduce", last], [0, 1, 2, 3])
    assert _suspects(tmp_path) == [("collectives-op-mismatch", (3,), [])]


def test_a_rank_without_a_dump_is_a_suspect(tmp_path: Path) -> None:
    for rank in (0, 1, 3):
        _dump(tmp_path, rank, ["all_reduce", "all_reduce"], [0, 1, 2, 3])
    assert _suspects(tmp_path) == [("collectives-rank-missing", (), [("collectives-rank-died", (2,))])]
