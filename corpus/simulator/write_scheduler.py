"""What the scheduler tells of a job: kubectl's output on Kubernetes, Slurm's accounting and daemon logs elsewhere."""

from collections.abc import Iterator
from random import Random

from neuron_doctor.corpus.simulator.history import History
from neuron_doctor.corpus.simulator.style import Site, Style
from neuron_doctor.corpus.simulator.truth import File
from neuron_doctor.corpus.simulator.write_kubernetes import kubernetes_files
from neuron_doctor.corpus.simulator.write_slurm import slurm_files


def files(history: History, style: Style, random: Random) -> Iterator[File]:
    """The files of the scheduler that runs this site."""
    if style.scheduler:
        write = kubernetes_files if style.site is Site.KUBERNETES else slurm_files
        yield from write(history, style, random)
