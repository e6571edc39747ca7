"""Who never came to a barrier at which the other ranks of the job wait: a barrier tells how many joined it, and where all
of those speak, the rest is known by elimination, with or without their logs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.recorder import named_ranks, told_of_collective

#: The phases of a barrier in which a rank is held there.
_HELD = frozenset({"waits", "gave-up"})
#: What tells where a rank stands, or that it goes on.
_WORDS = frozenset({"barrier", "stand", "progress"})


def absences(facts: Iterable[Fact], world_size: int | None) -> list[Fact]:
    """The `collective` facts that follow from the last attempt, one for each barrier of all ranks that holds some."""
    told = [fact for fact in facts if fact.kind in _WORDS and _is_telling(fact)]
    latest = max((fact.place.attempt for fact in told if fact.place.attempt is not None), default=None)
    last: dict[int, dict[str, Fact]] = defaultdict(dict)
    for fact in sorted(told, key=lambda fact: (fact.span.path, fact.span.offset)):
        if fact.place.rank is not None and fact.place.attempt in (None, latest):
            last[fact.place.rank][fact.source] = fact
    held: dict[str, dict[int, Fact]] = defaultdict(dict)
    for rank, words in sorted(last.items()):
        for name in _holding(words.values(), world_size):
            held[name][rank] = next(iter(words.values()))
    return [fact for name, waiting in sorted(held.items()) for fact in _absent(name, waiting, world_size or 0)]


def _is_telling(fact: Fact) -> bool:
    """Not what a peer says, nor that the rank came: another log may show what became of it there."""
    return fact.data.get("named") is not True and fact.data.get("phase") != "came"


def _holding(words: Iterable[Fact], world_size: int | None) -> set[str]:
    """The barrier that holds a rank, by the last word of every log that tells of it: which log ends last is not known."""
    names = {
        str(fact.data["name"])
        if fact.kind == "barrier" and fact.data["phase"] in _HELD and fact.data.get("size") == world_size
        else None
        for fact in words
    }
    return {name for name in names if name is not None} if len(names) == 1 else set()


def _absent(name: str, waiting: dict[int, Fact], size: int) -> Iterator[Fact]:
    joined = max((count for fact in waiting.values() if isinstance(count := fact.data.get("joined"), int)), default=0)
    if not len(waiting) <= joined < size:
        return
    absent = tuple(rank for rank in range(size) if rank not in waiting)
    proven = joined == len(waiting)
    some = "" if proven else f"{size - joined} of "
    data = told_of_collective(
        "rank-missing",
        f"{some}{named_ranks(absent)} never came to the barrier {name}, at which {joined} of {size} wait",
        operation=name,
        culprits=absent if proven else (),
        waiting=tuple(waiting),
        missing_dumps=() if proven else absent,
        members=tuple(range(size)),
        witness="barrier",
    )
    ranks = absent if proven else ()
    first = waiting[min(waiting)]
    place = replace(first.place, rank=ranks[0] if len(ranks) == 1 else None, ranks=ranks, host=None, pid=None)
    yield Fact("collective", data, place, first.span, first.source)
