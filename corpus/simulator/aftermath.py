"""What follows when ranks stand still or die: peers lose connections, watchdogs and runtimes give up, launchers tear down."""

import heapq
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from neuron_doctor.corpus.simulator.flow import Flow, Rank, Unit, operation_of
from neuron_doctor.corpus.simulator.history import (
    End,
    Event,
    ExceptionRaised,
    ExecutionFailed,
    HangSuspected,
    LauncherSaw,
    PeerLost,
    ProcessSignalled,
    ReceiveTimeout,
    WatchdogTimeout,
)
from neuron_doctor.corpus.simulator.job import Job
from neuron_doctor.corpus.simulator.plan import Custom, Watcher
from neuron_doctor.corpus.simulator.sites import Site

SIGKILL, SIGTERM, SIGABRT = 9, 15, 6
_NOTICES = frozenset({"peer-lost", "watchdog", "runtime", "rendezvous", "receive"})
_RETRY = 120.0


@dataclass(frozen=True, slots=True)
class Death:
    """A process ended. `seen` is whether a launcher was left to see it (not when its host went down)."""

    time: float
    end: End
    exit_code: int | None = None
    signal: int | None = None
    seen: bool = True
    fault: int | None = None  # that the launcher states by its line about the end


@dataclass(slots=True)
class Aftermath:
    """How all processes ended, and the events on the way."""

    deaths: dict[int, Death] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    alarm: float | None = None  # when the first watchdog had the flight recorder dumped
    failed: dict[int, float] = field(default_factory=dict)  # when a rank's own watchdog gave its calls up


class _Course:
    """The heap of what is about to happen."""

    def __init__(self, job: Job, flow: Flow, custom: Custom, rng: random.Random, until: float) -> None:
        self.job, self.flow, self.custom, self.rng, self.until = job, flow, custom, rng, until
        self.stubborn = {state.rank for state in flow.ranks if state.halt is not None and not state.halt.interruptible}
        self.after = Aftermath()
        self.heap: list[tuple[float, int, str, int, object]] = []
        self.serial = 0
        self.first_on_host: set[int] = set()
        self.doomed: set[int] = set()  # ranks that noticed something and are about to end by it
        self.local = {index: job.ranks_on(index) for index in range(len(job.hosts))}
        self.neighbours = _neighbours(job)

    def push(self, time: float, what: str, rank: int, detail: object = None) -> None:
        """Something is to happen to a rank."""
        self.serial += 1
        heapq.heappush(self.heap, (time, self.serial, what, rank, detail))

    def run(self) -> Aftermath:
        """Let it all happen."""
        while self.heap:
            time, _, what, rank, detail = heapq.heappop(self.heap)
            if time > self.until:
                break
            if rank in self.after.deaths or (what in _NOTICES and rank in self.doomed):
                continue
            match what, detail:
                case "death", Death():
                    self._die(rank, detail)
                case "peer-lost", (int(peer), str(group)):
                    self._event(PeerLost(time=time, rank=rank, host=self._host(rank), peer=peer, group=group))
                    self._doom(rank, Death(time + self.rng.uniform(0.2, 2.0), End.RAISED, 1))
                case "watchdog", _:
                    self._watchdog(time, rank)
                case "runtime", _:
                    self._runtime(time, rank)
                case "rendezvous", _:
                    self._rendezvous(time, rank)
                case "receive", int(peer):
                    self._receive(time, rank, peer)
                case "term", _:
                    self._terminate(time, rank)
                case _:
                    self._die(rank, Death(time, End.SIGNALLED, -SIGKILL, SIGKILL), by_launcher=True)
        return self.after

    def _doom(self, rank: int, death: Death) -> None:
        self.doomed.add(rank)
        self.push(death.time, "death", rank, death)

    def _host(self, rank: int) -> int:
        return self.job.seats[rank].host

    def _event(self, event: Event) -> None:
        self.after.events.append(event)

    def _die(self, rank: int, death: Death, *, by_launcher: bool = False) -> None:
        self.after.deaths[rank] = death
        host = self._host(rank)
        if death.seen:
            self._event(
                LauncherSaw(
                    time=death.time + self.rng.uniform(0.02, 0.3),
                    fault=death.fault,
                    rank=rank,
                    host=host,
                    exit_code=death.exit_code,
                    signal=death.signal,
                    first=host not in self.first_on_host,
                    killed_by_launcher=by_launcher,
                )
            )
        if death.seen and host not in self.first_on_host:
            self.first_on_host.add(host)
            self._tear_down(death.time, host)
        for peer, group in self.neighbours[rank]:
            if peer not in self.after.deaths and self.rng.random() < self.custom.peer_lost and self._waits(peer):
                self.push(death.time + self.rng.uniform(0.01, 0.6), "peer-lost", peer, (rank, group))

    def _waits(self, rank: int) -> bool:
        state = self.flow.ranks[rank]
        return state.halt is None and state.unfinished > 0

    def _tear_down(self, time: float, host: int) -> None:
        """A launcher saw its first failure."""
        if self.custom.local_teardown:
            for rank in self.local[host]:
                self.push(time + self.rng.uniform(0.3, 0.9), "term", rank)
        if self.custom.job_teardown:
            delay = self.rng.uniform(1.0, 8.0)
            for other in set(self.local) - {host}:
                for rank in self.local[other]:
                    self.push(time + delay + self.rng.uniform(0.0, 0.5), "term", rank)

    def _receive(self, time: float, rank: int, peer: int) -> None:
        self._event(ReceiveTimeout(time=time, rank=rank, host=self._host(rank), peer=peer))
        self.push(time + _RETRY, "receive", rank, peer)

    def _rendezvous(self, time: float, rank: int) -> None:
        absent = sum(state.waiting is None for state in self.flow.ranks)
        joined = f"{self.job.world - absent}/{self.job.world} clients joined."
        message = f"Timed out after {self.custom.rendezvous_seconds + 1:.0f} seconds waiting for clients. {joined}"
        frames = self.flow.ranks[rank].waiting.launch.parts[0].frames  # type: ignore[union-attr]
        self._event(
            ExceptionRaised(
                time=time,
                rank=rank,
                host=self._host(rank),
                type="torch.distributed.DistStoreError",
                message=message,
                frames=frames,
            )
        )
        self._doom(rank, Death(time + self.rng.uniform(0.2, 1.0), End.RAISED, 1))

    def _terminate(self, time: float, rank: int) -> None:
        if rank in self.stubborn:
            self.push(time + 30.0, "kill", rank)
            return
        self._event(ProcessSignalled(time=time, rank=rank, host=self._host(rank), signal=SIGTERM, by="launcher"))
        self._die(rank, Death(time + self.rng.uniform(0.05, 0.8), End.SIGNALLED, -SIGTERM, SIGTERM), by_launcher=True)

    def _watchdog(self, time: float, rank: int) -> None:
        index, unit = next(_incomplete_units(self.flow.ranks[rank]))
        group = unit.launch.parts[0].group
        self._event(
            WatchdogTimeout(
                time=time,
                rank=rank,
                host=self._host(rank),
                group=group,
                index=index,
                timeout=self.custom.watchdog_seconds,
            )
        )
        if self.after.alarm is None:
            self.after.alarm = time
        self.after.failed[rank] = time
        self._doom(rank, Death(time + self.rng.uniform(1.0, 3.0), End.ABORTED, -SIGABRT, SIGABRT))

    def _runtime(self, time: float, rank: int) -> None:
        state, seat = self.flow.ranks[rank], self.job.seats[rank]
        unit = next(unit for unit in state.units if unit.started is not None and unit.finished is None)
        operation, operations = operation_of(state, unit)
        where = {"rank": rank, "host": seat.host, "device": seat.device, "core": seat.core}
        group = unit.launch.parts[0].group
        self._event(
            HangSuspected(time=time, operation=operation, operations=operations, collective=True, group=group, **where)
        )
        self._event(ExecutionFailed(time=time + 0.005, status=1200, **where))
        self._doom(rank, Death(time + self.rng.uniform(0.8, 2.0), End.RAISED, 1))


