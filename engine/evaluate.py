"""What conditions mean: a pure function from a condition and the facts of one place to a proof tree."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct, field

from neuron_doctor.engine import conditions as cond
from neuron_doctor.engine.durations import format_duration
from neuron_doctor.engine.expressions import RecordQuery, field_of, kleene
from neuron_doctor.engine.facts import Fact, Source, Value
from neuron_doctor.engine.moments import Moment, difference_ns
from neuron_doctor.engine.verdict import Proof


class Scene(Struct, frozen=True):
    """What a condition is evaluated on: the facts visible at one place by the queries that they answer, the sources that
    cover the job, the known ranks, hosts and devices, the findings of other rules that are there, and the names of records
    that were not looked for in all sources of the place."""

    facts: Mapping[RecordQuery, Sequence[Fact]]
    sources: Mapping[str, Source] = field(default_factory=dict)
    known: Mapping[str, Sequence[int | str]] = field(default_factory=dict)
    findings: frozenset[cond.FindingRef] = frozenset()
    unsearched: frozenset[str] = frozenset()

    def answers(self, query: RecordQuery) -> Sequence[Fact]:
        """The facts that answer a query for sure."""
        return self.facts.get(query, ())

    def decided(self, held: bool, *queries: RecordQuery) -> bool | None:
        """What holds, holds; that something does not hold is known only where all records of it were looked for."""
        return held or (None if any(query.name in self.unsearched for query in queries) else False)


def evaluate(condition: cond.Condition, scene: Scene) -> Proof:  # noqa: PLR0911 - one for each sort of condition
    """The proof that the condition holds, does not hold, or cannot be decided."""
    match condition:
        case cond.Record(query=query):
            facts = scene.answers(query)
            return Proof(f"record {query.text}", scene.decided(bool(facts), query), tuple(facts))
        case cond.Combination():
            return _combination(condition, scene)
        case cond.Count():
            return _count(condition, scene)
        case cond.Sequence():
            return _sequence(condition, scene)
        case cond.Absent():
            return _absent(condition, scene)
        case cond.Over():
            return _over(condition, scene)
        case cond.FindingRef(rule=rule, elsewhere=elsewhere):
            return Proof(f"finding {rule}{' elsewhere' * elsewhere}", condition in scene.findings)


def _combination(condition: cond.Combination, scene: Scene) -> Proof:
    children = tuple(evaluate(part, scene) for part in condition.parts)
    values = [child.held for child in children]
    if condition.op == "at-least":
        sure, maybe = values.count(True), values.count(None)
        held = True if sure >= condition.n else (None if sure + maybe >= condition.n else False)
        return Proof(f"at-least {condition.n}", held, children=children)
    if condition.op == "none":
        return Proof("none", kleene("not", [kleene("or", values)]), children=children)
    return Proof(condition.op, kleene("and" if condition.op == "all" else "or", values), children=children)


def _count(condition: cond.Count, scene: Scene) -> Proof:
    facts = scene.answers(condition.query)
    best, weight = heaviest(facts, condition)
    within = f" within {format_duration(condition.within_ns)}" if condition.within_ns else ""
    what = f"distinct {condition.distinct} of " if condition.distinct else ""
    op = f"count {what}{condition.query.text} >= {condition.at_least}{within}"
    return Proof(op, scene.decided(weight >= condition.at_least, condition.query), tuple(best))


def heaviest(facts: Sequence[Fact], condition: cond.Count) -> tuple[Sequence[Fact], int]:
    """The facts of the window that counts most, and its count; without a window, all of them. Linear in the facts."""
    if condition.within_ns is None:
        return facts, Tally(condition.distinct).add(*facts)
    best: Sequence[Fact] = []
    most = 0
    for timed in by_clock(facts):
        tally, start, span = Tally(condition.distinct), 0, slice(0)
        for end, (at, fact) in enumerate(timed):
            tally.add(fact)
            while at - timed[start][0] > condition.within_ns:
                tally.remove(timed[start][1])
                start += 1
            if tally.weight > most:
                most, span = tally.weight, slice(start, end + 1)
        best = [fact for _, fact in timed[span]] or best
    return best, most


class Tally:
    """Counts the records of facts as they come and go, or the distinct values of a field."""

    def __init__(self, distinct: str | None) -> None:
        self._distinct = distinct
        self._values: Counter[object] = Counter()
        self._records = 0

    @property
    def weight(self) -> int:
        """How many there are now."""
        return len(self._values) if self._distinct else self._records

    def add(self, *facts: Fact) -> int:
        """These come; how many there are then."""
        for fact in facts:
            self._records += 1 + fact.repeats
            if self._distinct and (value := field_of(fact, self._distinct)) is not None:
                self._values[value] += 1
        return self.weight

    def remove(self, fact: Fact) -> None:
        """This one goes."""
        self._records -= 1 + fact.repeats
        if self._distinct and (value := field_of(fact, self._distinct)) is not None:
            self._values[value] -= 1
            if not self._values[value]:
                del self._values[value]


def by_clock(facts: Iterable[Fact]) -> list[list[tuple[int, Fact]]]:
    """The facts that have a time, apart by host and clock, in the order of their times."""
    apart: dict[tuple[object, object], list[tuple[int, Fact]]] = {}
    for fact in facts:
        if fact.instant:
            apart.setdefault((fact.place.host, fact.instant.clock), []).append((fact.instant.ns, fact))
    return [
        sorted(timed, key=lambda pair: (pair[0], pair[1].span.path, pair[1].span.offset)) for timed in apart.values()
    ]


def lag(earlier: Fact, later: Fact) -> int | None:
    """How long after `earlier` the other is, in nanoseconds; 0 for a later record of the same source without times;
    None where it is earlier or not comparable."""
    if earlier.instant and later.instant:
        gap = difference_ns(Moment(earlier.instant, earlier.place.host), Moment(later.instant, later.place.host))
        if (
            gap is None
            or gap < 0
            or (gap == 0 and earlier.source == later.source and later.span.offset < earlier.span.offset)
        ):
            return None
        return gap
    return 0 if earlier.source == later.source and later.span.offset > earlier.span.offset else None


def _sequence(condition: cond.Sequence, scene: Scene) -> Proof:
    steps = [scene.answers(step) for step in condition.steps]
    names = " then ".join(step.text for step in condition.steps)
    op = f"sequence {names} within {format_duration(condition.within_ns)}"
    for first in steps[0]:
        chain = _chain(first, steps[1:], condition.within_ns)
        if chain:
            return Proof(op, held=True, facts=tuple(chain))
    held = scene.decided(False, *condition.steps)
    return Proof(op, held=held, facts=tuple(fact for step in steps[:1] for fact in step[:1]))


def _chain(first: Fact, steps: Sequence[Sequence[Fact]], within_ns: int) -> list[Fact] | None:
    """The earliest record of each step after the one before it, all within the window that opens with the first."""
    chain = [first]
    for step in steps:
        following = [
            (gap, fact) for fact in step if fact is not chain[-1] and (gap := lag(chain[-1], fact)) is not None
        ]
        if not following:
            return None
        _, nearest = min(following, key=lambda pair: (pair[0], pair[1].span.path, pair[1].span.offset))
        total = lag(first, nearest)
        if total is None or total > within_ns:
            return None
        chain.append(nearest)
    return chain


def _absent(condition: cond.Absent, scene: Scene) -> Proof:
    op = f"no {condition.query.text} for {format_duration(condition.within_ns)} after {condition.after.text}"
    others = scene.answers(condition.query)
    undecided: list[Fact] = []
    for fact in scene.answers(condition.after):
        if any((gap := lag(fact, other)) is not None and gap <= condition.within_ns for other in others):
            continue
        if condition.query.name not in scene.unsearched and _covered(fact, condition.within_ns, scene):
            return Proof(op, held=True, facts=(fact,))
        undecided.append(fact)
    return Proof(op, None if undecided else scene.decided(False, condition.after), tuple(undecided))


def _covered(fact: Fact, within_ns: int, scene: Scene) -> bool:
    """Whether the fact's own source goes on for so long after it, without a gap."""
    source = scene.sources.get(fact.source)
    if source is None or source.last is None or fact.instant is None or source.last.clock is not fact.instant.clock:
        return False
    end = fact.instant.ns + within_ns
    broken = any(gap.start.ns < end and gap.end.ns > fact.instant.ns for gap in source.gaps)
    return source.last.ns >= end and not broken


