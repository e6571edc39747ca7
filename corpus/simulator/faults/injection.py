"""What a fault is made of: the label, the edits to the programs of ranks, and the events that it leaves."""

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from neuron_doctor.corpus.simulator.flow import Flow
from neuron_doctor.corpus.simulator.history import End, Event
from neuron_doctor.corpus.simulator.job import Job
from neuron_doctor.corpus.simulator.program import Edits, Instruction, Launch, Program
from neuron_doctor.corpus.simulator.scenario import Custom, Plan
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


def _stalled(flow: Flow) -> bool:
    return not all(state.done for state in flow.ranks)


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
    struck: Callable[[Flow], bool] = _stalled  # for faults that neither halt a host nor fail a device
    versions_of_host: Mapping[int, Mapping[str, str]] = field(default_factory=dict)


def at(instructions: list[Instruction], place: float, wanted: Callable[[Launch], bool] = lambda _: True) -> int:
    """The index of the launch at a place (0..1) of a step, among those that are wanted; the step's end if there are none."""
    places = [index for index, one in enumerate(instructions) if isinstance(one, Launch) and wanted(one)]
    return places[min(int(place * len(places)), len(places) - 1)] if places else len(instructions)
