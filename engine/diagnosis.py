"""From facts to a diagnosis: match, relate, decide, fold, and say it in one sentence."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from neuron_doctor.engine.collectives import match_collectives
from neuron_doctor.engine.decide import Graph, decide
from neuron_doctor.engine.facts import Clock, Collection, Fact, Instant, Place, Source, Span, ranks_of
from neuron_doctor.engine.match import Match, canonical, match_rules
from neuron_doctor.engine.moments import with_years
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.rulefile import ActionDoc
from neuron_doctor.engine.topology import Topology, complete, completed_place, survey
from neuron_doctor.engine.verdict import (
    Action,
    Alternative,
    Diagnosis,
    Edge,
    Finding,
    NotEvaluable,
    Proof,
    Role,
    Severity,
    Status,
    Verdict,
)

MAX_EVIDENCE = 16
#: An action names so many ranks at most.
RANKS_NAMED = 8
#: Causes that lie with one host or device: roots of them on two hosts are two.
_LOCAL = frozenset({"hardware", "host", "network"})


def diagnose(rulebook: Rulebook, collection: Collection) -> Diagnosis:
    """The whole way from what was collected to a verdict. Pure: the same for the same facts in any order."""
    facts = with_years(deduplicated(collection.facts))
    topology = survey(facts, collection.sources)
    placed = tuple(complete(facts, topology))
    collectives = complete(match_collectives([fact for fact in placed if fact.kind == "fr-rank"]), topology)
    facts = tuple(sorted((*placed, *collectives), key=canonical))
    sources = tuple(_completed_sources(collection.sources, facts, topology))
    matches, missing = match_rules(rulebook, facts, sources, topology)
    graph = decide(matches, facts, sources)
    diagnosis = _assembled(rulebook, graph, sources, missing, usable=bool(facts) or any(s.records for s in sources))
    return replace(diagnosis, missing=not_collected(diagnosis, topology))


def _completed_sources(sources: Iterable[Source], facts: Iterable[Fact], topology: Topology) -> Iterator[Source]:
    """The sources with what became known of their places and of the ranks that they speak of."""
    ranks: dict[str, set[int]] = defaultdict(set)
    for fact in facts:
        if fact.place.rank is not None:
            ranks[fact.source].add(fact.place.rank)
    for source in sources:
        own = {source.place.rank} if source.place.rank is not None else ranks[source.id]
        yield replace(source, place=completed_place(source.place, topology), ranks=tuple(sorted(own)))


def deduplicated(facts: Iterable[Fact]) -> list[Fact]:
    """One fact for each record, however often it was captured: records with an inner time and a process are the same
    where these and the text agree; others where they stand at the same offset of the same source."""
    kept: dict[tuple[object, ...], list[Fact]] = defaultdict(list)
    for fact in sorted(facts, key=canonical):
        alike = kept[_identity(fact)]
        number = next((n for n, known in enumerate(alike) if _may_be_one(known, fact)), None)
        if number is None:
            alike.append(fact)
        else:
            alike[number] = _merged(alike[number], fact)
    return [fact for alike in kept.values() for fact in alike]


def _may_be_one(a: Fact, b: Fact) -> bool:
    """Containers on two hosts have the same process ids and may log the same in the same microsecond."""
    return a.place.host is None or b.place.host is None or a.place.host == b.place.host


def _merged(a: Fact, b: Fact) -> Fact:
    """One record captured twice: the capture that knows more of its place is shown."""
    more, less = (b, a) if len(b.place.known()) > len(a.place.known()) else (a, b)
    return replace(more, place=more.place.over(less.place))


def _identity(fact: Fact) -> tuple[object, ...]:
    what = (fact.name, tuple(sorted((k, v) for k, v in fact.data.items())))
    if fact.instant and fact.place.pid is not None and fact.span.line is not None:
        return (*what, fact.instant, fact.place.pid, fact.span.text[(fact.span.column or 1) - 1 :])
    return (*what, fact.source, fact.span.offset, fact.span.sha256, fact.place)


# --- folding and findings ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Folded:
    """Matches that are told as one finding."""

    members: tuple[int, ...]
    match: Match
    role: Role


def _fold(graph: Graph) -> list[_Folded]:
    """Findings equal in rule, role and cause that hang on the same roots; roots only over ranks of one fault."""
    roots_of = graph.roots_of()
    groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for number, match in enumerate(graph.matches):
        role = graph.roles[number]
        place = match.place
        if role is Role.ROOT:
            local = (match.hosts if match.rule.cause.by in _LOCAL else (), place.device, place.group)
            key: tuple[object, ...] = (match.rule.id, role, place.attempt, *local)
        else:
            key = (
                match.rule.id,
                role,
                tuple(sorted(roots_of[number] - {number})),
            )
        groups[key].append(number)
    return [_folded(graph, members) for members in groups.values()]


def _folded(graph: Graph, members: list[int]) -> _Folded:
    matches = [graph.matches[n] for n in members]
    if len(matches) == 1:
        return _Folded(tuple(members), matches[0], graph.roles[members[0]])
    facts = tuple(sorted({id(f): f for m in matches for f in m.facts}.values(), key=canonical))
    hosts = tuple(sorted({host for m in matches for host in m.hosts}))
    proof = Proof(
        "any",
        held=True,
        children=tuple(m.proof for m in matches[:MAX_EVIDENCE]),
        omitted=max(0, len(matches) - MAX_EVIDENCE),
    )
    merged = Match(matches[0].rule, _common([m.place for m in matches]), hosts, facts, proof)
    return _Folded(tuple(members), merged, graph.roles[members[0]])


def _common(places: Sequence[Place]) -> Place:
    """What the places agree on, and all their ranks."""
    agreed = {
        f.name: getattr(places[0], f.name)
        for f in fields(Place)
        if f.name != "ranks" and all(getattr(p, f.name) == getattr(places[0], f.name) for p in places)
    }
    ranks = {rank for p in places for rank in ranks_of(p)}
    return Place(**agreed, ranks=tuple(sorted(ranks)))


def _finding(folded: _Folded) -> Finding:
    match, rule = folded.match, folded.match.rule
    evidence = _evidence(match.facts)
    first, last = _interval(match.facts)
    place = _reported(match.place)
    return Finding(
        id=_finding_id(rule.id, place, match.facts),
        rule=rule.id,
        cause=rule.cause.id,
        title=rule.title,
        severity=rule.severity,
        role=folded.role,
        confidence=_confidence(match),
        count=sum(1 + fact.repeats for fact in match.facts),
        place=place,
        hosts=match.hosts,
        first=first,
        last=last,
        evidence=evidence,
        proof=match.proof,
        explanation=rule.explanation.strip(),
        alternatives=tuple(Alternative(a.cause, a.confidence, place, a.tell_apart) for a in rule.alternatives),
        actions=tuple(_action(doc, match) for doc in rule.actions),
        references=rule.references,
    )


def _reported(place: Place) -> Place:
    """As reports show it: one rank is a list of one."""
    return replace(place, rank=None, ranks=ranks_of(place))


def _evidence(facts: Sequence[Fact]) -> tuple[Span, ...]:
    """The first record of each name in turn, so that sixteen pieces show every sort of evidence."""
    by_name: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        by_name[fact.name].append(fact)
    spans: dict[Span, None] = {}
    for turn in range(MAX_EVIDENCE):
        for name in sorted(by_name):
            if turn < len(by_name[name]):
                spans[by_name[name][turn].span] = None
    return tuple(sorted(list(spans)[:MAX_EVIDENCE], key=lambda s: (s.path, s.offset)))


def _interval(facts: Iterable[Fact]) -> tuple[Instant | None, Instant | None]:
    """First and last instant, on the best clock that any of the facts has."""
    by_clock: dict[Clock, list[Instant]] = defaultdict(list)
    for fact in facts:
        if fact.instant:
            by_clock[fact.instant.clock].append(fact.instant)
    for clock in Clock:
        if by_clock[clock]:
            return min(by_clock[clock]), max(by_clock[clock])
    return None, None


def _finding_id(rule: str, place: Place, facts: Iterable[Fact]) -> str:
    content = sorted((fact.name, fact.span.sha256, fact.span.offset) for fact in facts)
    digest = hashlib.sha256(repr((rule, place, content)).encode()).hexdigest()
    return f"{rule}-{digest[:10]}"


def _confidence(match: Match) -> float:
    """The rule's own, raised by each further kind of witness; an experimental rule never reaches certainty."""
    witnesses = len({fact.name for fact in match.facts})
    doubt = (1 - match.rule.confidence) * 0.5 ** (min(witnesses, 3) - 1)
    return round(min(1 - doubt, 0.6 if match.rule.status == "experimental" else 0.99), 3)


