"""Tells from a finished flow and its aftermath what each rank's life was: its calls, its steps, its end."""

import random
from collections.abc import Iterator

from neuron_doctor.corpus.simulator.aftermath import Aftermath, Death
from neuron_doctor.corpus.simulator.flow import NEVER, Flow, Rank, Unit
from neuron_doctor.corpus.simulator.history import Call, End, Event, Frame, Life, StepDone
from neuron_doctor.corpus.simulator.plan import Watcher
from neuron_doctor.corpus.simulator.program import Launch
from neuron_doctor.corpus.simulator.scenario import Scenario


def steps(scenario: Scenario, flow: Flow, rng: random.Random) -> Iterator[Event]:
    """The progress of every rank; the loss is the same on all ranks."""
    losses = [10.8 / (1.0 + 0.04 * step) + rng.uniform(-0.02, 0.02) for step in range(scenario.recipe.steps)]
    for state in flow.ranks:
        before = state.steps[0] - scenario.recipe.seconds if state.steps else 0.0
        for step, time in enumerate(state.steps):
            yield StepDone(time=time, rank=state.rank, step=step, loss=losses[step], seconds=time - before)
            before = time


def life(scenario: Scenario, state: Rank, after: Aftermath) -> Life:
    """One rank's life."""
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
        calls=tuple(call for unit in state.units for call in _calls(unit, ended, failed)),
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


def _calls(unit: Unit, ended: float | None, failed: float | None) -> Iterator[Call]:
    end = NEVER if ended is None else ended
    if unit.issued > end:
        return
    started = unit.started if unit.started is not None and unit.started <= end else None
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
            started=started,
            completed=unit.finished,
            failed=failed if unit.finished is None else None,
            peer=part.peer,
            batch=unit.batch,
        )
