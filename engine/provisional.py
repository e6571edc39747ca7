"""A verdict from a part of what was given: it claims nothing that what was not read could take back.

Facts are monotone, verdicts are not. So a provisional one decides no absence and no odd one out, calls nothing healthy, and
proposes nothing that takes a node out of work.
"""

from __future__ import annotations

from msgspec.structs import replace

from neuron_doctor.engine import conditions as cond
from neuron_doctor.engine.diagnosis import diagnose_once
from neuron_doctor.engine.facts import Collection
from neuron_doctor.engine.grades import ActionKind, Status
from neuron_doctor.engine.rulebook import Rule, Rulebook
from neuron_doctor.engine.verdict import NODE_ACTIONS, Action, Diagnosis, Finding, Verdict

_SILENT = frozenset({Status.HEALTHY, Status.BENIGN, Status.NOT_EVALUABLE})


def diagnose_part(rulebook: Rulebook, collection: Collection, *, left_out: str, all_dumps: bool) -> Diagnosis:
    """The verdict on what was read so far; `left_out` says what was not. Ranks are compared with each other only where
    `all_dumps` of flight recorders were read."""
    certain = replace(rulebook, rules=tuple(certain for rule in rulebook.rules if (certain := _certain(rule))))
    if not all_dumps:
        facts = tuple(fact for fact in collection.facts if fact.kind != "fr-rank")
        collection = replace(collection, facts=facts)
    found = diagnose_once(certain, collection, whole=False)
    return replace(
        found,
        verdict=_provisional(found.verdict, left_out),
        findings=tuple(_without_node_actions(finding, left_out) for finding in found.findings),
        missing=(left_out, *found.missing),
        rulebook_rules=len(rulebook.rules),
    )


def _provisional(verdict: Verdict, left_out: str) -> Verdict:
    if verdict.status in _SILENT:
        return Verdict(Status.NOT_EVALUABLE, f"No failure found in what was read in time: {left_out}", complete=False)
    return replace(verdict, complete=False)


def _certain(rule: Rule) -> Rule | None:
    """The rule without the branches that more facts could unmake; None where nothing is left that could hold."""
    when = monotone(rule.when)
    return replace(rule, when=when) if when else None


def monotone(condition: cond.Condition) -> cond.Condition | None:
    """The part of a condition that stays true whatever is read later."""
    match condition:
        case cond.Combination(op="none") | cond.Absent():
            return None
        case cond.Sequence(until=until):
            return condition if until is None else None
        case cond.Measure():
            return None
        case cond.Over(quantifier=quantifier):
            return condition if quantifier == "any" else None
        case cond.Combination(op=op, parts=parts):
            kept = tuple(part for part in map(monotone, parts) if part)
            lost = len(parts) - len(kept)
            return replace(condition, parts=kept) if kept and not (lost and op == "all") else None
    return condition


def _without_node_actions(finding: Finding, left_out: str) -> Finding:
    """Nobody takes a node out of work for a verdict that may still change."""
    kept = tuple(action for action in finding.actions if action.action not in NODE_ACTIONS)
    if kept == finding.actions:
        return finding
    return replace(finding, actions=(Action(ActionKind.COLLECT_MORE, target=f"what was left out: {left_out}"), *kept))
