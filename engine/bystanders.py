"""What controllers say of those who have no part in the job: `sacct` of a day lists whatever ran on the cluster, `kubectl`
the pods of a whole namespace and all nodes, `sinfo -R` each node that is out of service; the agents that watch nodes, what is
wrong with whichever. That another job was cancelled, another pod was killed or another node is away or broken says nothing of
the job whose logs were collected."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.earlier_runs import is_left_out
from neuron_doctor.engine.facts import Fact, Source, pod_of
from neuron_doctor.engine.file_names import names_of_file
from neuron_doctor.engine.match import Match
from neuron_doctor.engine.nodelists import nodes_of
from neuron_doctor.engine.numbered_pods import beside_numbered_pods
from neuron_doctor.engine.regexes import regex

CONTROLLERS = frozenset({"slurm", "kubectl"})
#: What AWS says of any instance of an account or of a cluster, whoever runs there.
_OF_ACCOUNTS = frozenset({"ec2", "aws-health", "hyperpod"})
#: The pattern for the same list as JSON, which is found in any text.
_LISTED_BY_EC2 = "host-ec2-system-impaired"
#: What is collected of a machine, whoever runs there.
_OF_MACHINES = frozenset({"kernel", "neuron-monitor", "neuron-ls", "sysfs", "metrics"})
#: What anybody says of a machine, and no program of itself: in the log of an agent, or in an export beside the lines of pods.
_OF_A_MACHINE = frozenset({"hw-err", "oom-kill", "node-condition", "k8s-event", "node", "pci-device", "device-state"})
#: The number of a job, without what tells tasks of an array or parts of a heterogeneous job.
_NUMBER = regex(r"\d{1,12}")
#: What the controller of nodes tells of a node, and of each pod on it, when kubelet no longer reports.
NODE_LOST = "NodeNotReady"
#: How operators call the pods of a job: `llm-worker-0`, `llm-launcher-x7k2p`.
_OF_JOB = regex(r"(?P<job>[a-z\d][a-z\d.-]{0,200})-(?:launcher|worker|master|chief|ps|evaluator|node)-[a-z\d]{1,10}")
#: Whose faults others on the same host share.
_SHARED = frozenset({"host", "hardware", "network"})


class Bystanders(Struct, frozen=True):
    """The sources of controllers, and the hosts that these list; the jobs and the pods that anything else tells of too (of
    pods the first word, which those of one job share), and the hosts of those; and all nodes of the job, where it is known that
    they are all. `strange` are sources of machines that controllers list, or that are beside all nodes of the job, and none of
    these; `lost_before` are nodes that were lost before the job was made; `accounts` are sources that tell of any instance of an
    account, `instances` are those of the job, as far as they are known. Where controllers have nothing of the job, nothing is
    known of whose logs these are."""

    controllers: frozenset[str] = frozenset()
    listed: frozenset[str] = frozenset()
    jobs: frozenset[str] = frozenset()
    pods: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    nodes: frozenset[str] = frozenset()
    strange: frozenset[str] = frozenset()
    lost_before: frozenset[str] = frozenset()
    accounts: frozenset[str] = frozenset()
    instances: frozenset[str] = frozenset()
    #: Whether those are the instances of all its logs.
    knows_instances: bool = False

    def anywhere(self) -> Bystanders:
        """The same where a pod may have moved away from the node that is gone; and any instance may be one of the job, where no
        instance of the job is known."""
        return replace(self, nodes=frozenset(), accounts=self.accounts if self.instances else frozenset())

    def hold(self, match: Match) -> bool:
        """Whether all of the match is about others, and its fault is none that is surely on a host of the job. What ended a
        process in another pod is that pod's, on whatever host: a pod is evicted for what it uses itself."""
        if not match.facts or not all(self.is_other(fact) for fact in match.facts):
            return False
        if match.rule.at == "process" and all(fact.place.container for fact in match.facts):
            return True
        return match.rule.cause.by not in _SHARED or self.hosts.isdisjoint(match.hosts)

    def is_other(self, fact: Fact) -> bool:
        """Whether a controller says it, of others, or a machine on which the job has nothing."""
        place = fact.place
        if fact.source in self.accounts or (fact.name == _LISTED_BY_EC2 and self.knows_instances):
            return place.host not in self.hosts | self.nodes and place.instance_id not in self.instances
        if fact.source in self.strange and self.nodes:
            return True
        if fact.source not in self.controllers:
            return (
                bool(self.nodes)
                and _is_of_machine(fact)
                and self._is_elsewhere(place.host)
                and place.host in self.listed
            )
        return self._is_of_others(fact)

    def _is_of_others(self, fact: Fact) -> bool:
        """Whether what a controller says is about another job, workload, pod or node."""
        place = fact.place
        if place.job is not None:
            return bool(self.jobs) and _number(place.job) not in self.jobs
        if fact.kind == "workload":
            return bool(self.pods) and word_of(str(fact.data["name"])) not in self.pods
        if place.container is not None:
            return bool(self.pods) and word_of(pod_of(place.container)) not in self.pods
        return (bool(self.nodes) or place.host in self.lost_before) and self._is_elsewhere(place.host)

    def _is_elsewhere(self, host: str | None) -> bool:
        return host is not None and host not in self.nodes | self.hosts


