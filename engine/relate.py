"""Draws the edges of the causal graph: which match is a consequence of which, by what the rules say they explain."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from neuron_doctor.engine.expressions import holds
from neuron_doctor.engine.facts import ranks_of
from neuron_doctor.engine.follow import followed
from neuron_doctor.engine.links import NEAR, OWN, WIDE, Link, Times, strength
from neuron_doctor.engine.match import Match
from neuron_doctor.engine.relations import ACROSS_HOSTS, RELATIONS
from neuron_doctor.engine.rulebook import Explains
from neuron_doctor.engine.timeline import Timeline
from neuron_doctor.engine.waitfor import components

_OF_ONE_PROCESS = frozenset({"same-process", "same-rank"})
#: A rule that is no surer than this says that something failed, not what.
_SAYS_NO_REASON = 0.5


def relate(matches: Sequence[Match], clocks: Timeline) -> list[Link]:
    """The links between matches. Links that rest on an unknown place are kept only where nothing sure explains the
    effect and only one cause is possible. What follows a failure of its own process explains nothing elsewhere: that
    failure does. What befell a host after one (its disk is full of a dump) befell all who are there."""
    effects: dict[str, list[int]] = defaultdict(list)
    for number, match in enumerate(matches):
        effects[match.rule.cause.id].append(number)
    by_rule: dict[str, list[int]] = defaultdict(list)
    for number, match in enumerate(matches):
        if match.rule.explains:
            by_rule[match.rule.id].append(number)
    times, records = Times(matches, clocks), _Records(matches)
    links = [link for causes in by_rule.values() for link in _links_of_rule(matches, times, records, effects, causes)]
    own = list(followed(matches, times))
    echoes = {link.effect for link in own if not _is_of_its_host(matches[link.effect])}
    links = [link for link in links if link.distance != WIDE or link.cause not in echoes]
    return _acyclic(_decided([*own, *links], matches), matches)


def _is_of_its_host(match: Match) -> bool:
    """Whether its rule is about what a failure does to the host that it is on."""
    return any(entry.relation == "same-host" for entry in match.rule.follows)


def _links_of_rule(
    matches: Sequence[Match],
    times: Times,
    records: _Records,
    effects: Mapping[str, Sequence[int]],
    causes: Sequence[int],
) -> Iterator[Link]:
    """The links from every effect that one rule explains to the matches of that rule."""
    index = _ByPlace(matches, causes)
    for explains in matches[causes[0]].rule.explains:
        wide = explains.relation in ACROSS_HOSTS  # any cause of the job will do: one is chosen for each effect, not all
        why = f"{explains.relation}: {matches[causes[0]].rule.title}"
        for effect in sorted(number for cause in explains.causes for number in effects.get(cause, ())):
            if _has_own_reason(matches[effect], explains):
                continue
            candidates = index.nearest_first(effect) if wide else index.near(effect, explains.relation)
            for cause in candidates:
                link = _link(matches, times, records, effect, cause, explains, why)
                if link:
                    yield link
                    if wide and link.sure:
                        break


def _has_own_reason(effect: Match, explains: Explains) -> bool:
    return any(
        fact.name == query.name and holds(query.where, fact) for query in explains.unless for fact in effect.facts
    )


class _ByPlace:
    """The matches of one rule by host and rank, so that an effect looks only at those that can be near it."""

    def __init__(self, matches: Sequence[Match], causes: Sequence[int]) -> None:
        self._matches = matches
        self._all = list(causes)
        self._by_host: dict[str, list[int]] = defaultdict(list)
        self._by_rank: dict[int, list[int]] = defaultdict(list)
        self._nearest: dict[tuple[str, ...], list[int]] = {}
        for cause in causes:
            for host in matches[cause].hosts or ("",):
                self._by_host[host].append(cause)
            for rank in ranks_of(matches[cause].place):
                self._by_rank[rank].append(cause)

    def near(self, effect: int, relation: str) -> list[int]:
        """The causes on a host of the effect, or whose host is not known; for one rank, which may be known under several
        names of its host, also those of the rank."""
        hosts = self._matches[effect].hosts
        if not hosts:
            return self._all
        ranks = ranks_of(self._matches[effect].place) if relation == "same-rank" else ()
        of_ranks = (cause for rank in ranks for cause in self._by_rank.get(rank, ()))
        return sorted({*of_ranks, *(cause for host in (*hosts, "") for cause in self._by_host.get(host, ()))})

    def nearest_first(self, effect: int) -> Sequence[int]:
        """Those of the same host, then the others in canonical order."""
        hosts = self._matches[effect].hosts
        if hosts not in self._nearest:
            near = [cause for host in hosts for cause in self._by_host.get(host, ())]
            known = set(near)
            self._nearest[hosts] = [*near, *(cause for cause in self._all if cause not in known)]
        return self._nearest[hosts]


def _link(
    matches: Sequence[Match],
    times: Times,
    records: _Records,
    effect: int,
    cause: int,
    explains: Explains,
    why: str,
) -> Link | None:
    if effect == cause:
        return None
    one_record = records.shared(effect, cause)
    related = one_record or RELATIONS[explains.relation](matches[effect], matches[cause])
    if related is False:
        return None
    # what one record tells of both happened at once; what else is known of either, and when, says nothing of that
    timely = one_record or times.in_time(effect, cause, explains)
    unproven = related is None and timely is None
    if timely is False or (unproven and _speaks_for_itself(matches[effect], matches[cause])):
        return None
    distance = NEAR if explains.relation in _OF_ONE_PROCESS else WIDE
    return Link(effect, cause, explains.edge, why, related is True, distance)


class _Records:
    """Which records are evidence for each match, by its number."""

    def __init__(self, matches: Sequence[Match]) -> None:
        numbers: dict[tuple[str, int], int] = {}
        self._all: list[frozenset[int]] = []
        self._quoted: list[frozenset[int]] = []
        for match in matches:
            numbered = [(numbers.setdefault((f.source, f.span.offset), len(numbers)), f) for f in match.facts]
            self._all.append(frozenset(number for number, _ in numbered))
            quoted = frozenset(number for number, fact in numbered if fact.span.length)
            self._quoted.append(self._all[-1] if quoted == self._all[-1] else quoted)

    def shared(self, effect: int, cause: int) -> bool:
        """Whether one record is evidence for both: then they are about one thing, wherever that is."""
        return not self._all[effect].isdisjoint(self._quoted[cause])


def _speaks_for_itself(effect: Match, cause: Match) -> bool:
    """Whether the effect is a fault by its own evidence and nothing ties it to the cause: neither a precise place nor
    comparable clocks nor a common file, process or device that both name. An error of months ago in a kernel log must not
    explain today's exception; but a status that gives no reason is best explained by whatever fault was found."""
    states_a_fault = effect.rule.role == "root" and effect.rule.confidence > _SAYS_NO_REASON
    if not states_a_fault or not any(fact.instant for fact in cause.facts):
        return False
    return not _names_tying(effect) & _names_tying(cause)


