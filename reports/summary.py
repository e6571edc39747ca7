"""What a diagnosis boils down to: roots and their consequences, findings by rule, what was and was not collected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from neuron_doctor.engine.facts import Source, Span
from neuron_doctor.engine.facts import ranks_of as ranks_of_place
from neuron_doctor.engine.grades import Role, Severity, Status
from neuron_doctor.engine.regexes import regex
from neuron_doctor.engine.verdict import Diagnosis, Finding

_NUMBER = regex("[0-9]+")


class Group(Struct, frozen=True):
    """Findings of one rule in one role, told in one line: how many, and over which ranks and hosts. `told` is what one of them
    says beyond its title, where that is all that it is there for."""

    role: Role
    title: str
    told: str
    cause: str
    count: int
    ranks: tuple[int, ...]
    hosts: tuple[str, ...]
    evidence: Span | None


class Collected(Struct, frozen=True):
    """The sources of one kind together."""

    kind: str
    sources: int
    size: int
    records: int
    hosts: tuple[str, ...]
    ranks: tuple[int, ...]


def roots(diagnosis: Diagnosis) -> list[Finding]:
    """The findings that are root causes and not hidden, best first."""
    by_id = {finding.id: finding for finding in diagnosis.findings}
    return [by_id[i] for i in diagnosis.root_causes if i in by_id and not by_id[i].silenced]


def shown(diagnosis: Diagnosis) -> list[Finding]:
    """The findings that the site does not hide."""
    return [finding for finding in diagnosis.findings if not finding.silenced]


def worth_a_look(diagnosis: Diagnosis) -> list[Finding]:
    """What no root explains and is not hidden: first the unexplained, then victims where there are only victims, and risks
    without a failure yet."""
    unexplained, only_victims = set(diagnosis.unexplained), diagnosis.verdict.status is Status.VICTIMS_ONLY
    worth = [
        finding
        for finding in shown(diagnosis)
        if finding.id in unexplained
        or (only_victims and finding.role is Role.CASCADE)
        or (finding.role is Role.CONTEXT and finding.severity.rank >= Severity.WARNING.rank)
    ]
    return sorted(worth, key=lambda finding: finding.id not in unexplained)


def consequences(diagnosis: Diagnosis, root: Finding) -> list[Finding]:
    """Every finding that hangs on `root`, directly or through others, and is not hidden, in the order of the diagnosis."""
    effects: dict[str, set[str]] = {finding.id: set(finding.explains) for finding in diagnosis.findings}
    for edge in diagnosis.edges:
        effects.setdefault(edge.target, set()).add(edge.source)
    reached, todo = {root.id}, [root.id]
    while todo:
        new = effects.get(todo.pop(), set()) - reached
        reached |= new
        todo.extend(new)
    return [finding for finding in shown(diagnosis) if finding.id in reached and finding.id != root.id]


def grouped(findings: Iterable[Finding]) -> list[Group]:
    """Findings folded by role, rule and cause; by role as `Role` lists them, then the most frequent first."""
    piles: dict[tuple[Role, str, str], list[Finding]] = {}
    for finding in findings:
        piles.setdefault((finding.role, finding.rule, finding.cause), []).append(finding)
    order = list(Role)
    groups = [_group(pile) for pile in piles.values()]
    return sorted(groups, key=lambda group: (order.index(group.role), -group.count, group.cause, group.title))


def _group(pile: Sequence[Finding]) -> Group:
    first = pile[0]
    spans = [span for finding in pile for span in finding.evidence]
    return Group(
        role=first.role,
        title=first.title,
        told=next((text for text in first.observed if first.role is Role.CONTEXT), ""),
        cause=first.cause,
        count=sum(finding.count for finding in pile),
        ranks=tuple(sorted({rank for finding in pile for rank in ranks_of(finding)})),
        hosts=tuple(sorted({host for finding in pile for host in hosts_of(finding)})),
        evidence=spans[0] if spans else None,
    )


def ranks_of(finding: Finding) -> tuple[int, ...]:
    """The global ranks of a finding: those that it is about, else the one where it was seen."""
    return ranks_of_place(finding.place)


def hosts_of(finding: Finding) -> tuple[str, ...]:
    """The hosts of a finding, folded or not."""
    return finding.hosts or ((finding.place.host,) if finding.place.host else ())


def best_evidence(finding: Finding, most: int) -> list[Span]:
    """At most `most` pieces of evidence: the best of each file before the second of any, and none that says the same as
    another but for its numbers."""
    turns: Counter[str] = Counter()
    told: dict[str, tuple[int, Span]] = {}
    for span in finding.evidence:
        told.setdefault(_NUMBER.sub("0", span.text), (turns[span.path], span))
        turns[span.path] += 1
    return [span for _, span in sorted(told.values(), key=lambda item: item[0])][:most]


def collected(sources: Iterable[Source]) -> list[Collected]:
    """The sources by kind, the kind with the most sources first."""
    piles: dict[str, list[Source]] = {}
    for source in sources:
        piles.setdefault(source.kind, []).append(source)
    return sorted((_collected(kind, pile) for kind, pile in piles.items()), key=lambda c: (-c.sources, c.kind))


def _collected(kind: str, pile: Sequence[Source]) -> Collected:
    return Collected(
        kind=kind,
        sources=len(pile),
        size=sum(max(source.size, 0) for source in pile),
        records=sum(source.records for source in pile),
        hosts=tuple(sorted({source.place.host for source in pile if source.place.host})),
        ranks=tuple(sorted({rank for source in pile for rank in source_ranks(source)})),
    )


def source_ranks(source: Source) -> tuple[int, ...]:
    """The ranks that a source speaks of."""
    return source.ranks or ranks_of_place(source.place)


def lacking(diagnosis: Diagnosis) -> list[tuple[tuple[str, ...], int]]:
    """What rules needed and nobody collected, with the number of rules that it would have served, the most first."""
    needs = Counter(rule.needs for rule in diagnosis.not_evaluable if rule.needs)
    return sorted(needs.items(), key=lambda item: (-item[1], item[0]))


def overlooked(diagnosis: Diagnosis) -> list[str]:
    """In a sentence, how many rules ask for what was not looked for in all sources, with the first; empty if none does."""
    rules = [rule for rule in diagnosis.not_evaluable if rule.lacks]
    if not rules:
        return []
    many = f"{len(rules)} rules" if len(rules) > 1 else "1 rule"
    return [f"{many} could not be checked everywhere: {rules[0].rule}: {'; '.join(rules[0].lacks)}"]
