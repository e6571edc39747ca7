"""Matches that are one thing to tell, folded into findings with their evidence, confidence and filled-in actions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.action_words import action, headline, words_of
from neuron_doctor.engine.bystanders import is_of_pod
from neuron_doctor.engine.decide import Graph
from neuron_doctor.engine.digests import sha256
from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, Span, pod_of, ranks_of
from neuron_doctor.engine.grades import Role
from neuron_doctor.engine.match import Match, canonical
from neuron_doctor.engine.rulefile import TRIED_LITTLE, AlternativeDoc
from neuron_doctor.engine.verdict import Alternative, Finding, Proof
from neuron_doctor.engine.witnesses import Witnesses

MAX_EVIDENCE = 16
#: What is left of the confidence in a root whose ranks are not those that another kind of witness convicts.
CONTESTED = 0.7
#: Causes that lie with one host or device: roots of them on two hosts are two.
_LOCAL = frozenset({"hardware", "host", "network"})


class Folded(Struct, frozen=True):
    """Matches that are told as one finding."""

    members: tuple[int, ...]
    match: Match
    role: Role
    pids: tuple[int, ...] = ()


def fold(graph: Graph) -> list[Folded]:
    """Findings equal in rule, role and cause that hang on the same roots; roots only over ranks of one fault."""
    roots_of, ends = graph.roots_of(), [_end(graph, number) for number in range(len(graph.matches))]
    groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for number, match in enumerate(graph.matches):
        role = graph.roles[number]
        place = match.place
        if role is Role.ROOT:
            # The devices that a program fills or a process holds are no faults of their own.
            of_device = match.rule.cause.by in _LOCAL
            hosts = (match.hosts or (place.instance_id,)) if of_device and not match.rule.shared else ()
            local = (hosts, place.device if of_device else None, place.group)
            key: tuple[object, ...] = (match.rule.id, role, place.attempt, *local)
        else:
            key = (match.rule.id, role, frozenset(ends[end] for end in roots_of[number] if end != number))
        groups[key].append(number)
    return [_folded(graph, members) for members in groups.values()]


def _end(graph: Graph, number: int) -> tuple[str, int]:
    """What findings that hang on it have in common: the root itself, or only the rule of a victim that nothing explains."""
    return graph.matches[number].rule.id, number if graph.roles[number] is Role.ROOT else -1


def _folded(graph: Graph, members: list[int]) -> Folded:
    matches = [graph.matches[n] for n in members]
    if len(matches) == 1:
        return Folded(tuple(members), matches[0], graph.roles[members[0]])
    facts = tuple(sorted({id(f): f for m in matches for f in m.facts}.values(), key=canonical))
    hosts = tuple(sorted({host for m in matches for host in m.hosts}))
    proof = Proof(
        "any",
        held=True,
        children=tuple(m.proof for m in matches[:MAX_EVIDENCE]),
        omitted=max(0, len(matches) - MAX_EVIDENCE),
    )
    merged = Match(matches[0].rule, _common([m.place for m in matches]), hosts, facts, proof)
    pids = tuple(sorted({m.place.pid for m in matches if m.place.pid is not None}))
    return Folded(tuple(members), merged, graph.roles[members[0]], pids)


def _common(places: Sequence[Place]) -> Place:
    """What the places agree on, and all their ranks."""
    agreed = {
        name: getattr(places[0], name)
        for name in Place.__struct_fields__
        if name != "ranks" and all(getattr(p, name) == getattr(places[0], name) for p in places)
    }
    if "device" not in agreed:
        agreed.pop("core", None)  # it is counted within its device
    ranks = {rank for p in places for rank in ranks_of(p)}
    return Place(**agreed, ranks=tuple(sorted(ranks)))


def finding_of(folded: Folded, witnesses: Witnesses) -> Finding:
    """What reports say of them; the confidence of a root also tells of other witnesses against its ranks."""
    match, rule = folded.match, folded.match.rule
    evidence = _evidence(match.facts)
    first, last = _interval(match.facts)
    hosts = match.hosts or _pod(match.facts)
    place = _reported(match.place, hosts)
    if rule.names_core and place.device is not None:
        place = replace(place, core=_core(match.facts))
    words = words_of(match, () if match.hosts else hosts, folded.pids if len(match.hosts) == 1 else ())
    return Finding(
        id=_finding_id(rule.id, place, match.facts),
        rule=rule.id,
        cause=rule.cause.id,
        title=headline(rule.headline, rule.title, match.facts, words) if folded.role is Role.ROOT else rule.title,
        severity=rule.severity,
        role=folded.role,
        confidence=_confidence(match, witnesses if folded.role is Role.ROOT else Witnesses()),
        count=sum(1 + fact.repeats for fact in match.facts),
        place=place,
        hosts=hosts,
        first=first,
        last=last,
        evidence=evidence,
        proof=match.proof,
        observed=_observed(match.facts),
        explanation=rule.explanation.strip(),
        alternatives=tuple(_alternatives(rule.alternatives, place, match.facts)),
        actions=tuple(action(doc, words) for doc in rule.actions),
        references=rule.references,
    )


def _alternatives(docs: Iterable[AlternativeDoc], place: Place, facts: Sequence[Fact]) -> Iterator[Alternative]:
    """What else may be. Suspects are listed where the finding convicts none of them: never in its own place."""
    for doc in docs:
        if not doc.ranks or not ranks_of(place):
            listed = {rank for fact in facts if doc.ranks for rank in _ranks_in(fact, doc.ranks)}
            suspects = replace(place, ranks=tuple(sorted(listed))) if listed else place
            yield Alternative(doc.cause, doc.confidence, suspects, doc.tell_apart)


def _ranks_in(fact: Fact, name: str) -> Iterator[int]:
    value = fact.data.get(name)
    yield from (rank for rank in value if isinstance(rank, int)) if isinstance(value, tuple | list) else ()


def _pod(facts: Iterable[Fact]) -> tuple[str, ...]:
    """The one pod that all of them are from, which stands for its host where nothing says on which node it ran. A job does not:
    it has several."""
    pods = {pod_of(fact.place.container) if is_of_pod(fact) else "" for fact in facts}
    return tuple(pods) if len(pods) == 1 and "" not in pods else ()


def _observed(facts: Iterable[Fact]) -> tuple[str, ...]:
    """What facts that follow from many others say of them."""
    told = (fact.data.get("description") for fact in facts)
    return tuple(dict.fromkeys(text for text in told if isinstance(text, str) and text))[:MAX_EVIDENCE]


def _reported(place: Place, hosts: Sequence[str]) -> Place:
    """As reports show it: one rank is a list of one, the only host is the host."""
    host = place.host or (hosts[0] if len(hosts) == 1 else None)
    return replace(place, host=host, rank=None, ranks=ranks_of(place))


def _core(facts: Iterable[Fact]) -> int | None:
    """The core that the records name, if no two name different ones: each source counts cores in its own way."""
    cores = {fact.place.core for fact in facts if fact.place.core is not None}
    return cores.pop() if len(cores) == 1 else None


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
    digest = sha256(repr((rule, place, content)).encode()).hexdigest()
    return f"{rule}-{digest[:10]}"


def _confidence(match: Match, others: Witnesses) -> float:
    """The rule's own, raised by each further kind of witness, lowered where one convicts other ranks; an experimental
    rule never reaches certainty."""
    ranks = ranks_of(match.place)
    witnesses = len({fact.name for fact in match.facts}) + others.agreeing(ranks, match.facts)
    doubt = (1 - match.rule.confidence) * 0.5 ** (min(witnesses, 3) - 1)
    raised = min(1 - doubt, TRIED_LITTLE if match.rule.status == "experimental" else 0.99)
    return round(raised * (CONTESTED if others.contest(ranks) else 1), 3)
