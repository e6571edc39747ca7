"""Takes back that a collective stalls, that a rank's device never came to it, or that someone waits at all, where dumps
and traces may be of a job that moves: somebody asked for them, nobody gave up.

A dump does not say why, or when, it was written, and a trace just ends. All ranks inside one collective, or all but one
that still computes, is what every job looks like now and then. A hang is proven by anybody who gave up, or by time that
passed with the collective still the last thing issued. Of a job that moves, who comes last again and again still holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.elapsed import unmoved_ns
from neuron_doctor.engine.facts import DATED, Clock, Fact, Instant, Place, Source
from neuron_doctor.engine.idleness import idle_ns
from neuron_doctor.engine.job_logs import job_logs
from neuron_doctor.engine.last_words import last_words
from neuron_doctor.engine.recorder import RECEIVE, SEND, named_ranks, told_of_collective
from neuron_doctor.engine.standstill import said_ns
from neuron_doctor.engine.zones import STEP_NS, zones_between

#: What is collected beside dumps of a hang goes on so long after the last operation was issued.
_LONG_NS = 60 * 10**9
#: So long after the last operation of dumps between which a job went on, it goes on: hosts that keep their time differ by less.
_SOON_NS = 2 * 10**9
#: Logs begin so much after the first operation, or clocks of hosts differ so much.
_SLACK_NS = 10 * 10**9
#: No collective, and no step of training, takes so long; it is the default time-out of process groups.
_LONGEST_NS = 600 * 10**9
#: Facts that only somebody states who gave up, or for whom a worker ended.
_GAVE_UP = frozenset({"hang-report", "launcher-failure", "status"})

#: What the dumps of a job that moves may look like as well; and those of one that moves and waits for a straggler.
_PASSING = frozenset({"transport-stall", "device-stuck", "undecided", "outside", "partial-completion"})
_OPEN = _PASSING | {"moving", "healthy", "rank-missing", "p2p-missing"}
#: The event of a trace that is open while a core executes.
_EXECUTION = "nc_exec"

_CUT = "executions are open at the end of the trace"


def questioned(collectives: Sequence[Fact], facts: Sequence[Fact], sources: Iterable[Source]) -> Iterator[Fact]:
    """The `collective` facts; where the job may move, those that look so then as well prove nothing, or are a straggler's."""
    sources = tuple(sources)
    recorded = [fact for fact in collectives if fact.data.get("witness") == "recorder"]
    in_question = recorded or any(fact.kind == "ndet-event" for fact in facts)
    stands = in_question and (_is_hang(facts) or _stood_ns(facts, sources) >= _LONGEST_NS)
    if recorded and not stands and _moved_between_rounds(facts):
        yield from (_between_rounds(fact) if fact.data.get("witness") == "recorder" else fact for fact in collectives)
        return
    if not in_question or stands or not _is_logged(facts, sources):
        yield from _standing(collectives, recorded, facts, sources)
        return
    slow, done = _slow(recorded, facts), _is_done(facts, sources)
    went_on = _ranks_that_went_on(facts, sources, done=done)
    soon = went_on
    if any(map(_is_scattered, recorded)):
        soon = _ranks_that_went_on(facts, sources, done=done, least_ns=_SOON_NS)
    yield from (fact for fact in collectives if fact.data.get("witness") != "recorder")
    for fact in recorded:
        if not (slow and fact.data["verdict"] in _OPEN):
            yield _over(fact, soon if _is_scattered(fact) else went_on) or _passing(fact, done=done)
    yield from slow
    yield from _cut(facts)


def _standing(
    collectives: Sequence[Fact], recorded: Sequence[Fact], facts: Sequence[Fact], sources: Sequence[Source]
) -> Iterator[Fact]:
    """The facts as they are; but where nothing beside dumps shows that the job stands, and nobody is waited for, who came last
    again and again is what they prove."""
    quiet = not _is_logged(facts, sources) and not _is_hang(facts) and not any(map(_waited_for, recorded))
    slow = (
        _slow(recorded, facts) if quiet and {fact.data["verdict"] for fact in recorded} == {"transport-stall"} else []
    )
    yield from slow or collectives


def _stood_ns(facts: Sequence[Fact], sources: Sequence[Source]) -> int:
    """For how long nothing moved, by clocks, by what monitors show of the cores, or by what one that looks after it says."""
    return max(unmoved_ns(facts, sources), idle_ns(facts), said_ns(facts, sources))


def _moved_between_rounds(facts: Sequence[Fact]) -> bool:
    from neuron_doctor.engine.dump_rounds import moved_between_rounds  # noqa: PLC0415 - only where there are dumps

    return moved_between_rounds(facts)


