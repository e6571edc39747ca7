"""Which attempts failed and were made good: who runs a job lists them, and a later one of the same step ended well.

An attempt is known by where it stands in the list, by the last part of the name of its log, or of the folder of that (the id of
its task, the number of its pod), and by the number in that name where the logs of all attempts of a step lie beside each other
(Airflow's `task_id=train/attempt=1.log`). SageMaker begins a log for each node whenever it starts a job, and calls it after
that second (`llama/algo-2-1727755200`): if the last ones of all nodes ended well, what broke off before was made good.

The start of a container is such an attempt, too: where nothing got on in the log of an earlier start, and something does in that
of a later one, it is over that it did not come up at first (the pod before it still held the cores, say). One that worked, and
ended then, has failed; so has one that Kubernetes shows as not ready, and it says nothing of what befell the pod later: that it
was evicted, or ended again. Logs without a pod's name are two starts of one container if the name of one says so of the other,
beside it (`app-previous.log` and `app-current.log` or `app.log`), and no pod is shown that does not work.

So is the log of a pod that has made room for another one: of a job of Kubernetes that is complete, if a later log is of the pod
that did its part then (`vit-w-0-1-wr8dd` after `vit-w-0-1-8x2kq`), by the names of the files.

And so is what a log tells of launches before the last one, if a launcher says between two failures that all workers ended well.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise, zip_longest

from msgspec import Struct, field
from msgspec.structs import replace

from neuron_doctor.engine.attempt_logs import logs_of_attempts
from neuron_doctor.engine.ended_jobs import EndedJobs
from neuron_doctor.engine.facts import Clock, Fact, Instant, Source, Value, pod_of
from neuron_doctor.engine.file_names import names_of_file
from neuron_doctor.engine.match import Match
from neuron_doctor.engine.pod_names import SUFFIX
from neuron_doctor.engine.regexes import regex

KIND = "attempt"
#: What the commands of headings read that show the log of a container: that of its last start, or of the one before.
SHOWN, EARLIER = "kubectl logs", "kubectl logs --previous"
#: What events of Kubernetes tell of a pod that does not come up; others, as evictions, end one that has.
_OF_STARTS = frozenset(
    {"BackOff", "Failed", "FailedAttachVolume", "FailedCreatePodSandBox", "FailedMount", "FailedScheduling"}
    | {"UnexpectedAdmissionError", "Unhealthy"}
)
#: The pods of Flyte: execution, node, attempt.
_OF_FLYTE = regex(r"(?P<step>[a-z][a-z\d]{9,31}-n\d{1,4})-(?P<attempt>\d{1,3})")
#: The last failure of a launch, and the first of another one, lie so far apart.
_LONG_AFTER_NS = 3600 * 10**9
_FAILED = frozenset({"Failed", "Error", "OOMKilled", "StartError", "ContainerCannotRun", "DeadlineExceeded"})
#: What Kubernetes gives a pod for an end that a controller made.
_OF_A_COPY = regex(rf"-{SUFFIX}$")
_WORD = regex(r"[A-Za-z0-9]+")
#: How a log of a container before its last start is called, or the directory of such logs.
_PREVIOUS = regex(r"(?:^|[/!._-])prev(?:ious)?(?:[/!._-]|$)")
#: The name of a file that is such a log, or the one after it, by what it says beside that.
_BESIDE = regex(r"(?P<before>.*[/!])?(?P<stem>[\w.-]{1,100}?)[-_.](?P<which>prev(?:ious)?|curr(?:ent)?)\.(?:log|txt)")
_PLAIN = regex(r"(?P<before>.*[/!])?(?P<stem>[\w.-]{1,100}?)\.(?:log|txt)")
#: A name that tells one attempt from all others is no word, and no small number.
_TELLING = 6
#: The log of an attempt, beside those of the others.
_NUMBERED = regex(r"(?P<before>.*[/!])(?:attempt|try)(?P<sign>[=_-])(?P<number>\d{1,4})\.log(?:\.\w{1,8})?")
#: The log of one node of a job of SageMaker, with the second in which its container was started.
_OF_SAGEMAKER = regex(
    r"(?P<job>.*(?<![A-Za-z\d]))(?P<node>algo-\d{1,4})-(?P<number>1[5-9]\d{8})(?:\.(?:log|txt)(?:\.\w{1,8})?)?"
)


class MadeGood(Struct, frozen=True):
    """The places in their lists, by source, as where they begin and end; the names of their logs; and the sources that are
    such logs. Of `pods` that came up at a later start Kubernetes tells how the earlier one ended; others did the
    work of those that were `replaced`."""

    spans: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)
    streams: frozenset[str] = frozenset()
    logs: frozenset[str] = frozenset()
    pods: frozenset[str] = frozenset()
    replaced: frozenset[str] = frozenset()

    def without(self, match: Match) -> Match:
        """The match without its records of such attempts, if others are not."""
        left = tuple(fact for fact in match.facts if not self.holds(fact)) if self.spans else match.facts
        return replace(match, facts=left) if 0 < len(left) < len(match.facts) else match

    def holds(self, fact: Fact) -> bool:
        """Whether a fact is of such an attempt."""
        pod = pod_of(fact.place.container)
        if fact.source in self.logs or pod in self.replaced or (pod in self.pods and _tells_of_starts(fact)):
            return True
        spans = self.spans.get(fact.source, ())
        at = bisect_right(spans, (fact.span.offset, 1 << 62)) - 1
        if at >= 0 and fact.span.offset < spans[at][1]:
            return True
        return bool(self.streams) and not self.streams.isdisjoint(
            word for name in (fact.place.container, fact.place.host) for word in _WORD.findall(name or "")
        )


def made_good(
    facts: Sequence[Fact], sources: Sequence[Source], ended: Iterable[str], broken: Collection[str], jobs: EndedJobs
) -> MadeGood:
    """What these facts tell; `ended` are the sources that say themselves that they came to a good end, `broken` the pods that
    do not work, `jobs` what Kubernetes says of the ends of jobs."""
    spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
    good, others, pods = set[str](), set[str](), set[str]()
    for fact in facts:
        if fact.kind != KIND:
            continue
        if fact.data["made_good"]:
            spans[fact.source].append((fact.span.offset, fact.span.offset + fact.span.length))
        (good if fact.data["made_good"] else others).add(str(fact.data["stream"]))
    streams = frozenset(name for name in good - others if len(name) >= _TELLING)
    logs = {s.id for s in sources if streams and not streams.isdisjoint(_WORD.findall(s.path))}
    ended = frozenset(ended)
    logs |= logs_of_attempts([fact for fact in facts if fact.kind == KIND], sources)
    logs |= _earlier(sources, ended) | _before_interruptions(sources, ended) | _of_earlier_pods(sources, jobs)
    for source, end in _earlier_launches(facts):
        spans[source].append((0, end))
    for start in (*_failed_starts(facts, sources), *(() if broken else _starts_beside(facts, sources))):
        if pod_of(start.container) not in broken:
            spans[start.source].append((start.begin, start.end))
            pods |= {pod_of(start.container)} - {""}
    return MadeGood(
        {s: list(_merged(sorted(found))) for s, found in spans.items()},
        streams,
        frozenset(logs),
        frozenset(pods - _failed_since(facts)) if pods else frozenset(),
        _replaced(facts, jobs),
    )


def _merged(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans in their order, without those that others overlap."""
    begin, end = 0, 0
    for one, other in spans:
        if one <= end:
            end = max(end, other)
            continue
        if end:
            yield begin, end
        begin, end = one, other
    if end:
        yield begin, end


