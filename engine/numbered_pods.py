"""Machines on which a job of Kubernetes was not, though no controller lists them: all of its numbered pods have other nodes, and
what was collected of the machine ends days before any of their logs begins, as that of an old case does.

Each alone says too little. A pod that is made anew after a failure may have another node than the one that failed; then what
failed is of the hours before the logs of the new pods, and not of days. And all pods are known only where each number from 0 up
has a row with a node and a log. A node may be listed by another name than the one that its machine calls itself: only names of
one form (by the private address, or by the id of the instance) show that two machines are two, or that all nodes are among the
machines as well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set

from neuron_doctor.engine.facts import DATED, Fact, Source, pod_of
from neuron_doctor.engine.file_names import names_of_file
from neuron_doctor.engine.former_instances import spans
from neuron_doctor.engine.regexes import regex

#: So much older than the logs is what no time zone can explain.
_DAYS = 48 * 3600 * 1_000_000_000
#: `llm-worker-3`, and with what Jobs and JobSets put behind the number: `llm-workers-0-3-x7k2p`.
_NUMBERED = regex(r"(?P<set>[a-z\d][a-z\d.-]{0,240})-(?P<number>\d{1,5})(?:-[bcdfghjklmnpqrstvwxz2456789]{5})?")
#: The names that EC2 gives to instances: by the private address, or by the id.
_BY_EC2 = regex(r"(?P<address>ip(?:-\d{1,3}){4})(?:\..*)?|(?P<id>i-[\da-f]{8,17})(?:\..*)?")
_LEAST = 2


def beside_numbered_pods(
    listed: Iterable[Fact], facts: Sequence[Fact], sources: Sequence[Source], machines: Collection[str]
) -> frozenset[str]:
    """These hosts without those that may be nodes of the pods that controllers list and whose logs are among the sources."""
    logs = [source for source in sources if source.kind == "log"]
    nodes = _nodes(_homes(listed), logs)
    begun = [first.ns for first, _ in spans([log for log in logs if log.place.container], facts).values()]
    if not nodes or not begun or not machines:
        return frozenset()
    old = frozenset(_ended_before(min(begun) - _DAYS, facts, sources, machines))
    return frozenset(name for name in old - nodes if nodes <= set(machines) or _is_another(name, nodes))


def _homes(listed: Iterable[Fact]) -> Mapping[str, Set[str]]:
    """The nodes on which each pod was, as far as controllers tell."""
    homes: dict[str, set[str]] = defaultdict(set)
    for fact in listed:
        if fact.place.container:
            homes[pod_of(fact.place.container)] |= {fact.place.host} if fact.place.host else set()
    return homes


def _nodes(homes: Mapping[str, Set[str]], logs: Sequence[Source]) -> frozenset[str]:
    """The nodes of the sets of pods of which there are logs, if of each set every pod has a node and a log, from 0 up."""
    spoke = {pod_of(log.place.container) for log in logs} | {name for log in logs for name in names_of_file(log.path)}
    sets: dict[str, dict[int, str]] = defaultdict(dict)
    for pod in sorted({*homes, *(pod_of(log.place.container) for log in logs)} - {""}):
        name, number = _set_of(pod)
        if sets[name].setdefault(number, pod) != pod:
            return frozenset()  # made anew under another name: who had the number when it failed is not known
    own = {name: pods for name, pods in sets.items() if spoke & set(pods.values())}
    pods = [pod for name in own for pod in own[name].values()]
    whole = all(map(_has_all, own.values())) and _has_all_jobs(own)
    if len(pods) < _LEAST or not whole or not all(pod in spoke and homes.get(pod) for pod in pods):
        return frozenset()
    return frozenset(node for pod in pods for node in homes[pod])


def _has_all(numbers: Collection[int]) -> bool:
    return set(numbers) == set(range(len(numbers)))


def _has_all_jobs(sets: Iterable[str]) -> bool:
    """Whether no job of a JobSet is missing, which are numbered as well (`llm-workers-0`)."""
    jobs: dict[str, set[int]] = defaultdict(set)
    for name in sets:
        if found := _NUMBERED.fullmatch(name):
            jobs[found["set"]].add(int(found["number"]))
    return all(map(_has_all, jobs.values()))


def _set_of(pod: str) -> tuple[str, int]:
    """What pods share that are numbered, and the number; a pod without one is a set by itself."""
    found = _NUMBERED.fullmatch(pod)
    return (found["set"], int(found["number"])) if found else (pod, 0)


def _ended_before(
    ns: int, facts: Sequence[Fact], sources: Iterable[Source], machines: Collection[str]
) -> Iterator[str]:
    """The machines of which everything that was collected shows dates, all of them before this one."""
    told: dict[str, list[Source]] = defaultdict(list)
    for source in sources:
        if source.place.host in machines:
            told[str(source.place.host)].append(source)
    undated = {fact.source for fact in facts if fact.instant and fact.instant.clock not in DATED}
    covered = spans([source for of in told.values() for source in of], facts)
    for name, of in told.items():
        if all(s.id in covered and s.id not in undated and covered[s.id][1].ns < ns for s in of):
            yield name


def _is_another(name: str, nodes: Iterable[str]) -> bool:
    """Whether names of one form show that a machine is none of these nodes."""
    own = _by_ec2(name)
    return own is not None and all((it := _by_ec2(node)) and it[0] == own[0] and it != own for node in nodes)


def _by_ec2(name: str) -> tuple[str, str] | None:
    """The form of a name and what tells instances apart in it."""
    found = _BY_EC2.fullmatch(name)
    return (str(found.lastgroup), found[found.lastgroup or 0]) if found else None
