"""How long the steps of a rank took by its log: of the many lines that say it, one fact about the last ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.matches import Candidate, Match, fact_of, match_of, place_of
from neuron_doctor.engine.facts import Fact, Place, Value

#: Of so many last lines of a rank the medians are taken: one step may have saved a checkpoint, or met a long sample.
_LAST = 8
_TIMES = ("work", "wait", "total")


def step_times(candidates: Iterable[Candidate], inp: Input) -> Iterator[Fact]:
    """The `step-time` facts of lines of one pattern, in their order: one for each process that they are of."""
    told: dict[Place, list[tuple[Candidate, Match]]] = defaultdict(list)
    for candidate in candidates:
        if match := match_of(candidate, inp):
            told[place_of(candidate, match, inp)].append((candidate, match))
    for place, lines in told.items():
        yield _medians(lines[-_LAST:], place, inp)


def _medians(lines: list[tuple[Candidate, Match]], place: Place, inp: Input) -> Fact:
    data = [match.data for _, match in lines]
    steps = [step for one in data if isinstance(step := one.get("step"), int)]
    summary: dict[str, Value] = {
        "form": lines[0][0].pattern.id,
        "first": min(steps),
        "step": max(steps),
        "lines": len(lines),
    }
    for name in _TIMES:
        times = [float(time) for one in data if isinstance(time := one.get(name), int | float)]
        if times:
            summary[name] = sorted(times)[len(times) // 2]
    return replace(fact_of(*lines[-1], place, inp), data=summary)
