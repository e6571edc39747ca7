"""Draws the edges from findings that are by their nature consequences of other failures: a process that aborts, a launcher
that tells of an exit code, an execution that is open at the end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from neuron_doctor.engine.facts import ranks_of
from neuron_doctor.engine.links import OWN, Link, Times, strength
from neuron_doctor.engine.match import Match
from neuron_doctor.engine.relations import ACROSS_HOSTS, RELATIONS
from neuron_doctor.engine.rulebook import Follows

#: Who stands in such a relation to a match of known ranks shares one of them, or has none.
_OF_RANKS = frozenset({"same-core", "same-process", "same-rank"})


def followed(matches: Sequence[Match], times: Times) -> Iterator[Link]:
    """For each match whose rule follows others, the link to the strongest failure that it follows, by the first entry of
    its rule that finds one. What could follow and finds nothing may be followed by those that name its cause."""
    followers = [number for number, match in enumerate(matches) if match.rule.follows]
    first = _Leaders(matches, (n for n, m in enumerate(matches) if not m.rule.follows))
    links = {n: link for n in followers if (link := _link(matches, times, n, matches[n].rule.follows, first))}
    second = _Leaders(matches, (n for n in followers if n not in links))
    for number in followers:
        named = [entry for entry in matches[number].rule.follows if entry.causes]
        link = links.get(number) or _link(matches, times, number, named, second)
        if link:
            yield link


class _Leaders:
    """The failures that may be followed, by rank and by host: a follower looks only at those that can be near it."""

    def __init__(self, matches: Sequence[Match], numbers: Iterable[int]) -> None:
        self._all = [number for number in numbers if matches[number].rule.role in ("root", "victim")]
        self._by_rank: dict[int, list[int]] = defaultdict(list)
        self._by_host: dict[str, list[int]] = defaultdict(list)
        self._of_no_rank: set[int] = set()
        for number in self._all:
            ranks = ranks_of(matches[number].place)
            for rank in ranks:
                self._by_rank[rank].append(number)
            for host in matches[number].hosts or ("",):
                self._by_host[host].append(number)
            if not ranks:
                self._of_no_rank.add(number)

    def near(self, match: Match, relation: str) -> Iterable[int]:
        """Those that may stand in the relation to a match, and some that do not."""
        ranks = ranks_of(match.place)
        if relation in ACROSS_HOSTS or not (match.hosts or ranks):
            return self._all
        hosts = (*match.hosts, "") if match.hosts else self._by_host
        on_them = {number for host in hosts for number in self._by_host.get(host, ())}
        if not ranks or relation not in _OF_RANKS:
            return on_them
        return {*(n for rank in ranks for n in self._by_rank[rank]), *(n for n in on_them if n in self._of_no_rank)}


def _link(
    matches: Sequence[Match], times: Times, effect: int, entries: Iterable[Follows], leaders: _Leaders
) -> Link | None:
    for entry in entries:
        near = leaders.near(matches[effect], entry.relation)
        found = [n for n in near if n != effect and _leads(matches[n], matches[effect], entry)]
        timely = [number for number in found if times.in_time(effect, number, entry) is not False]
        if timely:
            cause = min(timely, key=lambda number: (strength(matches[number]), number))
            return Link(effect, cause, entry.edge, f"{entry.relation}: {matches[cause].rule.title}", True, OWN)
    return None


def _leads(leader: Match, follower: Match, entry: Follows) -> bool:
    cause = leader.rule.cause.id
    if (entry.roots and leader.rule.role != "root") or cause in entry.but or cause not in (entry.causes or {cause}):
        return False
    related = RELATIONS[entry.relation](follower, leader)
    return related is True or (related is None and entry.unknown)
