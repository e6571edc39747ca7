"""The report as Markdown for a ticket: nothing that comes from a log can become markup, a mention or a link in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from neuron_doctor.engine.verdict import Action, Diagnosis, Finding, Proof
from neuron_doctor.reports.collecting import collected_words, how_to_collect, need_words, resting_words
from neuron_doctor.reports.escape import code_block, code_span, prose, shortened, table_cell
from neuron_doctor.reports.ranges import host_list, ranges
from neuron_doctor.reports.site import checked_words, expired, expired_words, gone, gone_words, hidden
from neuron_doctor.reports.summary import (
    Group,
    best_evidence,
    collected,
    consequences,
    grouped,
    hosts_of,
    lacking,
    overlooked,
    roots,
    shown,
    source_ranks,
    worth_a_look,
)
from neuron_doctor.reports.times import when
from neuron_doctor.reports.wording import (
    action_words,
    counted,
    how_sure,
    place_of,
    place_words,
    status_words,
    where,
)

#: A ticket shows so many pieces of evidence of a finding, each cut at so many characters.
_EVIDENCE, _QUOTED = 4, 1000


def render_markdown(diagnosis: Diagnosis) -> str:
    """The report in GitHub-flavoured Markdown that any CommonMark renderer shows well; ends with a line end."""
    label, meaning = status_words(diagnosis)
    lines = [f"# {label}: {prose(diagnosis.verdict.headline)}", "", *([meaning, ""] if meaning else [])]
    if not diagnosis.verdict.complete:
        lines += ["**Partial:** not everything that was given could be read in time.", ""]
    found = roots(diagnosis)
    for number, finding in enumerate(found or worth_a_look(diagnosis), start=1):
        kind = "Root cause" if found else "To look at"
        lines += [f"## {kind} {number}: {prose(finding.title)}", "", *_finding(diagnosis, finding)]
    seen = ("## Seen as well, and not explained", worth_a_look(diagnosis)) if found else ("## Seen", shown(diagnosis))
    lines += _consequences(seen[0], grouped(seen[1]))
    lines += [
        *_hidden(diagnosis),
        *_not_checked(diagnosis),
        *_resting(diagnosis),
        *_involved(diagnosis),
        *_sources(diagnosis),
    ]
    rulebook = f"{counted(diagnosis.rulebook_rules, 'rule')}, rulebook {code_span(diagnosis.rulebook_sha256)}"
    more = "".join(f" {prose(told[:1].upper() + told[1:])}." for told in checked_words(diagnosis))
    return "\n".join([*lines, f"Checked with {rulebook}.{more}"]) + "\n"


def _resting(diagnosis: Diagnosis) -> Iterator[str]:
    told = resting_words(diagnosis.counterfactuals)
    if told:
        yield from ("## What the verdict rests on", "", *(f"- {prose(text)}" for text in told), "")


def _finding(diagnosis: Diagnosis, finding: Finding) -> Iterator[str]:
    cause = f"{code_span(finding.cause)} ({finding.severity}), {how_sure(finding.confidence)}"
    fields = ("Cause", cause), ("Where", prose(place_of(finding))), ("When", prose(when(finding.first, finding.last)))
    seen = ("Seen", prose("; ".join(finding.observed)))
    yield from (
        f"- **{name}:** {text}" for name, text in (*fields, seen, ("Meaning", prose(finding.explanation))) if text
    )
    yield f"- **Finding:** {code_span(finding.id)}"
    yield ""
    yield from _evidence(finding)
    yield from _actions(finding.actions)
    yield from _consequences("### Confirmations and consequences", grouped(consequences(diagnosis, finding)))
    yield from _alternatives(finding)


def _evidence(finding: Finding) -> Iterator[str]:
    if finding.evidence:
        yield from ("### Evidence", "")
    for span in best_evidence(finding, _EVIDENCE):
        yield f"{code_span(where(span))}:" if span.text else code_span(where(span))
        yield ""
        if span.text:
            yield from code_block(shortened(span.text, _QUOTED).rstrip("\n").split("\n"))
            yield ""


def _actions(actions: Sequence[Action]) -> Iterator[str]:
    if actions:
        yield from ("### Actions", "")
    for number, action in enumerate(actions, start=1):
        yield f"{number}. {prose(action_words(action))}{' (by the site file)' if action.by_site else ''}"
        yield from (
            f"   - {name}: {prose(text)}"
            for name, text in (("only if", action.precondition), ("note", action.note), ("destroys", action.destroys))
            if text
        )
        if action.command:
            yield ""
            yield from (f"   {line}" for line in code_block(action.command.split("\n")))
    if actions:
        yield ""


def _consequences(heading: str, groups: Sequence[Group]) -> Iterator[str]:
    rows = [
        (
            f"{group.count:,}",
            prose(f"{group.title}: {group.told}" if group.told else group.title),
            code_span(group.cause),
            group.role.value,
            ranges(group.ranks),
            code_span(host_list(group.hosts)),
        )
        for group in groups
    ]
    if rows:
        yield from (heading, "", *_table(("count", "finding", "cause", "role", "ranks", "hosts"), rows), "")


def _alternatives(finding: Finding) -> Iterator[str]:
    if finding.alternatives:
        yield from ("### It could also be", "")
    for other in finding.alternatives:
        place = place_words(other.place)
        yield f"- {code_span(other.cause)}, {how_sure(other.confidence)}" + (f": {prose(place)}" if place else "")
        if other.tell_apart:
            yield f"  - tell apart by: {prose(other.tell_apart)}"
    if finding.alternatives:
        yield ""


def _hidden(diagnosis: Diagnosis) -> Iterator[str]:
    for silence, findings in hidden(diagnosis):
        title = f"## Hidden by the site file until {silence.until}: {prose(silence.reason)}"
        yield from _consequences(title, grouped(findings))
    ended = expired(diagnosis)
    if ended:
        yield from ("## Silences of the site file that have ended", "")
        yield from (*(f"- {prose(expired_words(silence))}" for silence in ended), "")
    if gone(diagnosis):
        yield from ("## Left out of the site file, because it is not there", "")
        yield from (*(f"- {prose(gone_words(one))}" for one in gone(diagnosis)), "")


def _not_checked(diagnosis: Diagnosis) -> Iterator[str]:
    needs = lacking(diagnosis)
    missing = [*diagnosis.missing, *overlooked(diagnosis)]
    if not (needs or missing):
        return
    yield from ("## Not checked, because it was not collected", "")
    yield from (f"- {prose(what)}" for what in missing)
    for need, rules in needs:
        how = how_to_collect(need)
        yield f"- {prose(need_words(need))}: {counted(rules, 'rule')}" + (f"; get it: {code_span(how)}" if how else "")
    yield ""


def _involved(diagnosis: Diagnosis) -> Iterator[str]:
    """The hosts that any finding names, and the versions that proofs rest on."""
    hosts = {host for finding in diagnosis.findings for host in hosts_of(finding)}
    versions = sorted({version for finding in diagnosis.findings for version in _versions(finding.proof)})
    if not (hosts or versions):
        return
    yield from ("## Hosts and versions", "")
    if hosts:
        yield f"- {counted(len(hosts), 'host')}: {code_span(host_list(hosts, most=16))}"
    yield from (f"- {code_span(component)} {code_span(version)}" for component, version in versions)
    yield ""


def _versions(proof: Proof) -> Iterator[tuple[str, str]]:
    for fact in proof.facts:
        if fact.kind == "version":
            yield str(fact.data["component"]), str(fact.data["version"])
    for child in proof.children:
        yield from _versions(child)


def _sources(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.sources:
        return
    yield from ("## Sources", "")
    yield from (f"- {prose(collected_words(kind))}" for kind in collected(diagnosis.sources))
    yield ""
    rows = [
        (
            code_span(source.path),
            ranges(source_ranks(source)),
            prose(problem.what),
            f"{problem.count:,}",
            "" if problem.line is None else str(problem.line),
        )
        for source in diagnosis.sources
        for problem in source.problems
    ]
    if rows:
        yield from (*_table(("damaged source", "ranks", "problem", "count", "first line"), rows), "")


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(map(table_cell, row)) + " |" for row in (header, ["---"] * len(header), *rows)]
