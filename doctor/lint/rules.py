"""Checks of one rule by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from neuron_doctor.engine.condition_loader import fields_of
from neuron_doctor.engine.conditions import Combination, Condition, Over, queries, references
from neuron_doctor.engine.expressions import PLACE_FIELDS
from neuron_doctor.engine.patterns import Pattern
from neuron_doctor.engine.regexes import regex
from neuron_doctor.engine.rulebook import Rule, Rulebook
from neuron_doctor.engine.rulefile import TRIED_LITTLE, ActionDoc
from neuron_doctor.engine.sitefile import SiteActionDoc
from neuron_doctor.engine.unlinked import near
from neuron_doctor.engine.yamlfile import Path
from neuron_doctor.lint.remarks import Remark

#: A title stands in a headline, before the place.
LONGEST_TITLE = 90
_NOTHING = regex(r"(?i)\W*(?:todo|tbd|fixme|none|n/?a|unknown|xxx+|\?*)\W*")
_SLOT = regex(r"\{([A-Za-z_]\w*)\}")
#: What looks like a slot up to where it should be closed.
_LONE = regex(r"(?<!\$)\{[a-z]\w*(?=[^\w{}][^{}]*(?:\{|$)|$)")
_WITH_SLOTS = ("target", "command", "precondition", "note", "destroys")
_SAME_PLACE = frozenset({"same-process", "same-device", "same-core"})
_FAILURES = frozenset({"root", "victim"})


def check_rule(rule: Rule, rules: Mapping[str, Rule], patterns: Mapping[str, Pattern]) -> Iterator[Remark]:
    """What is wrong with a rule, whatever the others are."""
    path = rule.location.path
    if rule.examples is None:
        hint = "add at least one positive and one near-miss negative"
        yield Remark("no-examples", path, ("id",), f"rule {rule.id!r} has no examples", hint)
    if not _own(rule) and rule.role in _FAILURES:
        said = f"rule {rule.id!r} says nothing about what to do"
        yield Remark("no-action", path, ("id",), said, "add actions; collect-more is one")
    for i, reference in enumerate(rule.references):
        if _NOTHING.fullmatch(reference):
            yield Remark(
                "no-reference", path, ("references", i), f"{reference!r} says nothing about where this is from"
            )
    for i, explains in enumerate(rule.explains):
        if rule.cause.id in explains.causes and explains.relation in _SAME_PLACE:
            said = f"rule {rule.id!r} explains its own cause at the same place"
            yield Remark("explains-itself", path, ("explains", i), said, f"leave {rule.cause.id!r} out")
    if rule.at != "job" and any(isinstance(one, Over) for one in _leaves(rule.when)):
        said = f"rule {rule.id!r} looks over all places, and is not about the job"
        yield Remark("over-place", path, ("when",), said, "write at: job")
    if rule.status == "experimental" and rule.confidence > TRIED_LITTLE:
        said = f"rule {rule.id!r} is experimental, so that its confidence stays at {TRIED_LITTLE}"
        yield Remark("capped-confidence", path, ("confidence",), said, f"write {TRIED_LITTLE} at most")
    yield from _namesakes(rule)
    yield from _slots(rule, fillable(rule, rules, patterns))
    yield from _style(rule)


def _namesakes(rule: Rule) -> Iterator[Remark]:
    """Examples whose names do not tell them apart where one of them fails."""
    for kind in ("positive", "negative"):
        examples = getattr(rule.examples, kind) if rule.examples else ()
        for i, example in enumerate(examples):
            if any(example.name == other.name for other in examples[:i]):
                said = f"two {kind} examples of rule {rule.id!r} are called {example.name!r}"
                keys = ("examples", kind, i, "name")
                yield Remark("one-name", rule.location.path, keys, said, "say what each one shows")


def _leaves(condition: Condition) -> Iterator[Condition]:
    """The conditions that a condition is made of."""
    if isinstance(condition, Combination):
        for part in condition.parts:
            yield from _leaves(part)
    else:
        yield condition


def check_parameters(rulebook: Rulebook) -> Iterator[Remark]:
    """Parameters that no rule refers to."""
    used = {name for rule in rulebook.rules for name in rule.parameters}
    for parameter in rulebook.parameters:
        if parameter.name not in used:
            keys = ("parameters", parameter.short)
            said = f"nothing refers to parameter {parameter.short!r}"
            where = parameter.declared or parameter.location
            yield Remark("unused-parameter", where.path, keys, said, f"write ${parameter.short} where it is meant")


def _style(rule: Rule) -> Iterator[Remark]:
    path = rule.location.path
    if PurePath(path).stem != rule.id:
        yield Remark(
            "style", path, ("id",), f"the file of rule {rule.id!r} is called otherwise", f"call it {rule.id}.yaml"
        )
    if rule.title.rstrip().endswith("."):
        yield Remark("style", path, ("title",), "a title is no sentence", "leave out the full stop")
    if len(rule.title) > LONGEST_TITLE:
        hint = "say the rest in the explanation"
        yield Remark("style", path, ("title",), f"the title has {len(rule.title)} characters", hint)
    if rule.explanation.rstrip()[-1:] not in ".!?)":
        yield Remark("style", path, ("explanation",), "the explanation breaks off", "end it with a full stop")


def _slots(rule: Rule, known: frozenset[str]) -> Iterator[Remark]:
    for slot in _SLOT.finditer(rule.headline):
        if slot[1] not in known | {"record"}:
            yield _unfilled(rule, ("headline",), slot, _hint(slot[1], known))
    for i, action in enumerate(_own(rule)):
        for name in _WITH_SLOTS:
            for brace in _LONE.finditer(getattr(action, name)):
                yield _alone(rule, ("actions", i, name), brace)
    for keys, slot, hint in unfilled(_own(rule), known):
        yield _unfilled(rule, keys, slot, hint)


def _alone(rule: Rule, keys: Path, brace: re.Match[str]) -> Remark:
    said = f"the slot {brace[0]} is not closed"
    return Remark("unknown-slot", rule.location.path, keys, said, "close it with }", brace.start(), len(brace[0]))


def _unfilled(rule: Rule, keys: Path, slot: re.Match[str], hint: str) -> Remark:
    said = f"nothing fills the slot {slot[0]}"
    return Remark("unknown-slot", rule.location.path, keys, said, hint, slot.start(), len(slot[0]))


def unfilled(actions: Sequence[ActionDoc], known: frozenset[str]) -> Iterator[tuple[Path, re.Match[str], str]]:
    """The slots of actions that nothing fills, each with where it stands and what was probably meant."""
    for i, action in enumerate(actions):
        for name in _WITH_SLOTS:
            for slot in _SLOT.finditer(getattr(action, name)):
                if slot[1] not in known:
                    yield ("actions", i, name), slot, _hint(slot[1], known)


def _hint(name: str, known: frozenset[str]) -> str:
    return near(name, known) or f"there are: {', '.join(sorted(known - PLACE_FIELDS.keys()))}"


def _own(rule: Rule) -> list[ActionDoc]:
    """The actions that stand in the rule's own file."""
    return [action for action in rule.actions if not isinstance(action, SiteActionDoc)]


def fillable(rule: Rule, rules: Mapping[str, Rule], patterns: Mapping[str, Pattern]) -> frozenset[str]:
    """The slots that the place or a record of a finding may fill, those of the findings that it asks for among them."""
    found = {*PLACE_FIELDS}
    for query in queries(rule.when):
        found |= {*(fields_of(query.name, patterns) or ())}
    for asked in references(rule.when):
        if asked.rule in rules and asked.rule != rule.id:
            found |= fillable(rules[asked.rule], rules, patterns)
    return frozenset(found)
