"""Transfers with the wrong rank, told by the books: all that ranks sent was received, but for what one of them put amiss.

The books are those of all that was recorded; where rings have lost some of it, those of the one round that does not balance.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from neuron_doctor.engine.process_groups import ProcessGroup
from neuron_doctor.engine.recorder import SEND
from neuron_doctor.engine.round_books import Gap, gaps_of_a_round

#: More ends of transfers with the right rank, in either direction, and none with the wrong one, are a habit.
_HABIT = 3
#: So many groups of the same program, in none of which the two have to do with each other, tell as much; no more than so
#: many are asked.
_SIBLINGS, _ASKED = 2, 8
_TWO = 2


class Misdirected(NamedTuple):
    """A rank that exchanged with a peer that has no end for it, while the usual one lacks as many of that rank."""

    rank: int
    peer: int
    usual: int


class _Books(NamedTuple):
    """How often each rank sent to each other one and received from it, source before target, by its own dump."""

    sent: Counter[tuple[int, int]]
    received: Counter[tuple[int, int]]

    def along(self, pair: tuple[int, int]) -> int:
        """All that either says of what the first sent to the second."""
        return sum(book[pair] for book in self)

    def between(self, one: int, other: int) -> int:
        """All that either says of the two."""
        return self.along((one, other)) + self.along((other, one))


def misdirected_ranks(groups: Sequence[ProcessGroup], gaps: Iterable[Gap]) -> list[Misdirected]:
    """One rank at most of each group, as two amiss could be explained in several ways. What no dump is there to confirm
    does not count; where rings have lost some ends of transfers and kept others, only a round that they describe tells:
    `gaps`, of all groups."""
    of_rounds = _by_group(gaps)
    return [found for group in groups if (found := _of_group(group, groups, of_rounds[id(group)]))]


def may_be_misdirected(groups: Iterable[ProcessGroup], gaps: Iterable[Gap]) -> set[int]:
    """The ranks that did with one peer what another has an end of, by the books of one round that is over, with a habit of it or
    without: of two ranks of which one lacks a transfer and one has one too many, they alone explain both."""
    of_rounds = _by_group(gaps)
    amiss = (_amiss(gaps_of_a_round(of_rounds[id(group)])) for group in groups)
    return {one.found.rank for one in amiss if one}


def _by_group(gaps: Iterable[Gap]) -> dict[int, list[Gap]]:
    found: dict[int, list[Gap]] = defaultdict(list)
    for gap in gaps:
        found[id(gap.group)].append(gap)
    return found


def _of_group(group: ProcessGroup, groups: Sequence[ProcessGroup], of_rounds: Sequence[Gap]) -> Misdirected | None:
    books = _books(group)
    gaps = _gaps(books, {rank for rank, member in group.members.items() if member.record})
    return _known(group, groups, books, gaps) or _known(group, groups, books, gaps_of_a_round(of_rounds))


class _Amiss(NamedTuple):
    """What two gaps are, if one rank made both: `strange` is what it did, `usual` what others have an end of."""

    found: Misdirected
    strange: tuple[int, int]
    usual: tuple[int, int]
    times: int


def _amiss(gaps: Counter[tuple[int, int]]) -> _Amiss | None:
    if len(gaps) != _TWO or gaps.total():
        return None
    [(lost, times)], [wanting] = (+gaps).items(), (-gaps).keys()
    if lost[0] == wanting[0]:
        return _Amiss(Misdirected(lost[0], lost[1], wanting[1]), lost, wanting, times)
    if lost[1] == wanting[1]:
        return _Amiss(Misdirected(lost[1], wanting[0], lost[0]), wanting, lost, times)
    return None


def _known(
    group: ProcessGroup, groups: Iterable[ProcessGroup], books: _Books, gaps: Counter[tuple[int, int]]
) -> Misdirected | None:
    amiss = _amiss(gaps)
    if amiss is None:
        return None
    found, strange, usual, times = amiss
    if books.between(found.rank, found.peer) == times:
        known = books.between(found.rank, found.usual) > _HABIT or _never_meet(group, groups, found)
        return found if known else None
    return found if books.along(strange) == times and _is_one_way(books, usual) else None


def _is_one_way(books: _Books, pair: tuple[int, int]) -> bool:
    """Whether data flow from the one to the other by habit, and never back: as in a ring, where each has to do with both
    neighbours, so that only the direction tells which transfer is strange."""
    return books.along(pair) > _HABIT and not books.along(pair[::-1])


def _books(group: ProcessGroup) -> _Books:
    books = _Books(Counter(), Counter())
    for rank, member in group.members.items():
        for pair in member.record.pairs if member.record else ():
            source, target = group.global_rank(pair.source), group.global_rank(pair.target)
            if source is not None and target is not None:
                book = books.sent if (pair.kind, source) == (SEND, rank) else books.received
                book[source, target] += pair.times if rank in (source, target) else 0
    return books


def _gaps(books: _Books, known: set[int]) -> Counter[tuple[int, int]]:
    """How many more were sent than received, where they differ and both ends have a dump."""
    pairs = {pair for pair in books.sent | books.received if known.issuperset(pair)}
    return Counter({pair: gap for pair in pairs if (gap := books.sent[pair] - books.received[pair])})


def _never_meet(group: ProcessGroup, groups: Iterable[ProcessGroup], found: Misdirected) -> bool:
    """Whether the ranks in the places of these two have nothing to do with each other in all groups of the same program."""
    rank, peer = group.ranks.index(found.rank), group.ranks.index(found.peer)
    siblings = islice((one for one in groups if one is not group and _are_alike(one, group)), _ASKED)
    kept = [(one.ranks, books) for one in siblings if (books := _books(one)).sent and books.received]
    return len(kept) >= _SIBLINGS and not any(books.between(ranks[rank], ranks[peer]) for ranks, books in kept)


def _are_alike(one: ProcessGroup, other: ProcessGroup) -> bool:
    return (one.desc, len(one.ranks)) == (other.desc, len(other.ranks))
