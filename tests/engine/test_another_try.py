"""A failure before a script started its program for the last time is made good by steps and a good end after that."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import hit, pack, progress, rule, source

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Collection, Fact, Place, Span, Value
from neuron_doctor.engine.grades import Role


def said(kind: str, data: dict[str, Value], *, offset: int = 90, **place: object) -> Fact:
    return Fact(kind, data, Place(**place), Span("s", offset, 10, 1, 1, kind, f"{kind}{offset}"), "s")  # type: ignore[arg-type]


def end(*, exited: bool = True, **place: object) -> Fact:
    return said("completion", {"exited": exited}, **place)


FAILED = said("launcher-failure", {"launcher": "torchrun", "exitcode": 1}, offset=80, container="job")
AGAIN = said("another-try", {}, offset=85)


def role(folder: Path, *facts: Fact, failed: Fact = FAILED) -> Role:
    book = pack(folder, rule("raised", "record: raising", cause="bug", patterns=("raising",)))
    [finding] = diagnose(book, Collection((source("s"),), (hit("raising", pid=4), failed, *facts))).findings
    return finding.role


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ((progress(offset=87), end()), Role.SURVIVED),
        ((end(),), Role.ROOT),  # nothing was done
        ((progress(offset=82), end()), Role.ROOT),  # that was before
        ((progress(offset=87),), Role.ROOT),
        ((progress(offset=95), end()), Role.ROOT),  # it went on after that
        ((progress(offset=87), end(exited=False)), Role.ROOT),
        ((progress(offset=87), end(container="beside")), Role.ROOT),
    ],
)
def test_a_failure_before_the_last_try_of_a_script_is_made_good_by_steps_and_a_good_end(
    tmp_path: Path, more: tuple[Fact, ...], expected: Role
) -> None:
    assert role(tmp_path, AGAIN, *more) is expected
    assert role(tmp_path, *more) is Role.ROOT


@pytest.mark.parametrize(
    ("launcher", "word", "expected"),
    [
        ("wrapper", {"exited": True, "wrapped": True}, Role.SURVIVED),
        ("wrapper", {"exited": True}, Role.ROOT),  # somebody else's word
        ("torchrun", {"exited": True, "wrapped": True}, Role.ROOT),  # a script goes on after its launcher failed
    ],
)
def test_what_a_loop_tells_of_its_launcher_is_made_good_by_its_later_word(
    tmp_path: Path, launcher: str, word: dict[str, Value], expected: Role
) -> None:
    failed = said("launcher-failure", {"launcher": launcher, "exitcode": 1}, offset=80)
    assert role(tmp_path, said("completion", word), failed=failed) is expected
    assert role(tmp_path, said("completion", word, offset=70), failed=failed) is Role.ROOT
