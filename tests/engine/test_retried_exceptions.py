"""An exception that the program met and tried again after is none."""

from __future__ import annotations

from builders import hit
from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.retried_exceptions import without_retried


def retried(exception: Fact) -> Fact:
    return replace(exception, kind="retried-exception", data={})


def test_only_the_exception_on_that_line_is_left_out() -> None:
    first, second = hit("python-exception", offset=10), hit("python-exception", offset=90)
    elsewhere, other = hit("python-exception", offset=10, source="t"), hit("x", offset=10)
    facts = [first, second, elsewhere, other]
    assert without_retried([*facts, retried(first)]) == [second, elsewhere, other, retried(first)]
    assert without_retried(facts) is facts
