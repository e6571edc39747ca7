"""The launcher's own output: torchrun's on every host, srun's and mpirun's once for the job."""

from collections.abc import Iterator
from random import Random

from neuron_doctor.corpus.simulator import launcher_mpi, launcher_slurm, launcher_torchrun, layout
from neuron_doctor.corpus.simulator.history import History
from neuron_doctor.corpus.simulator.prefixes import written
from neuron_doctor.corpus.simulator.style import Launcher, Style
from neuron_doctor.corpus.simulator.truth import File

_SOURCE = "launcher-log"


def shares_program_log(style: Style) -> bool:
    """Whether the launcher's lines stand among those of the ranks: torchrun's do, where a host has one log."""
    return style.launcher is Launcher.TORCHRUN and not style.logs_per_rank


def files(history: History, style: Style, random: Random) -> Iterator[File]:
    """The files of the launcher, where it has any of its own and something to say."""
    if shares_program_log(style):
        return
    if style.launcher is Launcher.TORCHRUN:
        yield from _by_host(history, style, random)
        return
    said = launcher_slurm.says(history, style) if style.launcher is Launcher.SRUN else launcher_mpi.says(history)
    if said:
        lines = written(history, style, 0, said, random, dressed=style.prefix == "cri")
        yield lines.file(layout.path_for(style, history.job, source=_SOURCE), _SOURCE)


def _by_host(history: History, style: Style, random: Random) -> Iterator[File]:
    for host in range(len(history.job.hosts)):
        said = launcher_torchrun.says(history, style, host)
        path = layout.path_for(style, history.job, source=_SOURCE, host=host)
        if said:
            lines = written(history, style, host, said, random, dressed=style.prefix in ("cri", "syslog"))
            yield lines.file(path, _SOURCE, host)
