"""The built-in rules and the engine with their patterns, made once for all tests that only read them."""

from __future__ import annotations

from functools import cache

from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.pipeline import rulebook_for
from neuron_doctor.request import Request
from neuron_doctor.scan import Engine


@cache
def rulebook() -> Rulebook:
    return rulebook_for(Request(()))


@cache
def engine() -> Engine:
    return Engine.of(rulebook())
