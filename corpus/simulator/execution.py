"""Executes a scenario: runs the programs under the faults, lets the consequences follow, and tells the history."""

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from neuron_doctor.corpus.simulator import jobs, lives
from neuron_doctor.corpus.simulator.aftermath import Aftermath, Death, follow
from neuron_doctor.corpus.simulator.faults.catalogue import INJECT
from neuron_doctor.corpus.simulator.faults.injection import Injection, Moment, Setting
from neuron_doctor.corpus.simulator.flow import NEVER, Flow, Rank
from neuron_doctor.corpus.simulator.history import (
    BarrierTimedOut,
    End,
    Event,
    ExceptionRaised,
    ExecutionFailed,
    HangSuspected,
    History,
    SetupFailed,
    WatchdogTimeout,
)
from neuron_doctor.corpus.simulator.job import Job
from neuron_doctor.corpus.simulator.plan import Watcher
from neuron_doctor.corpus.simulator.program import Edit, Edits, Fate, Program
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
    if any(_outlives(done.flow.ranks[rank], death.time) for rank, death in after.deaths.items()):
        ends = {rank: death.time for rank, death in after.deaths.items()}
        done = replace(done, flow=_pass(scenario, job, program, injections, {**cutoff, **ends}).flow)
    struck = [number for number in sorted(done.moments) if done.moments[number] <= until or injections[number].struck]
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
            moment = Moment(min(done.moments[number], until), done.flow, job, rng)
            events += _told(injections[number].trace(moment), renumbered, after, until)
    history = _history(scenario, job, done.flow, after, events, injections, rng)
    faults = tuple(injections[number].settle(done.flow, injections[number].fault) for number in struck)
    return Execution(history, faults, tuple(shown))


def _outlives(state: Rank, end: float) -> bool:
    """A rank that was ended from outside while it was not waiting did things in this flow that it never came to do."""
    return max(state.host, state.latest) > end


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
    told = tuple(lives.life(scenario, state, after) for state in flow.ranks)
    events += lives.steps(scenario, flow, rng)
    versions = VERSIONS[random.Random(f"{scenario.seed}/versions").randrange(len(VERSIONS))]
    differing = {host: {**versions, **own} for one in injections for host, own in one.versions_of_host.items()}
    collected = _until(scenario, flow)
    if scenario.snapshot is None and not any(life.end is End.HUNG for life in told):
        collected = max(life.ended or 0.0 for life in told) + rng.uniform(60.0, 900.0)
    seen = sorted((event for event in events if event.time <= collected), key=lambda event: event.time)
    return History(job, told, tuple(seen), collected, versions, differing)


def _until(scenario: Scenario, flow: Flow) -> float:
    """When an operator collects what is there, if the job does not end before by itself."""
    if scenario.snapshot is not None:
        return scenario.start + scenario.snapshot
    custom = scenario.custom
    patience = 0.0 if custom.watcher is Watcher.NOBODY else max(custom.watchdog_seconds, custom.rendezvous_seconds)
    return max(state.host for state in flow.ranks) + patience + _LATER
