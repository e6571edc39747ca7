"""Whose end was good: a launcher that says so of all its processes, a process that says that its work is done, or the
scheduler of the whole job. What was complained of until then has been overcome: a wait of forty minutes, an exception that
was caught, peers that went first at the end.

- A launcher's word (`completion` with `exited`) holds for what its own log said before it, of its host and its pod. What of
  lost peers stands after it there is the noise of the end, if the log shows steps before it and none after: what has ended
  may have been the preparation of the data.
- A process's word holds for what the same process said before it; in a log of several, for its waits, and if it got on in
  between: the same may be said on the way out. What follows it may be the failure of the last save.
- The scheduler's word (Slurm's COMPLETED 0:0 or its controller's exit status 0, a job of AWS Batch that succeeded, one that LSF
  reports as done, a Job of Kubernetes that is complete, pods that have succeeded), and that of the programs of all hosts whose
  logs are here, holds for all whose fault lies with a peer, for all collectives (nobody waited for ever in a job that came to its
  end), and for what events of Kubernetes alone tell, and exceptions of which it is said above that it is tried again.
- A program that says in the log of such a job that its work is done, after its last step, speaks for all that this log says
  before, and the kernel logs: a compilation that was killed and repeated, a download that failed at first.
- A word in a later log of the same container, or that of Kubernetes of its pod, holds for what its earlier one (`kubectl logs
  --previous`) says, the failure that ended that one too: it was started anew. So it is with what a log says before its
  launcher started all anew, if the scheduler says that the job came to a good end.
- The word of a service for a run holds for the logs of its steps (`green_runs`), but for hardware that breaks.
- A program that says in any log of the job that its work is done, after its last step, speaks for the waits of which the logs
  of others show that they were over (`ended_waits`): what has no clock in common with it need not have been at its end.
- What who runs a job lists as an attempt of a step that a later one made good (`made_good`) is over, and what its log says.
- Launchers that say together, each in words of its own, that as many workers ended with 0 as the flight recorders show ranks
  speak for all collectives of these: somebody asked for the dumps of a job that moved. So do launchers that started their workers
  anew after a hang, if all of them say in the end that these ended with 0, and their logs name all ranks (see `agents`).

Nothing of this counts where anybody reports a worker that failed in the last attempt: a batch script that goes on after a
failure also ends with 0. A step of Slurm that failed was tried again if a later one of its name is shown as completed. What a
launcher reported before it started its workers anew, and all of them ended with 0, was an earlier attempt; so it is with what a
script tells of its launcher above its word that this ended with 0, and with what was reported before a script started its program
for the last time, by its own count, if steps were made after that and the end was good.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct, field

from neuron_doctor.engine.agents import good_end
from neuron_doctor.engine.bystanders import Bystanders, names_of_files
from neuron_doctor.engine.ended_jobs import EndedJobs, ended_jobs
from neuron_doctor.engine.ended_waits import ended_waits
from neuron_doctor.engine.facts import Fact, Source, Value, pod_of
from neuron_doctor.engine.green_runs import logs_of_good_runs
from neuron_doctor.engine.job_logs import job_logs, system_logs
from neuron_doctor.engine.last_words import last_words
from neuron_doctor.engine.made_good import MadeGood, has_succeeded, is_before, made_good
from neuron_doctor.engine.match import Match
from neuron_doctor.engine.pod_names import SUFFIX
from neuron_doctor.engine.proven import unique
from neuron_doctor.engine.regexes import regex
from neuron_doctor.engine.retried_exceptions import is_logged
from neuron_doctor.engine.rulebook import Rule
from neuron_doctor.engine.topology import Topology
from neuron_doctor.engine.world import world_of

#: What Kubernetes gives a pod for an end that a controller made.
_OF_A_COPY = regex(rf"-{SUFFIX}$")
#: What is understood of a terminal in which somebody asked how the job is.
_OF_TERMINALS = frozenset({"section", "completion", "identity"})
#: What is told of those for whom others wait.
_OF_WAITS = frozenset({"collective", "silent-rank", "lost-host"})
#: What a cluster tells of pods and nodes on its way: a pod that was moved did not keep a job from its end.
_OF_CLUSTER = "k8s-event"
#: Who was killed for memory was no worker of a job that ended well, or of a host whose programs did.
_OF_NO_WORKER = frozenset({"oom-kill"})
#: So is it with a process of which a kernel log tells that it crashed.
_CRASH = "process-crash"
#: A log, and the number or the rank of a process.
_Process = tuple[str, str, int]


class EndedWell(Struct, frozen=True):
    """The words of good ends by source, where the last progress of each source and all of each process stands, and whether the
    job, or each rank that the flight recorders know, ended well: by the word of the scheduler (`scheduled`), or of all `hosts` of
    which logs are here. `finished`: the same hosts, or those where programs say last that their work is done.
    `anew`: the logs after which the same container was started anew, and ended well; `restarted`: up to where that holds for a
    log of several attempts. `done`: up to where the words of a program hold for all in its log, in a job that the scheduler
    calls good, and so for what these logs of kernels (`kernel`) say. `again`: where steps of Slurm stand that were tried again.
    `anew_from`: the attempt of such a job that ended well; `complete`: jobs that Kubernetes calls so.
    `green`: the logs of a run that a service calls good. `waits`: where those stand that were over, in a job that is done."""

    words: Mapping[str, Sequence[Fact]] = field(default_factory=dict)
    last_step: Mapping[str, int] = field(default_factory=dict)
    steps: Mapping[_Process, Sequence[int]] = field(default_factory=dict)
    job: bool = False
    scheduled: bool = False
    hosts: frozenset[str] = frozenset()
    finished: frozenset[str] = frozenset()
    ranks: bool = False
    anew: frozenset[str] = frozenset()
    restarted: Mapping[str, int] = field(default_factory=dict)
    done: Mapping[str, int] = field(default_factory=dict)
    kernel: frozenset[str] = frozenset()
    again: frozenset[tuple[str, int]] = frozenset()
    retried: MadeGood = MadeGood()
    anew_from: int = 0
    complete: EndedJobs = EndedJobs()
    green: frozenset[str] = frozenset()
    waits: frozenset[tuple[str, int]] = frozenset()

    def covers(self, match: Match, single: Collection[str]) -> bool:
        """Whether all that the match rests on was overcome. `single` are the sources of one process each."""
        of_peer = match.rule.cause.by == "peer"
        waits = bool(match.facts) and all(fact.kind in _OF_WAITS for fact in match.facts)
        if waits and (self.ranks or self.job or all(map(self._is_earlier, match.facts))):
            return True
        if not match.facts or not match.rule.survivable:
            return False
        if match.rule.survivable == "restarted":
            return all(fact.span.offset < self.restarted.get(fact.source, -1) for fact in match.facts)
        if all(
            fact.kind == _OF_CLUSTER and (self.job or self.complete.of(pod_of(fact.place.container)))
            for fact in match.facts
        ):
            return True
        return (self.job and of_peer) or all(
            any(self._holds(word, fact, match.rule, single) for word in self.words.get(fact.source, ()))
            or fact.source in self.anew
            or fact.span.offset < max(self.restarted.get(fact.source, -1), self.done.get(fact.source, -1))
            or (self.done and fact.source in self.kernel)
            or (fact.kind in _OF_NO_WORKER and (self.scheduled or fact.place.host in self.hosts))
            or (match.rule.cause.id == _CRASH and self._is_of_no_worker(fact))
            or (fact.source, fact.span.offset) in self.again
            or (match.rule.survivable == "job" and (fact.source, fact.span.offset) in self.waits)
            or (self.scheduled and is_logged(fact))
            # the next attempt had another device
            or (
                match.rule.cause.by != "hardware"
                and (self.retried.holds(fact) or self._is_earlier(fact) or fact.source in self.green)
            )
            for fact in match.facts
        )

    def _is_of_no_worker(self, fact: Fact) -> bool:
        """Whether a kernel log tells it of a job that ended well, or of a host of one whose programs were done on all hosts."""
        return fact.source in self.kernel and (self.scheduled or fact.place.host in self.finished)

    def _is_earlier(self, fact: Fact) -> bool:
        return fact.place.attempt is not None and fact.place.attempt < self.anew_from

    def _holds(self, word: Fact, fact: Fact, rule: Rule, single: Collection[str]) -> bool:
        if not _may_be_of(word, fact):
            return False
        if word.span.offset > fact.span.offset:
            of_all = bool(word.data.get("exited")) or word.source in single
            return of_all or self._is_of_its_process(word, fact, waits=rule.survivable == "job")
        after_work = 0 <= self.last_step.get(word.source, -1) < word.span.offset
        return rule.cause.by == "peer" and after_work and bool(word.data.get("exited"))

    def _is_of_its_process(self, word: Fact, fact: Fact, *, waits: bool) -> bool:
        """Whether these two of one log name one process, by its number or its rank, which made progress between them, or had only
        to wait. (Hosts and pods are compared elsewhere.)"""
        named = _processes(word) & _processes(fact)
        a, b = word.place, fact.place
        others = _differ(a.pid, b.pid) or _differ(a.rank, b.rank)
        return not others and any(waits or _between(self.steps.get(one, ()), fact, word) for one in named)


def ended_well(facts: Iterable[Fact], sources: Iterable[Source], others: Bystanders) -> EndedWell:
    """What these facts, and the times of these sources, tell of good ends; what `others` hold is of other jobs."""
    facts = tuple(fact for fact in facts if not others.is_other(fact))
    last = max((f.place.attempt for f in facts if f.place.attempt is not None), default=None)
    words: dict[str, list[Fact]] = defaultdict(list)
    last_step: dict[str, int] = defaultdict(int)
    steps: dict[_Process, list[int]] = defaultdict(list)
    restarts: dict[str, list[int]] = defaultdict(list)
    tries: dict[str, int] = {}
    failures = []
    for fact in facts:
        if fact.kind == "completion":
            words[fact.source].append(fact)
        elif fact.kind == "progress":
            last_step[fact.source] = max(last_step[fact.source], fact.span.offset)
            for process in _processes(fact):
                steps[process].append(fact.span.offset)
        elif fact.kind == "restart":
            restarts[fact.source].append(fact.span.offset)
        elif fact.kind == "another-try":
            tries[fact.source] = max(tries.get(fact.source, 0), fact.span.offset)
        elif fact.kind == "launcher-failure" and fact.place.attempt in (None, last):
            failures.append(fact)
    sources = tuple(sources)
    complete, pods = ended_jobs(facts), _pods(facts, others) or _called_after(facts, sources)
    by_scheduler = _of_slurm(facts) or _of_kubernetes(facts, pods or _filed_by_pod(facts, sources, complete), complete)
    by_scheduler = by_scheduler or _of_batch(facts) or _of_reports(facts)
    anew = _anew(words, sources, facts, {pod for pod in pods if complete.of(pod)} | _succeeded_pods(facts, pods))
    last_restart = {name: max(offsets) for name, offsets in restarts.items() if by_scheduler}
    exited = {source for source, told in words.items() if any(word.data.get("exited") for word in told)}
    ended = exited - {failure.source for failure in failures}
    retried = made_good(facts, sources, ended, _broken(facts), complete)
    again = _tried_again(fact for fact in facts if fact.kind == "slurm-job")
    all_done = _done(words, last_step)
    done = all_done if by_scheduler else {}
    if not all(
        f.source in anew
        or retried.holds(f)
        or (f.source, f.span.offset) in again
        or (again and f.span.offset < min(done.get(f.source, -1), last_step.get(f.source, -1)))
        or f.span.offset < last_restart.get(f.source, -1)
        or _made_good(f, restarts[f.source], words[f.source])
        or _is_of_earlier_round(f, words[f.source])
        or f.span.offset < tries.get(f.source, -1) < _worked(f, words[f.source], last_step.get(f.source, -1))
        for f in failures
    ):
        return EndedWell(retried=retried, complete=complete)
    hosts = frozenset[str]() if by_scheduler else _of_hosts(facts, sources, "exited")
    kernel = system_logs(sources, facts)
    agents = good_end(facts)
    ranks = _of_launchers(facts, words, last_step) or _are_all(agents.ranks, facts)
    anew_from = max(agents.attempt, (last or 0) if by_scheduler or _has_ended(facts, last) else 0)
    return EndedWell(
        words=words,
        last_step=last_step,
        steps={process: sorted(offsets) for process, offsets in steps.items()},
        job=by_scheduler or bool(hosts),
        scheduled=by_scheduler,
        hosts=hosts,
        finished=hosts or _of_hosts(facts, sources),
        ranks=ranks,
        anew=anew,
        restarted=last_restart,
        done=done,
        kernel=kernel,
        again=again,
        retried=retried,
        anew_from=anew_from,
        complete=complete,
        green=logs_of_good_runs(facts),
        waits=ended_waits(facts) if all_done else frozenset(),
    )


def _has_ended(facts: Iterable[Fact], attempt: int | None) -> bool:
    """Whether every log of the last attempt that tells of the run says, below all its steps, that it ended with 0."""
    last = last_words(fact for fact in facts if fact.place.attempt == attempt)
    return bool(last) and all(fact.data.get("exited") for fact in last.values())


def _done(words: Mapping[str, Sequence[Fact]], last_step: Mapping[str, int]) -> dict[str, int]:
    """Where in each log a program says last that its work is done, if the log shows steps, all of them before that."""
    last = {source: max(word.span.offset for word in told) for source, told in words.items() if told}
    return {source: offset for source, offset in last.items() if 0 <= last_step.get(source, -1) < offset}


def _tried_again(rows: Iterable[Fact]) -> frozenset[tuple[str, int]]:
    """Where the rows of steps of Slurm stand that failed, and were completed when a later step of that name did the same."""
    steps = [row for row in rows if str(row.data.get("step", "")).isdigit() and row.data.get("name")]
    last: dict[tuple[Value, Value], int] = {}
    for row in filter(_is_complete, steps):
        last[_what(row)] = max(int(str(row.data["step"])), last.get(_what(row), 0))
    return frozenset(
        (row.source, row.span.offset)
        for row in steps
        if not _is_complete(row) and int(str(row.data["step"])) < last.get(_what(row), 0)
    )


def _what(row: Fact) -> tuple[Value, Value]:
    return row.data.get("job_id"), row.data["name"]


def _is_complete(row: Fact) -> bool:
    return row.data.get("state") == "COMPLETED" and not row.data.get("exitcode") and not row.data.get("signal")


def _made_good(failure: Fact, restarts: Iterable[int], words: Iterable[Fact]) -> bool:
    """Whether the launcher that reports a worker started all anew afterwards, and they ended with 0."""
    anew = min((offset for offset in restarts if offset > failure.span.offset), default=None)
    return anew is not None and any(word.data.get("exited") and word.span.offset > anew for word in words)


def _is_of_earlier_round(failure: Fact, words: Iterable[Fact]) -> bool:
    """Whether the script that tells with what its launcher ended tells below that it ended with 0: it starts it in a loop."""
    below = (word for word in words if word.span.offset > failure.span.offset and _may_be_of(word, failure))
    return failure.data.get("launcher") == "wrapper" and any(word.data.get("wrapped") for word in below)


def _worked(failure: Fact, words: Iterable[Fact], last_step: int) -> int:
    """Where the last step of a log stands, if who reports a failure there says below it that all ended with 0; else -1."""
    ended = any(w.data.get("exited") and w.span.offset > last_step and _may_be_of(w, failure) for w in words)
    return last_step if ended else -1


def _anew(
    words: Mapping[str, Sequence[Fact]], sources: Iterable[Source], facts: Iterable[Fact], good: Collection[str]
) -> frozenset[str]:
    """The earlier logs of containers of which a later log says that the work is done, or which ended well in the end, as
    Kubernetes says of their pods: they were started anew after what ended them. A log of several containers (`kubectl logs
    --prefix`) is one of each, and all of them must have been."""
    shown: dict[str, set[str]] = defaultdict(set)
    for fact in facts:
        if fact.place.container:
            shown[fact.source].add(fact.place.container)
    of: dict[str, list[Source]] = defaultdict(list)
    holds: dict[str, set[str]] = {}
    for source in sources:
        if source.records:
            holds[source.id] = {source.place.container} if source.place.container else shown.get(source.id, set())
            for container in holds[source.id]:
                of[container].append(source)

    def came_again(one: Source, container: str) -> bool:
        pod = pod_of(container)
        return any(
            (pod in good or any(pod_of(word.place.container) in ("", pod) for word in words.get(log.id, ())))
            and is_before(one, log)
            for log in of[container]
        )

    logs = {source.id: source for told in of.values() for source in told}
    return frozenset(name for name, one in logs.items() if all(came_again(one, container) for container in holds[name]))


def _may_be_of(word: Fact, fact: Fact) -> bool:
    """Whether a good end can be that of the process that a record is of: of its host, its pod, its rank."""
    a, b = word.place, fact.place
    pods = (pod_of(a.container), pod_of(b.container))
    return all(x is None or y is None or x == y for x, y in ((a.host, b.host), (a.rank, b.rank))) and (
        pods[0] == pods[1] or not all(pods)
    )


def _processes(fact: Fact) -> set[_Process]:
    """How a record of a log names its process: by its number, by its rank."""
    named = (("pid", fact.place.pid), ("rank", fact.place.rank))
    return {(fact.source, name, number) for name, number in named if number is not None}


def _differ(a: int | None, b: int | None) -> bool:
    return a is not None and b is not None and a != b


def _between(offsets: Sequence[int], fact: Fact, word: Fact) -> bool:
    at = bisect_right(offsets, fact.span.offset)
    return at < len(offsets) and offsets[at] < word.span.offset


def _of_slurm(facts: Sequence[Fact]) -> bool:
    """Slurm shows one job, and all its steps but those that were tried again, as completed with 0, or the log of its controller
    says last of the job that these logs name, or of the only one, that it exited with 0. Of a job that was queued anew the
    rows of its last allocation count."""
    rows = [fact for fact in facts if fact.kind == "slurm-job"]
    jobs = {row.data.get("job_id") for row in rows}
    last = max((row.place.attempt or 0 for row in rows), default=0)
    rows = [row for row in rows if (row.place.attempt or 0) == last]
    again = _tried_again(rows)  # the worst exit status of all steps (`derived_exitcode`) is then that of the first try
    good = all(
        _is_complete(row) and (again or not row.data.get("derived_exitcode"))
        for row in rows
        if (row.source, row.span.offset) not in again
    )
    if rows:
        return good and len(jobs) == 1
    events = [fact for fact in facts if fact.kind == "job-event"]
    named = {job for fact in facts if (job := fact.place.job) is not None}
    [job, *more] = sorted(named or {str(fact.data["job_id"]) for fact in events}) or [""]
    logs: dict[str, list[Fact]] = defaultdict(list)
    for event in events:
        if event.data["job_id"] == job:
            logs[event.source].append(event)
    return not more and bool(logs) and all(map(_exited_with_0, logs.values()))


def _of_batch(facts: Iterable[Fact]) -> bool:
    """The one job whose attempts are listed succeeded with the last of them (AWS Batch)."""
    attempts = [fact for fact in facts if fact.kind == "attempt"]
    last = max(attempts, key=lambda one: int(str(one.data["number"])), default=None)
    return last is not None and not last.data["failed"] and len({one.data["unit"] for one in attempts}) == 1


def _of_reports(facts: Iterable[Fact]) -> bool:
    """The one job of which a scheduler reports how it ended is done (LSF), and none failed."""
    jobs, failed = set[str | None](), False
    for fact in facts:
        if fact.kind == "completion" and fact.data.get("scheduled"):
            jobs.add(fact.place.job)
        failed = failed or (fact.kind == "launcher-failure" and fact.data["launcher"] == "batch")
    return len(jobs) == 1 and not failed


def _exited_with_0(events: Iterable[Fact]) -> bool:
    """Whether these events of a job, of one log, end with the exit status 0, and nobody ended it since it last began."""
    ordered = sorted(events, key=lambda event: event.span.offset)
    begun = max((n for n, event in enumerate(ordered) if event.data["what"] == "started"), default=-1)
    since = ordered[begun + 1 :]
    codes = {event.data["exitcode"] for event in since if "exitcode" in event.data}
    return codes == {0} and all(event.data["what"] == "done" for event in since)


def _of_hosts(facts: Sequence[Fact], sources: Sequence[Source], how: str = "") -> frozenset[str]:
    """The hosts whose logs are here, if on every one of several a program says, as the last that its log tells of the run, that
    its work is done, or (`how`) that it ended with 0."""
    logs = {source.id: source for source in job_logs(sources, facts)}
    last = {name: word for name, word in last_words(facts).items() if name in logs and word.kind == "completion"}
    good = {word.place.host for word in last.values() if not how or word.data.get(how)}
    hosts = {fact.place.host for fact in facts if fact.source in logs} | {s.place.host for s in logs.values()}
    known = frozenset(host for host in hosts if host is not None)
    return known if len(known) > 1 and known == good - {None} else frozenset()


def _of_launchers(facts: Iterable[Fact], words: Mapping[str, Sequence[Fact]], last_step: Mapping[str, int]) -> bool:
    """All ranks of the world of the dumps have ended with 0, by launchers after whose words no step was made. A copy of a log
    says the same in the same words, and counts once."""
    workers = {
        word.span.text: count
        for source, told in words.items()
        for word in told
        if word.data.get("exited") and isinstance(count := word.data.get("workers"), int)
        if last_step.get(source, -1) < word.span.offset
    }
    return bool(workers) and sum(workers.values()) == world_of(facts, Topology())


def _are_all(ranks: Collection[int], facts: Iterable[Fact]) -> bool:
    """Whether these are all ranks of the world of the dumps."""
    return bool(ranks) and set(ranks) == set(range(world_of(facts, Topology()) or 0))


def _of_kubernetes(facts: Sequence[Fact], pods: Collection[str], ended: EndedJobs) -> bool:
    """The one Job whose pods these logs are of is complete, or all these pods have succeeded. Where no log says of which pod it
    is, that holds of the one Job that is shown, with all its pods."""
    shown = {str(fact.data["name"]) for fact in facts if fact.kind == "pod"}
    alone = not pods and bool(shown) and len(ended.complete) == 1 and not ended.failed
    if alone:
        return shown == _succeeded_pods(facts, shown) and all(map(ended.of, shown))
    complete = bool(pods) and bool(frozenset.intersection(*map(ended.of, pods)))
    return complete or (bool(pods) and pods == _succeeded_pods(facts, pods))


def _pods(facts: Iterable[Fact], others: Bystanders) -> set[str]:
    return {pod_of(f.place.container) for f in facts if f.place.container and f.source not in others.controllers}


def _called_after(facts: Sequence[Fact], sources: Sequence[Source]) -> set[str]:
    """The pods that are shown and after which the logs of the job are called, as the pods themselves see it (`ft-w-0-1.log` of
    `ft-w-0-1-x7k2p`, whose host name it is). A log that is called after none may be of any, unless it tells of commands alone."""
    shown = {str(fact.data["name"]) for fact in facts if fact.kind == "pod"}
    logs = job_logs(sources, (fact for fact in facts if fact.kind not in _OF_TERMINALS)) if shown else []
    called = unique((name, pod) for pod in shown for name in (pod, _OF_A_COPY.sub("", pod)))
    found = [{called[name] for name in names_of_files([log], frozenset()) if name in called} for log in logs]
    return {pod for pods in found for pod in pods} if all(len(pods) == 1 for pods in found) else set()


def _filed_by_pod(facts: Sequence[Fact], sources: Sequence[Source], ended: EndedJobs) -> set[str]:
    """The pods after which the directories, or files, of all logs of the job are called, of the one Job that ended."""
    logs = job_logs(sources, (fact for fact in facts if fact.kind not in _OF_TERMINALS))
    (job,) = ended.complete if len(ended.complete) == 1 and not ended.failed else (None,)
    found = [{name for name in names_of_files([log], frozenset()) if job.has(name)} for log in logs] if job else []
    return set().union(*found) if found and all(len(pods) == 1 for pods in found) else set()


def _succeeded_pods(facts: Iterable[Fact], pods: Collection[str]) -> set[str]:
    """Those that are shown, and each time as succeeded."""
    shown: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.kind == "pod" and fact.data["name"] in pods:
            shown[str(fact.data["name"])].append(fact)
    return {pod for pod, told in shown.items() if all(map(has_succeeded, told))}


def _broken(facts: Iterable[Fact]) -> set[str]:
    """The pods that are shown, and not as ready, nor as succeeded."""
    pods = (fact for fact in facts if fact.kind == "pod")
    return {str(pod.data["name"]) for pod in pods if not pod.data["ready"] and not has_succeeded(pod)}