_SLOT = re.compile(r"\{(\w+)\}")


def _action(doc: ActionDoc, match: Match) -> Action:
    values = {**_captures(match.facts), **{k: str(v) for k, v in match.place.known().items()}}
    if match.place.ranks:
        more = len(match.place.ranks) > RANKS_NAMED
        values["rank"] = ",".join(map(str, match.place.ranks[:RANKS_NAMED])) + (",..." if more else "")
    if match.hosts and "host" not in values:
        values["host"] = ",".join(match.hosts)

    def filled(text: str, *, quote: bool = False) -> str:
        """The text with its places filled in; what comes from a log is quoted where it goes into a command."""

        def value(slot: re.Match[str]) -> str:
            known = values.get(slot[1])
            if known is None:
                return f"<{slot[1].replace('_', '-')}>"
            return shlex.quote(known) if quote else known

        return _SLOT.sub(value, text)

    command = filled(doc.command, quote=True)
    return Action(doc.action, filled(doc.target), command, filled(doc.precondition), filled(doc.destroys))


def _captures(facts: Iterable[Fact]) -> dict[str, str]:
    """What the records themselves name (a package, a file, a limit); the first of each."""
    found: dict[str, str] = {}
    for fact in facts:
        for name, value in fact.data.items():
            if isinstance(value, str | int | float) and value != "":
                found.setdefault(name, str(value))
    return found