def _between_rounds(fact: Fact) -> Fact:
    """What the last of several rounds of dumps shows, as a moment of a job that went on since the one before."""
    if fact.data["verdict"] not in _OPEN - {"healthy"}:
        return fact
    told = f"{fact.data['description']}; but each rank issued and completed operations since the dumps before: the job moved"
    return _with_verdict(replace(fact, data={**fact.data, "description": told}), "moving")


def _is_logged(facts: Sequence[Fact], sources: Sequence[Source]) -> bool:
    """Whether logs of the job were collected. A text without a time of which no more is known than that a pattern matches
    may be a stack that somebody took because of a hang."""
    telling = {fact.source for fact in facts if fact.kind not in {"hit", "stack"}}
    return any(s.first is not None or s.id in telling for s in job_logs(sources, facts))


def _is_done(facts: Sequence[Fact], sources: Sequence[Source]) -> bool:
    """Whether every log that tells of the run says that the work is done, and shows no step after that."""
    logs = {source.id for source in job_logs(sources, facts)}
    last = last_words(fact for fact in facts if fact.source in logs)
    return bool(last) and all(fact.kind == "completion" for fact in last.values())


def _passing(fact: Fact, *, done: bool) -> Fact:
    culprits, missing = fact.data["culprits"], fact.data["missing_dumps"]
    known = isinstance(culprits, tuple) and isinstance(missing, tuple) and bool(set(culprits) - set(missing))
    waits_for_unknown = fact.data.get("verdict") == "rank-missing" and not known
    if fact.data.get("verdict") not in _PASSING and not waits_for_unknown:
        return fact
    # where nobody waits, or all came to an end, it is no question
    over = fact.data["verdict"] == "outside" or (done and not waits_for_unknown)
    return _with_verdict(fact, "moving" if over else "unproven")


def _is_scattered(fact: Fact) -> bool:
    """Whether the dumps show themselves that the job moved while they were written: only of the last of them is it open whether
    it did so afterwards, and any step that cannot have been made ahead of it shows that."""
    return fact.data.get("scattered") is True


def _over(fact: Fact, went_on: frozenset[int]) -> Fact | None:
    """The same as something that passed, where ranks went on that take part in it. Of one that others wait for that is no
    sign: it may evaluate alone while they wait."""
    members, waiting = fact.data.get("members"), fact.data.get("waiting")
    taking_part = members or (waiting if fact.data["verdict"] != "straggler" else ())
    ranks = sorted(went_on.intersection(taking_part)) if isinstance(taking_part, tuple) else []
    if not ranks or fact.data["verdict"] == "healthy":
        return None
    told = f"{fact.data['description']}; {named_ranks(ranks)} went on afterwards"
    return _with_verdict(replace(fact, data={**fact.data, "description": told}), "moving")


def _with_verdict(fact: Fact, verdict: str) -> Fact:
    return replace(fact, data={**fact.data, "verdict": verdict})


def _ranks_that_went_on(
    facts: Iterable[Fact], sources: Iterable[Source], *, done: bool, least_ns: int = _LONG_NS
) -> frozenset[int]:
    """The ranks that left a dump and say that their work is done, or make a step, after the last operation of any dump; all,
    where a log that is no rank's makes steps after that: the log of the job, if it began before, or if the logs say that the
    work is `done`. A word may be written at once where an operation is only issued: a step counts some time after it, by a
    clock in UTC, or of whatever zone, where the log can show the time of that operation in one zone alone."""
    facts = tuple(facts)
    issued = {f.place.rank: ns for f in facts if f.kind == "fr-rank" and isinstance(ns := f.data["last_ns"], int)}
    last = max(issued.values(), default=0)
    begun = {source.id: source.first for source in sources}
    found = {
        f.place.rank
        for f in facts
        if f.place.rank is not None and f.place.rank in issued and _goes_on(f, begun.get(f.source), last, least_ns)
    }
    whole = issued and _job_went_on(facts, begun, last, done=done, least_ns=least_ns)
    return frozenset({rank for rank in issued if rank is not None} if whole else found)


def _goes_on(fact: Fact, begun: Instant | None, ns: int, least_ns: int) -> bool:
    """Whether a fact of a log that began then is a word of the end after a moment in UTC, or a step long after it."""
    if fact.kind == "progress":
        return (_after_ns(fact, ns) if _is_dated(fact) else _in_one_zone_ns(fact, begun, ns)) >= least_ns
    return fact.kind == "completion" and _after_ns(fact, ns) >= 1


