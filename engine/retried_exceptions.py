"""Exceptions of which the program says in the next line that it tries again: it caught them, and what ends it later is another
one, or nothing."""

from __future__ import annotations

from collections.abc import Sequence

from neuron_doctor.engine.facts import Fact

#: The kind of fact for such an exception, and the pattern that finds any.
_RETRIED, _EXCEPTION = "retried-exception", "python-exception"


def without_retried(facts: Sequence[Fact]) -> Sequence[Fact]:
    """The facts without such exceptions."""
    retried = {(fact.source, fact.span.offset) for fact in facts if fact.kind == _RETRIED}
    if not retried:
        return facts
    return [fact for fact in facts if fact.name != _EXCEPTION or (fact.source, fact.span.offset) not in retried]
