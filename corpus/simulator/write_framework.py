"""The logs of the programs themselves, one a rank or one a host: what the trainer, the compiler, torch and the runtime print."""

from collections.abc import Iterable, Iterator, Sequence
from random import Random

from neuron_doctor.corpus.simulator import launcher_torchrun, layout
from neuron_doctor.corpus.simulator.benign import noise
from neuron_doctor.corpus.simulator.compile_lines import compiling, waiting
from neuron_doctor.corpus.simulator.dialect import Dialect, Trainer, Watchdog, dialect_of
from neuron_doctor.corpus.simulator.endings import exceptions
from neuron_doctor.corpus.simulator.history import (
    Compiling,
    End,
    Event,
    History,
    ProcessSignalled,
    StepDone,
    WaitsForCompileLock,
    WatchdogTimeout,
)
from neuron_doctor.corpus.simulator.prefixes import written
from neuron_doctor.corpus.simulator.printed import Printed, Process, events_by_rank
from neuron_doctor.corpus.simulator.style import Recorder, Style
from neuron_doctor.corpus.simulator.tracebacks import FATAL, fatal_error
from neuron_doctor.corpus.simulator.trainer_lines import checkpoints, start, step
from neuron_doctor.corpus.simulator.truth import File
from neuron_doctor.corpus.simulator.watchdogs import timed_out, told_to_dump
from neuron_doctor.corpus.simulator.write_launcher import shares_program_log
from neuron_doctor.corpus.simulator.write_runtime import says as runtime_says

_SIGTERM = 15
_MONITORED = 1.0  # seconds between looks of a rank's heartbeat monitor at the signal to dump
_MONITORS = frozenset({Recorder.NCCL, Recorder.NCCL_TIMING})


def files(history: History, style: Style, random: Random) -> Iterator[File]:
    """One log a rank, or one a host in which its ranks (and a torchrun that started them) interleave."""
    dialect, events = dialect_of(history, style), events_by_rank(history)
    first = next((event for event in history.events if isinstance(event, WatchdogTimeout)), None)
    for host in range(len(history.job.hosts)):
        entries = {
            rank: _rank(history, style, dialect, rank, events[rank], first, random) for rank in _ranks(history, host)
        }
        yield from _of_host(history, style, host, entries, random)


def _ranks(history: History, host: int) -> Iterable[int]:
    return (rank for rank in history.job.ranks_on(host) if history.lives[rank].end is not End.NEVER_STARTED)


def _of_host(
    history: History, style: Style, host: int, entries: dict[int, list[Printed]], random: Random
) -> Iterator[File]:
    job, source = history.job, "framework-log"
    if style.logs_per_rank:
        for rank, said in entries.items():
            path = layout.path_for(style, job, source=source, rank=rank)
            yield written(history, style, host, said, random).file(path, source, host, (rank,))
        return
    together = [entry for said in entries.values() for entry in said]
    if shares_program_log(style):
        together += launcher_torchrun.says(history, style, host)
    path = layout.path_for(style, job, source=source, host=host)
    if together:
        yield written(history, style, host, together, random).file(path, source, host, tuple(entries))


def _rank(
    history: History,
    style: Style,
    dialect: Dialect,
    rank: int,
    events: Sequence[Event],
    first: WatchdogTimeout | None,
    random: Random,
) -> list[Printed]:
    """All that is in a rank's log; nothing is printed after its process ended."""
    process = Process(history, style, dialect, rank)
    entries = [*start(process, events), *checkpoints(process), *_reactions(process, events)]
    entries += _monitor(process, events, first, random)
    if not style.runtime_apart:
        entries += runtime_says(process, events, random)
    entries = [entry for entry in entries if _lives(process, entry)]
    entries += exceptions(process, events)
    last = max((entry.time for entry in entries), default=process.life.start)
    entries += noise(process, round(style.noise * len(entries)), last, random)
    return entries


def _lives(process: Process, entry: Printed) -> bool:
    """Whether the process was still there to print it; what states a fault was printed in any case."""
    ended = process.life.ended
    return ended is None or entry.time <= ended or any(line.fault is not None for line in entry.lines)


def _reactions(process: Process, events: Sequence[Event]) -> Iterator[Printed]:
    for event in events:
        match event:
            case StepDone():
                line = step(process, event)
                if line is not None:
                    yield line
            case Compiling():
                yield from compiling(process, event)
            case WaitsForCompileLock():
                yield from waiting(process, event)
            case WatchdogTimeout():
                yield from timed_out(process, event)
            case ProcessSignalled():
                yield from _signalled(process, event)


def _signalled(process: Process, event: ProcessSignalled) -> Iterator[Printed]:
    """A crash speaks through the fault handler, where that is on; SIGKILL leaves no word."""
    if event.by == "itself" and event.signal in FATAL:
        yield process.says(event.time, fatal_error(event.signal, process.life.standing, event.fault))
    elif event.signal == _SIGTERM and process.dialect.trainer is Trainer.LIGHTNING:
        yield process.says(event.time, (f"[rank: {process.rank}] Received SIGTERM: 15",))


def _monitor(
    process: Process, events: Sequence[Event], first: WatchdogTimeout | None, random: Random
) -> Iterator[Printed]:
    """A rank that is still there, and whose own watchdog is silent, answers the first one's signal to dump."""
    if first is None or process.dialect.watchdog is not Watchdog.NCCL or process.style.recorder not in _MONITORS:
        return
    if any(isinstance(event, WatchdogTimeout) for event in events):
        return
    time = first.time + 0.1 + _MONITORED * random.random()
    life = process.life
    if life.start < time and (life.ended is None or life.ended > time) and life.dumps_recorder:
        yield from told_to_dump(process, first, time)
