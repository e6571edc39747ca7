"""What was overcome: findings all of whose records were followed by progress, or by what their rule says ends them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.attempt_hosts import AttemptHosts, attempt_hosts
from neuron_doctor.engine.expressions import RecordQuery, holds
from neuron_doctor.engine.facts import Clock, Fact, Place, pod_of
from neuron_doctor.engine.match import Match
from neuron_doctor.engine.moments import Moment
from neuron_doctor.engine.regexes import regex
from neuron_doctor.engine.services import Services, services_of
from neuron_doctor.engine.timeline import Timeline

#: A rank that goes on for so long after an error has survived it (its log may lag that of the dead by less).
SURVIVED_NS = 120 * 1_000_000_000
#: What is told ahead (EC2's notice, two minutes) has passed by if the job goes on so long after it was told; by clocks in UTC
#: that nothing compares with each other, if they show so much that none is wrong by it.
_FORETOLD_NS, _WRONG_NS = 600 * 1_000_000_000, 3600 * 1_000_000_000
#: Hosts of one cluster, whose clocks are set by the network, differ by less.
_IN_STEP_NS = 60 * 1_000_000_000
#: What wall clocks show that are of one zone, whatever that is.
_SHOWN_ALIKE = ({Clock.HOST_LOCAL}, {Clock.UTC})
#: The last number in the name of a pod, by which it differs from the others of its job.
_ORDINAL = regex(r"(?P<job>.*\D)\d+(?P<rest>\D*)")
#: Requests that the front of a server answers itself, whatever became of the model behind it.
_OF_FRONTS = regex(r"/(?:[\w.-]{1,40}/){0,4}(?:(?:de)?tokenize|count_tokens|ping|health\w{0,10})/?")
#: What the kernel records when a process opens a device.
_OPENED = "attach"
#: So many clocks that can be compared are looked at for the latest progress of a job.
_CLOCKS = 16


class Progress(Struct, frozen=True):
    """The signs of progress: those of each source, when those of each rank were, the latest of all by each clock (of
    services, by each pod), where each attempt ran, what launchers say in each log of workers that they started anew, and what
    servers say of their own starts."""

    by_source: Mapping[str, list[Fact]]
    by_rank: Mapping[int, list[Moment]]
    latest: tuple[tuple[Fact, Moment], ...]
    last_attempt: int
    clocks: Timeline
    hosts: AttemptHosts
    restarts: Mapping[str, list[Fact]] = MappingProxyType({})
    services: Services = Services(MappingProxyType({}))


def progress_of(facts: Sequence[Fact], clocks: Timeline) -> Progress:
    """What these facts tell of it."""
    by_source: dict[str, list[Fact]] = defaultdict(list)
    by_rank: dict[int, list[Moment]] = defaultdict(list)
    dated: list[tuple[Fact, Moment]] = []
    restarts: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.kind == "restart" and fact.data.get("started"):
            restarts[fact.source].append(fact)
        if fact.kind == "progress" and not _OF_FRONTS.fullmatch(str(fact.data.get("what"))):
            by_source[fact.source].append(fact)
            moment = clocks.moment(fact)
            if moment:
                dated.append((fact, moment))
            if moment and fact.place.rank is not None:
                by_rank[fact.place.rank].append(moment)
    attempts = [f.place.attempt for found in by_source.values() for f in found if f.place.attempt is not None]
    last = max(attempts, default=-1)
    return Progress(
        by_source, by_rank, _latest(dated, clocks), last, clocks, attempt_hosts(facts), restarts, services_of(facts)
    )


def _latest(dated: Iterable[tuple[Fact, Moment]], clocks: Timeline) -> tuple[tuple[Fact, Moment], ...]:
    """The latest by each clock and of each job, of the clocks that can be compared with one another the last ones."""
    last: dict[object, tuple[Fact, Moment]] = {}
    for fact, moment in dated:
        pod = pod_of(fact.place.container) if fact.data.get("served") else None
        of = (moment.track, fact.place.job, pod)
        if of not in last or last[of][1].instant.ns < moment.instant.ns:
            last[of] = (fact, moment)
    alike: dict[object, list[tuple[Fact, Moment]]] = defaultdict(list)
    for fact, moment in last.values():
        pod = pod_of(fact.place.container) if fact.data.get("served") else None
        alike[clocks.offsets.reference(moment.track), fact.place.job, pod].append((fact, moment))
    return tuple(one for found in alike.values() for one in sorted(found, key=_reading)[-_CLOCKS:])


def _reading(one: tuple[Fact, Moment]) -> tuple[int, str]:
    return one[1].instant.ns, one[1].host or ""


def has_survived(match: Match, progress: Progress, single: Collection[str]) -> bool:
    """Whether every record of the match was followed by progress of the same process, or as the rule says. `single` are the
    sources of one process each."""
    of = match.rule.survivable
    if not of or not match.facts:
        return False
    if of == "restarted":
        return all(_is_reset(fact, progress) for fact in match.facts)
    complaints = [fact for fact in match.facts if fact.kind != "progress"] or match.facts
    return all(_has_passed(fact, of, progress, single) for fact in complaints)


def without_survived(match: Match, progress: Progress, single: Collection[str]) -> Match:
    """The match of a rule about requests without those of its records that were survived, if others were not: what ended a
    server is not the request before it that it turned away."""
    if match.rule.survivable != "served":
        return match
    left = tuple(fact for fact in match.facts if not _has_passed(fact, "served", progress, single))
    return replace(match, facts=left) if 0 < len(left) < len(match.facts) else match


def _has_passed(fact: Fact, of: bool | str, progress: Progress, single: Collection[str]) -> bool:
    if of == "foretold":
        return _has_gone_by(fact, progress)
    if _overcome(fact, progress, single, anew=of == "anew"):
        return True
    return (of == "job" and _passed(fact, progress)) or (of == "served" and _is_answered_below(fact, progress))


def _is_answered_below(fact: Fact, progress: Progress) -> bool:
    """Whether a request was answered below the record in the same log, by the same pod if both tell theirs: the record was
    about another request. There is no need to wait, as there is for ranks, whose lines lag."""
    return any(
        later.data.get("served") and later.span.offset > fact.span.offset and _is_of_the_job(later, fact)
        for later in progress.by_source.get(fact.source, ())
    )


def _overcome(fact: Fact, progress: Progress, single: Collection[str], *, anew: bool) -> bool:
    if _is_of_earlier_attempt(fact, progress):
        return True
    if _started_again(fact, progress) or progress.services.came_up_after(fact):
        return True
    clocks = progress.clocks
    moment = clocks.moment(fact)
    for later in progress.by_source.get(fact.source, ()):
        if later.span.offset <= fact.span.offset or _differ(later.place.rank, fact.place.rank):
            continue
        if _is_of_another_engine(later, fact):
            continue
        if anew and fact.source not in single and _is_older(later, fact):
            continue
        then = clocks.moment(later)
        gap = clocks.difference(moment, then) if moment and then else None
        same_process = fact.source in single or (later.place.pid is not None and later.place.pid == fact.place.pid)
        if same_process and (gap is None or gap.high >= 0):
            return True  # it stands later in the file, and the clock does not deny it
        if gap is not None and gap.low >= SURVIVED_NS:
            return True
    if moment is None or fact.place.rank is None:
        return False
    gaps = (clocks.difference(moment, then) for then in progress.by_rank.get(fact.place.rank, ()))
    return any(gap is not None and gap.low >= SURVIVED_NS for gap in gaps)


def _is_of_earlier_attempt(fact: Fact, progress: Progress) -> bool:
    """Whether the workers were started anew after it and got on."""
    return fact.place.attempt is not None and fact.place.attempt < progress.last_attempt


def _started_again(fact: Fact, progress: Progress) -> bool:
    """Whether its launcher had started all workers anew below the record in the same log, and one of them took a step there: no
    line of an earlier one comes late, as far as the clocks tell."""
    begun = [one for one in progress.restarts.get(fact.source, ()) if _is_below(one, fact)]
    if not begun:
        return False
    first = min(begun, key=lambda one: one.span.offset)
    steps = (
        one
        for one in progress.by_source.get(fact.source, ())
        if one.data.get("what") == "step" and _is_below(one, first)
    )
    return any(_is_of_the_job(one, fact) and not _is_before(one, first, progress.clocks) for one in steps)


def _is_below(later: Fact, fact: Fact) -> bool:
    """Whether one stands below the other, in what may be the output of the same container and job."""
    a, b = later.place, fact.place
    return later.span.offset > fact.span.offset and not (_differ(a.container, b.container) or _differ(a.job, b.job))


def _is_before(one: Fact, other: Fact, clocks: Timeline) -> bool:
    moments = clocks.moment(one), clocks.moment(other)
    gap = clocks.difference(moments[1], moments[0]) if moments[0] and moments[1] else None
    return gap is not None and gap.low < 0


def _is_reset(fact: Fact, progress: Progress) -> bool:
    """Whether workers that were started anew on the same host after it got on."""
    place = fact.place
    return _is_of_earlier_attempt(fact, progress) and progress.hosts.may_go_on(place.host, place.attempt or 0)


def _is_older(a: Fact, b: Fact) -> bool:
    """Whether the process of one record was surely there before that of another: kernels count processes up. The front of a
    server is there before its engine, and answers by that alone."""
    if a.data.get("served") and a.place.container is not None and a.place.container == b.place.container:
        return False
    return a.place.pid is not None and b.place.pid is not None and a.place.pid < b.place.pid


# --- what the whole job goes through together ----------------------------------------------------------------------


def _passed(fact: Fact, progress: Progress) -> bool:
    """Whether anybody of the job made progress after the record: below it in its file, whoever's label the line has, or later
    by the clocks. Lines of others may lag by so much."""
    clocks = progress.clocks
    moment = clocks.moment(fact)
    for later in progress.by_source.get(fact.source, ()):
        if later.span.offset > fact.span.offset and _is_of_the_job(later, fact):
            then = clocks.moment(later)
            gap = clocks.difference(moment, then) if moment and then else None
            if gap is None or gap.high >= SURVIVED_NS:
                return True
    if moment is None:
        return False
    others = ((o, then) for o, then in progress.latest if o.source != fact.source and _is_of_the_job(o, fact))
    return any(_surely_later(fact, moment, later, then, clocks) for later, then in others)


def _has_gone_by(fact: Fact, progress: Progress) -> bool:
    """Whether the job went on long after what was told ahead should have come."""
    moment = progress.clocks.moment(fact)
    if moment is None:
        return False
    for later, then in progress.latest:
        gap = progress.clocks.difference(moment, then)
        in_utc = moment.instant.clock is then.instant.clock is Clock.UTC
        shown = then.instant.ns - moment.instant.ns
        long = gap.low >= _FORETOLD_NS if gap else in_utc and shown >= _WRONG_NS
        if long and _is_of_the_job(later, fact):
            return True
    return False


def _surely_later(fact: Fact, moment: Moment, later: Fact, then: Moment, clocks: Timeline) -> bool:
    """Whether progress was so long after a record that its log does not only lag. Containers of one template show one zone,
    whatever that is, and their hosts are in step."""
    gap = clocks.difference(moment, then)
    if gap is not None and gap.low >= SURVIVED_NS:
        return True
    shown = then.instant.ns - moment.instant.ns
    if shown < SURVIVED_NS + _IN_STEP_NS or not _are_replicas(fact, moment, later, then):
        return False
    return gap is None or gap.high >= shown


def _are_replicas(fact: Fact, moment: Moment, later: Fact, then: Moment) -> bool:
    """Whether the wall clocks of two pods show these times whose names differ in nothing but their last number: one before that
    is of their jobs."""
    pods = pod_of(fact.place.container), pod_of(later.place.container)
    named = [found.groups() for pod in pods if (found := _ORDINAL.fullmatch(pod))]
    alike = all(pods) and (pods[0] == pods[1] or (len(named) == len(pods) and named[0] == named[1]))
    clocks = {one.instant.clock for one in (moment, then)}
    return alike and clocks in _SHOWN_ALIKE and not any(one.part for one in (moment, then))


def _is_of_the_job(later: Fact, fact: Fact) -> bool:
    """Whether progress shows that the job of a record goes on. That requests are answered shows it of one engine only: there
    may be others beside it."""
    a, b = later.place, fact.place
    if a.job is not None and b.job is not None and a.job != b.job:
        return False
    if not later.data.get("served"):
        return True
    answers, waits = pod_of(a.container), pod_of(b.container)
    if answers and waits:
        return _is_of_engine(answers, waits)
    return later.source == fact.source and not answers and not waits and (a.host is None or a.host == b.host)


def _is_of_another_engine(later: Fact, fact: Fact) -> bool:
    """Whether a pod answers requests that is not that of the record, nor the one that leads it."""
    answers, waits = pod_of(later.place.container), pod_of(fact.place.container)
    return bool(later.data.get("served") and answers and waits and not _is_of_engine(answers, waits))


def _is_of_engine(leader: str, pod: str) -> bool:
    """Whether a pod is this one, or one of its workers as a LeaderWorkerSet names them: `vllm-0` leads `vllm-0-1`."""
    return pod == leader or (pod.startswith(f"{leader}-") and pod[len(leader) + 1 :].isdigit())


# --- what a rule says ends its findings ----------------------------------------------------------------------------


def has_ended(
    match: Match,
    by_name: Mapping[str, Sequence[Fact]],
    clocks: Timeline,
    done: Mapping[str, int] = MappingProxyType({}),
    anew: Mapping[str, int] = MappingProxyType({}),
) -> bool:
    """Whether the records that end a finding of this rule followed all of its own, for sure: a driver was loaded
    anew after an error, say, and a later process opened the device. Records that are not dated, or by a clock with which that of
    the others cannot be compared, are followed by what stands below them in their files, of the same host. That a device was
    opened shows as well where the work that the fault stopped was done after the repair: `done` says up to where that holds for
    each log of a job that its scheduler calls good. If that was started anew below the fault (`anew`), it is enough that the
    repair of the same host may have been after it: in what zone a job's log has its times is not always known."""
    ends = match.rule.ends
    if not ends or not match.facts:
        return False
    if ends[1:] and ends[-1].name == _OPENED and all(f.span.offset < done.get(f.source, -1) for f in match.facts):
        ends = ends[:-1]
        if all(f.span.offset < anew.get(f.source, -1) for f in match.facts) and _may_have_ended(
            match, ends, by_name, clocks
        ):
            return True
    return _ended_later(match, ends, by_name, clocks) or all(
        _ended_below(fact, ends, by_name, clocks) for fact in match.facts
    )


