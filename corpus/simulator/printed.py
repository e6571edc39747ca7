"""What a process prints: entries in true time, each of whose lines knows the fault that it states."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto

from neuron_doctor.corpus.simulator import clocks
from neuron_doctor.corpus.simulator.dialect import Dialect
from neuron_doctor.corpus.simulator.history import Event, History, Life
from neuron_doctor.corpus.simulator.job import Host, Seat
from neuron_doctor.corpus.simulator.style import Style


class Voice(Enum):
    """Which program the text is of; the runtime may have a file of its own."""

    RUNTIME = auto()
    FRAMEWORK = auto()
    LAUNCHER = auto()


@dataclass(frozen=True, slots=True)
class Line:
    """One line, and the fault that it states by itself."""

    text: str
    fault: int | None = None


@dataclass(frozen=True, slots=True)
class Printed:
    """Lines that are written at once. `stamp` is the length of the time that the first line begins with (0: none)."""

    time: float
    lines: tuple[Line, ...]
    voice: Voice
    rank: int | None = None
    stamp: int = 0


@dataclass(frozen=True, slots=True)
class Process:
    """A rank's process as a speaker: who it is, on which clock, in which dialect."""

    history: History
    style: Style
    dialect: Dialect
    rank: int

    @property
    def seat(self) -> Seat:
        """Where it runs."""
        return self.history.job.seats[self.rank]

    @property
    def host(self) -> Host:
        """The machine that it runs on."""
        return self.history.job.host_of(self.rank)

    @property
    def life(self) -> Life:
        """From its start to its end."""
        return self.history.lives[self.rank]

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the software on its host."""
        different = self.history.versions_of_host.get(self.seat.host, {})
        return {**self.history.versions, **different}

    def clock(self, time: float) -> float:
        """What the clock of its host reads at a true time."""
        return clocks.local(self.host, time, self.history.job.start)

    def says(self, time: float, lines: Iterable[Line | str], fault: int | None = None) -> Printed:
        """An entry of the framework. `fault` is stated by the lines that are plain text."""
        written = tuple(line if isinstance(line, Line) else Line(line, fault) for line in lines)
        return Printed(time, written, Voice.FRAMEWORK, self.rank)


def events_by_rank(history: History) -> dict[int, list[Event]]:
    """The events of every rank at once in true time order."""
    grouped: dict[int, list[Event]] = {rank: [] for rank in range(history.job.world)}
    for event in history.events:
        if event.rank is not None:
            grouped[event.rank].append(event)
    return grouped
