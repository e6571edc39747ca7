"""The rank whose execution produced the first NaN. A collective hands a NaN on to all ranks, so all report a numerical error:
one of them an execution before the others.

The order is that of the numbers of executions, never that of clocks, which differ from host to host. They count the same
executions where all those ranks ended with the same number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact

_ERROR = "numerical_error"
#: So many others must have come later: between two ranks a number proves little.
_MANY = 2


def first_errors(facts: Iterable[Fact]) -> Iterator[Fact]:
    """The `first-error` facts: at most one for each trace."""
    told = [fact for fact in facts if fact.kind == "ndet-event" and _number(fact) >= 0]
    errors = [fact for fact in told if fact.data["event"] == _ERROR]
    by_source: dict[str, list[Fact]] = defaultdict(list)
    for fact in told:
        if fact.place.rank is not None:
            by_source[fact.source].append(fact)
    nameless = min((_number(fact) for fact in errors if fact.place.rank is None), default=None)
    for source in sorted(by_source):
        found = _first_of(by_source[source])
        if found is not None and (nameless is None or nameless >= _number(found)):
            yield found


def _first_of(events: Iterable[Fact]) -> Fact | None:
    last: dict[int | None, int] = defaultdict(int)
    first: dict[int | None, Fact] = {}
    for event in events:
        rank = event.place.rank
        last[rank] = max(last[rank], _number(event))
        if event.data["event"] == _ERROR:
            first[rank] = min(first.get(rank, event), event, key=lambda one: (_number(one), one.span.offset))
    earliest = min((_number(event) for event in first.values()), default=-1)
    sources = [event for event in first.values() if _number(event) == earliest]
    if len(sources) != 1 or len(first) <= _MANY or len({last[rank] for rank in first}) != 1:
        return None
    data = {"event": _ERROR, "exec_id": earliest, "later": len(first) - 1}
    return replace(sources[0], kind="first-error", data=data)


def _number(event: Fact) -> int:
    number = event.data.get("exec_id")
    return number if isinstance(number, int) else -1