def bystanders(facts: Iterable[Fact], sources: Sequence[Source]) -> Bystanders:
    """What these facts and sources tell of the parts of the job."""
    facts = tuple(facts)
    controllers = frozenset(source.id for source in sources if source.kind in CONTROLLERS)
    accounts = frozenset(source.id for source in sources if source.kind in _OF_ACCOUNTS)
    if not controllers:
        return _of_accounts(facts, sources, accounts)
    listed = [fact for fact in facts if fact.source in controllers]
    known = {str(fact.data["name"]) if fact.kind == "node" else fact.place.host for fact in listed}
    agents = _agents(facts, controllers)
    logs = [source for source in sources if source.id not in agents]
    beside = _beside_all_nodes(listed, facts, logs) or beside_numbered_pods(listed, facts, logs, _machines(logs))
    strange = _strange(facts, logs, known | beside)
    outside = controllers | strange | agents
    told = [fact.place for fact in facts if fact.source not in outside and not _is_of_machine(fact)]
    told += [source.place for source in sources if source.id not in outside and not is_left_out(source)]
    jobs = {number for place in told if (number := _number(place.job))}
    jobs &= {number for fact in listed if (number := _number(fact.place.job))}
    pods = {pod_of(fact.place.container) for fact in listed if fact.place.container}
    pods &= {pod_of(place.container) for place in told if place.container} | set(
        names_of_files(sources, controllers | agents)
    )
    pods |= set(_of_specs(listed))
    words = frozenset(word_of(pod) for pod in pods)
    homes = _homes(listed, words)
    hosts = frozenset(place.host for place in told if place.host) | {n for n in homes.values() if n}
    before = frozenset(_lost_before(listed, pods, homes))
    nodes = _nodes_of_job(listed, jobs) or _nodes_of_pods(listed, pods, words)
    away = frozenset(s.id for s in sources if s.id in strange and s.place.host not in nodes | hosts)
    names = frozenset(name for name in known if name)
    own = _of_accounts(facts, sources, accounts)
    return replace(
        Bystanders(controllers, names, frozenset(jobs), words, hosts, nodes, away, before, accounts),
        instances=own.instances,
        knows_instances=own.knows_instances,
    )


def _of_accounts(facts: Sequence[Fact], sources: Iterable[Source], accounts: frozenset[str]) -> Bystanders:
    """The hosts and instances of which anything else tells than such lists."""
    lists = accounts | {fact.source for fact in facts if fact.name == _LISTED_BY_EC2}
    if not lists:
        return Bystanders()
    told = [fact.place for fact in facts if fact.source not in accounts and fact.name != _LISTED_BY_EC2]
    others = [source for source in sources if source.id not in accounts]
    told += [source.place for source in others]
    logs = [source for source in others if source.kind == "log" and source.id not in lists]
    return Bystanders(
        hosts=frozenset(place.host for place in told if place.host),
        accounts=accounts,
        instances=frozenset(place.instance_id for place in told if place.instance_id),
        knows_instances=bool(logs) and all(source.place.instance_id for source in logs),
    )


def _lost_before(listed: Sequence[Fact], pods: Collection[str], homes: Mapping[str, str | None]) -> Iterator[str]:
    """The nodes on which no pod of the job can have been: the job was made since, and a pod of which that is not known is shown
    on another one. None where a pod of the job is told to have lost its node."""
    job_of = {pod: found["job"] if (found := _OF_JOB.fullmatch(pod)) else None for pod in pods}
    left = any(fact.data.get("reason") == NODE_LOST and _of_pods(fact, pods) for fact in listed)
    for fact in listed if pods and not left else ():
        since, host = fact.data.get("since"), fact.place.host
        if isinstance(since, tuple) and host:
            made = frozenset(since)
            since_then = {pod for pod, job in job_of.items() if job in made}
            if since_then and all(pod in since_then or homes.get(pod) not in (None, host) for pod in pods):
                yield host


