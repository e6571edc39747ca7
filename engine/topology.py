"""Who is where: ranks of processes, hosts and devices of ranks, proven by facts; and facts completed from that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from msgspec import Struct, field
from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place, Source
from neuron_doctor.engine.hostnames import names_of_hosts, with_host
from neuron_doctor.engine.placement import STATED_BY, Placement, placement
from neuron_doctor.engine.proven import unique
from neuron_doctor.engine.rank_blocks import hosts_by_block

#: Statuses that a fault of the device gives: uncorrectable memory errors, DMA abort (neuron-facts.md 1.2).
_DEVICE_STATUSES = frozenset({1201, 1202, 1203, 1205})
#: Kinds that speak of a whole device, and so of all ranks that it serves. Of others it must serve one alone.
_OF_ALL_ITS_RANKS = frozenset({"hw-err", "counter", "device-state", "unhealthy-component", "reset"})
#: Kinds that describe devices and are no rank's.
_INVENTORY = frozenset({"device", "device-user", "pci-device", "device-count"})


class Topology(Struct, frozen=True):
    """What is known of the job's shape. `host_of` maps every name of a host to the one that is shown; `home_of_rank` is
    proven by the ranks' own files or by records that name the host, `host_of_rank` by all records, and by the blocks of
    ranks that hosts have; `directory_of` is the host hint of sources that are of no single rank, `merged` are those of
    them that tell of ranks of other hosts, and `rank_of_local` is the rank by source, its host hint and local rank,
    `processes_of` are the ids of the processes of each host, as far as anything names them."""

    host_of: Mapping[str, str] = field(default_factory=dict)
    instance_of: Mapping[str, str] = field(default_factory=dict)
    rank_of_process: Mapping[tuple[str | None, int], int] = field(default_factory=dict)
    rank_of_pid: Mapping[int, int] = field(default_factory=dict)
    rank_of_local: Mapping[tuple[str, str | None, int], int] = field(default_factory=dict)
    host_of_rank: Mapping[int, str] = field(default_factory=dict)
    home_of_rank: Mapping[int, str] = field(default_factory=dict)
    directory_of: Mapping[str, str] = field(default_factory=dict)
    merged: frozenset[str] = frozenset()
    device_of_address: Mapping[tuple[str | None, str], int] = field(default_factory=dict)
    placement: Placement = field(default_factory=Placement)
    ranks: tuple[int, ...] = ()
    hosts: tuple[str, ...] = ()
    world_size: int | None = None
    processes_of: Mapping[str, frozenset[int]] = field(default_factory=dict)


def survey(facts: Iterable[Fact], sources: Iterable[Source]) -> Topology:
    """Learn the shape from all facts and sources."""
    facts, sources = tuple(facts), tuple(sources)
    places = [fact.place for fact in facts] + [source.place for source in sources]
    nodes = {str(f.data.get("name" if f.kind == "node" else "node")) for f in facts if f.kind in ("node", "pod")}
    nodes |= {host for f in facts if f.kind == "k8s-event" and f.place.container and (host := f.place.host)}
    # the host of a pod's file is what Kubernetes calls its node, not how the collector called the host's directory
    hints = [s.place for s in sources if s.place.container is None and not _shortens_a_node(s, nodes)]
    host_of, instance_of = names_of_hosts(facts, hints, places, nodes)
    placed = [with_host(place, host_of, instance_of) for place in places]
    rank_of_process = unique(((p.host, p.pid), p.rank) for p in placed if p.pid is not None and p.rank is not None)
    own = [(s, with_host(s.place, host_of, instance_of)) for s in sources]
    directory_of = {s.id: place.host for s, place in own if place.host and place.rank is None}
    told = [(f.source, rank, p.host) for f, p in zip(facts, placed, strict=False) if p.host for rank in _ranks(f, p)]
    home_of_rank = {
        **unique((rank, host) for source, rank, host in told if host != directory_of.get(source, host)),
        **unique((place.rank, place.host) for _, place in own if place.rank is not None and place.host),
    }
    own_host = ((place.rank, place.host) for place in placed if place.rank is not None and place.host)
    host_of_rank = {**unique([*own_host, *((rank, host) for _, rank, host in told)]), **home_of_rank}
    shared, strange = _of_other_jobs(facts, placed)
    for rank in shared:
        home_of_rank.pop(rank, None)
        host_of_rank.pop(rank, None)
    ranks = tuple(sorted({p.rank for p in placed if p.rank is not None}))
    host_of_rank |= hosts_by_block(
        host_of_rank, (rank for rank in ranks if rank not in shared | strange), told_width(facts), _locals(facts)
    )
    sizes = {fact.data["size"] for fact in facts if fact.kind == "world"}
    size = next(iter(sizes)) if len(sizes) == 1 else None
    hosts = tuple(sorted({p.host for p in placed if p.host}))
    # A file that names no host can speak of a process only where all processes are of one host.
    pids = [(p.pid, p.rank) for p in placed if p.pid is not None and p.rank is not None] if len(hosts) <= 1 else []
    base = Topology(
        host_of=host_of,
        instance_of=instance_of,
        rank_of_process=rank_of_process,
        rank_of_pid=unique(pids),
        rank_of_local=_ranks_of_local(facts, placed),
        host_of_rank=host_of_rank,
        home_of_rank=home_of_rank,
        directory_of=directory_of,
        merged=frozenset(_of_many_hosts(told, home_of_rank, directory_of) | _of_a_job(own, directory_of)),
        ranks=ranks,
        hosts=hosts,
        device_of_address=_device_addresses(facts, host_of, instance_of),
        world_size=size if isinstance(size, int) else None,
        processes_of=_processes(zip(facts, placed, strict=False)),
    )
    stated = [(fact, completed_place(fact.place, base)) for fact in facts if fact.kind in STATED_BY]
    return replace(base, placement=placement(stated))


def told_width(facts: Iterable[Fact]) -> int | None:
    """How many ranks each host has, if launchers were told one number."""
    told = {fact.data["processes"] for fact in facts if fact.kind == "node-width"}
    width = told.pop() if len(told) == 1 else None
    return width if isinstance(width, int) else None


def _locals(facts: Iterable[Fact]) -> dict[int, int]:
    """The number of each rank on its host, by which collectives number their devices where each rank has one."""
    return unique(
        (fact.place.rank, fact.place.core)
        for fact in facts
        if fact.kind in ("hang-report", "hit")
        and fact.place.rank is not None
        and fact.place.core is not None
        and fact.place.device is None
    )


def _ranks(fact: Fact, place: Place) -> tuple[int, ...]:
    """The ranks that a record says to be at its host: a launcher reports the ends of several at once."""
    if place.rank is not None:
        return (place.rank,)
    return place.ranks if fact.kind == "launcher-failure" else ()


def _of_other_jobs(facts: Iterable[Fact], placed: Iterable[Place]) -> tuple[set[int], set[int]]:
    """The ranks of which several jobs tell, and not each of them where it ran; and those of which a job tells that says of none
    where it ran, while another does, or beside other jobs that do: where another job's ran proves nothing."""
    tell: dict[int, set[str]] = defaultdict(set)
    place: dict[int, set[str]] = defaultdict(set)
    for fact, at in zip(facts, placed, strict=False):
        for rank in _ranks(fact, at) if at.job else ():
            tell[rank].add(at.job or "")
            place[rank] |= {at.job or ""} if at.host else set()
    shared = {rank for rank, jobs in tell.items() if len(jobs) > 1 and jobs != place[rank]}
    placing = set().union(*place.values())
    return shared, {rank for rank, jobs in tell.items() if placing and (len(placing) > 1 or not jobs <= placing)}


