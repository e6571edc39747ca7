"""Exceptions below which the process that met them says that it tries again: it caught them, and what ends it later is another
one, or nothing. Who starts a program anew says so of one that has ended, below its last line: that counts only if it got on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from neuron_doctor.engine.facts import Fact, Place

#: The kind of fact for what is said below, and the pattern that finds any exception.
_AGAIN, _EXCEPTION = "tries-again", "python-exception"
_GOES_ON = frozenset({"progress", "completion"})
#: Bytes of an end of line.
_LINE_ENDS = (1, 2)


def without_retried(facts: Sequence[Fact]) -> Sequence[Fact]:
    """The facts without such exceptions."""
    again = {(fact.source, fact.span.offset): fact.place for fact in facts if fact.kind == _AGAIN}
    if not again:
        return facts
    got_on: dict[str, int] = defaultdict(int)
    for fact in facts:
        if fact.kind in _GOES_ON:
            got_on[fact.source] = max(got_on[fact.source], fact.span.offset)
    return [
        fact
        for fact in facts
        if fact.name != _EXCEPTION
        or not any(
            fact.place == place and (_is_a_process(place) or got_on[fact.source] > fact.span.offset)
            for end in _LINE_ENDS
            if (place := again.get((fact.source, fact.span.offset + fact.span.length + end))) is not None
        )
    ]


def _is_a_process(place: Place) -> bool:
    return place.rank is not None or place.pid is not None
