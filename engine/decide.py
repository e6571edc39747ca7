"""Gives every match its role and finds the smallest set of roots after which all others are consequences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from msgspec import Struct, field
from msgspec.structs import replace

from neuron_doctor.engine.attempt_hosts import AttemptHosts
from neuron_doctor.engine.before_start import before_start
from neuron_doctor.engine.beforehand import beforehand
from neuron_doctor.engine.bystanders import Bystanders, bystanders
from neuron_doctor.engine.conditions import required
from neuron_doctor.engine.ended_well import ended_well
from neuron_doctor.engine.facts import DATED, Fact, Source, ranks_of
from neuron_doctor.engine.grades import EdgeType, Role
from neuron_doctor.engine.idle_hosts import idle_hosts
from neuron_doctor.engine.links import NEAR, Link
from neuron_doctor.engine.match import Match
from neuron_doctor.engine.passed_tests import passed_tests
from neuron_doctor.engine.relate import relate
from neuron_doctor.engine.relations import RELATIONS
from neuron_doctor.engine.replaced_nodes import replaced_nodes
from neuron_doctor.engine.survival import ends_by_name, has_ended, has_survived, progress_of, without_survived
from neuron_doctor.engine.timeline import Timeline, timeline
from neuron_doctor.engine.waitfor import components

_FIXED = {"benign": Role.BENIGN, "context": Role.CONTEXT, "teardown": Role.TEARDOWN}
#: A kernel writes down what a worker says at once; clocks of one zone differ by less (ns).
_AT_ONCE = 600 * 1_000_000_000
#: Two wall clocks show one moment by no more than this apart, in whatever zones.
_ONE_DAY = 26 * 3600 * 1_000_000_000


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
    progress = progress_of(facts, clocks)
    earlier, unstarted = beforehand(facts, sources, clocks), before_start(facts, sources)
    single = {source.id for source in sources if source.place.rank is not None or source.place.pid is not None}
    ends = ended_well(facts, sources, others)
    tests, replaced = passed_tests(facts), replaced_nodes(facts, sources)
    by_name, idle = ends_by_name(facts), idle_hosts(facts)

    def role(match: Match, others: Bystanders) -> Role:
        over = has_ended(match, by_name, clocks, ends.done, ends.restarted)
        overcome = over or has_survived(match, progress, single)
        good = ends.covers(match, single) or (ends.job and replaced.cover(match))
        past = Role.SURVIVED if overcome or good or tests.covers(match) else None
        elsewhere = earlier.holds(match) or unstarted.holds(match) or others.hold(match) or idle.hold(match)
        return _FIXED.get(match.rule.role) or past or (Role.CONTEXT if elsewhere else Role.CASCADE)

    def all_roles(others: Bystanders) -> list[Role]:
        alone = _with_their_grounds(kept, [role(match, others) for match in kept])
        return _with_twins(kept, alone, progress.hosts, earlier.kernel)

    kept = [ends.retried.without(without_survived(match, progress, single)) for match in kept]
    graph = _related(kept, all_roles(others), clocks, earlier.kernel)
    if (others.nodes or others.accounts) and Role.ROOT not in graph.roles:
        others = others.anywhere()
        graph = _related(kept, all_roles(others), clocks, earlier.kernel)
    roots = [number for number, role in enumerate(graph.roles) if role is Role.ROOT]
    devices = _devices(graph, roots, facts)
    graph.doubtful = [number for number in roots if earlier.may_hold(kept[number], devices)]
    return graph


def _with_their_grounds(matches: Sequence[Match], roles: list[Role]) -> list[Role]:
    """The roles, where what holds only because something else was found (who held the cores that were refused) is overcome if all
    of that is."""
    found: dict[str, list[int]] = defaultdict(list)
    for number, match in enumerate(matches):
        found[match.rule.id].append(number)

    overcome = {match.rule.id for match, role in zip(matches, roles, strict=True) if role is Role.SURVIVED}

    def is_overcome(match: Match) -> bool:
        grounds = (
            [number for number in found[rule] if RELATIONS["same-host"](match, matches[number]) is not False]
            for rule in required(match.rule.when) & overcome
        )
        return any(numbers and all(roles[n] is Role.SURVIVED for n in numbers) for numbers in grounds)

    return [
        Role.SURVIVED if role is Role.CASCADE and match.rule.survivable and is_overcome(match) else role
        for match, role in zip(matches, roles, strict=True)
    ]


def _with_twins(matches: Sequence[Match], roles: list[Role], hosts: AttemptHosts, kernel: frozenset[str]) -> list[Role]:
    """The roles, where what the kernel log of a host says of a device, which knows no attempts, is overcome with what the worker
    said of it at the same time, if the job went on on that host."""
    overcome: dict[str, list[Match]] = defaultdict(list)
    for match, role in zip(matches, roles, strict=True):
        if role is Role.SURVIVED and match.rule.survivable == "restarted":
            overcome[match.rule.id].append(match)
    if not overcome:
        return roles
    return [
        Role.SURVIVED
        if role is Role.CASCADE and any(_is_twin(match, o, hosts, kernel) for o in overcome.get(match.rule.id, ()))
        else role
        for match, role in zip(matches, roles, strict=True)
    ]


def _is_twin(match: Match, other: Match, hosts: AttemptHosts, kernel: frozenset[str]) -> bool:
    """Whether all of a match that is of no attempt was said when the other of its rule, of one, was said of the same device."""
    attempt = other.place.attempt
    if match.place.attempt is not None or not all(hosts.may_go_on(host, attempt or 0) for host in match.hosts):
        return False
    alike = RELATIONS["same-device"](match, other) or _completes(match, other, kernel)
    times = [
        [f.instant.ns if f.instant and f.instant.clock in DATED else None for f in m.facts] for m in (match, other)
    ]
    known = [then for then in times[1] if then is not None]
    return bool(alike) and all(
        then is not None and any(abs(then - one) <= _AT_ONCE for one in known) for then in times[0]
    )


def _related(matches: list[Match], roles: list[Role], clocks: Timeline, kernel: frozenset[str]) -> Graph:
    """The matches with their links, and the roots among those that take part."""
    active = [number for number, match in enumerate(matches) if _takes_part(match, roles[number])]
    links = [_renumbered(link, active) for link in relate([matches[number] for number in active], clocks)]
    graph = Graph(matches, roles, links, clocks=clocks)
    _excuse_what_is_benign(graph)
    _choose_roots(graph, kernel)
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


def _choose_roots(graph: Graph, kernel: frozenset[str]) -> None:
    """What nothing explains and is no victim by its nature is a root; another finding of the same cause at the same
    place confirms it."""
    matches = graph.matches
    explained = {link.effect for link in graph.links}
    candidates = [n for n, role in enumerate(graph.roles) if role is Role.CASCADE and n not in explained]
    roots = _without_several([n for n in candidates if matches[n].rule.role == "root"], matches)
    chosen = _Roots()
    confirmed: dict[int, set[str]] = defaultdict(set)
    for number in sorted(roots, key=lambda n: _rank(matches[n])):
        alike = chosen.that_may_be_one_with(matches[number])
        stronger = min((r for r in alike if _same(matches[number], matches[r], kernel)), default=None)
        if stronger is None:
            graph.roles[number] = Role.ROOT
            chosen.add(number, matches[number])
        else:
            graph.roles[number] = Role.CONFIRMATION
            confirmed[stronger].update(matches[number].hosts)
            graph.links.append(
                Link(number, stronger, EdgeType.CAUSED_BY, "the same cause at the same place", sure=True, distance=NEAR)
            )
    for number, hosts in confirmed.items():
        if (
            not matches[number].hosts and len(hosts) == 1
        ):  # a listing was pasted without its host, where one host was refused cores
            matches[number] = replace(matches[number], hosts=tuple(hosts))
    left = set(roots)
    graph.unexplained = [n for n in candidates if n not in left]


class _Roots:
    """The roots so far, by cause and rule, and where they are: thousands of ranks may fail by themselves, and few of them can be
    one."""

    def __init__(self) -> None:
        self.by_rule: dict[str, dict[tuple[str, bool], _Spots]] = defaultdict(lambda: defaultdict(_spots))
        self.by_device: dict[tuple[str, int | None, bool], list[int]] = defaultdict(list)

    def add(self, number: int, match: Match) -> None:
        spots = self.by_rule[match.rule.cause.id][match.rule.id, _is_placed(match)]
        for spot in product(*((known, ...) for known in _spot(match))):
            spots[spot].append(number)
        self.by_device[match.rule.id, match.place.device, bool(match.hosts)].append(number)

    def that_may_be_one_with(self, match: Match) -> Iterator[int]:
        """Those of the same cause; of the same rule and at a place, too, those that may complete it (see `_completes`)."""
        own = match.rule.id, _is_placed(match)
        within = list(product(*((...,) if known is None else (known, None) for known in _spot(match))))
        for kind, spots in self.by_rule[match.rule.cause.id].items():
            if kind != own:
                yield from (number for spot in within for number in spots.get(spot, ()))
            elif match.place.device is not None:
                yield from self.by_device[match.rule.id, match.place.device, not match.hosts]


#: Findings by the one rank and the one host that each has, None where it has not one; and by either alone, with `...` for the
#: other.
_Spots = dict[tuple[object, ...], list[int]]


def _spots() -> _Spots:
    return defaultdict(list)


def _spot(match: Match) -> tuple[int | None, str | None]:
    """The one rank of a process and the one host that it is on. A rank tells no devices apart."""
    ranks = () if match.rule.cause.by == "hardware" else ranks_of(match.place)
    return ranks[0] if len(ranks) == 1 else None, match.hosts[0] if len(match.hosts) == 1 else None


def _without_several(roots: Sequence[int], matches: Sequence[Match]) -> list[int]:
    """Without those whose rule convicts nobody because it holds for another process as well."""
    alike: dict[str, list[Match]] = defaultdict(list)
    for number in roots:
        alike[matches[number].rule.id].append(matches[number])

    def is_one_of_several(match: Match) -> bool:
        return match.rule.sole and any(
            RELATIONS["same-process"](match, other) is False for other in alike[match.rule.id]
        )

    return [number for number in roots if not is_one_of_several(matches[number])]


def _rank(match: Match) -> tuple[float, bool, int, str, str]:
    """Best first: surest, on a known host, most precisely placed, then in canonical order."""
    first = match.facts[0].span if match.facts else None
    return (
        -match.rule.confidence,
        not match.hosts,
        -len(match.place.known()),
        match.rule.id,
        f"{first.path}:{first.offset:020}" if first else "",
    )


def _same(a: Match, b: Match, kernel: frozenset[str]) -> bool:
    """Whether two matches can be about one and the same fault. Two of one rule are at places that differ, unless one of
    them is at none: a scheduler tells of its job what a launcher tells of a rank; or both are of a device of one number, and the
    log of a rank names no host where one of the `kernel` logs, which is of a host, names no rank."""
    if a.rule.cause.id != b.rule.cause.id:
        return False
    one = _completes(a, b, kernel) or _completes(b, a, kernel)
    if a.rule.id == b.rule.id and _is_placed(a) is _is_placed(b) and not one:
        return False
    relation = "same-device" if a.rule.cause.by == "hardware" else "same-process"
    return RELATIONS[relation](a, b) is not False


def _completes(of_host: Match, of_rank: Match, kernel: frozenset[str]) -> bool:
    """Whether a kernel says the host and a process the rank, or its number, of what may be one device. What two processes or
    two kernels say is of two machines as far as anybody knows."""
    device = of_host.place.device
    if device is None or device != of_rank.place.device or of_host.rule.cause.by != "hardware":
        return False
    spoken = [{fact.source in kernel for fact in match.facts} for match in (of_host, of_rank)]
    lacking = bool(of_host.hosts) and not of_rank.hosts and not ranks_of(of_host.place)
    speaks = bool(ranks_of(of_rank.place)) or any(fact.place.pid is not None for fact in of_rank.facts)
    return spoken == [{True}, {False}] and lacking and speaks and _may_be_of_one_day(of_host, of_rank)


def _may_be_of_one_day(a: Match, b: Match) -> bool:
    """Whether nothing shows that they began on different days."""
    dates = [[f.instant.ns for f in m.facts if f.instant and f.instant.clock in DATED] for m in (a, b)]
    return not all(dates) or abs(min(dates[0]) - min(dates[1])) <= _ONE_DAY


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


def _devices(graph: Graph, roots: Iterable[int], facts: Iterable[Fact]) -> set[tuple[str | None, int]]:
    """The devices that the ranks of these findings name anywhere, with their hosts."""
    failing = {rank for number in roots for rank in ranks_of(graph.matches[number].place)}
    return {
        (fact.place.host, fact.place.device)
        for fact in facts
        if fact.place.rank in failing and fact.place.device is not None
    }
