"""Which documents list attempts, and what of them is read when they are torn, empty or wrong."""

from __future__ import annotations

import json

import pytest
from snapshot_inputs import as_input, check

from neuron_doctor.collectors.attempts import attempt_facts, attempts_collector
from neuron_doctor.collectors.base import Collector
from neuron_doctor.engine.facts import Fact

READER = attempts_collector(Collector("log", "text", lambda _head, _name: True, lambda _inp: ()))
ATTEMPTS = [
    {"container": {"logStreamName": "j/default/aaaaaaaaaaaa"}, "statusReason": "x"},
    {"container": {"exitCode": 0}},
]
BATCH = {"jobs": [{"jobName": "j", "jobId": "1", "status": "SUCCEEDED", "attempts": ATTEMPTS}, {"jobName": "k"}]}
EVENTS = {
    "events": [
        {"type": "TaskSucceeded", "id": 3, "previousEventId": 2},
        {"type": "TaskFailed", "id": 2, "previousEventId": 3},
    ]
}
NODES = {
    "w-1": {"type": "Retry", "phase": "Succeeded", "displayName": "t", "children": ["w-2", "w-9", 7]},
    "w-2": {"type": "Steps", "phase": "Failed", "children": ["w-333333", "w-2"]},
    "w-333333": {"type": "Pod", "phase": "Error", "children": []},
}


def read(data: bytes) -> tuple[list[Fact], list[str]]:
    inp = as_input(data)
    facts = list(attempt_facts(inp, data))
    for fact in facts:
        check(fact, data, "log")
    return facts, list(inp.problems)


@pytest.mark.parametrize("document", [BATCH, EVENTS, {"status": {"nodes": NODES}}, BATCH["jobs"][0]])
def test_they_are_known_by_their_first_members(document: dict[str, object]) -> None:
    for indent in (None, 1, 4):
        assert READER.sniff(json.dumps(document, indent=indent).encode(), "x")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b'{"jobs": 7}',
        b"{",
        b'{"level": "info", "attempts": 3}\n',
        b"\x00\x01",
        b'{"events": [{"id": 1}]}',
    ],
)
def test_other_documents_are_not(data: bytes) -> None:
    assert not READER.sniff(data, "x")
    assert read(data)[0] == []


def test_all_attempts_but_the_last_of_a_job_that_succeeded_were_made_good() -> None:
    facts, problems = read(json.dumps(BATCH).encode())
    assert [(f.data["number"], f.data["failed"], f.data["made_good"], f.data["stream"]) for f in facts] == [
        (1, True, True, "aaaaaaaaaaaa"),
        (2, False, False, ""),
    ]
    assert problems == []


def test_a_document_that_was_cut_off_tells_what_stands_before() -> None:
    whole = json.dumps(BATCH).encode()
    for end in range(0, len(whole), 7):
        assert len(read(whole[:end])[0]) in (0, 2)


def test_events_and_nodes_that_name_one_another_in_a_circle_end() -> None:
    assert len(read(json.dumps(EVENTS).encode())[0]) == 1
    facts, _ = read(json.dumps({"status": {"nodes": NODES}}).encode())
    assert [fact.data["stream"] for fact in facts] == ["333333"]


def test_nothing_of_a_node_is_quoted() -> None:
    facts, _ = read(json.dumps({"status": {"nodes": NODES}}).encode())
    assert [fact.span.text for fact in facts] == [""]


def test_a_deeply_nested_one_is_a_problem() -> None:
    data = b'{"jobs": [{"jobName": ' + b"[" * 100_000
    facts, problems = read(data)
    assert facts == []
    assert problems