def _names_tying(match: Match) -> set[tuple[str, object]]:
    """The files, the processes, and the devices beyond the first that its records name."""
    pids = {("pid", fact.place.pid) for fact in match.facts if fact.place.pid is not None}
    devices = {("device", fact.place.device) for fact in match.facts if fact.place.device}
    return {("file", fact.source) for fact in match.facts} | pids | devices


def _decided(links: Iterable[Link], matches: Sequence[Match]) -> list[Link]:
    """Sure links, and an unsure one where it is the only explanation that its effect has: of several matches of one rule,
    which say the same of different places, the first."""
    by_effect: dict[int, list[Link]] = defaultdict(list)
    for link in dict.fromkeys(links):
        by_effect[link.effect].append(link)
    kept: list[Link] = []
    for found in by_effect.values():
        sure = [link for link in found if link.sure]
        alike = len({matches[link.cause].rule.id for link in found}) == 1
        nearest = min(link.cause for link in found)
        kept.extend(sure or (link for link in found if alike and link.cause == nearest))
    return kept


def _acyclic(links: Sequence[Link], matches: Sequence[Match]) -> list[Link]:
    """Without the links that would close a circle of instances; the sure ones and those to the strongest causes stay.
    Only links inside one strongly connected component can close one."""
    size = max((max(link.effect, link.cause) for link in links), default=-1) + 1
    causes: list[list[int]] = [[] for _ in range(size)]
    for link in links:
        causes[link.effect].append(link.cause)
    component = {node: number for number, nodes in enumerate(components(causes)) for node in nodes}
    kept: list[Link] = []
    inside: list[Link] = []
    for link in links:
        (inside if component[link.effect] == component[link.cause] else kept).append(link)
    after: dict[int, set[int]] = defaultdict(set)
    for link in sorted(inside, key=lambda link: _weakness(link, matches[link.cause])):
        if not _reaches(after, link.cause, link.effect):
            after[link.effect].add(link.cause)
            kept.append(link)
    return kept


def _weakness(link: Link, cause: Match) -> tuple[object, ...]:
    victim, elsewhere, doubt = strength(cause)
    return not link.sure, link.distance != OWN, victim, link.distance, elsewhere, doubt, link.effect, link.cause


def _reaches(after: Mapping[int, set[int]], start: int, goal: int) -> bool:
    seen, stack = {start}, [start]
    while stack:
        node = stack.pop()
        if node == goal:
            return True
        following = after.get(node, set()) - seen
        seen |= following
        stack.extend(following)
    return False
