"""Gives every match its role and finds the smallest set of roots after which all others are consequences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from neuron_doctor.engine.beforehand import beforehand
from neuron_doctor.engine.bystanders import Bystanders, bystanders
from neuron_doctor.engine.ended_well import ended_well
from neuron_doctor.engine.expressions import RecordQuery, holds
from neuron_doctor.engine.facts import Fact, Source, ranks_of
from neuron_doctor.engine.grades import EdgeType, Role
from neuron_doctor.engine.links import NEAR, Link
from neuron_doctor.engine.match import Match
from neuron_doctor.engine.moments import Moment
from neuron_doctor.engine.relate import relate
from neuron_doctor.engine.relations import RELATIONS
from neuron_doctor.engine.requeued import requeued
from neuron_doctor.engine.timeline import Timeline, timeline
from neuron_doctor.engine.waitfor import components

#: A rank that goes on for so long after an error has survived it (its log may lag that of the dead by less).
SURVIVED_NS = 120 * 1_000_000_000

_FIXED = {"benign": Role.BENIGN, "context": Role.CONTEXT, "teardown": Role.TEARDOWN}


class Graph(Struct):
    """The matches with their roles, the links that stay, the matches that nothing explains, the roots of which nothing
    tells that they are of this run, and the clocks that all was told by."""

    matches: list[Match]
    roles: list[Role]
    links: list[Link]
    unexplained: list[int] = field(default_factory=list)
    doubtful: list[int] = field(default_factory=list)
    clocks: Timeline = field(default_factory=Timeline)

    def roots_of(self) -> dict[int, frozenset[int]]:
        """For every match, the roots at the ends of its chains of causes."""
        causes: list[list[int]] = [[] for _ in self.matches]
        for link in self.links:
            causes[link.effect].append(link.cause)
        found: dict[int, frozenset[int]] = {}
        for [number] in components(causes):  # causes come before their effects, and there are no circles
            found[number] = frozenset().union(*(found[cause] for cause in causes[number])) or frozenset({number})
        return found


def decide(matches: Iterable[Match], facts: Sequence[Fact], sources: Sequence[Source]) -> Graph:
    """Roles and links for all matches."""
    others = bystanders(facts, sources)
    kept = _not_superseded(list(matches), others)
    clocks = timeline(facts, sources)
    progress = _progress(facts, clocks)
    earlier = beforehand(facts, sources, clocks)
    single = {source.id for source in sources if source.place.rank is not None or source.place.pid is not None}
    ends, again = ended_well(facts, sources, others), requeued(facts)
    by_name: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        by_name[fact.name].append(fact)

    def role(match: Match, others: Bystanders) -> Role:
        past = _survived(match, progress, single) or _ended(match, by_name, clocks)
        past = Role.SURVIVED if not past and (ends.covers(match, single) or again.cover(match)) else past
        elsewhere = earlier.holds(match) or others.hold(match)
        return _FIXED.get(match.rule.role) or past or (Role.CONTEXT if elsewhere else Role.CASCADE)

    graph = _related(kept, [role(match, others) for match in kept], clocks)
    if others.nodes and Role.ROOT not in graph.roles:  # a pod may have moved away from the node that is gone
        others = replace(others, nodes=frozenset())
        graph = _related(kept, [role(match, others) for match in kept], clocks)
    roots = [number for number, role in enumerate(graph.roles) if role is Role.ROOT]
    devices = _devices(graph, roots, facts)
    graph.doubtful = [number for number in roots if earlier.may_hold(kept[number], devices)]
    return graph


def _related(matches: list[Match], roles: list[Role], clocks: Timeline) -> Graph:
    """The matches with their links, and the roots among those that take part."""
    active = [number for number, match in enumerate(matches) if _takes_part(match, roles[number])]
    links = [_renumbered(link, active) for link in relate([matches[number] for number in active], clocks)]
    graph = Graph(matches, roles, links, clocks=clocks)
    _excuse_what_is_benign(graph)
    _choose_roots(graph)
    return graph


def _takes_part(match: Match, role: Role) -> bool:
    """Whether a match can be an effect, or the benign cause of one."""
    return role in (Role.CASCADE, Role.TEARDOWN) or (role is Role.BENIGN and bool(match.rule.explains))


def _excuse_what_is_benign(graph: Graph) -> None:
    """A victim of nothing but benign causes is benign itself."""
    for number, ends in graph.roots_of().items():
        victim = graph.roles[number] is Role.CASCADE and graph.matches[number].rule.role != "root"
        if victim and all(graph.roles[end] is Role.BENIGN for end in ends):
            graph.roles[number] = Role.BENIGN


def _renumbered(link: Link, numbers: Sequence[int]) -> Link:
    return Link(numbers[link.effect], numbers[link.cause], link.type, link.why, link.sure, link.distance)


def _choose_roots(graph: Graph) -> None:
    """What nothing explains and is no victim by its nature is a root; another finding of the same cause at the same
    place confirms it."""
    explained = {link.effect for link in graph.links}
    candidates = [n for n, role in enumerate(graph.roles) if role is Role.CASCADE and n not in explained]
    roots = [n for n in candidates if graph.matches[n].rule.role == "root"]
    roots = [n for n in roots if not _is_one_of_several(graph.matches[n], [graph.matches[r] for r in roots])]
    for number in sorted(roots, key=lambda n: _rank(graph.matches[n])):
        stronger = next(
            (r for r in roots if graph.roles[r] is Role.ROOT and _same(graph.matches[number], graph.matches[r])), None
        )
        if stronger is None:
            graph.roles[number] = Role.ROOT
        else:
            graph.roles[number] = Role.CONFIRMATION
            graph.links.append(
                Link(number, stronger, EdgeType.CAUSED_BY, "the same cause at the same place", sure=True, distance=NEAR)
            )
    graph.unexplained = [n for n in candidates if n not in roots]


def _is_one_of_several(match: Match, others: Iterable[Match]) -> bool:
    """Whether its rule convicts nobody because it holds for another process as well."""
    alike = (other for other in others if match.rule.sole and other.rule.id == match.rule.id)
    return any(RELATIONS["same-process"](match, other) is False for other in alike)


def _rank(match: Match) -> tuple[float, int, str, str]:
    """Best first: surest, most precisely placed, then in canonical order."""
    first = match.facts[0].span if match.facts else None
    return (
        -match.rule.confidence,
        -len(match.place.known()),
        match.rule.id,
        f"{first.path}:{first.offset:020}" if first else "",
    )


def _same(a: Match, b: Match) -> bool:
    """Whether two matches can be about one and the same fault. Two of one rule are at places that differ, unless one of
    them is at none: a scheduler tells of its job what a launcher tells of a rank."""
    if a.rule.cause.id != b.rule.cause.id or (a.rule.id == b.rule.id and _is_placed(a) is _is_placed(b)):
        return False
    relation = "same-device" if a.rule.cause.by == "hardware" else "same-process"
    return RELATIONS[relation](a, b) is not False


def _is_placed(match: Match) -> bool:
    place = match.place
    return bool(match.hosts or place.ranks or place.group) or (place.pid, place.device, place.core) != (
        None,
        None,
        None,
    )


def _not_superseded(matches: list[Match], others: Bystanders) -> list[Match]:
    """Without the matches of general rules where a specific one holds for the same process or device; of those about whole
    jobs, for anything in the job. What befell others takes no finding away."""
    above: dict[str, list[Match]] = defaultdict(list)
    for match in matches:
        for name in () if others.hold(match) else match.rule.supersedes:
            above[name].append(match)
    return [m for m in matches if not any(_is_of(m, other) is not False for other in above[m.rule.id])]


def _is_of(general: Match, specific: Match) -> bool | None:
    return RELATIONS["job" if general.rule.at == "job" else "same-process"](general, specific)


# --- survived ------------------------------------------------------------------------------------------------------


class _Progress(Struct, frozen=True):
    by_source: Mapping[str, list[Fact]]
    by_rank: Mapping[int, list[Moment]]
    last_attempt: int
    clocks: Timeline


def _progress(facts: Iterable[Fact], clocks: Timeline) -> _Progress:
    by_source: dict[str, list[Fact]] = defaultdict(list)
    by_rank: dict[int, list[Moment]] = defaultdict(list)
    for fact in facts:
        if fact.kind == "progress":
            by_source[fact.source].append(fact)
            moment = clocks.moment(fact)
            if moment and fact.place.rank is not None:
                by_rank[fact.place.rank].append(moment)
    attempts = [f.place.attempt for found in by_source.values() for f in found if f.place.attempt is not None]
    return _Progress(by_source, by_rank, max(attempts, default=-1), clocks)


def _survived(match: Match, progress: _Progress, single: set[str]) -> Role | None:
    """SURVIVED where every record of the match was followed by progress of the same process."""
    if not match.rule.survivable or not match.facts:
        return None
    anew = match.rule.survivable == "anew"
    return Role.SURVIVED if all(_overcome(fact, progress, single, anew=anew) for fact in match.facts) else None


def _overcome(fact: Fact, progress: _Progress, single: set[str], *, anew: bool) -> bool:
    if fact.place.attempt is not None and fact.place.attempt < progress.last_attempt:
        return True  # the workers were started anew and got on
    clocks = progress.clocks
    moment = clocks.moment(fact)
    for later in progress.by_source.get(fact.source, ()):
        if later.span.offset <= fact.span.offset or _differ(later.place.rank, fact.place.rank):
            continue
        if anew and fact.source not in single and _is_older(later, fact):
            continue
        then = clocks.moment(later)
        gap = clocks.difference(moment, then) if moment and then else None
        same_process = fact.source in single or (later.place.pid is not None and later.place.pid == fact.place.pid)
        if same_process and (gap is None or gap.high >= 0):
            return True  # it stands later in the file, and the clock does not deny it
        if gap is not None and gap.low >= SURVIVED_NS:
            return True
    if moment is None or fact.place.rank is None:
        return False
    gaps = (clocks.difference(moment, then) for then in progress.by_rank.get(fact.place.rank, ()))
    return any(gap is not None and gap.low >= SURVIVED_NS for gap in gaps)


def _is_older(a: Fact, b: Fact) -> bool:
    """Whether the process of one record was surely there before that of another: kernels count processes up."""
    return a.place.pid is not None and b.place.pid is not None and a.place.pid < b.place.pid


def _ended(match: Match, by_name: Mapping[str, Sequence[Fact]], clocks: Timeline) -> Role | None:
    """SURVIVED where the records that end a finding of this rule followed all of its own, for sure: a driver was loaded
    anew after an error, say, and a later process opened the device. Records that are not dated are followed by what
    stands below them in their files."""
    latest = [moment for fact in match.facts if (moment := clocks.moment(fact))]
    if not match.rule.ends or not match.facts:
        return None
    if len(latest) < len(match.facts):
        return Role.SURVIVED if all(_ended_below(fact, match.rule.ends, by_name) for fact in match.facts) else None
    for query in match.rule.ends:
        after = [
            (lag, m.instant, m)
            for fact in by_name[query.name]
            if holds(query.where, fact) and (m := clocks.moment(fact)) and (lag := _lag(m, latest, clocks)) is not None
        ]
        if not after:
            return None
        latest = [min(after)[-1]]
    return Role.SURVIVED


def _ended_below(fact: Fact, ends: Iterable[RecordQuery], by_name: Mapping[str, Sequence[Fact]]) -> bool:
    at = fact.span.offset
    for query in ends:
        below = [f.span.offset for f in by_name[query.name] if f.source == fact.source and holds(query.where, f)]
        at = min((offset for offset in below if offset > at), default=-1)
        if at < 0:
            return False
    return True


def _lag(moment: Moment, others: Iterable[Moment], clocks: Timeline) -> int | None:
    """How long after the last of the others it was, at most; None unless it surely followed all of them."""
    lags = []
    for other in others:
        gap = clocks.difference(other, moment)
        if gap is None or gap.low <= 0:
            return None
        lags.append(gap.high)
    return min(lags, default=None)


def _differ(a: int | None, b: int | None) -> bool:
    return a is not None and b is not None and a != b


def _devices(graph: Graph, roots: Iterable[int], facts: Iterable[Fact]) -> set[tuple[str | None, int]]:
    """The devices that the ranks of these findings name anywhere, with their hosts."""
    failing = {rank for number in roots for rank in ranks_of(graph.matches[number].place)}
    return {
        (fact.place.host, fact.place.device)
        for fact in facts
        if fact.place.rank in failing and fact.place.device is not None
    }