def _in_one_zone_ns(fact: Fact, begun: Instant | None, ns: int) -> int:
    """How long after a moment in UTC a fact was by a clock of whatever zone, if its log can show that moment, from its beginning
    up to the fact, in one zone and in no other; else -1."""
    if fact.instant is None or begun is None or begun.clock is not fact.instant.clock:
        return -1
    first = begun.ns - _SLACK_NS
    zones = zones_between(first - ns, fact.instant.ns - ns)
    return fact.instant.ns - ns - zones[0] if len(zones) == 1 and fact.instant.ns - first < STEP_NS else -1


def _job_went_on(
    facts: Iterable[Fact], begun: Mapping[str, Instant | None], ns: int, *, done: bool, least_ns: int
) -> bool:
    """Whether a log that is no rank's, of the job of the dumps as far as anything tells, makes steps after this moment."""
    facts = tuple(facts)
    jobs = {fact.place.job for fact in facts if fact.kind == "fr-rank"}
    steps = [f for f in facts if f.kind == "progress" and f.place.rank is None and f.place.job in {None, *jobs}]
    return any(
        (done and _after_ns(step, ns) >= 1) or _spans(step, begun.get(step.source), ns, least_ns) for step in steps
    )


def _spans(step: Fact, begun: Instant | None, ns: int, least_ns: int) -> bool:
    """Whether the log of a step had begun before this moment, and the step is long after it."""
    if begun is None or not _goes_on(step, begun, ns, least_ns):
        return False
    return not _is_dated(step) or (begun.clock is Clock.UTC and begun.ns <= ns)


def _after_ns(fact: Fact, ns: int) -> int:
    """How long after a moment in UTC a fact was, -1 where nothing tells; by a clock of whatever zone what is least, as zones
    differ by quarters of an hour."""
    clock = fact.instant.clock if fact.instant else None
    if fact.instant is None or clock not in DATED:
        return -1
    after = fact.instant.ns - ns
    return after if clock is Clock.UTC else (after + STEP_NS // 2) % STEP_NS - STEP_NS // 2


def _slow(recorded: Sequence[Fact], facts: Iterable[Fact]) -> list[Fact]:
    """The stragglers of a job that waits, if for anybody, for them: so it looks now and then as long as it moves."""
    waited_for = {_waited_for(fact) for fact in recorded if fact.data["verdict"] in _OPEN}
    if not waited_for:
        return []
    from neuron_doctor.engine.collectives import slow_ranks  # noqa: PLC0415 - only where there are dumps

    slow = slow_ranks(fact for fact in facts if fact.kind == "fr-rank")
    return [_by_recorder(fact) for fact in slow] if waited_for <= {(), *(fact.place.ranks for fact in slow)} else []


def _waited_for(fact: Fact) -> tuple[int, ...]:
    """The ranks; nobody, where one end of a transfer has not started it: while a job moves, it does so in a moment."""
    starting = fact.data["verdict"] == "device-stuck" and fact.data["operation"] in (SEND, RECEIVE)
    return () if starting else fact.place.ranks


def _by_recorder(fact: Fact) -> Fact:
    return replace(fact, data={**fact.data, "witness": "recorder"})


def _cut(facts: Iterable[Fact]) -> Iterator[Fact]:
    """That a trace was cut while the job went on, as far as anything tells."""
    for fact in facts:
        if fact.kind == "ndet-event" and fact.data["event"] == _EXECUTION and not fact.data["complete"]:
            data = told_of_collective("moving", _CUT, witness="ndet")
            place = Place(job=fact.place.job, attempt=fact.place.attempt)
            yield Fact("collective", data, place, fact.span, fact.source)
            return


def _is_hang(facts: Sequence[Fact]) -> bool:
    """Whether anybody gave up, or the job issued nothing more for long."""
    if any(fact.kind in _GAVE_UP or _waits_in_vain(fact) for fact in facts):
        return True
    seen = {fact.kind: fact.instant.ns for fact in sorted(facts, key=_moment) if fact.instant and _is_dated(fact)}
    last, moved = max(seen.values(), default=0), seen.get("progress", 0)
    dumped = [ns for fact in facts if fact.kind == "fr-rank" and isinstance(ns := fact.data["last_ns"], int)]
    issued = max(dumped, default=moved)
    return bool(issued) and last - issued >= _LONG_NS and moved <= issued


def _waits_in_vain(fact: Fact) -> bool:
    """Whether somebody says that it waits; that a call of the runtime was entered says so of no job."""
    return fact.kind == "stand" and fact.data.get("waits") is True and fact.data.get("witness") != "api"


def _is_dated(fact: Fact) -> bool:
    return fact.instant is not None and fact.instant.clock is Clock.UTC and fact.kind not in {"fr-rank", "collective"}


def _moment(fact: Fact) -> int:
    return fact.instant.ns if fact.instant else 0
