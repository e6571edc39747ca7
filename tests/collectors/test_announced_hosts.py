"""Where ranks run, as programs and launchers announce it in their first lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request


def announced(folder: Path, line: str) -> list[tuple[str | None, int | None, object]]:
    (folder / "x.log").write_text(f"{line}\n")
    facts = collect(Request((str(folder),)), rulebook()).facts
    return [(f.place.host, f.place.rank, f.data.get("hostname")) for f in facts if f.kind == "identity"]


@pytest.mark.parametrize(
    "line",
    [
        "[1,12]<stdout>:rank 12 of 64 on train-worker-0 core 24",
        "2026-02-11 05:42:55 | INFO     | sft.launch:setup:70 - global rank 12 on train-worker-0, ROOT=10.20.0.11:46820",
        "[rank 12] running on host train-worker-0",
        "I am rank 12/64 on node train-worker-0.",
        "[1,12]<stdout>:train-worker-0 rank 12 of 64 torch 1.13.1",
        "train-worker-0: global rank 12/64",
    ],
)
def test_a_rank_is_at_the_host_on_which_it_says_it_runs(tmp_path: Path, line: str) -> None:
    assert announced(tmp_path, line) == [("train-worker-0", 12, None)]


@pytest.mark.parametrize(
    "line",
    [
        "local rank 12 on train-worker-0",
        "node rank 12 of 64 on train-worker-0",
        "tp rank 12 on train-worker-0",
        "rank 12 on xla:3",
        "rank 12 on stage-3",
        "rank 12 on trn1.32xlarge",
        "rank 12 on trn2-48.metal:8080",
        "rank 12 on that host",
        "rank 12 on node 3",
        "waits for rank 12 on train-worker-0",
        "rank 12 on step-000300",
        "tensor-model-parallel rank 12 of 64",
        "worker rank 12 of 64",
        "worker-0 rank 12",
        "lost train-worker-0 rank 12 of 64",
    ],
)
def test_another_number_or_another_thing_than_a_host_places_no_rank(tmp_path: Path, line: str) -> None:
    assert announced(tmp_path, line) == []


@pytest.mark.parametrize("line", ["[40] host kaon ranks 40-47", "hostname=kaon, rank=40"])
def test_a_launcher_names_the_hosts_of_ranks(tmp_path: Path, line: str) -> None:
    assert "kaon" in {hostname for _, _, hostname in announced(tmp_path, line)}


@pytest.mark.parametrize("line", ["the host serves ranks 40-47", "lost host kaon", "host kaon, no rank"])
def test_what_only_speaks_of_a_host_names_none(tmp_path: Path, line: str) -> None:
    assert announced(tmp_path, line) == []


@pytest.mark.parametrize(
    "line", ["worker 2 on trn-p-05 ranks 64-95 fresh start", "Node 2 running on trn-p-05 (ranks 64-95)"]
)
def test_a_worker_names_its_host_before_its_ranks(tmp_path: Path, line: str) -> None:
    assert [hostname for _, _, hostname in announced(tmp_path, line)] == ["trn-p-05"]


@pytest.mark.parametrize(
    "line", ["pipeline 2 on pp-stage-2 ranks 0-3", "worker 2 on all ranks 0-3", "worker 2 on trn-p-05"]
)
def test_what_is_no_worker_or_no_host_names_none(tmp_path: Path, line: str) -> None:
    assert announced(tmp_path, line) == []
