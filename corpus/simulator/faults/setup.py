"""Jobs that do not come up: cores taken, versions that do not fit, communicators that cannot be built, compilation."""

from collections.abc import Iterator

from neuron_doctor.corpus.simulator.faults.injection import Injection, Moment, Setting
from neuron_doctor.corpus.simulator.history import (
    Compiling,
    End,
    Event,
    ExceptionRaised,
    Frame,
    KernelOom,
    SetupFailed,
    WaitsForCompileLock,
)
from neuron_doctor.corpus.simulator.program import Edit, Halt, Instruction, Work
from neuron_doctor.corpus.simulator.sites import Site
from neuron_doctor.corpus.simulator.truth import Fault

OF_THE_RANK = frozenset(
    {"core-in-use", "collectives-world-size-mismatch", "collectives-replica-mismatch", "mpmd-graph-mismatch"}
)
OF_THE_HOST = frozenset(
    {
        "driver-incompatible",
        "efa-installer-missing",
        "efa-not-enabled",
        "name-resolution-failed",
        "efa-security-group",
        "runtime-version-skew",
    }
)
OF_THE_JOB = frozenset({"collectives-init-failed", "collectives-root-comm-id", "collectives-unsupported-topology"})
BEFORE_RENDEZVOUS = frozenset(
    {"core-in-use", "driver-incompatible", "name-resolution-failed", "collectives-root-comm-id"}
)
_WEAKER = ("collectives-rank-died", "collectives-hang", "process-crash", "application-exception", "runtime-init-failed")
_OLD = {"runtime": "2.20.22.0", "driver": "2.16.7.0", "collectives": "2.20.22.0"}
_BOTH_ENDS = 2  # of two hosts that do not reach each other, nothing says whose security group it is
_CACHE = "/var/tmp/neuron-compile-cache/neuronxcc-2.16.372.0+4a9b2326/MODULE_{module}+4eddc804"  # noqa: S108 - a path in a message


def failed(setting: Setting) -> Injection:
    """The runtime or the collectives library of some ranks (or a host's, or all) cannot be set up; they say why and end."""
    plan, number, job = setting.plan, setting.number, setting.job
    cause = plan.cause
    reporters = _reporters(setting)
    halt = Halt(number, End.RAISED, setting.frames(Site.SETUP), exit_code=1, dumps=False)

    def trace(moment: Moment) -> Iterator[Event]:
        for rank in reporters:
            time = moment.time + moment.rng.uniform(0.0, 0.4) - 1.0
            where = {
                "rank": rank,
                "host": job.seats[rank].host,
                "device": job.seats[rank].device,
                "core": job.seats[rank].core,
            }
            yield SetupFailed(time=time, fault=number, what=cause, detail=_detail(setting, rank), **where)

    ranks = reporters if cause in OF_THE_RANK else ()
    hosts = (
        ()
        if cause in OF_THE_JOB or (cause == "efa-security-group" and len(job.hosts) <= _BOTH_ENDS)
        else (setting.host,)
    )
    involved = () if cause in OF_THE_RANK else reporters
    fault = Fault(cause, ranks, hosts, weaker=_WEAKER, involved=involved)
    index = 1 if cause in BEFORE_RENDEZVOUS else 3
    skew = {job.seats[plan.rank].host: _OLD} if cause in {"runtime-version-skew", "driver-incompatible"} else {}
    return Injection(
        fault, {(rank, -1): (_cut(halt, index),) for rank in reporters}, trace=trace, versions_of_host=skew
    )


