"""Events of pods that could not be started, beside the logs of these pods."""

from __future__ import annotations

import pytest
from builders import hit, source
from msgspec.structs import replace

from neuron_doctor.engine.facts import Clock, Fact, Place, Source
from neuron_doctor.engine.pods_that_ran import with_starts_made_good

START = 1_700_000_000.0


def event(reason: str = "FailedMount", clock: Clock = Clock.UTC) -> Fact:
    made = hit("x", at=START, source="events", clock=clock)
    data = {"reason": reason, "resolved": False}
    return replace(made, kind="k8s-event", data=data, place=Place(container="llm-worker-2"))


def log(begun: float, pod: str = "llm-worker-2", kind: str = "log") -> Source:
    made = source("0.log", kind=kind, first=START + begun, last=START + begun + 9)
    first = replace(made.first, clock=Clock.UTC) if made.first else None
    return replace(made, place=Place(container=f"{pod}/trainer"), first=first, records=5)


def told(fact: Fact, *logs: Source) -> dict[str, object]:
    (found,) = with_starts_made_good([fact], logs)
    return {name: found.data[name] for name in ("resolved", "again") if name in found.data}


def test_the_pod_came_up_after_all() -> None:
    assert told(event(), log(5)) == {"resolved": True}


def test_it_had_run_before() -> None:
    assert told(event(), log(-3600)) == {"resolved": False, "again": True}
    assert told(event(), log(5), log(-3600)) == {"resolved": False, "again": True}


@pytest.mark.parametrize(
    ("fact", "logs"),
    [
        (event(), []),
        (event(), [log(5, pod="llm-worker-1")]),
        (event(), [log(5, kind="kubectl")]),
        (event(clock=Clock.HOST_LOCAL), [log(5)]),
        (event("Evicted"), [log(5)]),
        (event("Failed"), [log(5)]),
        (replace(event(), instant=None), [log(5)]),
    ],
)
def test_nothing_else_tells(fact: Fact, logs: list[Source]) -> None:
    assert told(fact, *logs) == {"resolved": False}
