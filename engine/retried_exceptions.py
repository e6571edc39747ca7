"""Exceptions below which the process that met them says that it tries again: it caught them, and what ends it later is another
one, or nothing. Who starts a program anew says so of one that has ended, below its last line: that counts only if it got on.

So does what stands above a traceback (`again`; what is logged with `exc_info` stands there): below the same words the next try
may fail for good. Where a launcher reports a worker below it, it did.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from neuron_doctor.engine.facts import Fact, Place

#: The kind of fact for what is said below, and the pattern that finds any exception.
_AGAIN, _EXCEPTION = "tries-again", "python-exception"
_GOES_ON, _FAILED = frozenset({"progress", "completion"}), "launcher-failure"
#: Bytes of an end of line.
_LINE_ENDS = (1, 2)
#: The rank and the number of a process, as far as they are known.
_Process = tuple[int | None, int | None]


def without_retried(facts: Sequence[Fact]) -> Sequence[Fact]:
    """The facts without such exceptions."""
    again = {(fact.source, fact.span.offset): fact.place for fact in facts if fact.kind == _AGAIN}
    if not again and not any(map(is_logged, facts)):
        return facts
    got_on: dict[str, dict[_Process, int]] = defaultdict(dict)
    failed: dict[str, int] = defaultdict(int)
    for fact in sorted(facts, key=lambda fact: fact.span.offset):
        if fact.kind in _GOES_ON:
            got_on[fact.source][fact.place.rank, fact.place.pid] = fact.span.offset
        elif fact.kind == _FAILED:
            failed[fact.source] = fact.span.offset

    def goes_on(fact: Fact) -> bool:
        return max(got_on[fact.source].values(), default=0) > fact.span.offset

    def goes_on_itself(fact: Fact) -> bool:
        own = (at for process, at in got_on[fact.source].items() if _may_be(process, fact.place))
        return failed[fact.source] < fact.span.offset < max(own, default=0)

    return [
        fact
        for fact in facts
        if fact.name != _EXCEPTION
        or not (
            (is_logged(fact) and goes_on_itself(fact))
            or any(
                fact.place == place and (_is_a_process(place) or goes_on(fact))
                for end in _LINE_ENDS
                if (place := again.get((fact.source, fact.span.offset + fact.span.length + end))) is not None
            )
        )
    ]


def is_logged(fact: Fact) -> bool:
    """Whether an exception stands in a traceback above which it is said that it is tried again."""
    return fact.name == _EXCEPTION and "again" in fact.data


def _may_be(process: _Process, place: Place) -> bool:
    pairs = zip(process, (place.rank, place.pid), strict=True)
    return all(a is None or b is None or a == b for a, b in pairs)


def _is_a_process(place: Place) -> bool:
    return place.rank is not None or place.pid is not None
