"""A file is of the pod or host whose output somebody saved in it, where its name is the only one and nothing else says it."""

from __future__ import annotations

from builders import hit, source

from neuron_doctor.engine.facts import Collection, Fact, Place, Source, Span
from neuron_doctor.engine.saved_outputs import at_their_origin


def told(file: str, place: Place) -> Fact:
    return Fact("saved-output", {"file": file}, place, Span("typescript"), "typescript")


def places(facts: list[Fact], *sources: Source) -> list[dict[str, object]]:
    found = at_their_origin(Collection(sources, tuple(facts)))
    return [dict(fact.place.known()) for fact in found.facts if fact.kind == "hit"]


POD = Place(container="sft-worker-1")


def test_its_records_are_there() -> None:
    facts = [hit("x", source="a/w1.txt", pid=7), told("w1.txt", POD)]
    assert places(facts, source("a/w1.txt")) == [{"container": "sft-worker-1", "pid": 7}]
    at = at_their_origin(Collection((source("a/w1.txt"),), tuple(facts)))
    assert at.sources[0].place.container == "sft-worker-1"


def test_what_names_another_host_stays() -> None:
    facts = [hit("x", source="w1.txt", host="n7"), told("w1.txt", POD)]
    assert places(facts, source("w1.txt")) == [{"host": "n7"}]


def test_of_two_files_of_that_name_or_two_commands_nothing_is_known() -> None:
    facts = [hit("x", source="a/w1.txt"), told("w1.txt", POD)]
    assert places(facts, source("a/w1.txt"), source("b/w1.txt")) == [{}]
    assert places([*facts, told("w1.txt", Place(container="sft-worker-2"))], source("a/w1.txt")) == [{}]
    assert places(facts, source("a/w1.txt", host="n3")) == [{}]