def _shortens_a_node(source: Source, nodes: Iterable[str]) -> bool:
    """Whether a file's own name has the first label of a node's name: who wrote it was brief and gave no name."""
    *directories, _ = source.path.replace("!", "/").split("/")
    host = source.place.host
    return bool(host) and host not in directories and any(node.startswith(f"{host}.") for node in nodes)


def _of_many_hosts(
    told: Iterable[tuple[str, int, str]], home_of_rank: Mapping[int, str], directory_of: Mapping[str, str]
) -> set[str]:
    """The sources with a rank whose home is not the host in whose directory they lie."""
    return {source for source, rank, host in told if home_of_rank.get(rank, host) != directory_of.get(source, host)}


def _of_a_job(own: Iterable[tuple[Source, Place]], directory_of: Mapping[str, str]) -> set[str]:
    """The outputs of whole jobs (`slurm-99.out`) among the files of several hosts: they lie where the batch script ran. Where
    the job has one for each of several hosts (`slurm-99-n7.out`), each is of its own."""
    own = list(own)
    several = len({place.host for _, place in own if place.host}) > 1
    outputs = [(source, place) for source, place in own if several and source.place.job and source.id in directory_of]
    named: dict[str | None, set[str | None]] = defaultdict(set)
    for source, place in outputs:
        if _is_called_after(source, place.host):
            named[source.place.job].add(place.host)
    return {s.id for s, place in outputs if not (len(named[s.place.job]) > 1 and _is_called_after(s, place.host))}