def _may_have_ended(
    match: Match, ends: Iterable[RecordQuery], by_name: Mapping[str, Sequence[Fact]], clocks: Timeline
) -> bool:
    """Whether for each of these there is a record of the host of the match, of its device if it names one, that did not come
    for sure before any of its own."""
    place, own = match.place, [clocks.moment(fact) for fact in match.facts]

    def may_follow(other: Fact) -> bool:
        then = clocks.moment(other)
        gaps = [clocks.difference(one, then) if one and then else None for one in own]
        alike = other.place.host == place.host and not _differ(other.place.device, place.device)
        return alike and all(gap is not None and gap.high > 0 for gap in gaps)

    return place.host is not None and all(
        any(may_follow(other) for other in by_name[query.name] if holds(query.where, other)) for query in ends
    )


def ends_by_name(facts: Iterable[Fact]) -> dict[str, list[Fact]]:
    """The records by the names by which rules ask for what ends a finding. A process that answers requests has opened its
    device. (A step may be one of a processor.)"""
    by_name: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        by_name[fact.name].append(fact)
        if fact.place.host and fact.data.get("served"):
            by_name[_OPENED].append(fact)
    return by_name


def _ended_later(
    match: Match, ends: Sequence[RecordQuery], by_name: Mapping[str, Sequence[Fact]], clocks: Timeline
) -> bool:
    latest = [moment for fact in match.facts if (moment := clocks.moment(fact))]
    if len(latest) < len(match.facts):
        return False
    for query in ends:
        after = list(_after(query, by_name, latest, clocks, match.place))
        if not after:
            return False
        latest = [min(after, key=lambda one: one[:-1])[-1]]
    return True


