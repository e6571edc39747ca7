"""Everything that is chosen for one incident, as a frozen dataclass; `draw` chooses it by a seed."""

from dataclasses import dataclass, replace
from random import Random

from neuron_doctor.corpus.simulator import loss as losses
from neuron_doctor.corpus.simulator.faults.absence import SKIPPED
from neuron_doctor.corpus.simulator.faults.catalogue import INJECT
from neuron_doctor.corpus.simulator.jobs import INSTANCES, Instance, Shape
from neuron_doctor.corpus.simulator.loss import Loss
from neuron_doctor.corpus.simulator.plan import Custom, Plan, Watcher
from neuron_doctor.corpus.simulator.program import Recipe
from neuron_doctor.corpus.simulator.sites import CODEBASES
from neuron_doctor.corpus.simulator.style import Launcher, Recorder, Site, Style

HEALTHY = "healthy"
CAUSES: tuple[str, ...] = tuple(INJECT)

# Faults that strike a rank at the very beginning of a step, before it could wait for another: any two come to pass together.
PAIRABLE = (
    "collectives-rank-missing",
    "collectives-rank-died",
    "collectives-device-stuck",
    "exec-timeout",
    "hw-hbm-ue",
    "hw-hbm-ue-repairable",
    "hw-sram-ue",
    "hw-dma-abort",
    "nrt-numerical-error",
    "nrt-oob-access",
    "process-crash",
    "device-oom",
    "host-oom",
    "disk-full",
    "application-exception",
)
_SEVERAL_HOSTS = frozenset(
    {
        "efa-installer-missing",
        "efa-not-enabled",
        "efa-security-group",
        "runtime-version-skew",
        "driver-incompatible",
        "name-resolution-failed",
        "network-proxy-failure",
        "node-lost",
        "host-hw-error",
        "collectives-transport-stall",
    }
)
_PIPELINE = {"p2p-missing": 2, "p2p-order": 2, "p2p-mismatch": 4}
_TENSOR = {"collectives-order-mismatch": 2, "straggler": 4}
_LEAST = dict.fromkeys(
    (
        "collectives-rank-missing",
        "collectives-partial-completion",
        "collectives-device-stuck",
        "collectives-op-mismatch",
        "collectives-size-mismatch",
        "collectives-dtype-mismatch",
    ),
    4,
)
_DIVISIBLE = frozenset({4, 8, 16, 32, 64, 128, 256})  # data parallel ranks that experts may split
_STILL_RUNS = frozenset({"straggler", "hw-ecc-corrected-rising", HEALTHY})
_VERSIONS = ("none", "1.4", "2.1", "2.4", "2.9", "2.10", "2.10", "2.10")


@dataclass(frozen=True, slots=True)
class Scenario:
    """All that is chosen for one incident."""

    seed: int
    shape: Shape
    recipe: Recipe
    plans: tuple[Plan, ...] = ()
    instance: Instance = INSTANCES[0]
    style: Style = Style()  # noqa: RUF009 - it is frozen
    custom: Custom = Custom()  # noqa: RUF009
    loss: Loss = losses.CELLS[0]
    start: float = 1_780_000_000.0
    keep: int | None = None  # keep only the last calls of each rank
    snapshot: float | None = None  # seconds from the start: everything is collected then, while the job runs


