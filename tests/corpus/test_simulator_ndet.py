"""NDET traces: which events have no end, and on whom."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

from neuron_doctor.corpus.simulator.history import ExecutionFailed, History
from neuron_doctor.corpus.simulator.style import Style
from neuron_doctor.corpus.simulator.truth import File
from neuron_doctor.corpus.simulator.write_ndet import files

SEEDS = range(8)


def traces(history: History, seed: int) -> list[File]:
    return list(files(history, Style(ndet=True), Random(seed)))


def events(file: File) -> list[dict[str, Any]]:
    read = json.loads(file.data)
    return list(read["traceEvents"] if isinstance(read, dict) else read)


def unfinished(history: History, rank: int, seed: int) -> set[str]:
    return {
        event["name"].partition(" ")[0]
        for file in traces(history, seed)
        for event in events(file)
        if event["ph"] == "B" and event["args"]["gid"] == rank
    }


def test_who_waits_for_a_silent_rank_stands_in_the_barrier_and_the_silent_one_nowhere(
    hand_made: Callable[..., History],
) -> None:
    for seed in SEEDS:
        assert unfinished(hand_made(silent=(2,)), 0, seed) == {"nrt_execute", "sync_exec", "cc_exec_barrier"}
        assert unfinished(hand_made(silent=(2,)), 2, seed) == set()


def test_a_stuck_device_has_an_execution_without_an_operation(hand_made: Callable[..., History]) -> None:
    for seed in SEEDS:
        assert unfinished(hand_made(stuck=(2,)), 2, seed) == {"nrt_execute", "sync_exec", "nc_exec"}
        assert unfinished(hand_made(stuck=(2,)), 0, seed) == {"nrt_execute", "sync_exec", "nc_exec", "cc_op_exec"}


def test_a_number_error_is_an_event_of_its_own_and_states_the_fault(
    hand_made: Callable[..., History], start: float
) -> None:
    history = hand_made(ExecutionFailed(time=start + 700, rank=1, status=1003, fault=0))
    for seed in SEEDS:
        marked = [
            json.loads(file.data[mark.offset : mark.offset + mark.length])
            for file in traces(history, seed)
            for mark in file.marks
        ]
        assert [event["name"] for event in marked] == ["nrt_execute", "numerical_error"]
        assert marked[0]["args"]["ret"] == 1003
        assert marked[1]["args"].keys() == {"nd", "nc", "exec_id"}


def test_processes_are_named_by_their_logs(hand_made: Callable[..., History]) -> None:
    names = [
        event["args"]["name"]
        for file in traces(hand_made(), 1)
        for event in events(file)
        if event["name"] == "process_name"
    ]
    assert len(names) == 4
    assert names[3].endswith("_4003_i-0abcdef0123456781.txt - (GIDs: [3])")