def _after(
    query: RecordQuery, by_name: Mapping[str, Sequence[Fact]], latest: Sequence[Moment], clocks: Timeline, place: Place
) -> Iterator[tuple[int, int, str, Moment]]:
    """The records of a query that surely followed all of these, and may be of this host and device; the soonest is the least."""
    for fact in by_name[query.name]:
        elsewhere = _differ(fact.place.host, place.host) or _differ(fact.place.device, place.device)
        moment = clocks.moment(fact) if not elsewhere and holds(query.where, fact) else None
        lag = _lag(moment, latest, clocks) if moment else None
        if moment and lag is not None:
            yield lag, moment.instant.ns, str(moment.track), moment


def _ended_below(
    fact: Fact, ends: Iterable[RecordQuery], by_name: Mapping[str, Sequence[Fact]], clocks: Timeline
) -> bool:
    at, moment = fact.span.offset, clocks.moment(fact)

    def may_follow(other: Fact) -> bool:
        then = clocks.moment(other)
        if moment is None or then is None:
            return moment is None  # what was dated is not ended by what is not, which others may have written
        return clocks.difference(moment, then) is None and other.place.host == fact.place.host

    for query in ends:
        alike = (f for f in by_name[query.name] if f.source == fact.source and holds(query.where, f))
        below = [f.span.offset for f in alike if may_follow(f)]
        at = min((offset for offset in below if offset > at), default=-1)
        if at < 0:
            return False
    return True


def _lag(moment: Moment, others: Iterable[Moment], clocks: Timeline) -> int | None:
    """How long after the last of the others it was, at most; None unless it surely followed all of them."""
    lags = []
    for other in others:
        gap = clocks.difference(other, moment)
        if gap is None or gap.low <= 0:
            return None
        lags.append(gap.high)
    return min(lags, default=None)


def _differ(a: str | int | None, b: str | int | None) -> bool:
    return a is not None and b is not None and a != b
