"""A process that loads with one core of all those of the job has the rank that this core has, where all processes do so."""

from __future__ import annotations

import pytest
from builders import hit
from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.global_cores import in_the_rank_of_their_core


def load(pid: int, core: int | None, *, log: str | None = None, rank: int | None = None, of: int = 3) -> Fact:
    data = {"witness": "api", "waits": True, "operation": "nrt_load_collectives"}
    core_of = {} if core is None else {"global_device": core, "global_devices": of}
    source = log or f"{pid}.log"
    return Fact("stand", {**data, **core_of}, Place(host="a", pid=pid, rank=rank), Span(source), source)


def ranks(*loads: Fact) -> list[int | None]:
    """Of what else these processes say."""
    said = [hit("x", source=fact.source, host="a", pid=fact.place.pid) for fact in loads]
    beside = hit("x", source="another.log", host="a")
    found = [fact.place.rank for fact in in_the_rank_of_their_core([*loads, *said, beside])]
    assert found[-1] is None
    return found[len(loads) : -1]


def test_a_process_that_loads_with_one_core_of_all_is_of_its_rank() -> None:
    assert ranks(load(70, 0), load(71, 1), load(72, 2)) == [0, 1, 2]
    assert ranks(load(70, 0), load(70, 0), load(71, 1)) == [0, 0, 1]  # it loads one graph after the other
    assert ranks(load(70, 0, log="w"), load(71, 1, log="w"), load(90, 0, log="w")) == [0, 1, 0]  # started again
    assert ranks(load(70, 0, rank=0), load(71, 1)) == [0, 1]


@pytest.mark.parametrize(
    "others",
    [
        [load(70, 1)],  # it drives two cores
        [load(72, None)],  # and this one several at once
        [load(72, 2, of=4)],  # two jobs
        [load(72, 1)],
        [load(72, 2, rank=1)],  # ranks are numbered otherwise
        [load(72, 3)],
    ],
)
def test_where_anything_speaks_against_it_no_number_is_a_rank(others: list[Fact]) -> None:
    loads = [load(70, 0), load(71, 1), *others]
    assert set(ranks(*loads)) == {None}


def test_what_has_a_rank_keeps_it() -> None:
    facts = [load(70, 0), load(71, 1), hit("x", source="70.log", host="a", pid=70, rank=9)]
    assert in_the_rank_of_their_core(facts)[2].place.rank == 9
    about = replace(facts[2], place=Place(host="a", pid=70, ranks=(4, 5)))
    assert in_the_rank_of_their_core([*facts[:2], about])[2].place == about.place


def test_the_first_cores_of_processes_that_have_several_are_no_ranks() -> None:
    assert ranks(*(load(70 + index, 8 * index, of=32) for index in range(4))) == [None] * 4
