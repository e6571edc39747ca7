"""Executes a scenario: runs the programs under the faults, lets the consequences follow, and tells the history."""

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from neuron_doctor.corpus.simulator import jobs
from neuron_doctor.corpus.simulator.aftermath import Aftermath, Death, follow
from neuron_doctor.corpus.simulator.faults.catalogue import INJECT
from neuron_doctor.corpus.simulator.faults.injection import Injection, Moment, Setting
from neuron_doctor.corpus.simulator.flow import NEVER, Flow, Rank, Unit
from neuron_doctor.corpus.simulator.history import (
    BarrierTimedOut,
    Call,
    End,
    Event,
    ExceptionRaised,
    ExecutionFailed,
    Frame,
    HangSuspected,
    History,
    Life,
    SetupFailed,
    StepDone,
    WatchdogTimeout,
)
from neuron_doctor.corpus.simulator.job import Job
from neuron_doctor.corpus.simulator.plan import Watcher
from neuron_doctor.corpus.simulator.program import Edit, Edits, Fate, Launch, Program
from neuron_doctor.corpus.simulator.scenario import Scenario
from neuron_doctor.corpus.simulator.style import Site as Gathering
from neuron_doctor.corpus.simulator.truth import Fault

_LATER = 3_600.0
_BY_THE_PROCESS = (ExecutionFailed, HangSuspected, BarrierTimedOut, ExceptionRaised, SetupFailed)
VERSIONS = (
    {
        "runtime": "2.22.14.0",
        "driver": "2.18.12.0",
        "collectives": "2.22.26.0",
        "framework": "2.5.1.2.4.0",
        "torch": "2.5.1",
    },
    {
        "runtime": "2.28.19.0",
        "driver": "2.24.7.0",
        "collectives": "2.28.20.0",
        "framework": "2.8.0.2.10.13553",
        "torch": "2.8.0",
    },
    {
        "runtime": "2.31.24.0",
        "driver": "2.27.4.0",
        "collectives": "2.31.24.0",
        "framework": "2.9.0.2.13.26312",
        "torch": "2.9.0",
    },
)


@dataclass(frozen=True, slots=True)
class _Run:
    """One pass of the flow: when ranks halted by themselves or were ended by a failure of their device."""

    flow: Flow
    deaths: Mapping[int, Death]
    moments: Mapping[int, float]  # by fault: when it struck, if it did
    by: Mapping[int, int]  # by rank that died: the fault


@dataclass(frozen=True, slots=True)
class Execution:
    """What truly happened; the faults that came to pass; and which of them had time to show before all was over."""

    history: History
    faults: tuple[Fault, ...]
    shown: tuple[bool, ...]


def run(scenario: Scenario) -> tuple[History, tuple[Fault, ...]]:
    """What truly happens, and the faults that came to pass (a planned one may be forestalled by another)."""
    done = execute(scenario)
    return done.history, done.faults


def execute(scenario: Scenario) -> Execution:
    """Run a scenario: programs, faults, consequences."""
    rng = random.Random(f"{scenario.seed}/execution")
    pods = scenario.style.site is Gathering.KUBERNETES
    job = jobs.build(scenario.shape, scenario.instance, rng, start=scenario.start, pods=pods)
    program = Program(scenario.shape, scenario.recipe)
    injections = tuple(
        INJECT[plan.cause](Setting(number, plan, job, program, scenario.custom, rng))
        for number, plan in enumerate(scenario.plans)
    )
    cutoff = {} if scenario.snapshot is None else dict.fromkeys(range(job.world), scenario.start + scenario.snapshot)
    done = _pass(scenario, job, program, injections, cutoff)
    if done.deaths:
        ends = {rank: min(death.time, cutoff.get(rank, NEVER)) for rank, death in done.deaths.items()}
        done = _pass(scenario, job, program, injections, {**cutoff, **ends})
    until = _until(scenario, done.flow)
    after = follow(job, done.flow, scenario.custom, rng, done.deaths, until)
    struck = [number for number in sorted(done.moments) if done.moments[number] <= until]
    renumbered = {number: index for index, number in enumerate(struck)}
    events = [
        replace(event, fault=renumbered.get(event.fault)) if event.fault is not None else event
        for event in after.events
    ]
    shown = []
    for number in struck:
        shows = _shows(injections[number], done, after, number)
        shown.append(shows)
        if shows:
            moment = Moment(done.moments[number], done.flow, job, rng)
            events += _told(injections[number].trace(moment), renumbered, after, until)
    history = _history(scenario, job, done.flow, after, events, injections, rng)
    faults = tuple(injections[number].settle(done.flow, injections[number].fault) for number in struck)
    return Execution(history, faults, tuple(shown))


