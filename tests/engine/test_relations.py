"""Relations of places: two jobs that a scheduler numbered share nothing."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from neuron_doctor.engine.facts import Place
from neuron_doctor.engine.relations import RELATIONS


@dataclass(frozen=True)
class At:
    place: Place
    hosts: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("effect", "cause", "related"),
    [
        ("100", "100", True),
        ("100", "101", False),
        ("100", None, True),
        ("100", "llama-pretrain", True),  # a number and a name may be one job
        ("100_1", "100_2", False),
        ("100_1", "200_1", False),
        ("100_1", "100", True),  # the array itself, or its last task
        ("103", "100_1", True),  # the number of a task of it
        ("99", "100_1", False),
        ("100+0", "100+1", True),  # components of one job
    ],
)
def test_jobs_with_two_numbers_are_two(effect: str, cause: str | None, related: bool) -> None:
    assert RELATIONS["job"](At(Place(job=effect)), At(Place(job=cause))) is related
    on_host = RELATIONS["same-host"](At(Place(job=effect), ("a",)), At(Place(job=cause), ("a",)))
    assert on_host is related


@pytest.mark.parametrize(
    ("effect", "cause", "on_one_host", "anywhere"),
    [
        ("w-0", "w-1", False, False),
        ("w-0/pytorch", "w-0", True, True),
        ("w-0", None, True, None),
    ],
)
def test_processes_of_two_pods_are_two_wherever_the_pods_are(
    effect: str, cause: str | None, on_one_host: bool, anywhere: bool | None
) -> None:
    here, there = (At(Place(container=container, pid=1), ("a",)) for container in (effect, cause))
    assert RELATIONS["same-process"](here, there) is on_one_host
    assert RELATIONS["same-process"](At(here.place), At(there.place)) is anywhere


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [(None, None, False), ("w-0", "w-0", False), ("w-0", None, None), (None, "w-0", None)],
)
def test_a_pod_counts_its_processes_itself(one: str | None, other: str | None, same: bool | None) -> None:
    inside, outside = At(Place(pid=144, container=one), ("a",)), At(Place(pid=91822, container=other), ("a",))
    assert RELATIONS["same-process"](inside, outside) is same


def test_what_one_pod_tells_is_of_one_host_though_its_node_is_not_known() -> None:
    def on_host(one: Place, other: Place) -> bool | None:
        return RELATIONS["same-host"](At(one), At(other))

    assert on_host(Place(container="w-1/torch"), Place(container="w-1")) is True
    assert on_host(Place(container="w-1", attempt=0), Place(container="w-1", attempt=1)) is False
    assert on_host(Place(container="w-1"), Place(container="w-2")) is None
    assert on_host(Place(container="w-1"), Place()) is None
