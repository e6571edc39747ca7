"""Faults between devices: collectives that complete nowhere or not everywhere, barriers that time out, a failing proxy."""

from collections.abc import Iterator
from dataclasses import replace

from neuron_doctor.corpus.simulator import pci
from neuron_doctor.corpus.simulator.faults.injection import Failure, Injection, Moment, Setting, Trace, at, changed
from neuron_doctor.corpus.simulator.history import BarrierTimedOut, Event, ExecutionFailed, NetworkProxyFailed
from neuron_doctor.corpus.simulator.program import Edits, Fate, Launch
from neuron_doctor.corpus.simulator.sites import Site
from neuron_doctor.corpus.simulator.truth import Fault

_WAITED = 120.0


def stalled(setting: Setting) -> Injection:
    """All members start a collective with equal arguments and none completes it."""
    index, members = _collective(setting)
    fault = Fault(setting.plan.cause, weaker=("collectives-hang", "collectives-device-stuck"), involved=members)
    return Injection(fault, _fated(setting, index, (setting.plan.rank,), Fate.LOST))


def partial(setting: Setting) -> Injection:
    """Some members of a collective never see it complete, the others go on."""
    index, members = _collective(setting)
    count = max(1, len(members) // 3)
    unseen = tuple(sorted({setting.plan.rank, *[rank for rank in members if rank != setting.plan.rank][: count - 1]}))
    fault = Fault(setting.plan.cause, weaker=("collectives-hang",), involved=members)
    return Injection(fault, _fated(setting, index, unseen, Fate.UNSEEN))


def barrier(setting: Setting) -> Injection:
    """The barrier of the whole job is lost; every rank's proxy says that it timed out."""
    number = setting.number

    def trace(moment: Moment) -> Iterator[Event]:
        for state in moment.flow.ranks:
            if state.waiting is not None:
                seat = setting.job.seats[state.rank]
                time = state.host + _WAITED + moment.rng.uniform(0.0, 0.4)
                yield BarrierTimedOut(
                    time=time, fault=number, rank=state.rank, host=seat.host, group="0", waited=_WAITED
                )

    launch: Launch = replace(next(one for one in setting.program.farewell() if isinstance(one, Launch)), fate=Fate.LOST)
    edits: Edits = {(rank, setting.plan.step): (lambda steps: [*steps, launch],) for rank in range(setting.job.world)}
    fault = Fault(setting.plan.cause, weaker=("collectives-transport-stall", "collectives-hang"))
    return Injection(fault, edits, trace=trace)


def proxy(setting: Setting) -> Injection:
    """The EFA network proxy of one rank fails: its execution ends with 1206."""
    plan, where = setting.plan, setting.where
    interfaces = pci.interfaces(setting.job.host_of(plan.rank))
    name = interfaces[plan.variant % len(interfaces)].name if interfaces else "rdmap16s27"

    def trace(moment: Moment) -> Iterator[Event]:
        yield NetworkProxyFailed(
            time=moment.time, fault=setting.number, interface=name, rank=plan.rank, host=where["host"]
        )
        yield ExecutionFailed(time=moment.time + 0.02, fault=setting.number, status=1206, **where)

    weaker = ("collectives-rank-died", "collectives-transport-stall", "collectives-hang", "process-crash")
    fault = Fault(plan.cause, (plan.rank,), (setting.host,), weaker=weaker)
    stuck = changed(at(setting.step(), plan.place), lambda launch: replace(launch, fate=Fate.DEVICE_STUCK))
    told: Trace = trace
    return Injection(fault, {(plan.rank, plan.step): (stuck,)}, {plan.rank: Failure(1.5)}, told)


def _collective(setting: Setting) -> tuple[int, tuple[int, ...]]:
    """The collective at the plan's place that blocks its ranks: its index in the step, and its members."""
    steps = setting.step()
    index = at(
        steps,
        setting.plan.place,
        lambda one: one.parts[0].peer is None and one.blocks and one.site is not Site.EVALUATE,
    )
    launch = steps[index]
    return index, setting.job.groups[int(launch.parts[0].group)].ranks if isinstance(launch, Launch) else ()


def _fated(setting: Setting, index: int, ranks: tuple[int, ...], fate: Fate) -> Edits:
    """Members of one group run the same program, so the collective stands at the same index in all of them, pipeline
    neighbours excepted: those meet in the world only, which stands last in every step and is found from the end."""
    back = index - len(setting.step())
    edit = {rank: changed(len(setting.step(rank)) + back, lambda launch: replace(launch, fate=fate)) for rank in ranks}
    return {(rank, setting.plan.step): (one,) for rank, one in edit.items()}