def compile_failed(setting: Setting) -> Injection:
    """The compiler fails in one rank, or is killed for host memory; its program raises and the others wait for it."""
    plan, rank, host = setting.plan, setting.plan.rank, setting.where["host"]
    oom = plan.cause == "compile-host-oom"
    frames = setting.frames(Site.COMPILE)
    message = (
        "neuronx-cc compilation failed with -9"
        if oom
        else "neuronx-cc compilation failed with 70. Check compiler logs."
    )

    def trace(moment: Moment) -> Iterator[Event]:
        start, told = moment.time - _COMPILES, None if oom else setting.number
        if oom:
            resident = moment.rng.randrange(60_000_000, 200_000_000)
            yield KernelOom(
                time=moment.time - 1.2,
                fault=setting.number,
                process="walrus_driver",
                resident_kib=resident,
                rank=rank,
                host=host,
            )
        yield Compiling(
            time=start,
            fault=setting.number,
            seconds=_COMPILES - 1.0,
            graph=_module(setting),
            failed="killed" if oom else "error",
            rank=rank,
            host=host,
        )
        yield ExceptionRaised(
            time=moment.time, fault=told, type="RuntimeError", message=message, frames=frames, rank=rank, host=host
        )

    halt = Halt(setting.number, End.RAISED, frames, exit_code=1, dumps=False)
    weaker = (*_WEAKER, "compile-failed") if oom else _WEAKER
    fault = Fault(plan.cause, (plan.rank,), (setting.host,), weaker=weaker)
    return Injection(fault, {(plan.rank, -1): (_compiling(halt),)}, trace=trace)


def compiling(setting: Setting) -> Injection:
    """One rank compiles for a long time and the others wait: nothing is wrong."""
    plan = setting.plan

    def trace(moment: Moment) -> Iterator[Event]:
        rank, host = plan.rank, setting.where["host"]
        yield Compiling(
            time=moment.time, fault=setting.number, seconds=None, graph=_module(setting), rank=rank, host=host
        )

    halt = Halt(setting.number, End.HUNG, setting.frames(Site.COMPILE))
    fault = Fault(plan.cause, (plan.rank,), (setting.host,), weaker=("comm-timeout", "collectives-rank-missing"))
    return Injection(fault, {(plan.rank, -1): (_cut(halt, 2),)}, trace=trace)


def locked(setting: Setting) -> Injection:
    """An earlier compilation was killed and left its lock: every rank of a host waits for it."""
    ranks = setting.neighbours
    path = f"{_CACHE.format(module=_module(setting))}/model.hlo_module.pb.lock"

    def trace(moment: Moment) -> Iterator[Event]:
        for rank in ranks:
            time = moment.time + moment.rng.uniform(0.0, 0.5)
            yield WaitsForCompileLock(time=time, fault=setting.number, path=path, rank=rank, host=setting.where["host"])

    halt = Halt(
        setting.number,
        End.HUNG,
        (Frame("acquire", "/usr/lib/python3.10/site-packages/filelock/_api.py", 217), *setting.frames(Site.COMPILE)),
    )
    weaker = ("comm-timeout", "collectives-rank-missing", "compile-in-progress-wait", "collectives-hang")
    fault = Fault(setting.plan.cause, (), (setting.host,), weaker=weaker, involved=ranks)
    return Injection(fault, {(rank, -1): (_cut(halt, 2),) for rank in ranks}, trace=trace)


_COMPILES = 95.0


def _reporters(setting: Setting) -> tuple[int, ...]:
    cause = setting.plan.cause
    if cause in OF_THE_RANK:
        return (setting.plan.rank,)
    return tuple(range(setting.job.world)) if cause in OF_THE_JOB else setting.neighbours


def _detail(setting: Setting, rank: int) -> dict[str, str]:
    job, world = setting.job, setting.job.world
    return {
        "address": f"{job.hosts[0].address}:62182",
        "expected": str(world),
        "actual": str(world * 2),
        "mine": _OLD["runtime"],
        "theirs": "2.22.14.0",
        "peer": str(next((other for other in range(world) if job.seats[other].host != job.seats[rank].host), 0)),
        "group": "0",
        "name": f"{job.name}-0.{job.name}-headless.training.svc.cluster.local",
    }


def _cut(halt: Halt, index: int) -> Edit:
    return lambda instructions: [*instructions[:index], halt]


def _compiling(halt: Halt) -> Edit:
    def edit(instructions: list[Instruction]) -> list[Instruction]:
        return [*instructions[:2], Work(Site.COMPILE, _COMPILES), halt]

    return edit


def _module(setting: Setting) -> str:
    return str(10_000_000_000 + setting.job.job_id * 7_919)