def _told(events: Iterable[Event], renumbered: Mapping[int, int], after: Aftermath, until: float) -> Iterator[Event]:
    """The events of a fault as far as its processes lived to tell them, with the number that it has in the truth."""
    for event in events:
        death = after.deaths.get(event.rank) if event.rank is not None else None
        if event.time > until or (isinstance(event, _BY_THE_PROCESS) and death is not None and death.time < event.time):
            continue
        yield event if event.fault is None else replace(event, fault=renumbered[event.fault])


def _shows(injection: Injection, done: _Run, after: Aftermath, number: int) -> bool:
    """Whether anybody saw the fault: the process that fails lived until it noticed; a hang lasted until somebody looked."""
    own = [rank for rank in done.deaths if done.by[rank] == number]
    if own:
        return any(after.deaths[rank].time >= done.deaths[rank].time for rank in own if rank in after.deaths)
    if injection.struck is not None:
        return True
    noticed = any(isinstance(event, HangSuspected | WatchdogTimeout) for event in after.events)
    return noticed or any(rank not in after.deaths for rank in range(len(done.flow.ranks)))


def _pass(
    scenario: Scenario, job: Job, program: Program, injections: tuple[Injection, ...], cutoff: Mapping[int, float]
) -> _Run:
    edits = _merged(injections)
    flow = Flow(
        [program.run(rank, edits) for rank in range(job.world)],
        {group.name: len(group.ranks) for group in job.groups},
        scenario.seed,
        start=job.start,
        limit=scenario.custom.limit,
        cutoff=cutoff,
        keep=scenario.keep,
    )
    flow.run()
    return _outcome(flow, injections)


def _outcome(flow: Flow, injections: tuple[Injection, ...]) -> _Run:
    """Who died by the faults, and when each fault struck."""
    deaths: dict[int, Death] = {}
    moments: dict[int, float] = {}
    by: dict[int, int] = {}
    for state in flow.ranks:
        halt = state.halt
        if halt is None:
            continue
        moments[halt.fault] = min(moments.get(halt.fault, NEVER), state.host)
        if halt.end is not End.HUNG:
            told = halt.fault if halt.told else None
            for rank in (state.rank, *halt.taking):
                deaths[rank] = Death(state.host, halt.end, halt.exit_code, halt.signal, halt.seen, told)
                by[rank] = halt.fault
    for number, injection in enumerate(injections):
        for rank, failure in injection.failures.items():
            stuck = flow.ranks[rank].stuck_at
            if stuck is not None and stuck.launch.fate is Fate.DEVICE_STUCK and rank not in deaths:
                noticed = flow.ranks[rank].device + failure.delay
                moments[number] = min(moments.get(number, NEVER), noticed)
                deaths[rank] = Death(noticed + failure.linger, failure.end, failure.exit_code, failure.signal)
                by[rank] = number
        if number not in moments and not injection.failures and _came(injection, flow):
            moments[number] = min(state.host for state in flow.ranks)
    return _Run(flow, deaths, moments, by)


def _came(injection: Injection, flow: Flow) -> bool:
    """Whether a fault that stops nobody by itself came to pass: the ranks that it edits got to the step."""
    if injection.struck is not None:
        return injection.struck(flow)
    reached = all(len(flow.ranks[rank].steps) >= step for rank, step in injection.edits)
    return reached and not all(state.done for state in flow.ranks)


def _merged(injections: tuple[Injection, ...]) -> Edits:
    merged: dict[tuple[int, int], tuple[Edit, ...]] = {}
    for injection in injections:
        for key, edits in injection.edits.items():
            merged[key] = merged.get(key, ()) + edits
    return merged