def draw(
    seed: int,
    *,
    fault: str | None = None,
    pair: tuple[str, str] | None = None,
    ranks: int | None = None,
    recorder: Recorder | None = None,
    loss: Loss | str | None = None,
) -> Scenario:
    """A scenario by seed. `fault` is a cause of `CAUSES` or "healthy", `pair` two of `PAIRABLE`; what is None is drawn.

    `loss` is a cell of `loss.CELLS` or its name; None loses nothing.
    """
    rng = Random(f"{seed}/{fault}/{pair}/{ranks}/{recorder}")
    causes = _causes(rng, fault, pair)
    shape, instance = _shape(rng, causes, ranks)
    recipe = _recipe(rng, causes)
    style = _style(rng, recorder)
    cell = losses.named(loss) if isinstance(loss, str) else loss or losses.CELLS[0]
    return Scenario(
        seed=seed,
        shape=shape,
        recipe=recipe,
        plans=_plans(rng, causes, shape, recipe),
        instance=instance,
        style=style,
        custom=_custom(rng, style, asked=recorder is not None, pair=len(causes) > 1),
        loss=cell,
        start=float(1_720_000_000 + rng.randrange(70_000_000)) + rng.random(),
        snapshot=_snapshot(rng, causes, recipe, style),
    )


def _causes(rng: Random, fault: str | None, pair: tuple[str, str] | None) -> tuple[str, ...]:
    if pair is not None:
        return pair
    if fault is None:
        if _chance(rng, 0.15):
            return tuple(rng.sample(PAIRABLE, 2))
        fault = HEALTHY if _chance(rng, 0.08) else rng.choice(CAUSES)
    return () if fault == HEALTHY else (fault,)


