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
    return [
        (f.place.host, f.place.rank, f.data.get("hostname"))
        for f in facts
        if f.kind == "identity" and "word" not in f.data
    ]


def words(folder: Path, line: str) -> list[tuple[object, int | None]]:
    (folder / "x.log").write_text(f"{line}\n")
    facts = collect(Request((str(folder),)), rulebook()).facts
    return [(f.data["word"], f.place.rank) for f in facts if f.kind == "identity" and "word" in f.data]


@pytest.mark.parametrize(
    "line",
    [
        "[1,12]<stdout>:rank 12 of 64 on train-worker-0 core 24",
        "2026-02-11 05:42:55 | INFO     | sft.launch:setup:70 - global rank 12 on train-worker-0, ROOT=10.20.0.11:46820",
        "[rank 12] running on host train-worker-0",
        "I am rank 12/64 on node train-worker-0.",
        "[1,12]<stdout>:train-worker-0 rank 12 of 64 torch 1.13.1",
        "train-worker-0: global rank 12/64",
        "12: 2026-09-08 16:02:24 INFO perf step=51223 rank=12 host=train-worker-0 data=3.155s step=6.158s",
        "metrics: step=8 global_rank=12 world=64 node=train-worker-0",
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
        "perf step=51223 node_rank=12 host=train-worker-0",
        "waiting for rank=12 host=train-worker-0",
        "perf step=51223 rank=12 peer_host=train-worker-0",
        "perf step=51223 rank=12 host=stage-a",
    ],
)
def test_another_number_or_another_thing_than_a_host_places_no_rank(tmp_path: Path, line: str) -> None:
    assert announced(tmp_path, line) == []


@pytest.mark.parametrize("line", ["[40] host kaon ranks 40-47", "hostname=kaon, rank=40", "host: kaon, ranks 40-47"])
def test_a_launcher_names_the_hosts_of_ranks(tmp_path: Path, line: str) -> None:
    assert "kaon" in {hostname for _, _, hostname in announced(tmp_path, line)}


@pytest.mark.parametrize(
    "line",
    [
        "the host serves ranks 40-47",
        "lost host kaon",
        "host kaon, no rank",
        "host of rank 3",
        "host of ranks 0-7 is gone",
    ],
)
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


@pytest.mark.parametrize(
    "line",
    [
        "[1,47]<stdout>:rank 47 on kestrel03: NEURON_RT_VISIBLE_CORES=30-31",
        "rank 47/64 pid 30416 host kestrel03 NEURON_RT_VISIBLE_CORES=4",
        "rank 47 of 64 started on kestrel03",
        "[rank 47] ready, host=kestrel03",
        "47: kestrel03 local 2 device 9 NRT 2.32.31.0",
        "47: 11:05:24 kestrel03 role=actor RANK=47 WORLD_SIZE=64 NEURON_RT_NUM_CORES=8",
        "47: kestrel03: LOCAL_RANK=3 pid 77",
        "47: SLURMD_NODENAME=kestrel03",
    ],
)
def test_a_word_with_which_a_rank_says_where_it_runs_may_be_a_host(tmp_path: Path, line: str) -> None:
    assert words(tmp_path, line) == [("kestrel03", 47)]


@pytest.mark.parametrize(
    "line",
    [
        "waits for rank 47 on kestrel03",
        "tp rank 47 on kestrel03",
        "node rank 47 on kestrel03",
        "47: HOSTNAME=kestrel03",  # that of the host on which srun was called
        "47: connecting to kestrel03 device 9",
        "47: kestrel03 is not reachable, 2 cores",
        "rank 47: no answer of host kestrel03",
    ],
)
def test_other_words_say_nothing_of_where_a_rank_runs(tmp_path: Path, line: str) -> None:
    assert words(tmp_path, line) == []


@pytest.mark.parametrize(
    "line",
    [
        "[kestrel03:4021] MCW rank 47 bound to socket 0[core 0[hwt 0-1]]: [BB/../../..][../../../..]",
        "[kestrel03:4021] MCW rank 47 is not bound (or bound to all available processors)",
        "[kestrel03:4021] Rank 47 bound to package[0][core:0]",
        "[0] MPI startup(): 47      24243    kestrel03  {0,1,2,3}",
    ],
)
def test_a_launcher_that_binds_ranks_says_on_which_hosts(tmp_path: Path, line: str) -> None:
    assert announced(tmp_path, line) == [("kestrel03", 47, None)]


@pytest.mark.parametrize(
    ("rank", "node"),
    [
        (
            "Process OMPI jobid: [6819,1] App: 0 Process rank: 47 Bound: N/A",
            "Data for node: kestrel03 Num slots: 16   Max slots: 0",
        ),
        (
            " \tProcess OMPI jobid: [6819,1] Process rank: 47",
            " Data for node: kestrel03\t\tNum slots: 16\tMax slots: 0",
        ),
        (
            "    Process jobid: prterun-head-70007@1 App: 0 Process rank: 47 Bound: package[0][core:0]",
            "Data for node: kestrel03\tNum slots: 64",
        ),
    ],
)
def test_the_map_of_mpirun_names_nodes_and_their_ranks(tmp_path: Path, rank: str, node: str) -> None:
    (tmp_path / "x.log").write_text(f"{node}\n{rank}\n")
    facts = collect(Request((str(tmp_path),)), rulebook()).facts
    assert [(f.place.host, f.place.rank) for f in facts if f.kind == "mapping"] == [("kestrel03", None), (None, 47)]


def own(folder: Path, line: str) -> list[str]:
    (folder / "x.log").write_text(f"{line}\n")
    facts = collect(Request((str(folder),)), rulebook()).facts
    return sorted({str(f.data["value"]) for f in facts if f.kind == "env" and f.data.get("name") == "HOST"})


@pytest.mark.parametrize(
    "line",
    [
        "2026-05-06 12:00:00 INFO node_rank=2 host=lyra-3 world=128 local ranks 64..95",
        "2026-08-12 22:10:03 host=lyra-3 NEURON_PJRT_PROCESS_INDEX=0 NEURON_PJRT_PROCESSES_NUM_DEVICES=64,64",
        "[rank 6] start pid=4110 rank=6 node=lyra-3",
        "world=16 hostname=lyra-3, role=actor",
        "INFO:root:started nodename='lyra-3' world_size=64",
        "INFO config: model=llama lr=0.1 host=lyra-3 dtype=bf16 process_id=3",
    ],
)
def test_a_program_names_its_host_among_the_settings_that_tell_which_process_it_is(tmp_path: Path, line: str) -> None:
    assert own(tmp_path, line) == ["lyra-3"]


@pytest.mark.parametrize(
    "line",
    [
        "connecting to host=lyra-3 rank=0",
        "lost host=lyra-3 world=16",
        "master_host=lyra-3 world=16",
        "host=lyra-3 port=29500",
        "host=10.0.0.3 rank=2",
        "peer rank=3 host=lyra-3",
        "rank=3 sends to host=lyra-3",
    ],
)
def test_a_host_that_a_sentence_speaks_of_is_not_the_one_on_which_it_was_said(tmp_path: Path, line: str) -> None:
    assert own(tmp_path, line) == []
