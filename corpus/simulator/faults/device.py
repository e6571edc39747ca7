"""Faults of a Neuron device: hardware errors, hangs on compute, and executions that the runtime ends with a status."""

from dataclasses import dataclass, replace

from neuron_doctor.corpus.simulator.faults.injection import Failure, Injection, Moment, Setting, at
from neuron_doctor.corpus.simulator.history import (
    DeviceMemoryExhausted,
    End,
    Event,
    ExceptionRaised,
    ExecutionFailed,
    HangSuspected,
    HardwareError,
)
from neuron_doctor.corpus.simulator.program import Fate, Instruction, Launch
from neuron_doctor.corpus.simulator.truth import Fault

_AFTER_DEATH = ("collectives-rank-died", "process-crash", "collectives-hang", "nrt-exec-error")


@dataclass(frozen=True, slots=True)
class Kind:
    """How a device error shows: the hardware error, the status returned, how long until the runtime says so."""

    error: str | None
    statuses: tuple[int, ...]
    delay: float
    node_action: bool
    weaker: tuple[str, ...] = _AFTER_DEATH


KINDS = {
    "hw-hbm-ue": Kind("hbm-ue", (1201, 5), 0.4, node_action=True),
    "hw-hbm-ue-repairable": Kind("hbm-ue-repairable", (1205, 5), 0.4, node_action=True),
    "hw-sram-ue": Kind("sram-ue", (1202, 1004), 0.2, node_action=True),
    "hw-dma-abort": Kind("dma-abort", (1203, 5), 2.0, node_action=True),
    "nrt-numerical-error": Kind(None, (1003,), 0.1, node_action=False),
    "nrt-oob-access": Kind(None, (1006,), 0.1, node_action=False),
    "sw-nq-overflow": Kind(None, (1204,), 30.0, node_action=False),
}


def failed(setting: Setting) -> Injection:
    """The device of one rank fails in the midst of a step; the runtime returns a status, the program raises and ends."""
    plan = setting.plan
    kind = KINDS[plan.cause]
    seat = setting.job.seats[plan.rank]
    status = kind.statuses[plan.variant % len(kind.statuses)]
    where = {"rank": plan.rank, "host": seat.host, "device": seat.device, "core": seat.core}

    def trace(moment: Moment) -> list[Event]:
        noticed = moment.time
        events: list[Event] = [ExecutionFailed(time=noticed + 0.01, fault=setting.number, status=status, **where)]
        if kind.error:
            events.insert(0, HardwareError(time=noticed, fault=setting.number, error=kind.error, **where))
        return events

    device = seat.device if kind.error else None
    fault = Fault(plan.cause, (plan.rank,), (setting.host,), device, kind.weaker, kind.node_action)
    return _stands_still(setting, fault, Failure(kind.delay), trace)


def hung_on_compute(setting: Setting) -> Injection:
    """The device of one rank never ends its computation; its own runtime says so after the execution timeout."""
    plan = setting.plan
    seat = setting.job.seats[plan.rank]
    where = {"rank": plan.rank, "host": seat.host, "device": seat.device, "core": seat.core}

    def trace(moment: Moment) -> list[Event]:
        stuck = moment.flow.ranks[plan.rank].stuck_at
        number = stuck.number if stuck else 0
        return [
            HangSuspected(
                time=moment.time,
                fault=setting.number,
                operation=number,
                operations=number + 1,
                collective=False,
                **where,
            ),
            ExecutionFailed(time=moment.time + 0.01, fault=setting.number, status=5, **where),
        ]

    fault = Fault(
        plan.cause,
        (plan.rank,),
        (setting.host,),
        seat.device,
        ("collectives-device-stuck", *_AFTER_DEATH),
        node_action=True,
    )
    return _stands_still(setting, fault, Failure(setting.custom.runtime_seconds), trace)


def stuck(setting: Setting) -> Injection:
    """The device of one rank stands still before a collective and nobody there says so: only what it never started shows it."""
    plan = setting.plan
    seat = setting.job.seats[plan.rank]
    weaker = ("collectives-rank-missing", "collectives-hang", "exec-timeout")
    fault = Fault(plan.cause, (plan.rank,), (setting.host,), seat.device, weaker, node_action=True)
    return replace(_stands_still(setting, fault, None, None))


def out_of_memory(setting: Setting) -> Injection:
    """A device allocation fails in one rank, and its program raises."""
    plan = setting.plan
    seat = setting.job.seats[plan.rank]
    where = {"rank": plan.rank, "host": seat.host, "device": seat.device, "core": seat.core}
    used = {
        "tensors": 18_253_611_008,
        "scratchpad": 3_221_225_472,
        "code": 402_653_184,
        "dma rings": 536_870_912,
        "collectives": 268_435_456,
    }

    def trace(moment: Moment) -> list[Event]:
        message = "nrt_tensor_allocate status=4"
        frames = setting.program.recipe.codebase.frames
        site = next(iter(frames))
        return [
            DeviceMemoryExhausted(time=moment.time, fault=setting.number, asked=4_294_967_296, used=used, **where),
            ExecutionFailed(time=moment.time + 0.01, fault=setting.number, status=4, **where),
            ExceptionRaised(
                time=moment.time + 0.3,
                type="RuntimeError",
                message=message,
                frames=frames[site],
                rank=plan.rank,
                host=seat.host,
            ),
        ]

    fault = Fault(plan.cause, (plan.rank,), (setting.host,), seat.device, _AFTER_DEATH)
    return _stands_still(setting, fault, Failure(0.05), trace)


def _stands_still(setting: Setting, fault: Fault, failure: Failure | None, trace: object) -> Injection:
    plan = setting.plan

    def stop(instructions: list[Instruction]) -> list[Instruction]:
        index = at(instructions, plan.place)
        launch = instructions[index]
        if isinstance(launch, Launch):
            instructions[index] = replace(launch, fate=Fate.DEVICE_STUCK)
        return instructions

    failures = {plan.rank: failure} if failure else {}
    return Injection(fault, {(plan.rank, plan.step): (stop,)}, failures, trace or (lambda _: ()))  # type: ignore[arg-type]