# --- the verdict ---------------------------------------------------------------------------------------------------


def _assembled(
    rulebook: Rulebook, graph: Graph, sources: Sequence[Source], missing: Sequence[NotEvaluable], *, usable: bool
) -> Diagnosis:
    folded = _fold(graph)
    findings = [_finding(item) for item in folded]
    ids = {number: finding.id for item, finding in zip(folded, findings, strict=True) for number in item.members}
    edges = sorted(
        {Edge(ids[k.effect], ids[k.cause], k.type, k.why) for k in graph.links if ids[k.effect] != ids[k.cause]},
        key=lambda e: (e.source, e.target, e.type, e.why),
    )
    explains: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        explains[edge.target].add(edge.source)
    findings = sorted((replace(f, explains=tuple(sorted(explains[f.id]))) for f in findings), key=_order)
    roots = tuple(f.id for f in findings if f.role is Role.ROOT)
    return Diagnosis(
        verdict=_verdict(findings, usable=usable),
        sources=tuple(sorted(sources, key=lambda s: s.path)),
        root_causes=roots,
        findings=tuple(findings),
        edges=tuple(edges),
        not_evaluable=tuple(missing),
        unexplained=tuple(sorted({ids[number] for number in graph.unexplained})),
        rulebook_sha256=rulebook.sha256,
        rulebook_rules=len(rulebook.rules),
    )


def _toll(roots: Sequence[Finding], findings: Sequence[Finding]) -> str:
    """How many ranks beside those at fault a single root took down; empty for none or several roots."""
    explained = set(roots[0].explains)
    ranks = {rank for finding in findings if finding.id in explained for rank in finding.place.ranks}
    others = len(ranks - set(roots[0].place.ranks))
    return f" took down {others} other rank{'s' if others > 1 else ''}" if others and len(roots) == 1 else ""


def not_collected(diagnosis: Diagnosis, topology: Topology) -> tuple[str, ...]:
    """What would have told more about a failure: the kernel logs of known hosts, the logs of known ranks."""
    if diagnosis.verdict.status in (Status.HEALTHY, Status.BENIGN, Status.NOT_EVALUABLE):
        return ()
    kernel = {s.place.host for s in diagnosis.sources if s.kind == "kernel"}
    bare = [host for host in topology.hosts if host not in kernel]
    logged = {rank for s in diagnosis.sources if s.kind == "log" for rank in s.ranks}
    silent = [rank for rank in range(topology.world_size or 0) if rank not in logged]
    told = [f"kernel log (dmesg) of {len(bare)} of {len(topology.hosts)} hosts: {', '.join(bare[:4])}"] if bare else []
    if silent and logged:
        told.append(f"logs of {len(silent)} of {topology.world_size} ranks")
    return tuple(told)


def _order(finding: Finding) -> tuple[object, ...]:
    """By role, then the surest, the gravest, the one that explains most, then by id."""
    return (
        list(Role).index(finding.role),
        -finding.confidence,
        -finding.severity.rank,
        -len(finding.explains),
        finding.id,
    )


def _verdict(findings: Sequence[Finding], *, usable: bool) -> Verdict:
    roots = [finding for finding in findings if finding.role is Role.ROOT]
    if roots:
        more = f", and {len(roots) - 1} more" if len(roots) > 1 else ""
        return Verdict(
            Status.ROOT_CAUSE, f"{roots[0].title}{where(roots[0])}{_toll(roots, findings)}{more}", complete=True
        )
    victims = [finding for finding in findings if finding.role is Role.CASCADE]
    unknown = next((finding for finding in victims if finding.cause == "unknown-failure"), None)
    if unknown:
        return Verdict(Status.UNKNOWN_FAILURE, f"{unknown.title}{where(unknown)}; no rule explains it", complete=True)
    if victims:
        seen = f"{victims[0].title}{where(victims[0])}"
        headline = f"Only consequences were found ({seen}); their cause is not in what was collected"
        return Verdict(Status.VICTIMS_ONLY, headline, complete=True)
    if not usable:
        return Verdict(Status.NOT_EVALUABLE, "Nothing in the given paths could be read as evidence", complete=True)
    risks = [f for f in findings if f.role is Role.CONTEXT and f.severity.rank >= Severity.WARNING.rank]
    risk = f"; a risk: {risks[0].title}{where(risks[0])}" if risks else ""
    benign = any(finding.role is Role.BENIGN for finding in findings)
    return Verdict(
        Status.BENIGN if benign else Status.HEALTHY, f"No failure found in what was collected{risk}", complete=True
    )


def where(finding: Finding) -> str:
    """The place in words, for a headline: ` on host a, device 5`; empty where nothing is known."""
    place: Mapping[str, object] = finding.place.known()
    parts = [f"{name} {place[name]}" for name in ("host", "device", "core") if name in place]
    if "host" not in place and finding.hosts:
        parts.insert(0, f"{len(finding.hosts)} hosts")
    ranks = finding.place.ranks
    if ranks:
        parts.append(f"rank {ranks[0]}" if len(ranks) == 1 else f"{len(ranks)} ranks")
    return f" on {', '.join(parts)}" if parts else ""
