"""What conditions mean: a pure function from a condition and the facts of one place to a proof tree."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct, field

from neuron_doctor.engine import conditions as cond
from neuron_doctor.engine.durations import format_duration
from neuron_doctor.engine.expressions import RecordQuery, field_of, kleene
from neuron_doctor.engine.facts import Clock, Fact, Instant, Source, Value
from neuron_doctor.engine.measures import measured
from neuron_doctor.engine.moments import Moment, difference_ns
from neuron_doctor.engine.verdict import Proof

#: What each host counts for itself.
_OF_EACH_HOST = frozenset({"pid", "device", "core"})


class Scene(Struct, frozen=True):
    """What a condition is evaluated on: the facts visible at one place by the queries that they answer, the sources that
    cover the job, the known ranks, hosts and devices, the findings of other rules that are there, the names of records that
    were not looked for in all sources of the place, and the ranks of each process group."""

    facts: Mapping[RecordQuery, Sequence[Fact]]
    sources: Mapping[str, Source] = field(default_factory=dict)
    known: Mapping[str, Sequence[int | str]] = field(default_factory=dict)
    findings: frozenset[cond.FindingRef] = frozenset()
    unsearched: frozenset[str] = frozenset()
    groups: Sequence[frozenset[int]] = ()

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
        case cond.Measure():
            return _measure(condition, scene)
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


def _measure(condition: cond.Measure, scene: Scene) -> Proof:
    limit = f">= {condition.at_least:g}" if condition.at_least is not None else f"<= {condition.at_most:g}"
    per = f" per {format_duration(condition.per_ns)}" if condition.per_ns else ""
    within = f" within {format_duration(condition.within_ns)}" if condition.within_ns else ""
    op = f"{condition.take} of {condition.field} of {condition.query.text} {limit}{per}{within}"
    best, facts = extreme(condition, scene)
    held = best is not None and _within_limits(condition, best)
    return Proof(op, scene.decided(held, condition.query), tuple(facts))


def extreme(condition: cond.Measure, scene: Scene) -> tuple[float | None, Sequence[Fact]]:
    """The largest value that any window has (the smallest, where `at_most` is asked for) and the records of that window; None
    where there is none."""
    known = [fact for fact in scene.answers(condition.query) if _number(fact, condition.field) is not None]
    series = by_clock(known) if condition.within_ns is not None else [[(0, fact) for fact in known]]
    best: float | None = None
    found: Sequence[Fact] = ()
    for timed in series:
        samples = [(at, fact, _number(fact, condition.field) or 0) for at, fact in timed]
        for value, window in measured(samples, condition.take, condition.within_ns, condition.per_ns or 1):
            if best is None or (value < best if condition.at_least is None else value > best):
                best, found = value, [fact for _, fact in timed[window]]
    return best, found


def _number(fact: Fact, name: str) -> float | None:
    value = field_of(fact, name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _within_limits(condition: cond.Measure, value: float) -> bool:
    return (condition.at_least is None or value >= condition.at_least) and (
        condition.at_most is None or value <= condition.at_most
    )


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
    below = earlier.source == later.source and later.span.offset > earlier.span.offset
    if not (earlier.instant and later.instant):
        return 0 if below else None
    gap = difference_ns(Moment(earlier.instant, earlier.place.host), Moment(later.instant, later.place.host))
    if gap is None and below:
        gap = _by_lines_ns(earlier.instant, later.instant, earlier.place.host, later.place.host)
    above = earlier.source == later.source and later.span.offset < earlier.span.offset
    return None if gap is None or gap < 0 or (gap == 0 and above) else gap


def _by_lines_ns(above: Instant, below: Instant, host: str | None, other: str | None) -> int | None:
    """How long after another record of its source one is that stands below it, with a time that is not comparable as it is: a
    launcher tells of several hosts in one file, by its own wall clock; and in the file of one host two clocks may take turns."""
    if above.clock is below.clock and above.clock not in (Clock.BOOT, Clock.MONOTONIC):
        return below.ns - above.ns
    return 0 if host is None or other is None or host == other else None


def _sequence(condition: cond.Sequence, scene: Scene) -> Proof:
    steps = [scene.answers(step) for step in condition.steps]
    names = " then ".join(step.text for step in condition.steps)
    by = f" by {condition.by}" if condition.by else ""
    until = f" until {condition.until.text}" if condition.until else ""
    op = f"sequence {names}{by} within {format_duration(condition.within_ns)}{until}"
    for first in steps[0]:
        chain = _chain(first, _alike_in(condition.by, first, steps[1:]), condition.within_ns)
        if chain and not _is_cut(chain, scene.answers(condition.until) if condition.until else ()):
            unsure = condition.until is not None and condition.until.name in scene.unsearched
            return Proof(op, held=None if unsure else True, facts=tuple(chain))
    held = scene.decided(False, *condition.steps)
    return Proof(op, held=held, facts=tuple(fact for step in steps[:1] for fact in step[:1]))


def _alike_in(name: str | None, first: Fact, steps: Sequence[Sequence[Fact]]) -> Sequence[Sequence[Fact]]:
    """Of each step the records with the first one's value of a field; none, where that is not known. What each host counts for
    itself is the same on one host only."""
    if name is None:
        return steps
    value = field_of(first, name)
    return [
        [fact for fact in step if value is not None and field_of(fact, name) == value and _may_share(name, first, fact)]
        for step in steps
    ]


def _may_share(name: str, one: Fact, other: Fact) -> bool:
    known = one.place.host is not None and other.place.host is not None
    return name not in _OF_EACH_HOST or not known or one.place.host == other.place.host


def _is_cut(chain: Sequence[Fact], ends: Iterable[Fact]) -> bool:
    """Whether a record that ends the sequence lies between its first and its last one."""
    return any(lag(chain[0], end) is not None and lag(end, chain[-1]) is not None for end in ends if end not in chain)


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


#: quantifier -> (number that have it, number that have it not, number asked for) -> which of the two are singled out: 1 those
#: that have it, 0 those that have it not
_QUANTIFIERS: Mapping[str, Callable[[int, int, int], int | None]] = {
    "all": lambda have, lack, _: 1 if have and not lack else None,
    "any": lambda have, _lack, _: 1 if have else None,
    "none": lambda have, lack, _: 0 if lack and not have else None,
    "exactly": lambda have, _lack, number: 1 if have == number else None,
    "all-but": lambda have, lack, number: 0 if have and lack == number else None,
    "majority": lambda have, lack, _: 1 if have > lack else None,
    "odd-one-out": lambda have, lack, _: 1 if have == 1 and lack > 1 else (0 if lack == 1 and have > 1 else None),
    "all-but-few": lambda have, lack, _: 0 if have > 1 and 0 < lack <= max(1, (have + lack) // 4) else None,
}
#: These say nothing of ranks that have it not: they hold whatever was overlooked.
_OF_THOSE_THAT_HAVE = frozenset({"all", "any"})


def _over(condition: cond.Over, scene: Scene) -> Proof:
    facts = tuple(scene.answers(condition.have))
    alike = f" with one {condition.alike}" if condition.alike else ""
    alike += f" among those with {condition.among.text}" if condition.among else ""
    number = f" {condition.number}" if condition.number else ""
    op = f"{condition.quantifier}{number} {condition.each} has {condition.have.text}{alike}"
    singled: set[int | str] = set()
    for having, lacking in sides(condition, scene):
        side = _QUANTIFIERS[condition.quantifier](len(having), len(lacking), condition.number)
        singled |= set() if side is None else having if side else lacking
    sure = bool(singled) and condition.quantifier in _OF_THOSE_THAT_HAVE and not condition.alike
    if not sure and any(query.name in scene.unsearched for query in cond.queries(condition)):
        return Proof(op, held=None, facts=facts)
    return Proof(op, held=bool(singled), facts=facts, subjects=tuple(sorted(singled)))


#: Who has the record, and who of those that are known has it not.
Sides = tuple[set[int | str], set[int | str]]


def sides(condition: cond.Over, scene: Scene) -> list[Sides]:
    """The two sides of a quantifier: of the known ranks (hosts, devices), or of the peers of each process group."""
    facts = scene.answers(condition.have)
    if condition.alike:
        return [_alike(facts, condition.each, condition.alike)]
    if condition.each == "peer":
        ranks = _having(facts, "rank")
        known = set(scene.known.get("rank", ()))
        return [(ranks & members, (known & members) - ranks) for members in map(set, scene.groups)]
    having = _having(facts, condition.each)
    if condition.among:
        return [(having, _having(scene.answers(condition.among), condition.each) - having)]
    return [(having, set(scene.known.get(condition.each, ())) - having)]


def _having(facts: Iterable[Fact], each: str) -> set[int | str]:
    return {value for fact in facts if (value := getattr(fact.place, each)) is not None}


def _alike(facts: Iterable[Fact], each: str, name: str) -> Sides:
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
