"""Faults of a Neuron device: hardware errors, hangs on compute, and executions that the runtime ends with a status."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from neuron_doctor.corpus.simulator.faults.injection import Failure, Injection, Moment, Setting, Trace, at, changed
from neuron_doctor.corpus.simulator.flow import operation_of
from neuron_doctor.corpus.simulator.history import (
    DeviceMemoryExhausted,
    Event,
    ExceptionRaised,
    ExecutionFailed,
    HangSuspected,
    HardwareError,
)
from neuron_doctor.corpus.simulator.program import Edit, Fate, Instruction
from neuron_doctor.corpus.simulator.sites import Site
from neuron_doctor.corpus.simulator.truth import Fault

_AFTER_DEATH = ("collectives-rank-died", "process-crash", "collectives-hang", "nrt-exec-error")
_AMBIGUOUS = frozenset({5, 1004})  # codes that say nothing by themselves


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
    seat, where = setting.job.seats[plan.rank], setting.where
    status = kind.statuses[plan.variant % len(kind.statuses)]
    told = None if status in _AMBIGUOUS else setting.number

    def trace(moment: Moment) -> list[Event]:
        noticed = moment.time
        events: list[Event] = [ExecutionFailed(time=noticed + 0.01, fault=told, status=status, **where)]
        if kind.error:
            events.insert(0, HardwareError(time=noticed, fault=setting.number, error=kind.error, **where))
        return events

    device = seat.device if kind.error else None
    fault = Fault(plan.cause, (plan.rank,), (setting.host,), device, kind.weaker, kind.node_action)
    return _stands_still(setting, fault, Failure(kind.delay), trace)


def hung_on_compute(setting: Setting) -> Injection:
    """The device of one rank never ends its computation; its own runtime says so after the execution timeout."""
    plan = setting.plan
    seat, where = setting.job.seats[plan.rank], setting.where

    def trace(moment: Moment) -> list[Event]:
        state = moment.flow.ranks[plan.rank]
        operation, operations = operation_of(state, state.stuck_at) if state.stuck_at else (0, 1)
        hang = HangSuspected(
            time=moment.time,
            fault=setting.number,
            operation=operation,
            operations=operations,
            collective=False,
            group=None,
            **where,
        )
        return [
            hang,
            ExecutionFailed(time=moment.time + 0.01, status=5, **where),
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
    return _stands_still(setting, fault, None, _nothing)


def out_of_memory(setting: Setting) -> Injection:
    """A device allocation fails in one rank, and its program raises."""
    plan = setting.plan
    seat, where = setting.job.seats[plan.rank], setting.where
    used = {
        "tensors": 18_253_611_008,
        "scratchpad": 3_221_225_472,
        "code": 402_653_184,
        "dma rings": 536_870_912,
        "collectives": 268_435_456,
    }

    def trace(moment: Moment) -> list[Event]:
        message = "nrt_tensor_allocate status=4"
        frames = setting.frames(Site.FORWARD_ATTENTION)
        return [
            DeviceMemoryExhausted(time=moment.time, fault=setting.number, asked=4_294_967_296, used=used, **where),
            ExecutionFailed(time=moment.time + 0.01, fault=setting.number, status=4, **where),
            ExceptionRaised(
                time=moment.time + 0.3,
                type="RuntimeError",
                message=message,
                frames=frames,
                rank=plan.rank,
                host=seat.host,
            ),
        ]

    fault = Fault(plan.cause, (plan.rank,), (setting.host,), seat.device, _AFTER_DEATH)
    return _stands_still(setting, fault, Failure(0.05), trace)


def lost(setting: Setting) -> Injection:
    """A device drops off the PCIe bus: the ranks of all its cores fail, and the machine must be replaced."""
    plan, number = setting.plan, setting.number
    seat = setting.job.seats[plan.rank]
    ranks = tuple(r for r in setting.neighbours if setting.job.seats[r].device == seat.device)

    def trace(moment: Moment) -> Iterator[Event]:
        yield HardwareError(
            time=moment.time - 0.03, fault=number, error="pcie", host=seat.host, device=seat.device, rank=plan.rank
        )
        for rank in ranks:
            core = setting.job.seats[rank].core
            yield ExecutionFailed(
                time=moment.time + 0.01, status=6, rank=rank, host=seat.host, device=seat.device, core=core
            )

    fault = Fault(plan.cause, ranks, (setting.host,), seat.device, _AFTER_DEATH, node_action=True)
    stop = _standing_still(plan.place)
    return Injection(fault, {(r, plan.step): (stop,) for r in ranks}, dict.fromkeys(ranks, Failure(0.2)), trace)


def corrected(setting: Setting) -> Injection:
    """Corrected memory errors become more on one device; nothing fails by it."""
    plan, where = setting.plan, setting.where

    def trace(moment: Moment) -> Iterator[Event]:
        for index, count in enumerate((3, 40, 900, 5_000)):
            yield HardwareError(
                time=moment.time - 4.0 + index, fault=setting.number, error="ecc-corrected", count=count, **where
            )

    fault = Fault(plan.cause, (plan.rank,), (setting.host,), where["device"], is_root=False)
    return Injection(fault, trace=trace, struck=lambda _: True)


def _nothing(_: Moment) -> tuple[Event, ...]:
    return ()


def _standing_still(place: float) -> Edit:
    def stop(instructions: list[Instruction]) -> list[Instruction]:
        return changed(at(instructions, place), lambda launch: replace(launch, fate=Fate.DEVICE_STUCK))(instructions)

    return stop


def _stands_still(setting: Setting, fault: Fault, failure: Failure | None, trace: Trace) -> Injection:
    plan = setting.plan
    failures = {plan.rank: failure} if failure else {}
    return Injection(fault, {(plan.rank, plan.step): (_standing_still(plan.place),)}, failures, trace)
