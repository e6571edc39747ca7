"""That a job stands still without an error, and where: its log goes on without a step, the stacks of its processes show what all
are in, and services turn it away.

A log alone proves little: a program may save, evaluate or end for as long. So rules ask for more than one of these.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from msgspec.structs import replace

from neuron_doctor.engine.facts import NOWHERE, Clock, Fact, Source, Value, ranks_of
from neuron_doctor.engine.match import canonical

#: A kind of clock, and the host whose it is (none for UTC, which is that of all).
_Clock = tuple[Clock | None, str | None]
#: Shorter than this is no standstill (s): checkpoints, evaluations and compilations take minutes.
_LEAST_S = 300
_SECOND_NS = 10**9
#: A log that goes on for so long after a timer ran out, or a step that is so much later, shows that the process got on: the
#: line of a timer has the time of the one above it.
_AFTER_TIMER_NS = 60 * _SECOND_NS
_CORES = "neuroncore_utilization"
#: Who stands here waits for its peers, will get on by itself, or is told apart elsewhere; where the others stand, nothing of
#: the job can help them.
_HELD_BY_PEERS = frozenset({"collective", "compiler", "debugger"})
_OUTSIDE = ("data loader", "storage", "store", "lock")
#: So many stacks at least must be known, and this share of them must tell.
_FEWEST, _SHARE = 2, 0.75


def stacks_outside(facts: Sequence[Fact]) -> Iterator[Fact]:
    """The `stacks` fact, where the stacks of the job show that nobody waits for a peer in a collective."""
    told: dict[tuple[object, ...], set[str]] = defaultdict(set)
    shown: list[Fact] = []
    for fact in facts:
        place = fact.place
        if fact.kind == "stack" and (place.rank is not None or place.pid is not None):
            process = (place.rank,) if place.rank is not None else (place.host, place.pid)
            told[process].add(str(fact.data["stands"]))
            shown.append(fact)
    where = Counter(stands for found in told.values() for stands in _OUTSIDE if stands in found)
    outside = sum(not found.isdisjoint(_OUTSIDE) for found in told.values())
    held = any(not found.isdisjoint(_HELD_BY_PEERS) for found in told.values())
    if len(told) < _FEWEST or held or outside < _SHARE * len(told):
        return
    most = max(_OUTSIDE, key=lambda stands: where[stands])
    alike = all(most in found for found in told.values())
    first = min((fact for fact in shown if fact.data["stands"] == most), key=canonical)
    listed = ", ".join(f"{where[stands]} in a {stands}" for stands in _OUTSIDE if where[stands])
    yield replace(
        first,
        kind="stacks",
        place=NOWHERE,
        repeats=0,
        data={
            "known": len(told),
            "outside": outside,
            "stands": most,
            "whole": alike and _are_all({rank for rank, *other in told if not other}, facts),
            "description": f"of {len(told)} processes whose stacks are here none stands in a collective: {listed}",
        },
    )


def _are_all(ranks: Set[object], facts: Iterable[Fact]) -> bool:
    """Whether these are all ranks of the job, by the size of the world that is told and the ranks that anything names."""
    sizes = {fact.data["size"] for fact in facts if fact.kind == "world"}
    named = {rank for fact in facts for rank in ranks_of(fact.place)}
    return sizes == {len(ranks)} and named <= ranks


def refusals(facts: Iterable[Fact]) -> Iterator[Fact]:
    """The `refusals` facts: for each service, how many it turned away, and how often. It is at none of their places."""
    by_service: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.kind == "refusal":
            by_service[str(fact.data["service"])].append(fact)
    for service, found in sorted(by_service.items()):
        ranks, hosts = ({name for fact in found if (name := named(fact)) is not None} for named in (_rank, _host))
        times = sum(1 + fact.repeats for fact in found)
        told = f"it turned requests away {times} times, of {len(ranks)} ranks on {len(hosts)} hosts, as far as these are known"
        data = {"service": service, "times": times, "ranks": len(ranks), "hosts": len(hosts), "description": told}
        yield replace(min(found, key=canonical), kind="refusals", place=NOWHERE, repeats=0, data=data)


def _rank(fact: Fact) -> int | None:
    return fact.place.rank


def _host(fact: Fact) -> str | None:
    return fact.place.host


def standstills(facts: Sequence[Fact], sources: Iterable[Source]) -> Iterator[Fact]:
    """The `standstill` facts, at no place: where programs say so, where monitors show idle cores only, and where a log goes on
    for long after its last step. None where any program tells of a later step, or that all is done."""
    if any(fact.kind == "completion" for fact in facts):
        return
    logs = {source.id: source for source in sources if source.kind == "log"}
    steps = last_steps(facts, logs)
    latest: dict[_Clock, int] = {}
    for step in steps.values():
        latest[clock_of(step)] = max(ns_of(step), latest.get(clock_of(step), ns_of(step)))
    words = [fact for fact in facts if fact.kind == "no-step" and not _went_on(fact, steps, latest)]
    if words:
        longest = max(sorted(words, key=canonical), key=_waited_s)
        yield _standstill(
            longest, _waited_s(longest), "words", f"a program says so, after {_waited_s(longest)} seconds"
        )
    yield from _by_timer(facts, steps, latest, logs)
    if steps:
        yield from _idle(facts)
    silent = [
        (seconds, step) for step in steps.values() if (seconds := _without_step_s(step, latest, logs)) >= _LEAST_S
    ]
    for seconds, step in sorted(silent, key=lambda one: (-one[0], canonical(one[1])))[:1]:
        told = f"a log goes on for {seconds // 60} minutes after the last step that it tells of"
        yield _standstill(step, seconds, "log", told)


def _by_timer(
    facts: Sequence[Fact], steps: Mapping[str, Fact], latest: Mapping[_Clock, int], logs: Mapping[str, Source]
) -> Iterator[Fact]:
    """What timers say that print stacks when no step was made for so long: one may also have been set once, at the start. So each
    log that has any must end with one, and no step be later."""
    last: dict[str, Fact] = {}
    for fact in facts:
        if fact.kind == "stack-timer" and fact.source in logs:
            last[fact.source] = max(last.get(fact.source, fact), fact, key=lambda one: one.span.offset)
    if not last or not all(_ends_with(timer, steps, latest, logs[timer.source]) for timer in last.values()):
        return
    shortest = min(sorted(last.values(), key=canonical), key=_set_to_s)
    if (seconds := _set_to_s(shortest)) >= _LEAST_S:
        told = f"a timer ran out that was set to {seconds // 60} minutes, and no log that has one goes on after it"
        yield _standstill(shortest, seconds, "timer", told)


def _ends_with(timer: Fact, steps: Mapping[str, Fact], latest: Mapping[_Clock, int], log: Source) -> bool:
    """Whether a log ends with the stacks that a timer printed, and nobody made a step after it, as far as the clocks tell."""
    own = steps.get(timer.source)
    if timer.instant is None or log.last is None or (own is not None and own.span.offset > timer.span.offset):
        return False
    at = timer.instant.ns
    lasts = log.last.clock is not timer.instant.clock or log.last.ns - at > _AFTER_TIMER_NS
    return not lasts and latest.get(clock_of(timer), at) - at <= _AFTER_TIMER_NS


def _set_to_s(timer: Fact) -> int:
    hours, minutes, seconds = (int(str(timer.data[name])) for name in ("hours", "minutes", "seconds"))
    return 3600 * hours + 60 * minutes + seconds


def said_ns(facts: Sequence[Fact], sources: Iterable[Source]) -> int:
    """For how long a program says that the job stands still, in nanoseconds; 0 where none does, or a step came later."""
    if all(fact.kind != "no-step" for fact in facts):
        return 0
    said = (fact for fact in standstills(facts, sources) if fact.data["told_by"] == "words")
    return max((int(str(fact.data["seconds"])) * 10**9 for fact in said), default=0)


def _idle(facts: Iterable[Fact]) -> Iterator[Fact]:
    """What monitors say, where all cores of all processes that they show have been idle to the end."""
    cores = [f for f in facts if f.kind == "level" and f.place.pid is not None and f.data["name"] == _CORES]
    if not cores or any(fact.data["last"] != 0 or fact.data["max"] == 0 for fact in cores):
        return
    shortest = min(sorted(cores, key=canonical), key=_idle_s)
    if (seconds := _idle_s(shortest)) >= _LEAST_S:
        told = f"for {seconds // 60} minutes all cores have been idle, while the processes that hold them lived on"
        yield _standstill(shortest, seconds, "monitor", told)


def _idle_s(fact: Fact) -> int:
    return int(float(str(fact.data["held"])) * float(str(fact.data.get("period_s", 0))))


def _standstill(fact: Fact, seconds: int, told_by: str, description: str) -> Fact:
    data: dict[str, Value] = {"seconds": seconds, "told_by": told_by, "description": description}
    return replace(fact, kind="standstill", place=NOWHERE, repeats=0, data=data)


def _waited_s(fact: Fact) -> int:
    minutes = int(str(fact.data.get("waited_min", 0)))
    return int(str(fact.data.get("waited_s", 60 * minutes)))


def _went_on(fact: Fact, steps: Mapping[str, Fact], latest: Mapping[_Clock, int]) -> bool:
    """Whether a step is told of after this."""
    own = steps.get(fact.source)
    below = own is not None and own.span.offset > fact.span.offset
    return below or (fact.instant is not None and latest.get(clock_of(fact), fact.instant.ns) > fact.instant.ns)


def _without_step_s(step: Fact, latest: Mapping[_Clock, int], logs: Mapping[str, Source]) -> int:
    """How long the log of a last step goes on after it, and all later ones of other logs; 0 where its clock does not tell."""
    last = logs[step.source].last
    if last is None or step.instant is None or last.clock is not step.instant.clock:
        return 0
    return (last.ns - latest[clock_of(step)]) // _SECOND_NS


def last_steps(facts: Iterable[Fact], logs: Mapping[str, Source]) -> dict[str, Fact]:
    """The last step of each log; none where any of the program's answers are requests, which may just not come."""
    steps: dict[str, Fact] = {}
    for fact in facts:
        if fact.kind == "progress" and fact.source in logs and fact.instant:
            if fact.data.get("served"):
                return {}
            if fact.source not in steps or ns_of(steps[fact.source]) <= fact.instant.ns:
                steps[fact.source] = fact
    return steps


def ns_of(fact: Fact) -> int:
    """When it was, in nanoseconds of its clock; 0 where it has no time."""
    return fact.instant.ns if fact.instant else 0


def clock_of(fact: Fact) -> _Clock:
    """The clock that gave the time of a fact: one of all hosts in UTC, else that of its host."""
    clock = fact.instant.clock if fact.instant else None
    return clock, None if clock is Clock.UTC else fact.place.host