def _earlier_launches(facts: Iterable[Fact]) -> Iterator[tuple[str, int]]:
    """Up to where each log tells of launches before the last one: a worker failed in one, and a launcher says below it that all
    workers of the next ended well, before a worker failed again long after (those of one launch end within minutes, on some
    hosts well). A launch of another width is another program's."""
    failures: dict[str, list[tuple[int, Instant]]] = defaultdict(list)
    good: dict[str, list[tuple[int, Value]]] = defaultdict(list)
    widths: dict[str, set[Value]] = defaultdict(set)
    for fact in facts:
        if fact.kind == "launcher-failure" and fact.instant:
            failures[fact.source].append((fact.span.offset, fact.instant))
        elif fact.kind == "completion" and fact.data.get("workers"):
            good[fact.source].append((fact.span.offset, fact.data["workers"]))
        elif fact.kind == "node-width":
            widths[fact.source].add(fact.data["processes"])
    for source, told in good.items():
        pauses = _pauses(failures.get(source, ()))
        of_it = [at for at, workers in told if widths[source] <= {workers}]
        between = [at for at in of_it if any(begin < at < end for begin, end in pauses)]
        if between:
            yield source, max(between)


def _pauses(failures: Iterable[tuple[int, Instant]]) -> list[tuple[int, int]]:
    """Between which offsets of a log all failures below were long after all above, by one clock."""
    ordered = sorted(failures, key=lambda failure: failure[0])
    soonest = list(accumulate((instant.ns for _, instant in reversed(ordered)), min))[::-1]
    latest = accumulate((instant.ns for _, instant in ordered), max)
    if len({instant.clock for _, instant in ordered}) != 1:
        return []
    return [
        (above[0], below[0])
        for (above, below), before, after in zip(pairwise(ordered), latest, soonest[1:], strict=False)
        if before + _LONG_AFTER_NS < after
    ]


