"""Applies every rule at every place where it could hold, and gives what held with its proof."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, combinations
from operator import attrgetter
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine import conditions as cond
from neuron_doctor.engine.answers import Answers
from neuron_doctor.engine.blindness import BlindSpots, blind_spots, kinds_that_show
from neuron_doctor.engine.evaluate import Scene, evaluate
from neuron_doctor.engine.expressions import RecordQuery
from neuron_doctor.engine.facts import Fact, Place, Source, pod_of, ranks_of
from neuron_doctor.engine.parallel_groups import parallel_groups
from neuron_doctor.engine.rulebook import Rule, Rulebook
from neuron_doctor.engine.topology import Topology
from neuron_doctor.engine.verdict import NotEvaluable, Proof

#: scope of a rule -> the fields of a place that tell two of its findings apart
SCOPES: Mapping[str, tuple[str, ...]] = {
    "job": ("attempt",),
    "host": ("attempt", "host"),
    "rank": ("attempt", "host", "rank"),
    "container": ("attempt", "host", "container"),
    "process": ("attempt", "host", "container", "pid", "rank"),
    "device": ("attempt", "host", "device"),
    "core": ("attempt", "host", "device", "core"),
    "record": ("attempt", "host", "instance_id", "pid", "rank", "device", "core", "group", "ranks"),
}

Key = tuple[object, ...]


class Match(Struct, frozen=True):
    """A rule that held at a place: the proof, and the facts that prove it, in canonical order."""

    rule: Rule
    place: Place
    hosts: tuple[str, ...]
    facts: tuple[Fact, ...]
    proof: Proof


def match_rules(
    rulebook: Rulebook, facts: Sequence[Fact], sources: Sequence[Source], topology: Topology
) -> tuple[list[Match], list[NotEvaluable]]:
    """Every match of every rule, and the rules that could not be evaluated for want of a source."""
    ground = ground_of(rulebook, facts, sources, topology)
    found = _found(rulebook, ground)
    missing = _not_evaluable(rulebook, ground, found, {source.kind for source in sources})
    return _claimed(chain.from_iterable(found.values()), facts), missing


def all_matches(
    rulebook: Rulebook, facts: Sequence[Fact], sources: Sequence[Source], topology: Topology
) -> list[Match]:
    """Every match of every rule alone."""
    found = _found(rulebook, ground_of(rulebook, facts, sources, topology))
    return _claimed(chain.from_iterable(found.values()), facts)


def _found(rulebook: Rulebook, ground: Ground) -> dict[str, list[Match]]:
    """The matches of each rule; those that a rule refers to come before it."""
    found: dict[str, list[Match]] = {}
    for rule in rulebook.rules:
        found[rule.id] = matches_of(rule, ground, found)
    return found


def _claimed(matches: Iterable[Match], facts: Iterable[Fact]) -> list[Match]:
    """A rule of role `unclaimed` has the records that nothing else knows: its matches keep the facts on whose lines
    no other fact stands, and go where none is left."""
    matches = list(matches)
    backstops = {fact.name for match in matches if match.rule.role == "unclaimed" for fact in match.facts}
    if not backstops:
        return matches
    known = {(fact.span.path, fact.span.offset) for fact in facts if fact.name not in backstops}
    kept: list[Match] = []
    for match in matches:
        left = tuple(fact for fact in match.facts if (fact.span.path, fact.span.offset) not in known)
        if match.rule.role != "unclaimed":
            kept.append(match)
        elif left:
            proof = replace(match.proof, facts=left, children=())
            kept.append(replace(match, facts=left, proof=proof, place=_place(match.rule, left), hosts=_hosts(left)))
    return kept


def _known(facts: Iterable[Fact], sources: Iterable[Source], topology: Topology) -> dict[str, Sequence[int | str]]:
    """The ranks whose logs were collected, the hosts, and the devices that any fact names."""
    ranks = {s.place.rank for s in sources if s.place.rank is not None and s.kind == "log"}
    ranks |= {f.place.rank for f in facts if f.place.rank is not None and f.kind == "progress"}
    devices = {f.place.device for f in facts if f.place.device is not None}
    return {"rank": sorted(ranks), "host": topology.hosts, "device": sorted(devices)}


class Ground(Struct, frozen=True):
    """What all rules are looked at on: the facts by the queries that they answer, the sources by id, the shape of the job, the
    known ranks, hosts and devices, what was not looked for, and, if a rule asks for peers, the process groups."""

    answers: Answers
    sources: Mapping[str, Source]
    topology: Topology
    known: Mapping[str, Sequence[int | str]]
    blind: BlindSpots
    groups: Sequence[frozenset[int]] = ()


def ground_of(rulebook: Rulebook, facts: Sequence[Fact], sources: Sequence[Source], topology: Topology) -> Ground:
    """The ground of these facts and sources."""
    by_id = {source.id: source for source in sources}
    known = _known(facts, sources, topology)
    asked = any(cond.asks_for_peers(rule.when) for rule in rulebook.rules)
    groups = [frozenset(group.ranks) for group in parallel_groups(facts)] if asked else ()
    return Ground(Answers(facts), by_id, topology, known, blind_spots(sources, rulebook), groups)


def scenes(rule: Rule, ground: Ground, earlier: Mapping[str, Sequence[Match]]) -> Iterator[tuple[Key, Scene]]:
    """Every place at which a rule is looked at, in a fixed order, with what is visible there. `earlier`: what the rules before
    it have found."""
    if ground.answers.names.isdisjoint(cond.anchor_names(rule.when)):
        return  # so it is for most rules, most often
    if not any(ground.answers.of(query) for query in cond.anchors(rule.when)):
        return
    groups = _Groups(rule, ground.answers, single_host=len(ground.topology.hosts) <= 1)
    findings = _Findings(rule, earlier)
    for key in sorted(groups.keys, key=_sortable):
        unsearched = ground.blind.on(groups.host(key))
        yield key, Scene(groups.visible(key), ground.sources, ground.known, findings.at(key), unsearched, ground.groups)


def matches_of(rule: Rule, ground: Ground, earlier: Mapping[str, Sequence[Match]]) -> list[Match]:
    """Where the rule holds, each with its proof; what proves a more precise match too is left out."""
    found: list[Match] = []
    for _, scene in scenes(rule, ground, earlier):
        proof = evaluate(rule.when, scene)
        if proof.held:
            used = _used(proof)
            found.append(Match(rule, *_where(rule, _subjects(proof), used, ground.topology), used, proof))
    return _without_echoes(found)


def _sortable(key: Key) -> tuple[tuple[bool, str], ...]:
    return tuple((part is not None, str(part)) for part in key)


class _Groups:
    """The facts that a rule looks at, by the place that its scope tells apart.

    A fact whose place is less precise (the host's environment, say) is seen from every precise place that it may be
    about; one without a host only where the whole job has a single one.
    """

    def __init__(self, rule: Rule, answers: Answers, *, single_host: bool) -> None:
        self._fields = SCOPES[rule.at]
        self._values = attrgetter(*self._fields)
        self._optional = [i for i, name in enumerate(self._fields) if name != "host" or single_host]
        self._by_key: dict[Key, dict[RecordQuery, list[Fact]]] = defaultdict(lambda: defaultdict(list))
        self._of_several: set[Key] = set()
        for query in dict.fromkeys(cond.queries(rule.when)):
            for fact in answers.of(query):
                key = self._key(fact)
                self._by_key[key][query].append(fact)
                if fact.place.ranks:
                    self._of_several.add(key)
        anchors = set(cond.anchors(rule.when))
        self.keys = {key for key, found in self._by_key.items() if not anchors.isdisjoint(found)}

    def _key(self, fact: Fact) -> Key:
        values = self._values(fact.place)
        return values if len(self._fields) > 1 else (values,)

    def host(self, key: Key) -> str | None:
        """The host of a key, if it has one."""
        return str(key[at]) if "host" in self._fields and key[at := self._fields.index("host")] else None

    def visible(self, key: Key) -> dict[RecordQuery, list[Fact]]:
        """The facts at `key` and at every less precise place that takes it in, by the queries that they answer. What is
        said of certain ranks is not said of another one."""
        found: dict[RecordQuery, list[Fact]] = defaultdict(list)
        rank = key[self._fields.index("rank")] if "rank" in self._fields else None
        for wider in self._wider(key):
            of_others = rank is not None and wider in self._of_several
            for query, facts in self._by_key.get(wider, {}).items():
                found[query].extend(
                    [f for f in facts if not f.place.ranks or rank in f.place.ranks] if of_others else facts
                )
        return found

    def _wider(self, key: Key) -> Iterator[Key]:
        known = [i for i in self._optional if key[i] is not None]
        for size in range(len(known) + 1):
            for dropped in combinations(known, size):
                yield tuple(None if i in dropped else part for i, part in enumerate(key))


class _Findings:
    """The findings of other rules that a rule asks for, by where they are."""

    def __init__(self, rule: Rule, earlier: Mapping[str, Sequence[Match]]) -> None:
        self._fields = SCOPES[rule.at]
        self._places: dict[cond.FindingRef, tuple[Sequence[int], set[tuple[tuple[object, ...], ...]]]] = {}
        for wanted in dict.fromkeys(cond.references(rule.when)):
            if matches := earlier[wanted.rule]:
                # what is said of a whole job, whichever host said it, is said of every place of it
                told = [at for at, name in enumerate(self._fields) if name in SCOPES[matches[0].rule.at]]
                values = {tuple(_values(match.place, self._fields[at]) for at in told) for match in matches}
                self._places[wanted] = told, values
        self._known: dict[tuple[cond.FindingRef, Key], bool] = {}

    def at(self, key: Key) -> frozenset[cond.FindingRef]:
        """Those that a finding at `key` answers, or one that may be there; for one elsewhere, at another place of the run."""
        found: list[cond.FindingRef] = []
        for wanted, (told, places) in self._places.items():
            parts = tuple(key[at] for at in told)
            known = self._known.get((wanted, parts))
            if known is None:
                differences = (self._differences(told, parts, values) for values in places)
                known = any(bool(names) is wanted.elsewhere and "attempt" not in names for names in differences)
                self._known[wanted, parts] = known
            if known:
                found.append(wanted)
        return frozenset(found)

    def _differences(self, told: Sequence[int], parts: Key, values: Sequence[tuple[object, ...]]) -> set[str]:
        """In what a place with these values is another than one with these parts."""
        pairs = zip(told, parts, values, strict=True)
        return {
            self._fields[at]
            for at, part, there in pairs
            if part is not None and there and not any(_may_be(self._fields[at], part, one) for one in there)
        }


def _may_be(name: str, part: object, other: object) -> bool:
    """Whether these values of a field are one, or a pod and a container of it."""
    if part == other or name != "container":
        return part == other
    pod = pod_of(str(part))
    return pod == pod_of(str(other)) and pod in (part, other)


def _values(place: Place, name: str) -> tuple[object, ...]:
    """What a place says of a field: its ranks, or the one value that it has; empty where it says nothing."""
    value = getattr(place, name)
    return ranks_of(place) if name == "rank" else () if value in (None, ()) else (value,)


def _used(proof: Proof) -> tuple[Fact, ...]:
    """The facts of the nodes that make the proof hold, without repetition, in canonical order."""
    facts: dict[int, Fact] = {}

    def walk(node: Proof) -> None:
        if node.held and node.op != "none":
            facts.update((id(fact), fact) for fact in node.facts)
            for child in node.children:
                walk(child)

    walk(proof)
    return tuple(sorted(facts.values(), key=canonical))


def canonical(fact: Fact) -> tuple[str, int, str, str]:
    """The order of facts everywhere: by path, offset and name."""
    return (fact.span.path, fact.span.offset, fact.name, fact.span.sha256)


#: scope -> what is more precise than the statement: a fault of a device has no core, one of a host no device
_FINER: Mapping[str, frozenset[str]] = {
    "device": frozenset({"core", "pid"}),
    "host": frozenset({"device", "core", "pid", "local_rank", "container"}),
}
#: What no statement about a host names, though it rests on records of one of its processes.
_WITHIN_HOST = frozenset({"device", "core", "pid"})


def _where(
    rule: Rule, subjects: Sequence[str | int], used: Sequence[Fact], topology: Topology
) -> tuple[Place, tuple[str, ...]]:
    """The place of a finding and its hosts: what a quantifier singles out, else that of the facts."""
    ranks = [subject for subject in subjects if isinstance(subject, int)]
    hosts = tuple(subject for subject in subjects if isinstance(subject, str))
    if ranks:
        return _place_of_ranks(ranks, used, topology), _homes(ranks, topology)
    if hosts:
        theirs = _place(rule, [fact for fact in used if fact.place.host in hosts])
        nothing = dict.fromkeys(_WITHIN_HOST)
        return replace(theirs, host=hosts[0] if len(hosts) == 1 else None, **nothing), hosts
    return _place(rule, used), _hosts(used)


def _place(rule: Rule, facts: Sequence[Fact]) -> Place:
    """What all the facts agree on; their ranks together. Of one process, what is said of all ranks of a device is no
    more precise than what names its rank."""
    agreed: dict[str, Any] = {}
    for field in Place.__struct_fields__:
        values = {value for fact in facts if (value := getattr(fact.place, field)) is not None}
        if len(values) == 1 and field not in ("rank", "ranks", *_FINER.get(rule.at, ())):
            agreed[field] = next(iter(values))
    if len({fact.place.device for fact in facts if fact.place.device is not None}) > 1:
        agreed.pop("core", None)  # it is counted within its device
    own = {fact.place.rank for fact in facts if fact.place.rank is not None} if "rank" in SCOPES[rule.at] else set()
    ranks = own or {rank for fact in facts for rank in ranks_of(fact.place)}
    return Place(**agreed, ranks=tuple(sorted(ranks)))


def _place_of_ranks(ranks: Sequence[int], witnesses: Sequence[Fact], topology: Topology) -> Place:
    """Where the ranks are that a quantifier singles out. The witnesses, who stand elsewhere, tell only of which run."""
    jobs, attempts = ({getattr(fact.place, name) for fact in witnesses} for name in ("job", "attempt"))
    homes = _homes(ranks, topology)
    return Place(
        job=next(iter(jobs)) if len(jobs) == 1 else None,
        attempt=next(iter(attempts)) if len(attempts) == 1 else None,
        host=homes[0] if len(homes) == 1 and all(rank in topology.host_of_rank for rank in ranks) else None,
        ranks=tuple(sorted(ranks)),
    )


def _homes(ranks: Iterable[int], topology: Topology) -> tuple[str, ...]:
    return tuple(sorted({topology.host_of_rank[rank] for rank in ranks if rank in topology.host_of_rank}))


def _subjects(proof: Proof) -> tuple[str | int, ...]:
    return proof.subjects or next((found for child in proof.children if (found := _subjects(child))), ())


def _hosts(facts: Iterable[Fact]) -> tuple[str, ...]:
    return tuple(sorted({fact.place.host for fact in facts if fact.place.host}))


def _without_echoes(matches: list[Match]) -> list[Match]:
    """Drop a match all of whose facts prove another, more precise one."""
    kept: list[Match] = []
    taken: set[int] = set()
    for match in sorted(matches, key=lambda m: (-len(m.facts), -len(m.place.known()))):
        ids = {id(fact) for fact in match.facts}
        if not ids <= taken:
            kept.append(match)
            taken |= ids
    return kept


# --- what a rule needs ---------------------------------------------------------------------------------------------


def _not_evaluable(
    rulebook: Rulebook, ground: Ground, found: Mapping[str, Sequence[Match]], collected: set[str]
) -> list[NotEvaluable]:
    """The rules that could not be evaluated, each with what it lacks."""
    patterns = {pattern.id: pattern for pattern in rulebook.patterns.patterns}

    @cache
    def lacking(name: str) -> frozenset[str]:
        kinds = kinds_that_show(name, patterns)
        return _NOTHING if kinds & collected else frozenset(kinds)

    missing: list[NotEvaluable] = []
    for rule in rulebook.rules:
        if not found[rule.id]:
            needs, lacks = _needs(rule.when, lacking), ground.blind.of(rule.when, ground.answers, found)
            if needs or lacks:
                missing.append(NotEvaluable(rule.id, tuple(sorted(needs)), lacks))
    return sorted(missing, key=lambda n: n.rule)


def _needs(condition: cond.Condition, lacking: Callable[[str], frozenset[str]]) -> frozenset[str]:
    """The kinds of source without which the condition can never hold here; empty where it could. `lacking`: the kinds that can
    show a record of a name, if none of them was collected."""
    if isinstance(condition, cond.FindingRef):
        return _NOTHING
    if isinstance(condition, cond.Combination):
        if condition.op == "none":
            return _NOTHING
        needs = [_needs(part, lacking) for part in condition.parts]
        return _NOTHING.union(*needs) if condition.op == "all" or all(needs) else _NOTHING
    return _NOTHING.union(*map(lacking, cond.anchor_names(condition)))


_NOTHING: frozenset[str] = frozenset()
