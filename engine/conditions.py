"""The conditions of the rule language, as small typed nodes; what they mean is in `engine.evaluate`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

from msgspec import Struct

from neuron_doctor.engine.expressions import RecordQuery

#: Of so many conditions it is remembered which queries they have: each is asked for at every rule of every diagnosis.
_MOST = 8192


class Record(Struct, frozen=True, cache_hash=True):
    """Some record answers the query."""

    query: RecordQuery


class Combination(Struct, frozen=True, cache_hash=True):
    """`all`, `any`, `none` or `at-least` `n` of the parts hold; each part may be held by another record."""

    op: str
    parts: tuple[Condition, ...]
    n: int = 0


class Count(Struct, frozen=True, cache_hash=True):
    """At least `at_least` records, or distinct values of a field, within `within_ns` (None: at any time)."""

    query: RecordQuery
    at_least: int
    within_ns: int | None = None
    distinct: str | None = None


class Sequence(Struct, frozen=True, cache_hash=True):
    """Records in this order, the last at most `within_ns` after the first, ends included; with `by`, all with the same known
    value of that field; with `until`, none of those records between the first and the last."""

    steps: tuple[RecordQuery, ...]
    within_ns: int
    by: str | None = None
    until: RecordQuery | None = None


class Absent(Struct, frozen=True, cache_hash=True):
    """Some record answers `after`, and none answers `query` for `within_ns` that a source covers."""

    query: RecordQuery
    after: RecordQuery
    within_ns: int


class Measure(Struct, frozen=True, cache_hash=True):
    """What `take` makes of a field of the records of some window of `within_ns` (None: of all records) is at least, or at
    most, a number. `per_ns`: the time that a rate is for."""

    query: RecordQuery
    take: str
    field: str
    within_ns: int | None = None
    at_least: float | None = None
    at_most: float | None = None
    per_ns: int | None = None


class Over(Struct, frozen=True, cache_hash=True):
    """A quantifier over the known ranks, hosts or devices, or over the peers of each process group; over those that have a
    record of `among`; or over those that have the record at all, by whether their value of the field `alike` is the
    commonest one. `number` is that of `exactly` and `all-but`."""

    each: str
    quantifier: str
    have: RecordQuery
    alike: str | None = None
    number: int = 0
    among: RecordQuery | None = None


class FindingRef(Struct, frozen=True, cache_hash=True):
    """Another rule has a finding at a compatible place, or `elsewhere`: at a place that is another for sure."""

    rule: str
    elsewhere: bool = False


Condition = Record | Combination | Count | Measure | Sequence | Absent | Over | FindingRef


@lru_cache(_MOST)
def queries(condition: Condition) -> tuple[RecordQuery, ...]:
    """Every record query of a condition, in the order they are written."""
    match condition:
        case Combination(parts=parts):
            return tuple(chain.from_iterable(map(queries, parts)))
        case Record(query=query) | Count(query=query) | Measure(query=query) | Over(have=query, among=None):
            return (query,)
        case Over(have=have, among=among):
            return (have,) if among is None else (have, among)
        case Sequence(steps=steps, until=until):
            return steps if until is None else (*steps, until)
        case Absent(query=query, after=after):
            return after, query
        case FindingRef():
            return ()


def references(condition: Condition) -> Iterator[FindingRef]:
    """The findings of other rules that a condition asks for."""
    if isinstance(condition, FindingRef):
        yield condition
    elif isinstance(condition, Combination):
        for part in condition.parts:
            yield from references(part)


def required(condition: Condition) -> frozenset[str]:
    """The rules without whose findings a condition does not hold."""
    match condition:
        case FindingRef(rule=rule, elsewhere=False):
            return frozenset({rule})
        case Combination(op="all", parts=parts):
            return frozenset().union(*map(required, parts))
        case _:
            return frozenset()


@lru_cache(_MOST)
def anchors(condition: Condition) -> tuple[RecordQuery, ...]:
    """The queries whose records can make the condition hold: those that are not asked to be absent."""
    match condition:
        case Combination(op="none"):
            return ()
        case Combination(parts=parts):
            return tuple(chain.from_iterable(map(anchors, parts)))
        case Absent(after=after):
            return (after,)
        case Sequence(steps=steps):
            return steps
        case _:
            return queries(condition)


@lru_cache(_MOST)
def anchor_names(condition: Condition) -> frozenset[str]:
    """What these records are called: without one of them, a rule need not be looked at."""
    return frozenset(query.name for query in anchors(condition))


def counts(condition: Condition) -> Iterator[RecordQuery]:
    """The queries whose records are counted or quantified over: their storms may not be capped."""
    match condition:
        case Combination(parts=parts):
            for part in parts:
                yield from counts(part)
        case Count() | Measure() | Over():
            yield from queries(condition)
        case _:
            return


@lru_cache(_MOST)
def asks_for_peers(condition: Condition) -> bool:
    """Whether a quantifier of it is over the peers of process groups."""
    if isinstance(condition, Combination):
        return any(map(asks_for_peers, condition.parts))
    return isinstance(condition, Over) and condition.each == "peer"