def _shape(rng: Random, causes: tuple[str, ...], ranks: int | None) -> tuple[Shape, Instance]:
    """A job in which the faults are possible."""
    hosts = 2 if len(causes) > 1 or _SEVERAL_HOSTS & set(causes) else 1
    pipeline = max([_PIPELINE.get(cause, 1) for cause in causes], default=1)
    tensor = max([_TENSOR.get(cause, 1) for cause in causes], default=1)
    least = max([_LEAST.get(cause, 2) for cause in causes] + [pipeline * tensor, 4 * hosts if hosts > 1 else 2])
    world = ranks or rng.choice([size for size in (2, 4, 8, 16, 16, 32, 32, 64) if size >= least])
    tensor = _factor(rng, world // pipeline, tensor, 8)
    pipeline = _factor(rng, world // tensor, pipeline, 8)
    data = world // tensor // pipeline
    expert = rng.choice((1, 1, 2)) if data in _DIVISIBLE else 1
    instance = rng.choice(INSTANCES)
    seats = instance.devices * instance.cores
    per_host = _factor(rng, world // hosts, min(2, world // 2), seats, rising=True)
    return Shape(tensor, pipeline, data, expert, per_host), instance


def _chance(rng: Random, share: float) -> bool:
    return rng.random() < share


def _factor(rng: Random, whole: int, least: int, most: int, *, rising: bool = False) -> int:
    """A divisor of a whole between two bounds; `rising` prefers large ones."""
    divisors = [one for one in range(min(least, whole), min(whole, most) + 1) if whole % one == 0] or [1]
    return rng.choice(divisors[len(divisors) // 2 :] if rising else divisors)


def _recipe(rng: Random, causes: tuple[str, ...]) -> Recipe:
    return Recipe(
        codebase=rng.choice(CODEBASES),
        steps=rng.randrange(13, 20),
        microbatches=rng.choice((2, 3, 4)),
        layers=1,
        one_f_one_b="p2p-order" not in causes and _chance(rng, 0.6),
        sharded=_chance(rng, 0.7),
        sequence=rng.choice((2048, 4096, 8192)),
        hidden=rng.choice((2048, 4096, 8192)),
        seconds=rng.choice((0.6, 1.4, 3.1, 7.5)),
        evaluate_every=rng.choice((4, 5, 6)),
        checkpoint_every=rng.choice((6, 9, 100)),
    )


def _plans(rng: Random, causes: tuple[str, ...], shape: Shape, recipe: Recipe) -> tuple[Plan, ...]:
    """One plan, or two in the same step that strike before either could keep the other from happening."""
    step = rng.randrange(3, recipe.steps - recipe.evaluate_every - 1)
    if "straggler" in causes or "hw-ecc-corrected-rising" in causes:
        step = 4
    ranks = rng.sample(range(shape.world), len(causes))
    if "p2p-missing" in causes:
        ranks = [rng.randrange(shape.world - shape.world // shape.pipeline)]
    place = 0.0 if len(causes) > 1 else rng.random()
    plans = tuple(Plan(cause, rank, step, place, rng.randrange(60)) for cause, rank in zip(causes, ranks, strict=True))
    if len(causes) == 1:
        return plans
    return tuple(
        replace(plan, variant=plan.variant - 1 if plan.variant % 5 == SKIPPED else plan.variant) for plan in plans
    )


def _style(rng: Random, recorder: Recorder | None) -> Style:
    chosen = recorder or rng.choice((Recorder.NONE, Recorder.NONE, *Recorder))
    launcher = rng.choice((Launcher.TORCHRUN, Launcher.TORCHRUN, Launcher.SRUN, Launcher.MPIRUN))
    site = rng.choice(tuple(Site))
    dressed = {Launcher.TORCHRUN: ("torchrun", "rank"), Launcher.SRUN: ("srun",), Launcher.MPIRUN: ("mpirun",)}[
        launcher
    ]
    by_site = ("cri",) if site is Site.KUBERNETES else ("syslog",)
    return Style(
        recorder=chosen,
        recorder_version="2.10" if chosen in _NEW_RECORDERS else rng.choice(_VERSIONS),
        recorder_json=_chance(rng, 0.2),
        recorder_active_only=_chance(rng, 0.1),
        recorder_stale=_chance(rng, 0.1),
        ring=rng.choice((200, 2000, 2000, 20_000)),
        stacks=_chance(rng, 0.8),
        launcher=launcher,
        site=site,
        logs_per_rank=_chance(rng, 0.5),
        prefix=rng.choice(("none", "none", *dressed, *by_site)),
        runtime_debug=_chance(rng, 0.4),
        zone=rng.choice(("UTC", None)),
        monitor=_chance(rng, 0.5),
        ndet=_chance(rng, 0.2),
        dmesg=True,
        scheduler=_chance(rng, 0.6),
        noise=rng.choice((0.0, 0.2, 0.6)),
        runtime_apart=_chance(rng, 0.3),
    )


_NEW_RECORDERS = frozenset({Recorder.HOOK, Recorder.HOOK_ISSUE_ONLY, Recorder.GLOO})


def _custom(rng: Random, style: Style, *, asked: bool, pair: bool) -> Custom:
    """Who watches: with a recorder mostly the watchdog that dumps it, without one mostly the runtime."""
    watchers = (Watcher.WATCHDOG, Watcher.WATCHDOG, Watcher.NOBODY) + (() if asked else (Watcher.RUNTIME,))
    if style.recorder is Recorder.NONE:
        watchers = (Watcher.RUNTIME, Watcher.RUNTIME, Watcher.WATCHDOG, Watcher.NOBODY)
    strict = style.launcher is Launcher.MPIRUN or (style.launcher is Launcher.SRUN and _chance(rng, 0.5))
    return Custom(
        watcher=rng.choice(watchers),
        watchdog_seconds=rng.choice((600.0, 600.0, 900.0, 1800.0)),
        runtime_seconds=rng.choice((30.0, 120.0, 180.0, 600.0)),
        peer_lost=0.0 if pair else rng.choice((0.0, 0.3, 0.8)),
        local_teardown=style.launcher is not Launcher.SRUN or strict,
        job_teardown=strict and not pair,
        limit=rng.choice((24, 64)),
    )


def _snapshot(rng: Random, causes: tuple[str, ...], recipe: Recipe, style: Style) -> float | None:
    """When everything is collected while the job still runs; None: after its end."""
    if "compile-in-progress-wait" in causes:
        return rng.uniform(290.0, 540.0)
    if style.recorder is not Recorder.NONE and (not causes or causes[0] in _STILL_RUNS):
        return 10.0 + recipe.steps * recipe.seconds * rng.uniform(0.6, 0.9)
    return None
