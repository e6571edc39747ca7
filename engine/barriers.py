"""Who never came to a barrier at which the other ranks of the job wait: a barrier tells how many joined it, and where all
of those speak, the rest is known by elimination, with or without their logs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Value
from neuron_doctor.engine.recorder import ranks_text

#: The phases of a barrier in which a rank is held there.
_HELD = frozenset({"waits", "gave-up"})
#: What a rank says of where it stands, and that it goes on.
_WORDS = frozenset({"barrier", "stand", "progress"})


def absences(facts: Iterable[Fact], world_size: int | None) -> list[Fact]:
    """The `collective` facts that follow, one for each barrier of all ranks at which some are held by their last word."""
    last: dict[int, Fact] = {}
    for fact in sorted(facts, key=lambda fact: (fact.span.path, fact.span.offset)):
        if fact.kind in _WORDS and fact.place.rank is not None and (fact.kind != "stand" or _is_own(fact)):
            last[fact.place.rank] = fact
    held: dict[tuple[str, int], dict[int, Fact]] = defaultdict(dict)
    for rank, fact in sorted(last.items()):
        if fact.kind == "barrier" and fact.data["phase"] in _HELD and fact.data.get("size") == world_size:
            held[str(fact.data["name"]), fact.place.attempt or 0][rank] = fact
    return [fact for (name, _), waiting in sorted(held.items()) for fact in _absent(name, waiting, world_size or 0)]


def _is_own(stand: Fact) -> bool:
    return stand.data.get("named") is not True


def _absent(name: str, waiting: dict[int, Fact], size: int) -> Sequence[Fact]:
    joined = max((count for fact in waiting.values() if isinstance(count := fact.data.get("joined"), int)), default=0)
    absent = tuple(rank for rank in range(size) if rank not in waiting)
    if not len(waiting) <= joined < size:
        return ()
    proven = joined == len(waiting)
    some = "" if proven else f"{size - joined} of "
    who = f"{some}{'rank' if len(absent) == 1 else 'ranks'} {ranks_text(absent)}"
    text = f"{who} never came to the barrier {name}, at which {joined} of {size} wait"
    first = waiting[min(waiting)]
    data: dict[str, Value] = {
        "verdict": "rank-missing",
        "operation": name,
        "ordinal": 0,
        "description": text,
        "culprits": absent if proven else (),
        "waiting": tuple(waiting),
        "missing_dumps": () if proven else absent,
        "members": tuple(range(size)),
        "culprit_frame": "",
        "waiting_frame": "",
        "difference": "",
        "witness": "barrier",
    }
    ranks = absent if proven else ()
    place = replace(first.place, rank=ranks[0] if len(ranks) == 1 else None, ranks=ranks, host=None, pid=None)
    return (Fact("collective", data, place, first.span, first.source),)
