"""Ranks that do not come: stuck on the host, gone another way through the program, or hanging outside any collective."""

from dataclasses import replace

from neuron_doctor.corpus.simulator.faults.injection import Injection, Setting, at
from neuron_doctor.corpus.simulator.flow import Flow
from neuron_doctor.corpus.simulator.history import End, Frame
from neuron_doctor.corpus.simulator.program import Halt, Instruction, Kind, Launch, Sync
from neuron_doctor.corpus.simulator.sites import Site
from neuron_doctor.corpus.simulator.truth import Fault

_LOADER = (
    Frame("select", "/usr/lib/python3.10/selectors.py", 416),
    Frame("wait", "/usr/lib/python3.10/multiprocessing/connection.py", 931),
)
_SLEEP = (Frame("backoff_until_ready", "/fsx/train/retry.py", 58),)
_WRITE = (Frame("_write_bytes", "/usr/lib/python3.10/site-packages/torch/serialization.py", 878),)
_SPIN = (Frame("build_sample_index", "/fsx/train/dataset_helpers.py", 133),)

SKIPPED = 4  # the variant (of five) in which the rank takes another branch


def stuck_on_host(setting: Setting) -> Injection:
    """The host thread of one rank waits for data, sleeps, holds the GIL, or hangs in a write: it joins nothing more."""
    number, plan = setting.number, setting.plan
    frames = setting.program.recipe.codebase.frames
    halts = (
        Halt(number, End.HUNG, _LOADER + frames[Site.DATA][4:]),
        Halt(number, End.HUNG, _SLEEP + frames[Site.STALL]),
        Halt(number, End.HUNG, _SPIN + frames[Site.DATA][4:], dumps=False, interruptible=False),
        Halt(number, End.HUNG, _WRITE + frames[Site.SAVE], interruptible=False),
    )
    way = plan.variant % 5 % len(halts)

    def stop(instructions: list[Instruction]) -> list[Instruction]:
        index = 0 if way == 0 else at(instructions, plan.place)
        return [*instructions[:index], halts[way]]

    fault = Fault("collectives-rank-missing", (plan.rank,), (setting.host,), weaker=("collectives-hang",))
    return Injection(fault, {(plan.rank, plan.step): (stop,)})


def missing(setting: Setting) -> Injection:
    """One rank never joins: five variants in how it came to that; a program without such a branch leaves four."""
    step = _evaluation(setting) if setting.plan.variant % 5 == SKIPPED else None
    return stuck_on_host(setting) if step is None else skipped(setting, step)


def _evaluation(setting: Setting) -> int | None:
    """The first step with an evaluation from the planned one on, else the last before; None where all of them save."""
    program = setting.program
    steps = [step for step in range(program.recipe.steps) if program.kind(step) is Kind.EVALUATE]
    return next((step for step in steps if step >= setting.plan.step), steps[-1] if steps else None)


def skipped(setting: Setting, step: int) -> Injection:
    """One rank leaves out a branch with a collective of the whole world, and waits in the next one for ranks that wait for it."""
    plan = setting.plan

    def leave_out(instructions: list[Instruction]) -> list[Instruction]:
        return [one for one in instructions if not isinstance(one, Launch | Sync) or one.site is not Site.EVALUATE]

    def settle(flow: Flow, fault: Fault) -> Fault:
        """If the rank got as far as another operation of the world, what shows is that the operations differ."""
        odd, other = (flow.ranks[rank].counts.get("0", 0) for rank in (plan.rank, (plan.rank + 1) % setting.job.world))
        return (
            replace(fault, cause="collectives-op-mismatch", weaker=(fault.cause, *fault.weaker))
            if odd >= other
            else fault
        )

    fault = Fault(
        "collectives-rank-missing",
        (plan.rank,),
        (setting.host,),
        weaker=("collectives-order-mismatch", "collectives-hang"),
    )
    return Injection(fault, {(plan.rank, step): (leave_out,)}, settle=settle)


def outside(setting: Setting) -> Injection:
    """All ranks hang where no collective is outstanding: in checkpoint I/O that does not return."""
    frames = setting.program.recipe.codebase.frames[Site.SAVE]
    halt = Halt(setting.number, End.HUNG, _WRITE + frames, interruptible=False)

    def stop(instructions: list[Instruction]) -> list[Instruction]:
        return [*instructions, halt]

    fault = Fault("hang-outside-collectives")
    return Injection(fault, {(rank, setting.plan.step): (stop,) for rank in range(setting.job.world)})
