"""Processes that end: crashes, exceptions, memory and disk exhausted, exits without a word."""

from collections.abc import Callable, Iterator

from neuron_doctor.corpus.simulator.faults.injection import Injection, Moment, Setting, halted
from neuron_doctor.corpus.simulator.history import End, Event, ExceptionRaised, Frame, KernelOom, ProcessSignalled
from neuron_doctor.corpus.simulator.program import Halt
from neuron_doctor.corpus.simulator.sites import Site
from neuron_doctor.corpus.simulator.truth import Fault

SIGSEGV, SIGBUS, SIGABRT, SIGKILL = 11, 7, 6, 9
_DIED = ("collectives-rank-died", "collectives-rank-missing", "collectives-hang")
_EXCEPTIONS = (
    ("ValueError", "Sequence length 4097 exceeds the maximum of 4096"),
    ("KeyError", "'attention_mask'"),
    ("AssertionError", "loss is not finite at rank {rank}"),
    ("IndexError", "index 128256 is out of range for embedding of size 128256"),
    ("json.decoder.JSONDecodeError", "Expecting value: line 1 column 1 (char 0)"),
)


def raised(setting: Setting) -> Injection:
    """The program of one rank raises an exception of its own."""
    kind, message = _EXCEPTIONS[setting.plan.variant % len(_EXCEPTIONS)]
    frames = (Frame("_validate", "/fsx/train/batching.py", 77), *setting.frames(Site.DATA)[4:])
    return _ends(setting, _exception(setting, kind, message.format(rank=setting.plan.rank), frames), frames)


def disk_full(setting: Setting) -> Injection:
    """The file system is full when a rank writes its checkpoint."""
    frames = (
        Frame("_write_bytes", "/usr/lib/python3.10/site-packages/torch/serialization.py", 878),
        *setting.frames(Site.SAVE),
    )
    return _ends(setting, _exception(setting, "OSError", "[Errno 28] No space left on device", frames), frames)


def crashed(setting: Setting) -> Injection:
    """One process dies of a signal of its own making."""
    signal = (SIGSEGV, SIGBUS, SIGABRT)[setting.plan.variant % 3]
    halt = _killed(setting, signal)

    def trace(moment: Moment) -> Iterator[Event]:
        yield ProcessSignalled(time=moment.time, fault=setting.number, signal=signal, by="itself", **_place(setting))

    return _dies(setting, halt, trace, _DIED)


def vanished(setting: Setting) -> Injection:
    """One process ends without a word: it exits, or something outside that leaves no trace kills it."""
    halt = (
        Halt(setting.number, End.RAISED, exit_code=1, dumps=False, told=True),
        _killed(setting, SIGKILL),
    )[setting.plan.variant % 2]
    return _dies(setting, halt, _nothing, ("process-crash", *_DIED[1:]))


def host_memory(setting: Setting) -> Injection:
    """The kernel's OOM killer takes one rank's process."""
    plan = setting.plan
    cgroup = (None, "/kubepods.slice/kubepods-burstable.slice", "/slurm/uid_1000/job_41215/step_0")[plan.variant % 3]

    def trace(moment: Moment) -> Iterator[Event]:
        resident = moment.rng.randrange(40_000_000, 480_000_000)
        yield KernelOom(
            time=moment.time - 0.05,
            fault=setting.number,
            process="python3",
            resident_kib=resident,
            cgroup=cgroup,
            **_place(setting),
        )
        yield ProcessSignalled(time=moment.time, signal=SIGKILL, by="kernel-oom", **_place(setting))

    return _dies(setting, _killed(setting, SIGKILL, told=False), trace, ("process-crash", *_DIED))


def _exception(
    setting: Setting, kind: str, message: str, frames: tuple[Frame, ...]
) -> Callable[[Moment], Iterator[Event]]:
    def trace(moment: Moment) -> Iterator[Event]:
        yield ExceptionRaised(
            time=moment.time, fault=setting.number, type=kind, message=message, frames=frames, **_place(setting)
        )

    return trace


def _ends(setting: Setting, trace: Callable[[Moment], Iterator[Event]], frames: tuple[Frame, ...]) -> Injection:
    halt = Halt(setting.number, End.RAISED, frames, exit_code=1, dumps=False)
    return _dies(setting, halt, trace, (*_DIED, "process-crash"))


def _dies(
    setting: Setting, halt: Halt, trace: Callable[[Moment], Iterator[Event]], weaker: tuple[str, ...]
) -> Injection:
    plan = setting.plan
    fault = Fault(plan.cause, (plan.rank,), (setting.host,), weaker=weaker)
    return Injection(fault, {(plan.rank, plan.step): (halted(halt, plan.place),)}, trace=trace)


def _killed(setting: Setting, signal: int, *, told: bool = True) -> Halt:
    return Halt(setting.number, End.SIGNALLED, signal=signal, exit_code=-signal, dumps=False, told=told)


def _place(setting: Setting) -> dict[str, int]:
    return {"rank": setting.plan.rank, "host": setting.where["host"]}


def _nothing(_: Moment) -> Iterator[Event]:
    return iter(())
