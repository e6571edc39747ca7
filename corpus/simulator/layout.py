"""Where a file of an incident lies: the path by site, source, host and rank."""

from neuron_doctor.corpus.simulator.job import Job
from neuron_doctor.corpus.simulator.style import Site, Style

_NAMES = {
    "runtime-log": "neuron_rt.log",
    "framework-log": "train.log",
    "launcher-log": "launcher.log",
    "dmesg": "dmesg.txt",
    "flight-recorder": "nccl_trace_rank_",
    "monitor": "neuron-monitor.json",
    "ndet": "ndet.json",
    "kubernetes": "kubectl.txt",
    "slurm": "slurm.txt",
    "noise": "misc.log",
}
_OF_THE_NODE = frozenset({"dmesg", "monitor", "ndet"})
_OF_THE_JOB = frozenset({"kubernetes", "slurm"})
_NUMBERED_BY_THEMSELVES = frozenset({"flight-recorder"})  # the rank is the end of their names, on one shared directory


def path_for(
    style: Style, job: Job, *, source: str, host: int | None = None, rank: int | None = None, name: str | None = None
) -> str:
    """The relative path of a file. `name` is the whole file name (it may hold directories), else the source's usual one.

    A rank's file lies with its host. No host and no rank: the file is of the job as a whole.
    """
    where = job.seats[rank].host if host is None and rank is not None else host
    called = name if name is not None else _usual(source, rank)
    if source in _OF_THE_JOB or where is None:
        return f"cluster/{called}" if style.site is Site.KUBERNETES else called
    if style.site is Site.PER_HOST:
        return f"{job.hosts[where].name}/{called}"
    if style.site is Site.FLAT:
        return _flat(job.hosts[where].name, source, called)
    return _kubernetes(job, where, source, called)


def _usual(source: str, rank: int | None) -> str:
    name = _NAMES[source]
    if rank is None:
        return name
    if source in _NUMBERED_BY_THEMSELVES:
        return f"{name}{rank}"
    stem, _, extension = name.partition(".")
    return f"{stem}_rank{rank}.{extension}"


def _flat(host: str, source: str, name: str) -> str:
    flat = name.replace("/", "_")
    return f"flight_recorder/{flat}" if source in _NUMBERED_BY_THEMSELVES else f"{host}_{flat}"


def _kubernetes(job: Job, host: int, source: str, name: str) -> str:
    machine = job.hosts[host]
    if source in _OF_THE_NODE or machine.pod is None:
        return f"nodes/{machine.name}/{name}"
    return f"pods/{machine.pod}/{name}"
