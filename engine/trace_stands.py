"""Where the ranks of an execution trace (NDET) stood when it ended, as stands: executions are counted alike on all ranks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.stands import Stand

#: Open at the end of the trace, these say that a core waits for others; an open execution alone says that it does not.
_WAITING = frozenset({"cc_exec_barrier", "cc_op_exec", "cc_barrier_recv"})
_EXECUTION = "nc_exec"
#: The name of the group of all ranks of a trace.
_GROUP = "all ranks"
#: So many that wait outweigh the number of an execution that a single one has ended.
_MANY = 3


def trace_stands(facts: Iterable[Fact]) -> list[Stand]:
    """One stand for each rank of the trace, where none of them is inside an execution without waiting (the rules for
    traces convict such a one), those who wait do so at one number, and all others have completed the one before it.

    A single rank that is in nothing while many wait may have ended an execution of that number as well: what ended
    cannot be the one in which all others wait for it, so its program ran another one under this number.
    """
    by_rank: dict[int, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.kind == "ndet-event" and fact.place.rank is not None and isinstance(fact.data.get("exec_id"), int):
            by_rank[fact.place.rank].append(fact)
    waiting = {rank: opened for rank, events in by_rank.items() if (opened := _open(events))}
    last = {rank: max(_number(fact) for fact in events) for rank, events in by_rank.items()}
    inside = [rank for rank, events in by_rank.items() if rank not in waiting and any(_is_inside(e) for e in events)]
    numbers = {_number(fact) for fact in waiting.values()}
    if inside or len(numbers) != 1:
        return []
    [number] = numbers
    idle = {rank for rank in by_rank.keys() - waiting.keys() if last[rank] == number - 1}
    if len(waiting) >= max(_MANY, len(by_rank) - 1):
        idle |= {rank for rank in by_rank.keys() - waiting.keys() if last[rank] == number}
    if not idle or idle | waiting.keys() != by_rank.keys():
        return []
    return [
        _stand(rank, waiting.get(rank) or max(by_rank[rank], key=_number), number, waits=rank in waiting)
        for rank in sorted(by_rank)
    ]


def _number(event: Fact) -> int:
    number = event.data["exec_id"]
    return number if isinstance(number, int) else -1


def _open(events: Iterable[Fact]) -> Fact | None:
    found = [event for event in events if event.data["event"] in _WAITING and not event.data["complete"]]
    return max(found, key=_number, default=None)


def _is_inside(event: Fact) -> bool:
    return event.data["event"] == _EXECUTION and not event.data["complete"]


def _stand(rank: int, event: Fact, number: int, *, waits: bool) -> Stand:
    done = number - 1
    return Stand(
        rank, event, "ndet", _GROUP, "", -1, number if waits else -1, "an execution" if waits else "", -1, -1,
        number if waits else done, -1, done, -1, waits, named=False,
    )  # fmt: skip