def _is_called_after(source: Source, host: str | None) -> bool:
    """Whether the name of a file has that of a host, as a word: `slurm-99-n12.out` is not called after `n1`."""
    parts = source.path.replace("!", "/").rpartition("/")[2].casefold().split(host.casefold()) if host else []
    return any(not (before[-1:].isalnum() or after[:1].isalnum()) for before, after in pairwise(parts))


def _processes(placed: Iterable[tuple[Fact, Place]]) -> dict[str, frozenset[int]]:
    """The processes of each host that records name which do not mean one of their threads."""
    found: dict[str, set[int]] = defaultdict(set)
    for fact, place in placed:
        if place.pid is not None and place.host and "thread" not in fact.data:
            found[place.host].add(place.pid)
    return {host: frozenset(pids) for host, pids in found.items()}


def complete(facts: Iterable[Fact], topology: Topology) -> Iterator[Fact]:
    """The facts, their places completed from what the whole collection proves. A log of many ranks lies in the directory
    of one host; where a rank is known to run on another, that directory says nothing, neither of it nor of the ranks
    beside it (a launcher speaks of its own host's)."""
    completed: dict[Place, Place] = {}  # there are many facts of few places
    for fact in facts:
        place = fact.place
        if place.rank is None and place.local_rank is not None and not place.ranks:
            place = replace(place, rank=topology.rank_of_local.get((fact.source, place.host, place.local_rank)))
        if place not in completed:
            completed[place] = completed_place(place, topology)
        place = _of_process(fact, completed[place], topology)
        if place.device is None and isinstance(address := fact.data.get("bdf"), str):
            place = replace(place, device=topology.device_of_address.get((place.host, _short(address))))
        home = topology.home_of_rank.get(place.rank) if place.rank is not None else None
        astray = place.rank is not None and place.host == topology.directory_of.get(fact.source)
        if astray and home and place.host != home:
            place = replace(place, host=home, instance_id=topology.instance_of.get(home))
        elif astray and not home and fact.source in topology.merged and fact.kind != "launcher-failure":
            place = replace(place, host=None, instance_id=None)
        place = _on_device(fact, place, topology)
        yield fact if place is fact.place else replace(fact, place=place)


def _of_process(fact: Fact, place: Place, topology: Topology) -> Place:
    """The place of a record that names a thread: that of its process only where a process of the host has this number, or
    where none of them is known. Else it is of some process of the host."""
    others = topology.processes_of.get(place.host or "", frozenset())
    if place.pid is None or not others or fact.data.get("thread") != place.pid or place.pid in others:
        return place
    return replace(place, pid=None)


