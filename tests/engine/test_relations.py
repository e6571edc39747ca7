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
    ],
)
def test_jobs_with_two_numbers_are_two(effect: str, cause: str | None, related: bool) -> None:
    assert RELATIONS["job"](At(Place(job=effect)), At(Place(job=cause))) is related
    on_host = RELATIONS["same-host"](At(Place(job=effect), ("a",)), At(Place(job=cause), ("a",)))
    assert on_host is related