def _failed_since(facts: Iterable[Fact]) -> set[str]:
    """The pods of which Kubernetes tells an end after they got on, by times in UTC: they were started a further time."""
    got_on, ended = dict[str, int](), dict[str, int]()
    for fact in facts:
        if fact.instant is None or fact.instant.clock is not Clock.UTC:
            continue
        pod, ns = pod_of(fact.place.container), fact.instant.ns
        if fact.kind == "progress":
            got_on[pod] = min(ns, got_on.get(pod, ns))
        elif _is_of_kubernetes(fact):
            ended[pod] = max(ns, ended.get(pod, ns))
    return {pod for pod, ns in ended.items() if pod in got_on and ns > got_on[pod]}


def _is_of_kubernetes(failure: Fact) -> bool:
    return failure.kind == "launcher-failure" and failure.data["launcher"] == "kubernetes"


def _tells_of_starts(fact: Fact) -> bool:
    """Whether this is what Kubernetes says of how a container ended, or of why it does not come up."""
    if fact.kind == "k8s-event":
        return fact.data["reason"] in _OF_STARTS
    return fact.kind == "pod" or _is_of_kubernetes(fact)


def _replaced(facts: Iterable[Fact], jobs: EndedJobs) -> frozenset[str]:
    """The pods that failed and whose work others did: of a Job of Kubernetes that is complete, which it is when enough of its
    pods have succeeded, or before a later attempt that did, by the names of Flyte's pods."""
    shown: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.kind == "pod":
            shown[str(fact.data["name"])].append(fact)
    good = {pod for pod, told in shown.items() if all(map(has_succeeded, told))}
    failed = {pod for pod, told in shown.items() if any(one.data["phase"] in _FAILED for one in told)} - good
    of_jobs = {(job, pod) for pod in good | failed for job in jobs.of(pod) if job.copies(pod)}
    worked = {job for job, pod in of_jobs if pod in good}
    return frozenset(pod for job, pod in of_jobs if pod in failed and job in worked) | _before_good(failed, good)


def _before_good(failed: Iterable[str], good: Iterable[str]) -> frozenset[str]:
    last: dict[str, int] = {}
    for pod in good:
        if named := _OF_FLYTE.fullmatch(pod):
            last[named["step"]] = max(int(named["attempt"]), last.get(named["step"], -1))
    numbered = ((pod, named) for pod in failed if (named := _OF_FLYTE.fullmatch(pod)))
    return frozenset(pod for pod, named in numbered if int(named["attempt"]) < last.get(named["step"], -1))


def has_succeeded(pod: Fact) -> bool:
    """Whether a pod is shown as one that came to a good end."""
    ended = pod.data["phase"] in ("Succeeded", "Completed") or pod.data["reason"] == "Completed"
    return ended and pod.data["exit_code"] in (0, -1)


class _Start(Struct, frozen=True):
    """Where, in which source, the log of one start of a container stands; whether it is known to be before the last one."""

    container: str
    source: str
    begin: int = 0
    end: int = 1 << 62
    earlier: bool = False


def _failed_starts(facts: Sequence[Fact], sources: Sequence[Source]) -> Iterator[_Start]:
    """The earlier starts of containers in which nothing got on, where something does in a later one."""
    steps: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.kind == "progress" and fact.place.container:
            steps[fact.place.container].append(fact)
    if not steps:
        return
    known = {source.id: source for source in sources}
    shown = list(_shown(facts))
    whole = {s.id for s in sources if s.place.container in steps and s.records} - {start.source for start in shown}
    starts: dict[str, list[_Start]] = defaultdict(list)
    for start in (*shown, *(_Start(str(known[name].place.container), name) for name in sorted(whole))):
        starts[start.container].append(start)
    for container, told in steps.items():
        for start in starts[container]:
            later = [step for step in told if not _within(step, start)]
            if len(later) == len(told) and any(_is_later(step, start, starts[container], known) for step in later):
                yield start


def _shown(facts: Sequence[Fact]) -> Iterator[_Start]:
    """The logs of containers below the commands that showed them."""
    headings = [fact for fact in facts if fact.kind == "section" and fact.data.get("command") in (SHOWN, EARLIER)]
    headings.sort(key=lambda heading: (heading.source, heading.span.offset))
    for heading, below in zip_longest(headings, headings[1:]):
        end = below.span.offset if below and below.source == heading.source else 1 << 62
        earlier, container = heading.data["command"] == EARLIER, str(heading.place.container)
        yield _Start(container, heading.source, heading.span.offset, end, earlier)