#: quantifier -> (number that have it, number that have it not) -> which of the two are singled out: 1 have, 0 have not
_QUANTIFIERS: Mapping[str, Callable[[int, int], int | None]] = {
    "all": lambda have, lack: 1 if have and not lack else None,
    "any": lambda have, _lack: 1 if have else None,
    "none": lambda have, lack: 0 if lack and not have else None,
    "odd-one-out": lambda have, lack: 1 if have == 1 and lack > 1 else (0 if lack == 1 and have > 1 else None),
    "all-but-few": lambda have, lack: 0 if have > 1 and 0 < lack <= max(1, (have + lack) // 4) else None,
}
#: These say nothing of ranks that have it not: they hold whatever was overlooked.
_OF_THOSE_THAT_HAVE = frozenset({"all", "any"})


def _over(condition: cond.Over, scene: Scene) -> Proof:
    facts = scene.answers(condition.have)
    having, lacking = sides(condition, scene)
    side = _QUANTIFIERS[condition.quantifier](len(having), len(lacking))
    alike = f" with one {condition.alike}" if condition.alike else ""
    op = f"{condition.quantifier} {condition.each} has {condition.have.text}{alike}"
    sure = bool(side) and condition.quantifier in _OF_THOSE_THAT_HAVE and not condition.alike
    if condition.have.name in scene.unsearched and not sure:
        return Proof(op, held=None, facts=tuple(facts))
    if side is None:
        return Proof(op, held=False, facts=tuple(facts))
    subjects = tuple(sorted(having if side else lacking))
    return Proof(op, held=True, facts=tuple(facts), subjects=subjects)


def sides(condition: cond.Over, scene: Scene) -> tuple[set[int | str], set[int | str]]:
    """Which ranks (hosts, devices) have the record, and which of the known ones have it not."""
    facts = scene.answers(condition.have)
    if condition.alike:
        return _alike(facts, condition.each, condition.alike)
    having: set[int | str] = {value for fact in facts if (value := getattr(fact.place, condition.each)) is not None}
    return having, set(scene.known.get(condition.each, ())) - having


def _alike(facts: Iterable[Fact], each: str, name: str) -> tuple[set[int | str], set[int | str]]:
    """Who has the value of the field that most have, and who has only others; nobody, where two values are as common."""
    values: dict[int | str, set[Value]] = defaultdict(set)
    for fact in facts:
        subject, value = getattr(fact.place, each), field_of(fact, name)
        if subject is not None and value is not None:
            values[subject].add(value)
    most = Counter(value for some in values.values() for value in some).most_common(2)
    if not most or (len(most) > 1 and most[0][1] == most[1][1]):
        return set(), set()
    having = {subject for subject, some in values.items() if most[0][0] in some}
    return having, set(values) - having
