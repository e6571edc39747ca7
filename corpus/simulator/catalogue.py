"""All writers. Each draws from chances of its own, so that a change in one leaves the files of the others as they were."""

from collections.abc import Callable, Iterator, Mapping
from random import Random

from neuron_doctor.corpus.simulator import (
    write_framework,
    write_kernel,
    write_launcher,
    write_monitor,
    write_ndet,
    write_recorder,
    write_runtime,
    write_scheduler,
)
from neuron_doctor.corpus.simulator.history import History
from neuron_doctor.corpus.simulator.style import Style
from neuron_doctor.corpus.simulator.truth import File

Writer = Callable[[History, Style, Random], Iterator[File]]

WRITERS: Mapping[str, Writer] = {
    "recorder": write_recorder.files,
    "runtime": write_runtime.files,
    "framework": write_framework.files,
    "launcher": write_launcher.files,
    "kernel": write_kernel.files,
    "monitor": write_monitor.files,
    "ndet": write_ndet.files,
    "scheduler": write_scheduler.files,
}


def files(history: History, style: Style, random: Random) -> Iterator[File]:
    """Every file that the sources of a job would have left, before anything is lost."""
    seed = random.getrandbits(64)
    for name, write in WRITERS.items():
        yield from write(history, style, Random(f"{seed}:{name}"))
