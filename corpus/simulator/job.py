"""The job that is simulated: hosts with their devices, clocks and names, ranks placed on cores, process groups."""

from dataclasses import dataclass
from enum import StrEnum


class Axis(StrEnum):
    """What a process group is for."""

    WORLD = "world"
    TENSOR = "tp"
    PIPELINE = "pp"
    DATA = "dp"
    EXPERT = "ep"


@dataclass(frozen=True, slots=True)
class Group:
    """A process group. `ranks` are global ranks in group order; `name` is unique in the job ("0" is the world)."""

    name: str
    desc: str
    axis: Axis
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HostClock:
    """How the wall clock of a host reads: local = true + offset + drift * (true - start); seconds and seconds/second."""

    offset: float = 0.0
    drift: float = 0.0


@dataclass(frozen=True, slots=True)
class Host:
    """One machine. `boot` is the true time of its boot (seconds since the epoch): dmesg counts from there."""

    name: str  # ip-10-1-2-3
    address: str  # 10.1.2.3
    instance_id: str  # i-0...
    instance_type: str  # trn1.32xlarge, trn2.48xlarge, inf2.48xlarge
    pod: str | None  # where Kubernetes runs the job
    devices: int
    cores_per_device: int
    boot: float
    clock: HostClock = HostClock()


@dataclass(frozen=True, slots=True)
class Seat:
    """Where a rank runs. `core` counts over the host's cores; `device` is the Neuron device that holds it."""

    rank: int
    host: int  # index into Job.hosts
    local_rank: int
    device: int
    core: int
    pid: int


@dataclass(frozen=True, slots=True)
class Job:
    """A distributed job. Ranks are numbered 0..world-1 and `seats[r]` is where rank r sits."""

    name: str
    job_id: int
    hosts: tuple[Host, ...]
    seats: tuple[Seat, ...]
    groups: tuple[Group, ...]
    start: float  # true time, seconds since the epoch

    @property
    def world(self) -> int:
        """The number of ranks."""
        return len(self.seats)

    def groups_of(self, rank: int) -> tuple[Group, ...]:
        """The groups that a rank belongs to, in the order of the job's groups."""
        return tuple(group for group in self.groups if rank in group.ranks)

    def host_of(self, rank: int) -> Host:
        """The machine that a rank runs on."""
        return self.hosts[self.seats[rank].host]

    def ranks_on(self, host: int) -> tuple[int, ...]:
        """The ranks on the host with this index."""
        return tuple(seat.rank for seat in self.seats if seat.host == host)