def _on_device(fact: Fact, place: Place, topology: Topology) -> Place:
    """The device of a rank that reports a fault of its device; the ranks that a device serves, for what is said of it."""
    known = topology.placement
    if place.device is None and place.rank is not None and _is_of_device(fact):
        devices = known.devices_of_rank.get(place.rank, ())
        if len(devices) == 1 and place.host == topology.host_of_rank.get(place.rank):
            return replace(place, device=devices[0])
    named = place.rank is not None or place.ranks or place.pid is not None
    if place.device is None or place.host is None or named or fact.kind in _INVENTORY:
        return place
    ranks = known.ranks_of_device.get((place.host, place.device), ())
    return replace(place, ranks=ranks) if len(ranks) == 1 or fact.kind in _OF_ALL_ITS_RANKS else place


def _is_of_device(fact: Fact) -> bool:
    if fact.kind == "status":
        return fact.data["code"] in _DEVICE_STATUSES
    return fact.kind == "hang-report" and fact.data["what"] == "compute"


def _device_addresses(
    facts: Iterable[Fact], host_of: Mapping[str, str], instance_of: Mapping[str, str]
) -> dict[tuple[str | None, str], int]:
    """The device at each PCI address of each host, from the records that name both."""
    pairs = [
        ((with_host(fact.place, host_of, instance_of).host, _short(address)), fact.place.device)
        for fact in facts
        if fact.place.device is not None and isinstance(address := fact.data.get("bdf"), str)
    ]
    return unique(pairs)


def _short(address: str) -> str:
    """A PCI address without its domain: `0000:cc:00.0` is `cc:00.0`."""
    return address.lower()[-len("cc:00.0") :]


def _ranks_of_local(facts: Iterable[Fact], placed: Iterable[Place]) -> dict[tuple[str, str | None, int], int]:
    """The rank of each local rank that a source says with both. torchrun names the host where it reports the ends of its workers,
    and not in the lines that it passes on for them: they are of that host if the source names no other one, and no local rank
    by two processes, as of two agents or attempts."""
    told: list[tuple[tuple[str, str | None, int], int]] = []
    hosts, processes = defaultdict(set), defaultdict(set)
    for fact, place in zip(facts, placed, strict=False):
        if place.host:
            hosts[fact.source].add(place.host)
        if place.local_rank is not None and place.pid is not None:
            processes[fact.source, place.local_rank].add(place.pid)
        if place.local_rank is not None and place.rank is not None:
            told.append(((fact.source, fact.place.host, place.local_rank), place.rank))
    of_two = {source for (source, _), pids in processes.items() if len(pids) > 1}
    of_one = {source for source, names in hosts.items() if len(names) == 1} - of_two
    return unique([*told, *(((s, None, local), rank) for (s, _, local), rank in told if s in of_one)])


def completed_place(place: Place, topology: Topology) -> Place:
    """One host name for all its aliases; the rank of a known process; the host of a known rank."""
    known = with_host(place, topology.host_of, topology.instance_of)
    if known.rank is None and known.pid is not None:
        rank = topology.rank_of_process.get((known.host, known.pid), topology.rank_of_pid.get(known.pid))
        known = known if rank is None else replace(known, rank=rank)
    if known.rank is None and known.local_rank is not None and known.host:
        rank = topology.placement.rank_of_local.get((known.host, known.local_rank))
        known = known if rank is None else replace(known, rank=rank)
    if known.host is None and known.rank is not None:
        host = topology.host_of_rank.get(known.rank)
        known = known if host is None else with_host(replace(known, host=host), topology.host_of, topology.instance_of)
    if known.host is None and known.ranks:
        hosts = {topology.host_of_rank.get(rank) for rank in known.ranks}
        host = hosts.pop() if len(hosts) == 1 else None
        known = known if host is None else with_host(replace(known, host=host), topology.host_of, topology.instance_of)
    return known
