"""What a fault is made of: the label, the edits to the programs of ranks, and the events that it leaves."""

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from neuron_doctor.corpus.simulator.flow import Flow
from neuron_doctor.corpus.simulator.history import End, Event, Frame
from neuron_doctor.corpus.simulator.job import Job
from neuron_doctor.corpus.simulator.plan import Custom, Plan
from neuron_doctor.corpus.simulator.program import Edit, Edits, Halt, Instruction, Launch, Program
from neuron_doctor.corpus.simulator.sites import Site
from neuron_doctor.corpus.simulator.truth import Fault


@dataclass(frozen=True, slots=True)
class Setting:
    """What a fault may know when it is injected. `number` is the index of the fault."""

    number: int
    plan: Plan
    job: Job
    program: Program
    custom: Custom
    rng: random.Random

    @property
    def where(self) -> dict[str, int]:
        """The rank that is struck and its host, device and core, as an event has them."""
        seat = self.job.seats[self.plan.rank]
        return {"rank": seat.rank, "host": seat.host, "device": seat.device, "core": seat.core}

    @property
    def neighbours(self) -> tuple[int, ...]:
        """All ranks on the host that is struck."""
        return self.job.ranks_on(self.job.seats[self.plan.rank].host)

    def frames(self, site: Site) -> tuple[Frame, ...]:
        """The stack of a call site in this job's program."""
        return self.program.recipe.codebase.frames[site]

    def step(self, rank: int | None = None) -> list[Instruction]:
        """What a rank (or the one that is struck) would do in the step that is struck."""
        return list(self.program.step(self.plan.rank if rank is None else rank, self.program.kind(self.plan.step)))

    @property
    def host(self) -> str:
        """The name of the host that is struck."""
        return self.job.host_of(self.plan.rank).name


@dataclass(frozen=True, slots=True)
class Failure:
    """The device of a rank stands still by a fault; after `delay` the process notices, and ends (or hangs on)."""

    delay: float
    end: End = End.RAISED
    exit_code: int | None = 1
    signal: int | None = None
    linger: float = 1.0  # from noticing to the end of the process


@dataclass(frozen=True, slots=True)
class Moment:
    """When a fault struck, and what it may look at to tell its events."""

    time: float
    flow: Flow
    job: Job
    rng: random.Random


Trace = Callable[[Moment], Iterable[Event]]


def _silent(_: Moment) -> Iterable[Event]:
    return ()


def _as_planned(_: Flow, fault: Fault) -> Fault:
    return fault


@dataclass(frozen=True, slots=True)
class Injection:
    """A fault, ready to run. `failures` says how ranks with a stuck device notice, by rank.

    `settle` gives the label that fits what came of it, where that depends on how far each rank got.
    """

    fault: Fault
    edits: Edits = field(default_factory=dict)
    failures: Mapping[int, Failure] = field(default_factory=dict)
    trace: Trace = _silent
    settle: Callable[[Flow, Fault], Fault] = _as_planned
    struck: Callable[[Flow], bool] | None = (
        None  # for faults that stop nothing; else: the ranks that are edited got there
    )
    versions_of_host: Mapping[int, Mapping[str, str]] = field(default_factory=dict)


def at(instructions: list[Instruction], place: float, wanted: Callable[[Launch], bool] = lambda _: True) -> int:
    """The index of the launch at a place (0..1) of a step, among those that are wanted; the step's end if there are none."""
    places = [index for index, one in enumerate(instructions) if isinstance(one, Launch) and wanted(one)]
    return places[min(int(place * len(places)), len(places) - 1)] if places else len(instructions)


def halted(halt: Halt, place: float) -> Edit:
    """The edit by which a host goes no further than a place of a step."""
    return lambda instructions: [*instructions[: at(instructions, place)], halt]


def changed(index: int, change: Callable[[Launch], Launch]) -> Edit:
    """The edit that changes the launch at an index."""

    def edit(instructions: list[Instruction]) -> list[Instruction]:
        launch = instructions[index]
        return (
            [*instructions[:index], change(launch), *instructions[index + 1 :]]
            if isinstance(launch, Launch)
            else instructions
        )

    return edit
