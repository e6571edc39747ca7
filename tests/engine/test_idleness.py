"""Nothing outstanding in the dumps: a job that is well, or one whose processes live on and leave all cores idle."""

from __future__ import annotations

import pytest
from fr_simulator import Faults, Mesh, facts_of, run

from neuron_doctor.engine.collectives import match_collectives
from neuron_doctor.engine.facts import NOWHERE, Clock, Fact, Instant, Place, Span
from neuron_doctor.engine.idleness import standing_still

MESH = Mesh(4, 2)
DUMPS = facts_of(run(MESH, {rank: MESH.program(rank) for rank in range(MESH.size)}, Faults()))
LAST_NS = max(ns for fact in DUMPS if isinstance(ns := fact.data["last_ns"], int))
MINUTE_NS = 60 * 10**9


def level(name: str, minutes: float, last: float, pid: int = 7) -> Fact:
    """A level of a process that has held its last value since so many minutes after the last operation."""
    at = Instant(LAST_NS + int(minutes * MINUTE_NS), Clock.UTC)
    return Fact("level", {"name": name, "last": last}, Place(pid=pid), Span(f"{name}-{pid}"), "monitor", at)


STEP = Fact("progress", {}, NOWHERE, Span("log"), "log", Instant(LAST_NS - MINUTE_NS, Clock.UTC))
IDLE = level("neuroncore_utilization", 1, 0.0)
ALIVE = level("runtime_vcpu_percent", 58, 71.0)


def verdicts(*facts: Fact) -> list[object]:
    steps = () if any(fact.kind == "progress" for fact in facts) else (STEP,)
    return verdicts_without_step(*steps, *facts)


def verdicts_without_step(*facts: Fact) -> list[object]:
    found = [
        Fact(f.kind, {**f.data, "witness": "recorder"}, f.place, f.span, f.source) for f in match_collectives(DUMPS)
    ]
    return [fact.data["verdict"] for fact in standing_still(found, [*DUMPS, *facts])]


def test_dumps_alone_tell_of_no_hang() -> None:
    assert verdicts() == ["healthy"]


def test_processes_that_live_on_with_idle_cores_hang_outside_of_collectives() -> None:
    assert verdicts(IDLE, ALIVE) == ["outside"]


PROGRESS = Fact("progress", {}, NOWHERE, Span("log"), "log", Instant(LAST_NS + 9 * MINUTE_NS, Clock.UTC))


@pytest.mark.parametrize(
    "facts",
    [
        (IDLE, level("runtime_vcpu_percent", 5, 71.0)),  # it may save a checkpoint
        (IDLE, level("neuroncore_utilization", 1, 84.0, pid=8), ALIVE),  # one computes
        (level("neuroncore_utilization", 30, 0.0), ALIVE),  # it went on after the dumps
        (IDLE, ALIVE, PROGRESS),
    ],
)
def test_a_job_that_goes_on_or_ended_is_well(facts: tuple[Fact, ...]) -> None:
    assert verdicts(*facts) == ["healthy"]


def counted(held: int, last: float = 0.0, most: float = 84.0) -> Fact:
    """What undated reports, one every two minutes, say of a core."""
    data = {"name": "neuroncore_utilization", "last": last, "max": most, "held": held, "period_s": 120.0}
    return Fact("level", data, Place(pid=7, core=held), Span(f"core-{held}"), "monitor")


def test_reports_without_a_date_tell_by_their_number_how_long_the_cores_have_idled() -> None:
    assert verdicts(counted(44), counted(43)) == ["outside"]
    assert verdicts(counted(44), counted(4)) == ["healthy"]
    assert verdicts(counted(44), counted(43, last=84.0)) == ["healthy"]
    assert verdicts(counted(44), counted(43, most=0.0)) == ["healthy"]


def test_a_server_without_requests_is_no_hang() -> None:
    answered = Fact("progress", {"served": True}, NOWHERE, Span("log"), "log")
    assert verdicts_without_step(answered, counted(44)) == ["healthy"]
    assert verdicts_without_step(answered, IDLE, ALIVE) == ["healthy"]
    assert verdicts_without_step(counted(44), IDLE, ALIVE) == ["healthy"]
