"""What an exception says that was raised in another process than the one that prints it. Ray names that process above the
last line of the traceback, and so the record of the exception has its number and address; what else is understood of that line
(a status of the runtime) is of the same process, and not of the one that passes it on."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.proven import unique

_EXCEPTION, _STATUS = "exception", "status"


def at_who_raised_it(facts: Sequence[Fact]) -> Sequence[Fact]:
    """The facts; statuses that an exception of another process tells, at that process."""
    raised = unique(
        ((fact.source, fact.span.offset), (fact.place.host, fact.place.pid))
        for fact in facts
        if fact.data.get(_EXCEPTION) and fact.place.host and fact.place.pid is not None
    )
    if not raised:
        return facts
    return [_moved(fact, raised.get((fact.source, fact.span.offset))) for fact in facts]


def _moved(fact: Fact, process: tuple[str | None, int | None] | None) -> Fact:
    if process is None or fact.kind != _STATUS or fact.place.pid is not None:
        return fact
    host, pid = process
    return replace(fact, place=replace(fact.place, host=host, pid=pid))
