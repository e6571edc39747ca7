"""What launchers that start their workers anew (torchrun's agents) tell, each in a log of its own that goes on over all attempts,
where all of them say in the end that the workers exited with 0: which attempt that was, and whether it was that of all ranks.

The dumps of an attempt that hung lie beside such logs, in the directory that torchrun made for it (`attempt_0`) or in none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct

from neuron_doctor.engine.facts import Fact, ranks_of
from neuron_doctor.engine.last_words import OF_RUNS, last_words


class GoodEnd(Struct, frozen=True):
    """The number of the attempt that ended well (0: no launcher tells of several); the ranks that the logs name in which a hang
    was reported before the workers were started anew."""

    attempt: int = 0
    ranks: frozenset[int] = frozenset()


def good_end(facts: Iterable[Fact]) -> GoodEnd:
    """What these facts tell of it: of all launchers that started their workers anew."""
    told: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.place.attempt is None:
            told[fact.source].append(fact)
    logs = [of for of in told.values() if any(fact.kind == "restart" for fact in of)]
    if not logs or not all(_exited(of) for of in logs):
        return GoodEnd()
    hung = [of for of in logs if _hung_before(of)]
    ranks = (rank for of in hung for fact in of for rank in ranks_of(fact.place))
    return GoodEnd(min(map(_restarts, logs)), frozenset(ranks))


def _exited(told: Sequence[Fact]) -> bool:
    return all(word.data.get("exited") for word in last_words(told).values())


def _restarts(told: Iterable[Fact]) -> int:
    """How often the workers were started anew: a launcher says it more than once, with nothing of the run in between."""
    count, anew = 0, False
    for fact in sorted(told, key=lambda fact: fact.span.offset):
        if fact.kind == "restart":
            count += not anew
        anew = fact.kind == "restart" or (anew and fact.kind not in OF_RUNS)
    return count


def _hung_before(told: Sequence[Fact]) -> bool:
    """Whether somebody said that it waits in vain, and the workers were started anew after that for the last time."""
    last = max(fact.span.offset for fact in told if fact.kind == "restart")
    hung = [fact.span.offset for fact in told if fact.kind == "hang-report"]
    return bool(hung) and max(hung) < last
