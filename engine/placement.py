"""Which cores and devices each rank has, and which ranks each device serves, where something states it.

Numbers of cores become devices only through the count of cores on a device that the host itself shows, counted as the
process counts (logical cores change all numbers). Two ranks that name one core, and two statements that differ, prove
nothing: an environment may be that of a launcher, inherited by all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field

from neuron_doctor.engine.facts import Fact, Place
from neuron_doctor.engine.proven import unique

#: The kinds of fact that say something of the cores, devices and ranks of processes.
STATED_BY = frozenset(
    {"env", "visible-cores", "core-layout", "device", "device-count", "device-user", "launcher-failure"}
)
#: Those that may tell the rank and the local rank of a process on its host: its environment, and its launcher.
_RANKED_BY = frozenset({"env", "launcher-failure"})

_VISIBLE = "NEURON_RT_VISIBLE_CORES"
_LOGICAL = frozenset({"NEURON_RT_VIRTUAL_CORE_SIZE", "NEURON_LOGICAL_NC_CONFIG"})
#: Devices with so many cores (Inf2, Trn1) have no logical ones, so that all who count cores count alike.
_PLAIN = 2
#: No host has more cores.
_MOST_CORES = 1024

Stated = tuple[Fact, Place]
Device = tuple[str, int]


class Placement(Struct, frozen=True):
    """`devices_of_rank`: all devices that the rank has, on its host. `ranks_of_device`: all ranks that a device of a host
    serves. `rank_of_local`: the rank by host and local rank."""

    devices_of_rank: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    ranks_of_device: Mapping[Device, tuple[int, ...]] = field(default_factory=dict)
    rank_of_local: Mapping[Device, int] = field(default_factory=dict)


def placement(stated: Iterable[Stated]) -> Placement:
    """What facts of the kinds in `STATED_BY` prove, each given with its completed place."""
    stated = tuple(stated)
    host_of = unique((p.rank, p.host) for _, p in stated if p.rank is not None and p.host)
    cores = _without_shared(_cores(stated), host_of)
    widths = _widths(stated, host_of)
    by_cores = {
        rank: tuple(sorted({core // widths[rank] for core in own})) for rank, own in cores.items() if rank in widths
    }
    users = _users(stated)
    devices = unique([*by_cores.items(), *_devices_of_users(users).items()])
    served = {**_served_by_users(users), **_served_by_cores(by_cores, cores, host_of, widths)}
    return Placement(
        devices_of_rank=devices,
        ranks_of_device={at: ranks for at, ranks in served.items() if all(at[1] in devices.get(r, ()) for r in ranks)},
        rank_of_local=unique(
            ((place.host, place.local_rank), place.rank)
            for fact, place in stated
            if fact.kind in _RANKED_BY and place.host and place.local_rank is not None and place.rank is not None
        ),
    )


def cores_of(text: str) -> tuple[int, ...]:
    """The cores of a list such as `0-3,8`; empty where the text is none."""
    cores: set[int] = set()
    for part in text.split(","):
        first, _, last = (piece.strip() for piece in part.partition("-"))
        last = last or first
        if not (first.isascii() and first.isdigit() and last.isascii() and last.isdigit()):
            return ()
        if not int(first) <= int(last) < _MOST_CORES:
            return ()
        cores.update(range(int(first), int(last) + 1))
    return tuple(sorted(cores))


def _cores(stated: Iterable[Stated]) -> dict[int, tuple[int, ...]]:
    """The cores of each rank, as its environment and its runtime say alike."""
    said = (
        (place.rank, cores_of(str(fact.data["cores" if fact.kind == "visible-cores" else "value"])))
        for fact, place in stated
        if place.rank is not None
        and (fact.kind == "visible-cores" or (fact.kind == "env" and fact.data["name"] == _VISIBLE))
    )
    return {rank: cores for rank, cores in unique(said).items() if rank is not None and cores}


def _without_shared(cores: Mapping[int, tuple[int, ...]], host_of: Mapping[int, str]) -> dict[int, tuple[int, ...]]:
    """Without ranks whose host is not known, and those that name a core that another rank of the host names."""
    taken = Counter((host_of[rank], core) for rank, own in cores.items() if rank in host_of for core in own)
    return {
        rank: own
        for rank, own in cores.items()
        if rank in host_of and all(taken[host_of[rank], core] == 1 for core in own)
    }


def _widths(stated: Iterable[Stated], host_of: Mapping[int, str]) -> dict[int, int]:
    """How many cores a device has, as each rank counts cores."""
    stated = tuple(stated)
    width = unique((place.host, cores) for fact, place in stated if place.host for cores in _width_said(fact))
    size = unique(
        (place.host, fact.data["lnc"]) for fact, place in stated if fact.kind == "device" and fact.data.get("lnc")
    )
    own = {
        (place.rank, fact.data["value"])
        for fact, place in stated
        if fact.kind == "env" and fact.data["name"] in _LOGICAL and place.rank is not None
    }
    other = {rank for rank, value in own if str(value) != str(size.get(host_of.get(rank or 0)))}
    return {rank: width[host] for rank, host in host_of.items() if host in width and rank not in other}


def _width_said(fact: Fact) -> Iterator[int]:
    """The cores of one device that a fact states. Only neuron-ls counts logical ones as processes do."""
    if fact.kind == "device":
        said = _number(fact, "cores")
    elif fact.kind == "core-layout":
        said = _number(fact, "per_device")
    elif fact.kind == "device-count" and _number(fact, "neuron") > 0:
        said = _number(fact, "cores") // _number(fact, "neuron")
    else:
        return
    if said == _PLAIN or (said > 0 and fact.kind == "device"):
        yield said


def _number(fact: Fact, name: str) -> int:
    value = fact.data.get(name)
    return value if isinstance(value, int) else 0


def _users(stated: Iterable[Stated]) -> dict[Device, set[int | None]]:
    """The ranks of the processes that neuron-ls shows on each device; None for a process of no known rank."""
    users: dict[Device, set[int | None]] = defaultdict(set)
    for fact, place in stated:
        if fact.kind == "device-user" and place.host and place.device is not None:
            users[place.host, place.device].add(place.rank)
    return users


def _devices_of_users(users: Mapping[Device, set[int | None]]) -> dict[int, tuple[int, ...]]:
    found: dict[int, set[Device]] = defaultdict(set)
    for at, ranks in users.items():
        for rank in ranks:
            if rank is not None:
                found[rank].add(at)
    return {
        rank: tuple(sorted(device for _, device in at))
        for rank, at in found.items()
        if len({host for host, _ in at}) == 1
    }


def _served_by_users(users: Mapping[Device, set[int | None]]) -> dict[Device, tuple[int, ...]]:
    return {at: tuple(sorted(r for r in ranks if r is not None)) for at, ranks in users.items() if None not in ranks}


def _served_by_cores(
    devices: Mapping[int, tuple[int, ...]],
    cores: Mapping[int, tuple[int, ...]],
    host_of: Mapping[int, str],
    widths: Mapping[int, int],
) -> dict[Device, tuple[int, ...]]:
    """The devices all of whose cores belong to known ranks: then nobody else has one."""
    ranks: dict[Device, set[int]] = defaultdict(set)
    known: Counter[Device] = Counter()
    for rank in devices:
        for core in cores[rank]:
            at = (host_of[rank], core // widths[rank])
            ranks[at].add(rank)
            known[at] += 1
    return {at: tuple(sorted(of)) for at, of in ranks.items() if known[at] == widths[min(of)]}
