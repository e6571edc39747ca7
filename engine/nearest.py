"""Why a condition holds at a place or does not: its proof, with what came closest wherever a part of it fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from msgspec import Struct, field

from neuron_doctor.engine import conditions as cond
from neuron_doctor.engine.blindness import kinds_that_show
from neuron_doctor.engine.durations import format_duration
from neuron_doctor.engine.evaluate import Scene, Tally, by_clock, evaluate, extreme, heaviest, lag, sides
from neuron_doctor.engine.expressions import Expression, RecordQuery, Test, Version, field_of, holds, tests_of
from neuron_doctor.engine.facts import Fact, Place, Value
from neuron_doctor.engine.near_patterns import Near
from neuron_doctor.engine.patterns import Pattern
from neuron_doctor.engine.verdict import Proof

#: So many ranks (hosts, devices) are named on each side of a quantifier.
_NAMED = 8


class Reason(Struct, frozen=True):
    """One part of a condition: whether it holds (None: not known), in words why it does not or what came closest, and the
    records that show it."""

    op: str
    held: bool | None
    said: str = ""
    facts: tuple[Fact, ...] = ()
    children: tuple[Reason, ...] = ()


class Surroundings(Struct, frozen=True):
    """What lies around a scene: the records of the place by their name, whatever their fields (of the whole job, where the rule
    was looked at nowhere); those of the whole job; the patterns; how many sources of each kind there are; where the rules that
    are asked for have findings; and the lines that patterns which match nothing nearly match."""

    here: Mapping[str, Sequence[Fact]]
    job: Mapping[str, Sequence[Fact]]
    patterns: Mapping[str, Pattern] = field(default_factory=dict)
    collected: Mapping[str, int] = field(default_factory=dict)
    findings: Mapping[str, Sequence[Place]] = field(default_factory=dict)
    near: Mapping[str, Near] = field(default_factory=dict)


def reason(condition: cond.Condition, scene: Scene, around: Surroundings) -> Reason:
    """The proof of the condition on the scene, explained from its surroundings."""
    return _explained(condition, evaluate(condition, scene), scene, around)


def _explained(condition: cond.Condition, proof: Proof, scene: Scene, around: Surroundings) -> Reason:
    if isinstance(condition, cond.Combination):
        parts = zip(condition.parts, proof.children, strict=True)
        children = tuple(_explained(part, child, scene, around) for part, child in parts)
        return Reason(proof.op, proof.held, children=children)
    if proof.held:
        return Reason(proof.op, held=True, facts=proof.facts)
    overlooked = sorted({query.name for query in cond.queries(condition)} & scene.unsearched)
    if proof.held is None and overlooked:
        said = f"not known: {', '.join(overlooked)} was not looked for in every source of this place"
        return Reason(proof.op, None, said, proof.facts)
    said, facts = _closest(condition, scene, around)
    return Reason(proof.op, proof.held, said, tuple(facts))


def _closest(condition: cond.Condition, scene: Scene, around: Surroundings) -> tuple[str, Sequence[Fact]]:  # noqa: PLR0911 - one for each sort of condition
    """Of a part that does not hold: what is missing, and the records that come closest."""
    match condition:
        case cond.Record(query=query):
            return _no_record(query, around)
        case cond.Count():
            return _too_few(condition, scene, around)
        case cond.Measure():
            return _off_limits(condition, scene, around)
        case cond.Sequence():
            return _broken_off(condition, scene, around)
        case cond.Absent():
            return _came_or_uncovered(condition, scene, around)
        case cond.Over():
            return _parted(condition, scene), ()
        case cond.FindingRef(rule=rule, elsewhere=elsewhere):
            return _no_finding(around.findings.get(rule, ()), elsewhere=elsewhere), ()
        case cond.Combination():
            return "", ()


# --- one record ----------------------------------------------------------------------------------------------------


def _no_record(query: RecordQuery, around: Surroundings) -> tuple[str, Sequence[Fact]]:
    """Why no record of the place answers: its fields are others, it is at another place, or there is none anywhere."""
    here = around.here.get(query.name, ())
    if answering := [fact for fact in here if holds(query.where, fact)]:
        return f"{len(answering):,} there, but nothing that the rule could begin with", answering[:1]
    if nearest := _nearest(query, here):
        return f"closest: {', '.join(unmet(query.where, nearest))}", (nearest,)
    elsewhere = around.job.get(query.name, ())
    if answering := [fact for fact in elsewhere if holds(query.where, fact)]:
        return f"not at this place; {len(answering):,} elsewhere", answering[:1]
    if nearest := _nearest(query, elsewhere):
        return f"closest, at another place: {', '.join(unmet(query.where, nearest))}", (nearest,)
    if near := around.near.get(query.name):
        return f"closest: a line with `{near.part}` of its pattern, but without `{near.rest}`", (near.fact,)
    return _nowhere(query.name, around), ()


def _nearest(query: RecordQuery, facts: Sequence[Fact]) -> Fact | None:
    """The record of which the fewest fields are others than they should be, and those by the least; the first of them."""

    def distance(fact: Fact) -> tuple[int, float]:
        failing = [test for test in tests_of(query.where) if not holds(test, fact)]
        return len(unmet(query.where, fact)), sum(_distance(test, field_of(fact, test.field)) for test in failing)

    return min(facts, key=distance, default=None)


def _distance(test: Test, value: Value) -> float:
    """How far a value is from what a test asks for, from 0 to 1: of numbers the relative difference, of texts how little they
    have in common."""
    wanted = test.value if isinstance(test.value, tuple) else (test.value,)
    return min((_apart(value, one) for one in wanted), default=1.0)


def _apart(value: Value, wanted: Value | Version) -> float:
    if isinstance(value, str) and isinstance(wanted, str):
        return 1 - SequenceMatcher(None, value, wanted, autojunk=False).ratio()
    if isinstance(value, int | float) and isinstance(wanted, int | float):
        return abs(value - wanted) / (abs(value) + abs(wanted) or 1)
    return 1.0


def _nowhere(name: str, around: Surroundings) -> str:
    kinds = sorted(kinds_that_show(name, around.patterns))
    there = [f"{around.collected[kind]} {kind}" for kind in kinds if around.collected.get(kind)]
    if not there:
        return f"nothing that could show it was collected: {' or '.join(kinds)}"
    return f"no such record in any source that could show it ({', '.join(there)})"


def unmet(expression: Expression | None, fact: Fact) -> list[str]:
    """What keeps an expression from holding for a record: the fields that are others than it says, each in words."""
    if expression is None or holds(expression, fact):
        return []
    if isinstance(expression, Test):
        return [_said(expression, fact)]
    if expression.op == "not":
        return list(dict.fromkeys(_said(test, fact) for test in tests_of(expression)))
    return list(dict.fromkeys(told for part in expression.parts for told in unmet(part, fact)))


def _said(test: Test, fact: Fact) -> str:
    value = field_of(fact, test.field)
    return f"{test.field} is not known" if value is None else f"{test.field} is {_shown(value)}"


def _shown(value: Value) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


# --- several records -----------------------------------------------------------------------------------------------


def _too_few(condition: cond.Count, scene: Scene, around: Surroundings) -> tuple[str, Sequence[Fact]]:
    facts = scene.answers(condition.query)
    if not facts:
        return _no_record(condition.query, around)
    best, weight = heaviest(facts, condition)
    what = f"distinct values of {condition.distinct}" if condition.distinct else "records"
    said = f"{weight:,} of {condition.at_least:,} {what}"
    if condition.within_ns is None:
        return said, best
    untimed = sum(fact.instant is None for fact in facts)
    if untimed == len(facts):
        return f"{said}: none of {len(facts):,} has a time", facts[:1]
    needed = _shortest(facts, condition)
    return said + (f"; so many take {format_duration(needed)}" if needed is not None else ""), best


def _off_limits(condition: cond.Measure, scene: Scene, around: Surroundings) -> tuple[str, Sequence[Fact]]:
    facts = scene.answers(condition.query)
    if not facts:
        return _no_record(condition.query, around)
    value, best = extreme(condition, scene)
    if value is None:
        return (
            f"{len(facts):,} records, none with a number in {condition.field} and a time that the window needs",
            facts[:1],
        )
    return f"at {'least' if condition.at_least is None else 'most'} {value:g} in any window", best


def _parted(condition: cond.Over, scene: Scene) -> str:
    """Who has it and who not; of several groups the first in which somebody has it."""
    parted = sides(condition, scene)
    having, lacking = next((both for both in parted if both[0]), parted[0] if parted else (set(), set()))
    if not having and not lacking:
        return f"no {condition.each} is known"
    return f"{_named(having)} have it; {_named(lacking)} have it not"


def _shortest(facts: Sequence[Fact], condition: cond.Count) -> int | None:
    """The length of the shortest window that holds as many as are asked for; None where none does."""
    shortest: int | None = None
    for timed in by_clock(facts):
        tally, start = Tally(condition.distinct), 0
        for at, fact in timed:
            tally.add(fact)
            while tally.weight >= condition.at_least:
                length = at - timed[start][0]
                shortest = length if shortest is None else min(shortest, length)
                tally.remove(timed[start][1])
                start += 1
    return shortest


def _broken_off(condition: cond.Sequence, scene: Scene, around: Surroundings) -> tuple[str, Sequence[Fact]]:
    """The longest beginning of the sequence, and what became of the step after it."""
    chain: list[Fact] = []
    for first in scene.answers(condition.steps[0]):
        begun = _begun([first], [scene.answers(step) for step in condition.steps[1:]])
        chain = max(chain, begun, key=len)
    if len(chain) == len(condition.steps):
        took = lag(chain[0], chain[-1]) or 0
        return f"in this order, but it took {format_duration(took)}", chain
    wanted = condition.steps[len(chain)]
    there = scene.answers(wanted)
    if not there:
        said, facts = _no_record(wanted, around)
        return f"step {len(chain) + 1}, {wanted.text}: {said}", [*chain, *facts]
    how = "none after step" if chain else "none at a comparable time for step"
    return f"step {len(chain) + 1}, {wanted.text}: {how} {len(chain)} by a clock that can be compared", [
        *chain,
        there[0],
    ]


def _begun(chain: list[Fact], steps: Sequence[Sequence[Fact]]) -> list[Fact]:
    for step in steps:
        following = [
            (gap, at)
            for at, fact in enumerate(step)
            if (gap := lag(chain[-1], fact)) is not None and fact is not chain[-1]
        ]
        if not following:
            return chain
        chain = [*chain, step[min(following)[1]]]
    return chain


def _came_or_uncovered(condition: cond.Absent, scene: Scene, around: Surroundings) -> tuple[str, Sequence[Fact]]:
    """Why an absence is not proven: nothing it could follow, the record came, or the source ends too early."""
    beginnings = scene.answers(condition.after)
    if not beginnings:
        said, facts = _no_record(condition.after, around)
        return f"{condition.after.text}: {said}", facts
    for begin in beginnings:
        source = scene.sources.get(begin.source)
        came = [(gap, other) for other in scene.answers(condition.query) if (gap := lag(begin, other)) is not None]
        if any(gap <= condition.within_ns for gap, _ in came):
            continue
        if (
            begin.instant is None
            or source is None
            or source.last is None
            or source.last.clock is not begin.instant.clock
        ):
            return "not proven: the source does not tell until when it was written", (begin,)
        left = source.last.ns - begin.instant.ns
        if left < condition.within_ns:
            return f"not proven: the source ends {format_duration(left)} after it", (begin,)
        return "not proven: the source lost records meanwhile", (begin,)
    gap, begin, other = min(_arrivals(beginnings, scene.answers(condition.query)), key=lambda arrival: arrival[0])
    return f"{condition.query.text} came {format_duration(gap)} after it", (begin, other)


def _arrivals(beginnings: Iterable[Fact], others: Sequence[Fact]) -> Iterator[tuple[int, Fact, Fact]]:
    for begin in beginnings:
        for other in others:
            gap = lag(begin, other)
            if gap is not None:
                yield gap, begin, other


def _no_finding(places: Sequence[Place], *, elsewhere: bool) -> str:
    if not places:
        return "it does not fire anywhere"
    told = [", ".join(f"{name} {value}" for name, value in place.known().items()) or "the job" for place in places]
    more = f" and {len(told) - _NAMED:,} more" if len(told) > _NAMED else ""
    return f"it fires at {'; '.join(told[:_NAMED])}{more}: {'at no other place' if elsewhere else 'not at this place'}"


def _named(values: Iterable[int | str]) -> str:
    ordered = sorted(values, key=lambda value: (isinstance(value, str), value))
    if not ordered:
        return "none"
    more = f" and {len(ordered) - _NAMED:,} more" if len(ordered) > _NAMED else ""
    return ", ".join(map(str, ordered[:_NAMED])) + more