def _of_specs(listed: Iterable[Fact]) -> Iterator[str]:
    """The pods of a job whose object was collected by itself, as somebody does who asks about that job: pods that wait for a
    place have no logs."""
    specs: dict[str, set[str]] = defaultdict(set)
    pods: set[str] = set()
    for fact in listed:
        if fact.kind == "job-spec":
            specs[fact.source].add(str(fact.data["name"]))
        elif fact.place.container:
            pods.add(pod_of(fact.place.container))
    asked = tuple(f"{name}-" for names in specs.values() if len(names) == 1 for name in names)
    return (pod for pod in pods if pod.startswith(asked))


def _of_pods(fact: Fact, pods: Collection[str]) -> bool:
    return fact.place.container is not None and pod_of(fact.place.container) in pods


def _is_of_machine(fact: Fact) -> bool:
    """Whether it is said of a machine, by who says nothing of itself."""
    return fact.kind in _OF_A_MACHINE and fact.place.pid is None and fact.place.rank is None


def _agents(facts: Iterable[Fact], controllers: frozenset[str]) -> frozenset[str]:
    """The logs in which nothing is understood but what is wrong with machines, whatever those are called."""
    told = {fact.source for fact in facts if _is_of_machine(fact)}
    more = {fact.source for fact in facts if not _is_of_machine(fact) and fact.kind != "identity"}
    return frozenset(told - more - controllers)


def _beside_all_nodes(listed: Sequence[Fact], facts: Sequence[Fact], sources: Sequence[Source]) -> frozenset[str]:
    """The machines of which something was collected, if all nodes are among them that Slurm gave to the one job that it shows:
    then these are known by their names in Slurm, and any other is none of them. Of a job that was started anew it shows the last
    nodes alone."""
    rows = [fact for fact in listed if fact.kind == "slurm-job"]
    jobs = {number for fact in rows if (number := _number(fact.place.job))}
    again = any(fact.place.attempt or fact.data.get("restarts") for fact in facts)
    machines, nodes = _machines(sources), _nodes_of_job(rows, jobs)
    return machines if len(jobs) == 1 and nodes and nodes <= machines and not again else frozenset()


def _machines(sources: Iterable[Source]) -> frozenset[str]:
    """The machines of which something was collected."""
    return frozenset(source.place.host for source in sources if source.kind in _OF_MACHINES and source.place.host)


def _strange(facts: Iterable[Fact], sources: Sequence[Source], known: Collection[str | None]) -> frozenset[str]:
    """What is collected of machines that controllers list and on which no program spoke."""
    programs = {source.id for source in sources if source.kind not in CONTROLLERS | _OF_MACHINES}
    spoke = {source.place.host for source in sources if source.id in programs}
    spoke |= {fact.place.host for fact in facts if fact.source in programs and not _is_of_machine(fact)}
    machines = [source for source in sources if source.kind in _OF_MACHINES]
    return frozenset(s.id for s in machines if s.place.host in known and s.place.host not in spoke)


def _nodes_of_job(listed: Iterable[Fact], jobs: set[str]) -> frozenset[str]:
    """The nodes that Slurm gave to the job."""
    own = (fact for fact in listed if fact.kind == "slurm-job" and _number(fact.place.job) in jobs)
    return frozenset(node for fact in own for node in nodes_of(str(fact.data.get("nodes") or "")))


def _nodes_of_pods(listed: Sequence[Fact], pods: set[str], words: frozenset[str]) -> frozenset[str]:
    """The nodes of the pods of the job, where each of them has one."""
    homes = _homes(listed, words)
    return frozenset(n for n in homes.values() if n) if pods and all(homes.values()) else frozenset()


def _homes(listed: Iterable[Fact], words: frozenset[str]) -> Mapping[str, str | None]:
    """On which node each pod of the job is."""
    homes: dict[str, str | None] = {}
    for place in (fact.place for fact in listed if fact.place.container and is_of_pod(fact)):
        pod = pod_of(place.container)
        if word_of(pod) in words:
            homes[pod] = homes.get(pod) or place.host
    return homes


def is_of_pod(fact: Fact) -> bool:
    """Whether it is about a pod, and not about what makes pods: a JobSet, a StatefulSet, which has no node."""
    return fact.kind != "k8s-event" or str(fact.data["object"]).lower().partition("/")[0] in ("pod", "pods", "po")


def names_of_files(sources: Iterable[Source], controllers: frozenset[str]) -> Iterator[str]:
    """What these logs may be named after."""
    for source in sources:
        yield from names_of_file(source.path) if source.id not in controllers else ()


def word_of(pod: str) -> str:
    """What the pods of one job share of their names."""
    return pod.partition("-")[0]


def _number(name: str | None) -> str:
    found = _NUMBER.match(name or "")
    return found[0] if found else ""
