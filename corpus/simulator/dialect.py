"""The dialect of a job's programs: what varies by version and by taste, and is the same for all its ranks."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from neuron_doctor.corpus.simulator.history import History
from neuron_doctor.corpus.simulator.style import Recorder, Style


class Form(StrEnum):
    """How the runtime writes the head of a line (neuron-facts.md section 2.1)."""

    MICROSECONDS = "microseconds"
    MILLISECONDS = "milliseconds"
    SINGLE_SPACE = "single-space"
    PADDED = "padded"
    BARE = "bare"


class Trainer(StrEnum):
    """Whose step lines and tracebacks are written."""

    MEGATRON = "megatron"
    NXD = "nxd"
    TITAN = "torchtitan"
    LIGHTNING = "lightning"
    ACCELERATE = "accelerate"


class Watchdog(StrEnum):
    """Which process group's watchdog gives up on a collective."""

    NCCL = "nccl"
    NEURON = "neuron"
    GLOO = "gloo"


@dataclass(frozen=True, slots=True)
class Dialect:
    """All choices of words of one job."""

    form: Form
    modern: bool  # [ND 0][NC 0] rather than Neuron Device 0 NC 0
    completed: str  # "Inference" or "Execution": what completed with an error
    coalesced: bool  # lines below an API error come as one record
    infodump: bool
    colour: bool
    thread: int  # what is added to the pid for the thread that executes
    trainer: Trainer
    watchdog: Watchdog
    every_rank_steps: bool  # else only the ranks that the trainer lets print
    python: str  # where the packages are
    script: str
    model: str  # the graph's NEFF


_MODERN = 27  # runtime-lib minor version from which [ND 0][NC 0] is written
_MICROSECONDS = 20
_EXECUTION = 31
_FEW = 64  # ranks that may all print their steps
_PYTHON = "/usr/local/lib/python3.10/site-packages"
# The code base by what its stack frames lie in; of several trainers on one code base a job has one.
_TRAINERS: Mapping[str, tuple[Trainer, ...]] = {
    "/megatron/": (Trainer.MEGATRON,),
    "/neuronx_distributed": (Trainer.NXD, Trainer.LIGHTNING),
    "/torchtitan": (Trainer.TITAN,),
    "/fsdp/": (Trainer.ACCELERATE, Trainer.TITAN),
}
_ANY_TRAINER = (Trainer.NXD, Trainer.LIGHTNING, Trainer.ACCELERATE)
_FIRST_FRAMES = 60  # calls of rank 0 that are looked at for the code base
_WATCHDOGS = {
    Recorder.NCCL: Watchdog.NCCL,
    Recorder.NCCL_TIMING: Watchdog.NCCL,
    Recorder.HOOK: Watchdog.NEURON,
    Recorder.HOOK_ISSUE_ONLY: Watchdog.NEURON,
    Recorder.GLOO: Watchdog.GLOO,
}


def dialect_of(history: History, style: Style) -> Dialect:
    """The dialect of a job: by its versions where they decide, else by the job, so that all writers find the same."""
    job = history.job
    random = Random(f"dialect of {job.name} {job.job_id} {job.start}")
    minor = _minor(history.versions.get("runtime", ""))
    files = _files_of(history)
    watchdog = _WATCHDOGS.get(style.recorder) or random.choice((Watchdog.NCCL, Watchdog.NEURON))
    return Dialect(
        form=_form(minor, random),
        modern=minor >= _MODERN,
        completed="Execution" if minor >= _EXECUTION else "Inference",
        coalesced=minor >= _EXECUTION and _in(random, 30),
        infodump=minor >= _MICROSECONDS and _in(random, 75),
        colour=_in(random, 10),
        thread=random.choice((0, 0, random.randrange(20, 900))),
        trainer=_trainer(files, random),
        watchdog=watchdog,
        every_rank_steps=history.job.world <= _FEW and _in(random, 60),
        python=_site_packages(files),
        script=files[-1] if files else "train.py",
        model=_model(random),
    )


def _in(random: Random, percent: int) -> bool:
    return random.randrange(100) < percent


def _files_of(history: History) -> list[str]:
    """The source files that the first calls of a rank run through."""
    stacks = (call.frames for life in history.lives[:1] for call in life.calls[:_FIRST_FRAMES])
    return [frame.file for frames in stacks for frame in frames]


def _trainer(files: list[str], random: Random) -> Trainer:
    for part, trainers in _TRAINERS.items():
        if any(part in file for file in files):
            return random.choice(trainers)
    return random.choice(_ANY_TRAINER)


def _site_packages(files: list[str]) -> str:
    """Where the packages are that a stack runs through."""
    inside = (file.partition("/site-packages/") for file in files)
    return next((f"{before}/site-packages" for before, found, _ in inside if found), _PYTHON)


def _minor(version: str) -> int:
    parts = version.split(".")
    return int(parts[1]) if len(parts) > 1 and parts[1].isdigit() else _MODERN


def _form(minor: int, random: Random) -> Form:
    if minor >= _MICROSECONDS:
        return random.choices((Form.MICROSECONDS, Form.PADDED, Form.BARE), (90, 8, 2))[0]
    return random.choices((Form.MILLISECONDS, Form.SINGLE_SPACE, Form.PADDED), (60, 25, 15))[0]


def _model(random: Random) -> str:
    module = f"MODULE_{random.randrange(16**20):020x}+{random.randrange(16**8):08x}"
    return random.choice(
        (
            f"/fsx/neuron-compile-cache/neuronxcc-2.21.18209.0+043b1bf7/{module}/model.neff",
            f"/home/ubuntu/nxd_model/train_step/_tp0_bk0/model.{module}.neff",
            "model.neff",
        )
    )
