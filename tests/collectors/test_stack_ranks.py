"""Stacks of several hosts in one file, each below a heading with its rank."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from neuron_doctor.collectors.stack_ranks import placed_by_stack_headings
from neuron_doctor.engine.facts import Collection, Fact, Place, span_of


def fact(kind: str, offset: int, pid: int, rank: int | None = None, host: str | None = None) -> Fact:
    span = span_of("pyspy.txt", kind.encode(), offset, offset + 1, 1)
    return Fact(kind, {}, Place(pid=pid, rank=rank, host=host), span, "pyspy.txt")


def ranks(*facts: Fact) -> list[int | None]:
    """Of the stacks, in the order of the file."""
    placed = placed_by_stack_headings(Collection((), facts)).facts
    stacks = sorted((f for f in placed if f.kind == "stack"), key=lambda f: f.span.offset)
    return [stack.place.rank for stack in stacks]


BLOCKS = [
    one
    for number, (pid, rank) in enumerate([(200, 0), (215, 15), (200, 16), (215, 31), (205, 37)])
    for one in (
        fact("identity", 10 * number, pid, rank),
        fact("identity", 10 * number + 1, pid, rank),
        fact("stack", 10 * number + 4, pid),
        fact("stack", 10 * number + 4, pid),
    )
]


@given(st.integers(0, 10**6))
def test_each_stack_has_the_rank_of_the_heading_above_it(seed: int) -> None:
    mixed = random.Random(seed).sample(BLOCKS, len(BLOCKS))
    assert ranks(*mixed) == [0, 0, 15, 15, 16, 16, 31, 31, 37, 37]


def test_headings_that_stand_together_tell_nothing_unless_their_hosts_are_known() -> None:
    headings = [fact("identity", n, 200, n) for n in range(3)]
    stacks = [fact("stack", 10 + n, 200) for n in range(3)]
    assert ranks(*headings, *stacks) == [None, None, None]
    named = [replace(f, place=replace(f.place, host=f"z{f.span.offset % 10}")) for f in (*headings, *stacks)]
    assert ranks(*named) == [0, 1, 2]


def test_a_heading_that_tells_no_rank_gives_none_of_the_one_before() -> None:
    assert ranks(fact("identity", 0, 200, 16), fact("stack", 4, 200), fact("stack", 12, 200)) == [16, None]


def test_what_has_a_rank_keeps_it_and_what_stands_above_has_none() -> None:
    assert ranks(fact("stack", 0, 7), fact("identity", 1, 7, 3), fact("stack", 2, 7, 9), fact("stack", 3, 8)) == [
        None,
        9,
        None,
    ]
