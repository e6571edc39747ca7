"""What was found of a name, a code or a message that somebody asked about."""

from __future__ import annotations

from msgspec import Struct

from neuron_doctor.engine.rulebook import Cause, Rule


class Topic(Struct, frozen=True):
    """One meaning of what was asked: in words, with the cause if it is one, and the rules that know it, the best first. The
    first so many `telling` of them fire on it alone; the first `answers` what was asked."""

    called: str
    rules: tuple[Rule, ...]
    telling: int = 0
    answers: bool = False
    cause: Cause | None = None


class Explanation(Struct, frozen=True):
    """All meanings; where there is none, names that are nearly what was asked."""

    asked: str
    topics: tuple[Topic, ...]
    near: tuple[str, ...] = ()
