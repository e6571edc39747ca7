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


def row(how: str, restarts: int = 0, pod: str = "llm-worker-2") -> Fact:
    data = {"name": pod, "phase": how, "reason": "", "restarts": restarts, "ready": False}
    return replace(event(), kind="pod", data=data, place=Place(container=pod), instant=None)


@pytest.mark.parametrize("how", ["Error", "OOMKilled", "Completed"])
def test_the_only_start_of_its_containers_came_to_an_end(how: str) -> None:
    untimed = replace(event(), instant=None)
    found, *_ = with_starts_made_good([untimed, row(how)], [])
    assert found.data["resolved"] is True
    assert "again" not in found.data


@pytest.mark.parametrize(
    "rows",
    [
        [row("ContainerCreating")],
        [row("Pending")],
        [row("StartError")],
        [row("ImagePullBackOff")],
        [row("Error", restarts=2)],
        [row("Error", pod="llm-worker-1")],
        [row("Completed"), row("ContainerCreating")],
    ],
)
def test_other_rows_of_a_listing_show_no_start_that_succeeded(rows: list[Fact]) -> None:
    found, *_ = with_starts_made_good([replace(event(), instant=None), *rows], [])
    assert found.data["resolved"] is False


def test_a_log_that_began_before_says_more_than_a_listing() -> None:
    found, *_ = with_starts_made_good([event(), row("Error")], [log(-3600)])
    assert (found.data["resolved"], found.data.get("again")) == (False, True)