def _history(
    scenario: Scenario,
    job: Job,
    flow: Flow,
    after: Aftermath,
    events: list[Event],
    injections: tuple[Injection, ...],
    rng: random.Random,
) -> History:
    lives = tuple(_life(scenario, state, after) for state in flow.ranks)
    events += _steps(scenario, flow, rng)
    versions = VERSIONS[random.Random(f"{scenario.seed}/versions").randrange(len(VERSIONS))]
    differing = {host: {**versions, **own} for one in injections for host, own in one.versions_of_host.items()}
    collected = _until(scenario, flow)
    if scenario.snapshot is None and not any(life.end is End.HUNG for life in lives):
        collected = max(life.ended or 0.0 for life in lives) + rng.uniform(60.0, 900.0)
    seen = sorted((event for event in events if event.time <= collected), key=lambda event: event.time)
    return History(job, lives, tuple(seen), collected, versions, differing)


def _until(scenario: Scenario, flow: Flow) -> float:
    """When an operator collects what is there, if the job does not end before by itself."""
    if scenario.snapshot is not None:
        return scenario.start + scenario.snapshot
    custom = scenario.custom
    patience = 0.0 if custom.watcher is Watcher.NOBODY else max(custom.watchdog_seconds, custom.rendezvous_seconds)
    return max(state.host for state in flow.ranks) + patience + _LATER


def _steps(scenario: Scenario, flow: Flow, rng: random.Random) -> Iterator[Event]:
    """The progress of every rank; the loss is the same on all ranks."""
    losses = [10.8 / (1.0 + 0.04 * step) + rng.uniform(-0.02, 0.02) for step in range(scenario.recipe.steps)]
    for state in flow.ranks:
        before = state.steps[0] - scenario.recipe.seconds if state.steps else 0.0
        for step, time in enumerate(state.steps):
            yield StepDone(time=time, rank=state.rank, step=step, loss=losses[step], seconds=time - before)
            before = time


def _life(scenario: Scenario, state: Rank, after: Aftermath) -> Life:
    death = after.deaths.get(state.rank)
    end, ended, code, signal = End.HUNG, None, None, None
    if death is not None:
        end, ended, code, signal = death.end, death.time, death.exit_code, death.signal
    elif state.done and scenario.snapshot is None:
        end, ended, code = End.FINISHED, state.host + 0.5, 0
    failed = after.failed.get(state.rank)
    return Life(
        rank=state.rank,
        start=scenario.start,
        calls=tuple(call for unit in state.units for call in _calls(unit, failed)),
        last_step=len(state.steps) - 1,
        end=end,
        ended=ended,
        exit_code=code,
        signal=signal,
        standing=_standing(scenario, state),
        dumps_recorder=_dumps(scenario, state, after, death),
    )


def _dumps(scenario: Scenario, state: Rank, after: Aftermath, death: Death | None) -> bool:
    """Whether the rank could write its flight recorder when the first watchdog or the operator asked for it."""
    if state.halt is not None and not state.halt.dumps:
        return False
    if death is None:
        return scenario.custom.watcher is not Watcher.RUNTIME
    return after.alarm is not None and death.time > after.alarm


def _standing(scenario: Scenario, state: Rank) -> tuple[Frame, ...]:
    if state.halt is not None:
        return state.halt.frames
    instruction = state.standing
    if isinstance(instruction, Launch):
        return instruction.parts[0].frames
    site = getattr(instruction, "site", None)
    return scenario.recipe.codebase.frames[site] if site is not None and not state.done else ()


def _calls(unit: Unit, failed: float | None) -> Iterator[Call]:
    for part, ordinal in zip(unit.launch.parts, unit.ordinals, strict=True):
        yield Call(
            rank=unit.rank,
            group=part.group,
            op=part.op,
            ordinal=ordinal,
            input_sizes=part.inputs,
            output_sizes=part.outputs,
            dtype=part.dtype,
            frames=part.frames,
            issued=unit.issued,
            started=unit.started,
            completed=unit.finished,
            failed=failed if unit.finished is None else None,
            peer=part.peer,
            batch=unit.batch,
        )