def _starts_beside(facts: Sequence[Fact], sources: Sequence[Source]) -> Iterator[_Start]:
    """The earlier starts, by the names of logs alone, in which nothing got on, where something does in the last one: each is
    the only one of its name. The container is known where one pod alone has one that is called so."""
    logs = [source for source in sources if source.kind == "log" and not source.place.container]
    earlier, later = defaultdict[tuple[str, str], set[str]](set), defaultdict[tuple[str, str], set[str]](set)
    for source in logs:
        if named := _BESIDE.fullmatch(source.path) or _PLAIN.fullmatch(source.path):
            of = (named["before"] or "", named["stem"])
            (earlier if named.groupdict().get("which", "").startswith("prev") else later)[of].add(source.id)
    if not earlier:
        return
    got_on = {fact.source for fact in facts if fact.kind == "progress"}
    pods: dict[str, set[str]] = defaultdict(set)
    for fact in facts:
        if fact.kind == "pod":
            pods[str(fact.data["container"])].add(str(fact.data["name"]))
    for (before, stem), found in earlier.items():
        after, of_stem = later.get((before, stem), set()), pods.get(stem, set())
        if len(found) == len(after) == 1 and found.isdisjoint(got_on) and after <= got_on:
            yield _Start(f"{min(of_stem)}/{stem}" if len(of_stem) == 1 else "", min(found), earlier=True)


def _within(fact: Fact, start: _Start) -> bool:
    return fact.source == start.source and start.begin <= fact.span.offset < start.end


def _is_later(step: Fact, start: _Start, starts: Iterable[_Start], known: Mapping[str, Source]) -> bool:
    """Whether a step was made in one of the starts of a container that was after another."""
    of = next((one for one in starts if _within(step, one)), None)
    if of is None or (start.earlier and of.earlier):
        return False
    return start.earlier or (start.source != of.source and is_before(known[start.source], known[of.source]))


def is_before(one: Source, other: Source) -> bool:
    """Whether one log of a container is that of an earlier start than another: by their times, or else by their names."""
    last, first = one.last, other.first
    if last is None or first is None or last.clock is not first.clock:
        return _is_previous(one) and not _is_previous(other)
    return last.ns < first.ns


def _is_previous(source: Source) -> bool:
    return _PREVIOUS.search(source.path) is not None


def _earlier(sources: Iterable[Source], ended: frozenset[str]) -> set[str]:
    """The logs of attempts before the last one of their step, which ended well."""
    steps: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    for source in sources:
        if numbered := _NUMBERED.fullmatch(source.path):
            steps[numbered["before"], numbered["sign"]].append((int(numbered["number"]), source.id))
    found = set[str]()
    for attempts in steps.values():
        last, log = max(attempts)
        found |= {one for number, one in attempts if number < last} if log in ended else set()
    return found


def _of_earlier_pods(sources: Iterable[Source], jobs: EndedJobs) -> set[str]:
    """The logs of pods of complete jobs after which others did the same part of the same job."""
    parts: dict[tuple[str, str], list[Source]] = defaultdict(list)
    for source in sources if jobs.complete else ():
        if source.kind == "log" and source.first and source.last:
            named = {
                (job.name, _OF_A_COPY.sub("", name)) for name in names_of_file(source.path) for job in jobs.of(name)
            }
            if len({part for _, part in named}) == 1:
                parts[min(named)].append(source)
    return {one.id for logs in parts.values() for one in logs if any(is_before(one, other) for other in logs)}


def _before_interruptions(sources: Iterable[Source], ended: frozenset[str]) -> set[str]:
    """The logs of the nodes of a job of SageMaker before it was started anew, where the last ones of all nodes ended well."""
    jobs: dict[str, dict[str, list[tuple[int, str]]]] = defaultdict(lambda: defaultdict(list))
    for source in sources:
        if named := _OF_SAGEMAKER.fullmatch(source.path):
            jobs[named["job"]][named["node"]].append((int(named["number"]), source.id))
    found = set[str]()
    for nodes in jobs.values():
        last = {node: max(number for number, _ in logs) for node, logs in nodes.items()}
        if all(any(n == last[node] and one in ended for n, one in logs) for node, logs in nodes.items()):
            found |= {one for node, logs in nodes.items() for n, one in logs if n < last[node]}
    return found
