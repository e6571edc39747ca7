"""Faults of whole machines and of who runs them: host hardware, lost nodes, a cancelled job; and a rank that is merely slow."""

from collections.abc import Iterator
from dataclasses import replace

from neuron_doctor.corpus.simulator.faults.injection import Injection, Moment, Setting, halted
from neuron_doctor.corpus.simulator.history import (
    End,
    Event,
    ExceptionRaised,
    Frame,
    HostHardwareError,
    HostRebooted,
    ProcessSignalled,
    SchedulerSaid,
)
from neuron_doctor.corpus.simulator.program import Halt, Instruction, Launch, Work
from neuron_doctor.corpus.simulator.sites import Site
from neuron_doctor.corpus.simulator.truth import Fault

SIGTERM = 15
_WEAKER = ("collectives-rank-died", "collectives-hang", "collectives-rank-missing", "process-crash")
_SLOWER = 3.0


def node_lost(setting: Setting) -> Injection:
    """A node goes down with all its ranks, and comes back or does not."""

    def trace(moment: Moment) -> Iterator[Event]:
        back = moment.time + 240.0 if setting.plan.variant % 2 else None
        yield HostRebooted(time=moment.time, fault=setting.number, host=setting.where["host"], back=back)

    return _taken(setting, trace, setting.neighbours)


def broken(setting: Setting) -> Injection:
    """The machine breaks: a machine check takes it down, or its disk fails under a rank."""
    host = setting.where["host"]
    variant = setting.plan.variant % 3

    def down(moment: Moment) -> Iterator[Event]:
        yield HostHardwareError(time=moment.time - 0.2, fault=setting.number, error="machine-check", host=host)
        yield HostRebooted(time=moment.time, host=host, back=moment.time + 300.0)

    if variant == 0:
        return _taken(setting, down, setting.neighbours)
    error = ("disk-io", "file-system")[variant - 1]
    frames = (
        Frame("_write_bytes", "/usr/lib/python3.10/site-packages/torch/serialization.py", 878),
        *setting.frames(Site.SAVE),
    )

    def failing(moment: Moment) -> Iterator[Event]:
        yield HostHardwareError(time=moment.time - 0.8, fault=setting.number, error=error, host=host)
        message = "[Errno 5] Input/output error" if error == "disk-io" else "[Errno 30] Read-only file system"
        yield ExceptionRaised(
            time=moment.time, type="OSError", message=message, frames=frames, rank=setting.plan.rank, host=host
        )

    plan = setting.plan
    halt = Halt(setting.number, End.RAISED, frames, exit_code=1, dumps=False)
    weaker = (*_WEAKER, "application-exception", "disk-full")
    fault = Fault(plan.cause, (), (setting.host,), weaker=weaker, node_action=True, involved=(plan.rank,))
    return Injection(fault, {(plan.rank, plan.step): (halted(halt, plan.place),)}, trace=failing)


def cancelled(setting: Setting) -> Injection:
    """The scheduler ends the whole job: cancelled, out of time, or preempted."""
    what = ("cancelled", "time-limit", "preempted")[setting.plan.variant % 3]
    world = tuple(range(setting.job.world))

    def trace(moment: Moment) -> Iterator[Event]:
        yield SchedulerSaid(time=moment.time - 0.1, fault=setting.number, what=what)
        for rank in world:
            host = setting.job.seats[rank].host
            yield ProcessSignalled(time=moment.time, rank=rank, host=host, signal=SIGTERM, by="scheduler")

    halt = Halt(setting.number, End.SIGNALLED, signal=SIGTERM, exit_code=-SIGTERM, dumps=False, taking=world)
    fault = Fault(setting.plan.cause, weaker=("process-crash",), involved=world)
    return Injection(fault, {(setting.plan.rank, setting.plan.step): (halted(halt, setting.plan.place),)}, trace=trace)


def slow(setting: Setting) -> Injection:
    """One rank takes several times as long for its own work from a step on; all others wait for it in every step."""
    plan = setting.plan

    def drag(instructions: list[Instruction]) -> list[Instruction]:
        return [_slower(one) for one in instructions]

    steps = range(plan.step, setting.program.recipe.steps)
    fault = Fault(plan.cause, (plan.rank,), (setting.host,))
    return Injection(fault, {(plan.rank, step): (drag,) for step in steps}, struck=lambda _: True)


def _slower(one: Instruction) -> Instruction:
    match one:
        case Launch():
            return replace(one, compute=one.compute * _SLOWER)
        case Work():
            return replace(one, seconds=one.seconds * _SLOWER)
    return one


def _taken(setting: Setting, trace: object, ranks: tuple[int, ...]) -> Injection:
    """All ranks of the host end without a word."""
    plan = setting.plan
    halt = Halt(setting.number, End.SIGNALLED, dumps=False, taking=ranks, seen=False)
    weaker = _WEAKER if plan.cause == "node-lost" else (*_WEAKER, "node-lost")
    fault = Fault(plan.cause, (), (setting.host,), weaker=weaker, node_action=True, involved=ranks)
    return Injection(fault, {(plan.rank, plan.step): (halted(halt, plan.place),)}, trace=trace)  # type: ignore[arg-type]
