"""How full memory is as neuron-monitor shows it: a host's memory, and what a rank holds on its device by category."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from neuron_doctor.corpus.simulator.history import DeviceMemoryExhausted, Event, History, KernelOom
from neuron_doctor.corpus.simulator.job import Host

HOST_BYTES = {"trn1.32xlarge": 549755813888, "trn1n.32xlarge": 549755813888, "trn2.48xlarge": 2199023255552}
DEFAULT_HOST_BYTES = 412316860416
_CLIMB = 900.0  # seconds over which memory fills up before the kernel kills
_CATEGORIES = ("constants", "model_code", "model_shared_scratchpad", "runtime_memory", "tensors")
_USUAL = {
    "constants": 268_435_456,
    "model_code": 1_288_490_188,
    "model_shared_scratchpad": 2_147_483_648,
    "runtime_memory": 20_971_520,
    "tensors": 6_442_450_944,
}


@dataclass(frozen=True, slots=True)
class HostMemory:
    """A host's memory over time: a level, and climbs that end at a kill."""

    total: int
    usual: int
    climbs: tuple[tuple[float, int], ...]  # when it ended, and how much was in use then

    def used(self, t: float) -> int:
        """The bytes in use at `t`."""
        for end, top in self.climbs:
            if end - _CLIMB < t <= end:
                share = (t - end + _CLIMB) / _CLIMB
                return self.usual + int((top - self.usual) * share * share)
        return self.usual


def host_memory(host: Host, events: Sequence[Event], random: Random) -> HostMemory:
    """The memory of a host with the kills that its kernel made. A cgroup's limit is reached long before the host's."""
    total = HOST_BYTES.get(host.instance_type, DEFAULT_HOST_BYTES)
    usual = int(total * random.uniform(0.2, 0.45))
    climbs = tuple(
        (event.time, int(total * 0.995) if event.cgroup is None else min(usual + event.resident_kib * 512, total))
        for event in events
        if isinstance(event, KernelOom)
    )
    return HostMemory(total, usual, climbs)


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    """What a rank holds on its device, by category, before and after something filled it."""

    usual: Mapping[str, int]
    full_at: float | None
    full: Mapping[str, int]

    def held(self, t: float) -> Mapping[str, int]:
        """The bytes by category at `t`."""
        return self.full if self.full_at is not None and t >= self.full_at - 1.0 else self.usual


def device_memory(history: History, random: Random) -> tuple[DeviceMemory, ...]:
    """The device memory of each rank, by rank. All ranks of a job hold nearly the same."""
    scale = random.uniform(0.6, 1.3)
    full = {event.rank: event for event in history.events if isinstance(event, DeviceMemoryExhausted)}
    return tuple(_held(full.get(life.rank), scale * random.uniform(0.995, 1.005)) for life in history.lives)


def _held(full: DeviceMemoryExhausted | None, scale: float) -> DeviceMemory:
    usual = {category: int(_USUAL[category] * scale) for category in _CATEGORIES}
    if full is None:
        return DeviceMemory(usual, None, usual)
    return DeviceMemory(usual, full.time, usual | _by_category(full.used))


def _by_category(used: Mapping[str, int]) -> dict[str, int]:
    """The categories of the runtime's table in the monitor's words; what has none of its own is runtime memory."""
    sums: dict[str, int] = {}
    for name, size in used.items():
        words = name.lower().replace(" ", "_").replace("-", "_")
        category = next((category for category in _CATEGORIES if category in words), "runtime_memory")
        sums[category] = sums.get(category, 0) + size
    return sums