def follow(
    job: Job, flow: Flow, custom: Custom, rng: random.Random, deaths: Mapping[int, Death], until: float
) -> Aftermath:
    """What follows from the first deaths and from ranks that wait, until everything is collected."""
    course = _Course(job, flow, custom, rng, until)
    for rank, death in deaths.items():
        course.push(death.time, "death", rank, death)
    for state in flow.ranks:
        if not state.done and state.rank not in deaths:
            _watch(course, state)
    return course.run()


def _watch(course: _Course, state: Rank) -> None:
    """Let who watches a rank give up on it in time."""
    custom, rng = course.custom, course.rng
    if state.waiting is not None and state.waiting.launch.site is Site.SETUP:
        _watch_setup(course, state, state.waiting)
    if custom.watcher is Watcher.WATCHDOG:
        unit = next(_incomplete_units(state), None)
        if unit is not None:
            course.push(unit[1].issued + custom.watchdog_seconds + rng.uniform(0.0, 1.0), "watchdog", state.rank)
    elif custom.watcher is Watcher.RUNTIME and state.stuck_at is None:
        started = [unit.started for unit in state.units if unit.started is not None and unit.finished is None]
        if started:
            course.push(min(started) + custom.runtime_seconds + rng.uniform(0.0, 0.3), "runtime", state.rank)


def _watch_setup(course: _Course, state: Rank, unit: Unit) -> None:
    """Ranks that wait for others to come up say so every two minutes; the store gives up after half an hour."""
    absent = {peer for peer, _ in course.neighbours[state.rank] if course.flow.ranks[peer].waiting is None}
    if absent:
        course.push(unit.issued + _RETRY + course.rng.uniform(0.0, 0.4), "receive", state.rank, min(absent))
    if not unit.launch.recorded:
        course.push(
            unit.issued + course.custom.rendezvous_seconds + course.rng.uniform(0.5, 2.0), "rendezvous", state.rank
        )


def _incomplete_units(state: Rank) -> Iterator[tuple[int, Unit]]:
    """The launches that are not done, each with the index of its first call."""
    index = 0
    for unit in state.units:
        if unit.finished is None:
            yield index, unit
        index += len(unit.launch.parts)


def _neighbours(job: Job) -> list[list[tuple[int, str]]]:
    """For each rank: whom it holds connections to (the neighbours in the rings of its groups), and in which group."""
    found: list[list[tuple[int, str]]] = [[] for _ in range(job.world)]
    for group in job.groups:
        for before, after in zip(group.ranks, (*group.ranks[1:], group.ranks[0]), strict=True):
            if before != after:
                found[before].append((after, group.name))
                found[after].append((before, group.name))
    return found
