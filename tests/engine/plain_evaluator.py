"""What conditions mean, written so plainly that it is obviously right: every combination of records is tried.

Exponential where the engine is linear. Shares nothing with it but the types.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise, product

from neuron_doctor.engine import conditions as cond
from neuron_doctor.engine.expressions import Expression, RecordQuery, Test, Version
from neuron_doctor.engine.facts import Clock, Fact

COMPARE: Mapping[str, Callable[[object, object], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,  # type: ignore[operator]
    "<=": lambda a, b: a <= b,  # type: ignore[operator]
    ">": lambda a, b: a > b,  # type: ignore[operator]
    ">=": lambda a, b: a >= b,  # type: ignore[operator]
    "in": lambda a, b: a in b,  # type: ignore[operator]
}


class Job:
    """The records of a place, with the known ranks and the process groups. All records have a time."""

    def __init__(self, facts: Sequence[Fact], ranks: Sequence[int], groups: Sequence[frozenset[int]]) -> None:
        self.facts, self.ranks, self.groups = facts, ranks, groups

    def answers(self, query: RecordQuery) -> list[Fact]:
        return [fact for fact in self.facts if fact.name == query.name and true_of(query.where, fact)]


def true_of(where: Expression | None, fact: Fact) -> bool:
    return where is None or three_valued(where, fact) == 1


def three_valued(where: Expression, fact: Fact) -> float:
    """1 true, 0 false, one half unknown: `and` is the least, `or` the greatest, `not` the complement."""
    if isinstance(where, Test):
        value = field(fact, where.field)
        if where.op == "known":
            return float(value is not None)
        if value is None:
            return 0.5
        assert not isinstance(where.value, Version)
        return float(COMPARE[where.op](value, where.value))
    values = [three_valued(part, fact) for part in where.parts]
    return {"and": min, "or": max, "not": lambda one: 1 - one[0]}[where.op](values)  # type: ignore[operator]


def field(fact: Fact, name: str) -> object:
    return fact.data.get(name, getattr(fact.place, name, None))


def time_between(a: Fact, b: Fact) -> int | None:
    """How much later b is than a; None where it is not, or where no one clock saw both."""
    assert a.instant
    assert b.instant
    if (a.place.host, a.instant.clock) != (b.place.host, b.instant.clock) or b.instant.ns < a.instant.ns:
        return None
    if b.instant.ns == a.instant.ns and a.source == b.source and b.span.offset < a.span.offset:
        return None
    return b.instant.ns - a.instant.ns


def time_in_order(a: Fact, b: Fact) -> int | None:
    """The same in a sequence: what stands below in one file is later by its time if one clock wrote both, or else if they may
    be of one host."""
    assert a.instant
    assert b.instant
    hosts = {a.place.host, b.place.host}
    if a.source == b.source and a.span.offset < b.span.offset:
        if (a.place.host, a.instant.clock) == (b.place.host, b.instant.clock):
            return time_between(a, b)
        if a.instant.clock is b.instant.clock and a.instant.clock in (Clock.UTC, Clock.HOST_LOCAL, Clock.YEARLESS):
            return b.instant.ns - a.instant.ns if b.instant.ns >= a.instant.ns else None
        if None in hosts or len(hosts) == 1:
            return 0
    return time_between(a, b)


def true(condition: cond.Condition, job: Job) -> bool:
    """Whether the condition holds. Everything was looked for everywhere, so nothing is undecided."""
    match condition:
        case cond.Record(query=query):
            return bool(job.answers(query))
        case cond.Combination(op=op, parts=parts, n=n):
            held = sum(true(part, job) for part in parts)
            return {"all": held == len(parts), "any": held > 0, "none": held == 0, "at-least": held >= n}[op]
        case cond.Count():
            return any(weight(some, condition.distinct) >= condition.at_least for some in windows(condition, job))
        case cond.Measure():
            values = [value for some in windows(condition, job) if (value := measured(condition, some)) is not None]
            low, high = condition.at_least, condition.at_most
            return any((low is None or value >= low) and (high is None or value <= high) for value in values)
        case cond.Sequence():
            return any(in_order(chain, condition, job) for chain in product(*map(job.answers, condition.steps)))
        case cond.Over():
            return any(singled_out(condition, have, lack) for have, lack in sides(condition, job))
        case _:
            raise NotImplementedError


def windows(condition: cond.Count | cond.Measure, job: Job) -> Iterator[list[Fact]]:
    """All records of the window that ends with each record; without a window, all records at once."""
    facts = job.answers(condition.query)
    if isinstance(condition, cond.Measure):
        facts = [fact for fact in facts if isinstance(field(fact, condition.field), int)]
    if condition.within_ns is None:
        yield facts
        return
    for end in facts:
        order = sorted((f for f in facts if time_between(f, end) is not None), key=in_time)
        yield [f for f in order if (time_between(f, end) or 0) <= condition.within_ns and in_time(f) <= in_time(end)]


def in_time(fact: Fact) -> tuple[int, str, int]:
    assert fact.instant
    return fact.instant.ns, fact.span.path, fact.span.offset


def weight(facts: Sequence[Fact], distinct: str | None) -> int:
    if distinct:
        return len({field(fact, distinct) for fact in facts} - {None})
    return sum(1 + fact.repeats for fact in facts)


def measured(condition: cond.Measure, facts: Sequence[Fact]) -> float | None:
    if not facts:
        return None
    values = [int(str(field(fact, condition.field))) for fact in facts]
    repeated = [value for fact, value in zip(facts, values, strict=True) for _ in range(1 + fact.repeats)]
    if condition.take == "sum":
        return sum(repeated)
    if condition.take == "mean":
        return sum(repeated) / len(repeated)
    if condition.take in ("min", "max"):
        return min(values) if condition.take == "min" else max(values)
    if condition.take in ("increase", "rate"):
        return grown(condition, facts, values)
    share = int(condition.take[1:]) / 100
    return sorted(values)[max(math.ceil(share * len(values)) - 1, 0)]


def grown(condition: cond.Measure, facts: Sequence[Fact], values: Sequence[int]) -> float | None:
    rise = 0
    last: dict[object, int] = {}
    for fact, value in zip(facts, values, strict=True):
        counter = (fact.source, fact.place, fact.name)
        rise += max(value - last.get(counter, value), 0)
        last[counter] = value
    if condition.take == "increase":
        return rise
    took = time_between(facts[0], facts[-1])
    return rise * (condition.per_ns or 1) / took if took else None


def in_order(chain: Sequence[Fact], condition: cond.Sequence, job: Job) -> bool:
    pairs = pairwise(chain)
    if any(a is b or time_in_order(a, b) is None for a, b in pairs):
        return False
    took = time_in_order(chain[0], chain[-1])
    if took is None or took > condition.within_ns:
        return False
    if condition.by and (None in (by := {field(fact, condition.by) for fact in chain}) or len(by) > 1):
        return False
    if condition.by in {"pid", "device", "core"} and len({fact.place.host for fact in chain}) > 1:
        return False
    ends = job.answers(condition.until) if condition.until else []
    return not any(
        time_in_order(chain[0], end) is not None and time_in_order(end, chain[-1]) is not None for end in ends
    )


def sides(condition: cond.Over, job: Job) -> list[tuple[set[object], set[object]]]:
    facts, ranks = job.answers(condition.have), set(job.ranks)
    if condition.alike:
        by_rank = {rank: {field(f, condition.alike) for f in facts if f.place.rank == rank} - {None} for rank in ranks}
        values = Counter(value for some in by_rank.values() for value in some)
        top = [value for value, number in values.items() if number == max(values.values())]
        known = {rank for rank, some in by_rank.items() if some}
        return (
            [({r for r in known if top[0] in by_rank[r]}, {r for r in known if top[0] not in by_rank[r]})]
            if len(top) == 1
            else [(set(), set())]
        )
    having = {fact.place.rank for fact in facts} - {None}
    if condition.each == "peer":
        return [(having & group, (ranks & group) - having) for group in job.groups]  # type: ignore[arg-type]
    if condition.among:
        ranks = {fact.place.rank for fact in job.answers(condition.among) if fact.place.rank is not None}
    return [(set(having), ranks - having)]  # type: ignore[arg-type]


def singled_out(condition: cond.Over, have: set[object], lack: set[object]) -> bool:
    h, k, number = len(have), len(lack), condition.number
    return {
        "all": h > 0 and k == 0,
        "any": h > 0,
        "none": h == 0 and k > 0,
        "exactly": h == number,
        "all-but": h > 0 and k == number,
        "majority": h > k,
        "odd-one-out": (h == 1 and k > 1) or (k == 1 and h > 1),
        "all-but-few": h > 1 and 0 < k <= max(1, (h + k) // 4),
    }[condition.quantifier]
