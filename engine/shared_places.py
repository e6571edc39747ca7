"""What the failing ranks have in common: the smallest place that they share, others do not, and chance does not explain.

A failing rank is one with a failure of its own: a root, or a failure that is no consequence of a wait for others. The
population are the ranks whose sources would have shown such a failure: a rank without a log is not healthy, it is unknown.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine import conditions as cond
from neuron_doctor.engine.coincidence import tail
from neuron_doctor.engine.decide import Graph
from neuron_doctor.engine.facts import Fact, Source, Value, ranks_of
from neuron_doctor.engine.grades import EdgeType, Role
from neuron_doctor.engine.match import all_matches
from neuron_doctor.engine.rank_places import Spot, Spots, spots_of_ranks
from neuron_doctor.engine.recorder import ranks_text
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.topology import Topology
from neuron_doctor.engine.verdict import Finding

KIND = "shared-place"

#: Fewer failing ranks share something by chance too often.
FEWEST = 3
#: One in so many failing ranks may be elsewhere.
ASTRAY = 8
#: The chance that any place at all would hold so many failing ranks must be below this.
LEVEL = 0.01
#: So many ranks are named in a sentence, as characters.
_NAMED = 60


class _Share(Struct, frozen=True):
    """A spot that holds `inside` of the failing ranks, and `members` of the population, `healthy` of which do not fail."""

    spot: Spot
    inside: frozenset[int]
    members: frozenset[int]
    population: int
    healthy: int
    odds: float


class _Failing(Struct, frozen=True):
    """Failing ranks that are looked at together, and what a sentence calls them."""

    ranks: frozenset[int]
    called: str = "failing ranks"


def failures(graph: Graph) -> dict[int, tuple[int, ...]]:
    """The matches that are failures of ranks themselves, by number, with these ranks."""
    waited = {link.effect for link in graph.links if link.type is not EdgeType.CAUSED_BY}
    unexplained = set(graph.unexplained)
    found = {}
    for number, match in enumerate(graph.matches):
        role, ranks = graph.roles[number], ranks_of(match.place)
        own = role is Role.CASCADE and match.rule.cause.by != "peer" and number not in waited
        own = own and (match.rule.role == "root" or number in unexplained)
        if ranks and (role in (Role.ROOT, Role.CONFIRMATION) or own):
            found[number] = ranks
    return found


def shared_places(
    graph: Graph, facts: Sequence[Fact], sources: Sequence[Source], topology: Topology
) -> tuple[Fact, ...]:
    """A `shared-place` fact for what all failing ranks share; where they share nothing, for what those of one cause do.

    Linear in facts, ranks, and members of groups.
    """
    own = failures(graph)
    failing = frozenset(rank for ranks in own.values() for rank in ranks)
    if len(failing) < FEWEST:
        return ()
    by_cause: dict[str, set[int]] = defaultdict(set)
    for number, ranks in own.items():
        by_cause[graph.matches[number].rule.cause.id].update(ranks)
    observed = _observed(graph, own, sources, topology)
    sorts = [_known(spots, observed | failing) for spots in spots_of_ranks(facts, topology)]
    everyone = _found(graph, own, _Failing(failing), sorts)
    if everyone:
        return (everyone,)
    apart = [_Failing(frozenset(ranks), f"ranks with {cause}") for cause, ranks in sorted(by_cause.items())]
    found = (_found(graph, own, some, sorts) for some in apart if len(some.ranks) >= FEWEST)
    return tuple(fact for fact in found if fact)


def with_shared_places(
    rulebook: Rulebook, graph: Graph, facts: Sequence[Fact], sources: Sequence[Source], topology: Topology
) -> Graph:
    """The graph with the findings of what the failing ranks share; they explain nothing and are explained by nothing."""
    shared = shared_places(graph, facts, sources, topology)
    if not shared:
        return graph
    rules = tuple(rule for rule in rulebook.rules if any(query.name == KIND for query in cond.queries(rule.when)))
    matches = all_matches(replace(rulebook, rules=rules), shared, sources, topology)
    roles = [Role.CONTEXT] * len(matches)
    return replace(graph, matches=[*graph.matches, *matches], roles=[*graph.roles, *roles])


def summing_up(graph: Graph, finding: Finding, facts: Iterable[Fact], ids: Mapping[int, str]) -> Finding:
    """A finding of shared places says which, and names the findings of the failing ranks; others stay as they are.
    `ids` are those of the findings of the matches of the graph."""
    said = [str(fact.data["description"]) for fact in facts if fact.kind == KIND]
    if not said:
        return finding
    here = set(finding.place.ranks)
    summed = {ids[number] for number, ranks in failures(graph).items() if here & set(ranks)}
    return replace(finding, title="; ".join(said), observed=(), sums_up=tuple(sorted(summed)))


# --- who could have failed -----------------------------------------------------------------------------------------


def _observed(
    graph: Graph, own: Mapping[int, tuple[int, ...]], sources: Sequence[Source], topology: Topology
) -> frozenset[int]:
    """The ranks with a source of a kind in which every failing rank shows its failure; where there is no such kind,
    those with sources of all the kinds in which any does."""
    kind_of = {source.id: source.kind for source in sources}
    seen_in: dict[int, set[str]] = defaultdict(set)
    for number, ranks in own.items():
        kinds = {kind_of[fact.source] for fact in graph.matches[number].facts if fact.source in kind_of}
        for rank in ranks:
            seen_in[rank] |= kinds
    covered = _covered(sources, topology)
    kinds = set.intersection(*seen_in.values())
    if kinds:
        return frozenset().union(*(covered[kind] for kind in kinds))
    every = [covered[kind] for kind in sorted(set().union(*seen_in.values()))]
    return frozenset(set.intersection(*every)) if every else frozenset()


def _covered(sources: Iterable[Source], topology: Topology) -> Mapping[str, set[int]]:
    """The ranks of which sources of each kind would tell: their own, and all of a host for what tells of a host."""
    on_host: dict[str, list[int]] = defaultdict(list)
    for rank, host in topology.host_of_rank.items():
        on_host[host].append(rank)
    covered: dict[str, set[int]] = defaultdict(set)
    for source in sources:
        covered[source.kind].update(source.ranks)
        if source.place.rank is None and source.place.host and source.kind != "log":
            covered[source.kind].update(on_host.get(source.place.host, ()))
    return covered


def _known(spots: Spots, population: frozenset[int]) -> Spots:
    return {rank: own for rank, own in spots.items() if rank in population and own}


# --- what they share -----------------------------------------------------------------------------------------------


def _found(graph: Graph, own: Mapping[int, tuple[int, ...]], failing: _Failing, sorts: Sequence[Spots]) -> Fact | None:
    """The smallest place that holds the failing ranks and that chance does not explain."""
    shares = [share for spots in sorts for share in _shares(spots, failing.ranks)]
    places = sum(len({spot for spots in sort.values() for spot in spots}) for sort in sorts)
    fitting = [replace(share, odds=min(1.0, share.odds * places)) for share in shares if share.odds * places < LEVEL]
    if not fitting:
        return None
    best = min(fitting, key=lambda share: (-len(share.inside), len(share.members)))
    also = [share.spot for share in fitting if share.members == best.members and share.spot != best.spot]
    return _fact(graph, own, best, also, failing)


def _shares(spots: Spots, failing: frozenset[int]) -> Iterator[_Share]:
    """The spots of one sort in which all but few of the failing ranks are, and at most half of the others."""
    known = failing & spots.keys()
    held = Counter(spot for rank in known for spot in spots[rank])
    wanted = {
        spot for spot, inside in held.items() if inside >= FEWEST and len(failing) - inside <= len(failing) // ASTRAY
    }
    members: dict[Spot, set[int]] = defaultdict(set)
    for rank, own in spots.items():
        for spot in own:
            if spot in wanted:
                members[spot].add(rank)
    for spot in sorted(wanted, key=lambda spot: spot.name):
        of, inside = members[spot], members[spot] & failing
        healthy, others = len(spots) - len(known), len(of) - len(inside)
        if healthy and 2 * others <= healthy:
            odds = tail(len(spots), len(of), len(known), len(inside))
            yield _Share(spot, frozenset(inside), frozenset(of), len(spots), healthy, odds)


def _fact(
    graph: Graph, own: Mapping[int, tuple[int, ...]], share: _Share, also: Sequence[Spot], failing: _Failing
) -> Fact:
    numbers = [number for number, ranks in own.items() if share.inside & set(ranks)]
    first = min(
        (fact for number in numbers for fact in graph.matches[number].facts),
        key=lambda fact: (fact.span.path, fact.span.offset, fact.name),
    )
    others = len(share.members) - len(share.inside)
    data: dict[str, Value] = {
        "what": share.spot.what,
        "name": share.spot.name,
        "description": _sentence(share, also, failing),
        "failing": len(share.inside),
        "of_failing": len(failing.ranks),
        "others_there": others,
        "population": share.population,
        "odds": float(f"{share.odds:.1e}"),
    }
    place = replace(share.spot.place, attempt=_attempt(graph, numbers), ranks=tuple(sorted(share.inside)))
    return Fact(KIND, data, place, first.span, first.source, first.instant)


def _attempt(graph: Graph, numbers: Iterable[int]) -> int | None:
    attempts = {graph.matches[number].place.attempt for number in numbers}
    return next(iter(attempts)) if len(attempts) == 1 else None


def _sentence(share: _Share, also: Sequence[Spot], failing: _Failing) -> str:
    """For people: who shares what, and how many of the others do."""
    inside, others, of = len(share.inside), len(share.members) - len(share.inside), len(failing.ranks)
    text = ranks_text(sorted(share.inside))
    many = f"All {inside}" if inside == of else f"{inside} of {of}"
    who = f"{many} {failing.called}" + (f" ({text})" if len(text) <= _NAMED else "")
    told = f"{who} {share.spot.said}; of the {share.healthy} other known ranks, {others or 'none'} do"
    return f"{told}; the same ranks {' and '.join(spot.said for spot in also)}" if also else told
