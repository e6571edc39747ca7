"""Runs the programs of all ranks as a flow of data: hosts issue ahead, devices keep the order of their streams, a collective
completes when all its members have started it. Times are computed, not stepped through: the work is linear in the calls."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from neuron_doctor.corpus.simulator.history import Op
from neuron_doctor.corpus.simulator.program import Fate, Halt, Instruction, Launch, Part, StepEnd, Sync, Work

NEVER = float("inf")
_LATENCY = {
    Op.ALL_REDUCE: 0.002,
    Op.ALL_GATHER: 0.003,
    Op.REDUCE_SCATTER: 0.003,
    Op.BROADCAST: 0.001,
    Op.ALL_TO_ALL: 0.002,
    Op.BARRIER: 0.0005,
    Op.SEND: 0.001,
    Op.RECV: 0.001,
}


@dataclass(slots=True, eq=False)
class Unit:
    """One launch of one rank on its way through the device."""

    rank: int
    number: int  # of the launches of this rank
    launch: Launch
    issued: float
    ordinals: tuple[int, ...]
    batch: int | None
    pending: int  # operations that are not done
    ready: float | None = None  # the device work before it is done
    started: float | None = None
    finished: float | None = None
    last: float = 0.0


@dataclass(slots=True, eq=False)
class Rank:
    """The state of one rank: its host thread and its device."""

    rank: int
    host: float
    source: Iterator[Instruction]
    units: deque[Unit]
    ahead: deque[Unit] = field(default_factory=deque)  # the last `limit` units: the host may not overtake the oldest
    queue: deque[Unit] = field(default_factory=deque)  # units whose preceding device work is not done
    streams: dict[object, deque[Unit]] = field(default_factory=dict)
    free: dict[object, float] = field(default_factory=dict)
    counts: dict[object, int] = field(default_factory=dict)
    previous: Unit | None = None
    device: float = 0.0  # device work is done up to here
    unfinished: int = 0
    latest: float = 0.0  # the last completion
    batches: int = 0
    launches: int = 0
    works: int = 0
    launched: list[int] = field(default_factory=list)  # by the end of each step
    held: Instruction | None = None
    waiting: Unit | None = None
    stuck_at: Unit | None = None  # where the device stands still by a fault
    halt: Halt | None = None
    steps: list[float] = field(default_factory=list)
    done: bool = False
    standing: Instruction | None = None  # what the host is at


@dataclass(slots=True, eq=False)
class Match:
    """The parties of one operation that have come so far."""

    need: int
    units: list[Unit]
    first: Part
    latest: float = 0.0
    broken: bool = False


class Flow:
    """One execution. `cutoff` is when the processes of ranks are known to end, whatever they were doing."""

    def __init__(
        self,
        sources: list[Iterator[Instruction]],
        sizes: Mapping[str, int],
        seed: int,
        *,
        start: float,
        limit: int,
        cutoff: Mapping[int, float],
        keep: int | None = None,
    ) -> None:
        self.ranks = [
            Rank(number, start + 0.8 * _noise(seed, number, 0), source, deque(maxlen=keep))
            for number, source in enumerate(sources)
        ]
        self._sizes = sizes
        self._seed = seed
        self._limit = limit
        self._cutoff = cutoff
        self._matches: dict[object, Match] = {}
        self._hosts: deque[Rank] = deque(self.ranks)
        self._ends: deque[tuple[Unit, float]] = deque()

    def run(self) -> None:
        """Let everything happen that can."""
        while self._hosts or self._ends:
            while self._ends:
                self._end(*self._ends.popleft())
            if self._hosts:
                self._advance(self._hosts.popleft())

    def _advance(self, rank: Rank) -> None:
        """Let the host of a rank go on until it must wait."""
        if rank.halt is not None or rank.done:
            return
        cutoff = self._cutoff.get(rank.rank, NEVER)
        while not self._ends:
            instruction = rank.held or next(rank.source, None)
            rank.held = None
            if instruction is None:
                rank.done = True
                return
            rank.standing = instruction
            if not self._do(rank, instruction):
                return
            if rank.host > cutoff:
                rank.done = True
                return
        self._hosts.append(rank)

    def _do(self, rank: Rank, instruction: Instruction) -> bool:
        """Do one instruction; False: it must wait and is held, or the rank has halted."""
        match instruction:
            case Launch():
                return self._launch(rank, instruction)
            case Work(seconds=seconds):
                rank.works += 1
                rank.host += seconds * (0.97 + 0.08 * _noise(self._seed, rank.rank, -rank.works))
            case Sync():
                if rank.unfinished:
                    rank.held = instruction
                    return False
                rank.host = max(rank.host, rank.latest)
            case StepEnd():
                rank.steps.append(rank.host)
                rank.launched.append(rank.launches)
            case Halt():
                rank.halt = instruction
                return False
        return True

    def _launch(self, rank: Rank, launch: Launch) -> bool:
        if rank.waiting is not None:
            return self._awaited(rank, launch)
        if len(rank.ahead) >= self._limit:
            oldest = rank.ahead[0]
            if oldest.finished is None:
                rank.held = launch
                return False
            rank.host = max(rank.host, oldest.finished)
            rank.ahead.popleft()
        rank.host += 0.00003
        unit = self._issue(rank, launch)
        if launch.waits:
            rank.waiting = unit
            return self._awaited(rank, launch)
        return True

    def _awaited(self, rank: Rank, launch: Launch) -> bool:
        """The host waits for the launch that it made last."""
        unit = rank.waiting
        if unit is None or unit.finished is None:
            rank.held = launch
            return False
        rank.waiting = None
        rank.host = max(rank.host, unit.finished)
        return True

    def _issue(self, rank: Rank, launch: Launch) -> Unit:
        ordinals = tuple(
            self._number(rank, part.group if part.peer is None else ("p2p", part.peer)) for part in launch.parts
        )
        batch = None
        if launch.batch:
            batch, rank.batches = rank.batches, rank.batches + 1
        unit = Unit(rank.rank, rank.launches, launch, rank.host, ordinals, batch, len(launch.parts))
        rank.launches += 1
        rank.unfinished += 1
        if launch.recorded:
            rank.units.append(unit)
        rank.ahead.append(unit)
        rank.queue.append(unit)
        rank.streams.setdefault(_stream(rank.rank, launch), deque()).append(unit)
        self._work(rank)
        return unit

    @staticmethod
    def _number(rank: Rank, key: object) -> int:
        number = rank.counts.get(key, 0)
        rank.counts[key] = number + 1
        return number

    def _work(self, rank: Rank) -> None:
        """Let the device do the work between launches as far as it can."""
        while rank.queue and rank.stuck_at is None:
            previous = rank.previous
            if previous is not None and previous.launch.blocks:
                if previous.finished is None:
                    return
                rank.device = max(rank.device, previous.finished)
            unit = rank.queue.popleft()
            rank.previous = unit
            compute = unit.launch.compute
            rank.device = max(rank.device, unit.issued) + compute * (
                0.98 + 0.05 * _noise(self._seed, rank.rank, unit.number)
            )
            if unit.launch.fate is Fate.DEVICE_STUCK or rank.device > self._cutoff.get(rank.rank, NEVER):
                rank.stuck_at = unit
                return
            unit.ready = rank.device
            self._start(rank, unit)

    def _start(self, rank: Rank, unit: Unit) -> None:
        """Start a unit if it is ready and the first of its stream."""
        key = _stream(rank.rank, unit.launch)
        if (
            unit.ready is None
            or unit.started is not None
            or rank.streams[key][0] is not unit
            or rank.stuck_at is not None
        ):
            return
        unit.started = max(unit.ready, rank.free.get(key, 0.0)) + 0.00001
        for part in unit.launch.parts:
            self._meet(unit, part)

    def _meet(self, unit: Unit, part: Part) -> None:
        """A unit comes to an operation; the last to come lets it complete."""
        key, need = self._meeting(unit, part)
        match = self._matches.get(key)
        if match is None:
            match = self._matches[key] = Match(need, [], part)
        elif not _fit(match.first, part):
            match.broken = True
        match.units.append(unit)
        match.latest = max(match.latest, unit.started or 0.0)
        if len(match.units) == match.need:
            del self._matches[key]
            self._complete(match)

    def _meeting(self, unit: Unit, part: Part) -> tuple[object, int]:
        """What identifies an operation across ranks, and how many parties it has."""
        if part.peer is None:
            return (part.group, unit.ordinals[unit.launch.parts.index(part)]), self._sizes[part.group]
        ends = (unit.rank, part.peer) if part.op is Op.SEND else (part.peer, unit.rank)
        return (ends, self._number(self.ranks[unit.rank], (part.op, part.peer))), 2

    def _complete(self, match: Match) -> None:
        if match.broken or any(unit.launch.fate is Fate.LOST for unit in match.units):
            return
        one = match.units[0]
        least = min(unit.rank for unit in match.units)
        end = match.latest + _LATENCY[match.first.op] * (0.9 + 0.4 * _noise(self._seed, least, one.ordinals[0]))
        if self._cutoff and any(self._cutoff.get(unit.rank, NEVER) < end for unit in match.units):
            return
        for unit in match.units:
            if unit.launch.fate is not Fate.UNSEEN:
                self._ends.append((unit, end + 0.0001 * _noise(self._seed, unit.rank, unit.number)))

    def _end(self, unit: Unit, time: float) -> None:
        """One operation of a unit is done."""
        unit.pending -= 1
        unit.last = max(unit.last, time)
        if unit.pending:
            return
        rank = self.ranks[unit.rank]
        unit.finished = unit.last
        rank.unfinished -= 1
        rank.latest = max(rank.latest, unit.finished)
        key = _stream(rank.rank, unit.launch)
        rank.free[key] = unit.finished
        stream = rank.streams[key]
        stream.popleft()
        self._work(rank)
        if stream:
            self._start(rank, stream[0])
        if rank.held is not None:
            self._hosts.append(rank)


def operation_of(state: Rank, unit: Unit) -> tuple[int, int]:
    """Which of how many operations of its step's graph a launch is."""
    before = [number for number in state.launched if number <= unit.number]
    start = before[-1] if before else 0
    size = before[-1] - before[-2] if len(before) > 1 else unit.number - start + 1
    return unit.number - start, max(size, unit.number - start + 1)


def _stream(rank: int, launch: Launch) -> object:
    """The device stream of a launch: one a group; transfers outside batches have one a pair of ranks."""
    part = launch.parts[0]
    if part.peer is None or launch.batch:
        return (part.group, part.peer is None)
    return (part.group, min(rank, part.peer), max(rank, part.peer))


def _noise(seed: int, one: int, other: int) -> float:
    """A number in 0..1 that depends on nothing but these: so two passes of one scenario agree as far as they share a past."""
    mixed = (seed * 0x9E3779B1 ^ one * 0x85EBCA77 ^ other * 0xC2B2AE3D) & 0xFFFFFFFF
    mixed = (mixed ^ mixed >> 15) * 0x2C1B3C6D & 0xFFFFFFFF
    return (mixed ^ mixed >> 12) / 0x100000000


def _fit(one: Part, other: Part) -> bool:
    """Two parties of an operation agree on what it is."""
    if one.peer is not None:
        return one.inputs == other.inputs and one.dtype == other.dtype
    return (
        one.op is other.op and one.inputs == other.inputs and one.outputs == other.outputs and one.dtype == other.dtype
    )
