"""The ranks of stacks in a file that has those of several hosts, one below another, each with a heading that tells its rank:

    == moe-task-1 rank 16: py-spy dump --pid 200 (02:56 UTC)
    Process 200: python3 -u pretrain.py

In containers the processes of each host have the same numbers, so that a number alone is nobody's: the heading above is. Where a
parallel shell mixes the lines of hosts that are not known, several headings stand above the first stack, and tell nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from neuron_doctor.engine.facts import Collection, Fact

#: A file, the host and the container in it, as far as they are known, and the number of a process.
_Process = tuple[str, str | None, str | None, int]


def placed_by_stack_headings(collection: Collection) -> Collection:
    """The collection in which the stacks have the rank that is told of their process above them."""
    if all(fact.kind != "stack" or fact.place.rank is not None for fact in collection.facts):
        return collection
    ranks = {id(stack): rank for stack, rank in _ranks(collection.facts)}
    facts = tuple(
        replace(f, place=replace(f.place, rank=ranks[id(f)])) if id(f) in ranks else f for f in collection.facts
    )
    return replace(collection, facts=facts)


def _ranks(facts: Iterable[Fact]) -> Iterator[tuple[Fact, int]]:
    told: dict[_Process, int] = {}
    taken: dict[_Process, int] = {}
    open_, mixed = set[_Process](), set[_Process]()
    stacks: list[tuple[Fact, _Process, int]] = []
    told_of = (fact for fact in facts if fact.kind in ("identity", "stack") and fact.place.pid is not None)
    for fact in sorted(told_of, key=_in_order):
        process = (fact.span.path, fact.place.host, fact.place.container, fact.place.pid or 0)
        if fact.kind == "identity" and fact.place.rank is not None:
            if process in open_ and told[process] != fact.place.rank:
                mixed.add(process)
            told[process] = fact.place.rank
            open_.add(process)
            taken.pop(process, None)
        elif fact.kind == "stack" and fact.place.rank is None and process in told:
            open_.discard(process)
            # the next stack has a heading that tells none
            if taken.setdefault(process, fact.span.offset) == fact.span.offset:
                stacks.append((fact, process, told[process]))
    yield from ((fact, rank) for fact, process, rank in stacks if process not in mixed)


def _in_order(fact: Fact) -> tuple[str, int, bool]:
    return fact.span.path, fact.span.offset, fact.kind == "stack"
