"""What is said while a server starts is over when it was started anew and came up, and is not when another one did."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import hit, pack, rule, source
from msgspec.structs import replace

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Collection, Fact
from neuron_doctor.engine.grades import Role

#: Where the record stands that is asked about.
AT = 500


def told(kind: str, offset: int, what: str = "m", **place: object) -> Fact:
    fact = hit("y", offset=offset, **place)  # type: ignore[arg-type]
    return replace(fact, kind=f"service-{kind}", data={"what": what})


def at_last(offset: int, **place: object) -> Fact:
    fact = told("up", offset, "", **place)
    return replace(fact, data={**fact.data, "again": True})


def role(folder: Path, *facts: Fact, survivable: str = "anew", **place: object) -> Role:
    """The role of what was said at this place."""
    more = f"survivable: {survivable}\n"
    refused = rule("refused", "record: refused", cause="stuck", patterns=("refused",), more=more)
    record = hit("refused", offset=AT, **place)  # type: ignore[arg-type]
    sources = tuple(source(name) for name in sorted({fact.source for fact in (record, *facts)}))
    [found] = diagnose(pack(folder, refused), Collection(sources, (record, *facts))).findings
    return found.role


START = told("start", 100)


@pytest.mark.parametrize("survivable", ["anew", "true"])
def test_a_server_that_was_started_anew_below_and_came_up_got_over_it(tmp_path: Path, survivable: str) -> None:
    again = told("start", 600), told("up", 700)
    assert role(tmp_path, START, *again, survivable=survivable) is Role.SURVIVED


@pytest.mark.parametrize(
    "facts",
    [
        (START, told("up", 700)),  # nobody started it anew: the word may be a late one
        (START, told("start", 600)),
        (START, told("up", 550), told("start", 600)),
        (START, told("up", 300), told("start", 600), told("up", 700)),  # it had come up, and failed at work
        (told("start", 600), told("up", 700)),  # who failed is not known
        (START, told("start", 600, "n"), told("up", 700, "n")),
        (START, told("start", 200, "n"), told("start", 600), told("up", 700)),  # it may have been the other one
        (START, told("start", 600, container="b"), told("up", 700, container="b")),
    ],
)
def test_a_server_of_which_that_is_not_said_did_not(tmp_path: Path, facts: tuple[Fact, ...]) -> None:
    assert role(tmp_path, *facts, container="a") is Role.CASCADE


def test_a_program_that_says_at_which_attempt_its_runtime_was_there_got_over_those_before(tmp_path: Path) -> None:
    assert role(tmp_path, at_last(700)) is Role.SURVIVED
    assert role(tmp_path, at_last(300), at_last(700)) is Role.CASCADE
    assert role(tmp_path, at_last(700, rank=1), rank=2) is Role.CASCADE
    assert role(tmp_path, at_last(700, rank=2), rank=2) is Role.SURVIVED
