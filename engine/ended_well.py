"""Whose end was good: a launcher that says so of all its processes, a process that says that its work is done, or the
scheduler of the whole job. What was complained of until then has been overcome: a wait of forty minutes, an exception that
was caught, peers that went first at the end.

- A launcher's word (`completion` with `exited`) holds for what its own log said before it, of its host and its pod. What of
  lost peers stands after it there is the noise of the end, if the log shows steps before it and none after: what has ended
  may have been the preparation of the data.
- A process's word holds for what the same process said before it. What follows it may be the failure of the last save.
- The scheduler's word (Slurm's COMPLETED 0:0, a Job of Kubernetes that is complete, pods that have succeeded) holds for all
  whose fault lies with a peer, and for all collectives: nobody waited for ever in a job that came to its end.
- A word in a later log of the same container holds for what its earlier one (`kubectl logs --previous`) says, the failure
  that ended that one too: it was started anew.
- Launchers that say together, each in words of its own, that as many workers ended with 0 as the flight recorders show ranks
  speak for all collectives of these: somebody asked for the dumps of a job that moved.

Nothing of this counts where anybody reports a worker that failed in the last attempt: a batch script that goes on after a
failure also ends with 0. What a launcher reported before it started its workers anew, and all of them ended with 0, was an
earlier attempt.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct, field

from neuron_doctor.engine.bystanders import Bystanders
from neuron_doctor.engine.facts import Fact, Source, pod_of
from neuron_doctor.engine.match import Match
from neuron_doctor.engine.topology import Topology
from neuron_doctor.engine.world import world_of

#: What is told of those for whom others wait.
_OF_WAITS = frozenset({"collective", "silent-rank", "lost-host"})
#: Reasons of events by which a Job, or an operator's job, has ended well.
JOB_ENDED = frozenset({"Completed", "JobSucceeded", "PyTorchJobSucceeded", "MPIJobSucceeded"})


class EndedWell(Struct, frozen=True):
    """The words of good ends by source, where the last progress of each source stands, and whether the job, or each rank that
    the flight recorders know, ended well. `anew`: the logs after
    which the same container was started anew, and ended well."""

    words: Mapping[str, Sequence[Fact]] = field(default_factory=dict)
    last_step: Mapping[str, int] = field(default_factory=dict)
    job: bool = False
    ranks: bool = False
    anew: frozenset[str] = frozenset()

    def covers(self, match: Match, single: Collection[str]) -> bool:
        """Whether all that the match rests on was overcome. `single` are the sources of one process each."""
        of_peer = match.rule.cause.by == "peer"
        if (self.ranks or self.job) and match.facts and all(fact.kind in _OF_WAITS for fact in match.facts):
            return True
        if not match.facts or not match.rule.survivable:
            return False
        return (self.job and of_peer) or all(
            any(self._holds(word, fact, single, of_peer=of_peer) for word in self.words.get(fact.source, ()))
            or fact.source in self.anew
            for fact in match.facts
        )

    def _holds(self, word: Fact, fact: Fact, single: Collection[str], *, of_peer: bool) -> bool:
        if not _may_be_of(word, fact):
            return False
        if word.span.offset > fact.span.offset:
            return bool(word.data.get("exited")) or word.source in single
        after_work = 0 <= self.last_step.get(word.source, -1) < word.span.offset
        return of_peer and after_work and bool(word.data.get("exited"))


def ended_well(facts: Iterable[Fact], sources: Iterable[Source], others: Bystanders) -> EndedWell:
    """What these facts, and the times of these sources, tell of good ends; what `others` hold is of other jobs."""
    facts = tuple(fact for fact in facts if not others.is_other(fact))
    last = max((f.place.attempt for f in facts if f.place.attempt is not None), default=None)
    words: dict[str, list[Fact]] = defaultdict(list)
    last_step: dict[str, int] = defaultdict(int)
    restarts: dict[str, list[int]] = defaultdict(list)
    failures = []
    for fact in facts:
        if fact.kind == "completion":
            words[fact.source].append(fact)
        elif fact.kind == "progress":
            last_step[fact.source] = max(last_step[fact.source], fact.span.offset)
        elif fact.kind == "restart":
            restarts[fact.source].append(fact.span.offset)
        elif fact.kind == "launcher-failure" and fact.place.attempt in (None, last):
            failures.append(fact)
    anew = _anew(words, sources)
    if not all(f.source in anew or _made_good(f, restarts[f.source], words[f.source]) for f in failures):
        return EndedWell()
    job = _of_slurm(facts) or _of_kubernetes(facts, others)
    return EndedWell(words, last_step, job, _of_launchers(facts, words, last_step), anew)


def _made_good(failure: Fact, restarts: Iterable[int], words: Iterable[Fact]) -> bool:
    """Whether the launcher that reports a worker started all anew afterwards, and they ended with 0."""
    anew = min((offset for offset in restarts if offset > failure.span.offset), default=None)
    return anew is not None and any(word.data.get("exited") and word.span.offset > anew for word in words)


def _anew(words: Mapping[str, Sequence[Fact]], sources: Iterable[Source]) -> frozenset[str]:
    """The logs of containers of which a later log says that the work is done: they were started anew after what ended them."""
    of: dict[str, list[Source]] = defaultdict(list)
    for source in sources:
        if source.place.container and source.first and source.last:
            of[source.place.container].append(source)
    return frozenset(
        one.id
        for logs in of.values()
        for one in logs
        if any(words.get(log.id) and _is_before(one, log) for log in logs)
    )


def _is_before(one: Source, other: Source) -> bool:
    last, first = one.last, other.first
    return last is not None and first is not None and last.clock is first.clock and last.ns < first.ns


def _may_be_of(word: Fact, fact: Fact) -> bool:
    """Whether a good end can be that of the process that a record is of: of its host, its pod, its rank."""
    a, b = word.place, fact.place
    pods = (pod_of(a.container), pod_of(b.container))
    return all(x is None or y is None or x == y for x, y in ((a.host, b.host), (a.rank, b.rank))) and (
        pods[0] == pods[1] or not all(pods)
    )


def _of_slurm(facts: Iterable[Fact]) -> bool:
    """Slurm shows one job, and all its steps, as completed with 0."""
    rows = [fact for fact in facts if fact.kind == "slurm-job"]
    codes = ("exitcode", "signal", "derived_exitcode")
    good = all(row.data.get("state") == "COMPLETED" and not any(map(row.data.get, codes)) for row in rows)
    return good and len({row.data.get("job_id") for row in rows}) == 1


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


def _of_kubernetes(facts: Sequence[Fact], others: Bystanders) -> bool:
    """The one Job whose pods these logs are of is complete, or all these pods have succeeded."""
    pods = {pod_of(f.place.container) for f in facts if f.place.container and f.source not in others.controllers}
    jobs = [
        str(fact.data["object"]).rpartition("/")[2]
        for fact in facts
        if fact.kind == "k8s-event" and fact.data["reason"] in JOB_ENDED
    ]
    shown: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.kind == "pod" and fact.data["name"] in pods:
            shown[str(fact.data["name"])].append(fact)
    complete = any(all(pod.startswith(f"{job}-") for pod in pods) for job in jobs)
    succeeded = all(shown[pod] and all(map(_succeeded, shown[pod])) for pod in pods)
    return bool(pods) and (complete or succeeded)


def _succeeded(pod: Fact) -> bool:
    ended = pod.data["phase"] in ("Succeeded", "Completed") or pod.data["reason"] == "Completed"
    return ended and pod.data["exit_code"] in (0, -1)
