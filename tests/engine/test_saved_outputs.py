"""A file is of the pod or host whose output somebody saved in it, where its name is the only one and nothing else says it."""

from __future__ import annotations

from builders import hit, source
from msgspec.structs import replace

from neuron_doctor.engine.facts import Collection, Fact, Place, Source, Span
from neuron_doctor.engine.saved_outputs import at_their_origin


def told(file: str, place: Place, folder: str = "") -> Fact:
    return Fact("saved-output", {"file": file}, place, Span(f"{folder}typescript"), f"{folder}typescript")


def places(facts: list[Fact], *sources: Source) -> list[dict[str, object]]:
    found = at_their_origin(Collection(sources, tuple(facts)))
    return [dict(fact.place.known()) for fact in found.facts if fact.kind == "hit"]


POD = Place(container="sft-worker-1")


def test_its_records_are_there() -> None:
    facts = [hit("x", source="a/w1.txt", pid=7), told("w1.txt", POD, "a/")]
    assert places(facts, source("a/w1.txt")) == [{"container": "sft-worker-1", "pid": 7}]
    at = at_their_origin(Collection((source("a/w1.txt"),), tuple(facts)))
    assert at.sources[0].place.container == "sft-worker-1"


def test_what_names_another_host_stays() -> None:
    facts = [hit("x", source="w1.txt", host="n7"), told("w1.txt", POD)]
    assert places(facts, source("w1.txt")) == [{"host": "n7"}]


def test_of_two_files_of_that_name_or_two_commands_nothing_is_known() -> None:
    facts = [hit("x", source="a/w1.txt"), told("w1.txt", POD, "a/")]
    assert places(facts, source("a/w1.txt"), replace(source("again"), path="a/w1.txt")) == [{}]
    assert places([*facts, told("w1.txt", Place(container="sft-worker-2"), "a/")], source("a/w1.txt")) == [{}]
    assert places(facts, source("a/w1.txt", host="n3")) == [{}]


def test_folders_of_two_jobs_may_have_files_of_one_name() -> None:
    files = [hit("x", source="a/w1.txt"), hit("x", source="b/w1.txt")]
    both = source("a/w1.txt"), source("b/w1.txt")
    of_a, of_b = told("w1.txt", POD, "a/"), told("w1.txt", Place(host="n3"), "b/")
    assert places([*files, of_a, of_b], *both) == [{"container": "sft-worker-1"}, {"host": "n3"}]
    assert places([*files, of_a], *both) == [{"container": "sft-worker-1"}, {}]
    assert places([files[1], of_a], both[1]) == [{}]


def test_an_archive_is_a_folder() -> None:
    facts = [hit("x", source="all.tar!w1.txt"), told("w1.txt", POD, "all.tar!")]
    assert places(facts, source("all.tar!w1.txt")) == [{"container": "sft-worker-1"}]
