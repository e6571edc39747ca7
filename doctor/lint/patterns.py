"""Checks of patterns: what they cost, and whether two of them take one line for two causes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from neuron_doctor.collectors.prefixes import peel
from neuron_doctor.engine.conditions import Combination, Condition, Record, queries
from neuron_doctor.engine.expressions import PLACE_FIELDS
from neuron_doctor.engine.kinds import KINDS
from neuron_doctor.engine.loosening import required_literal, sought
from neuron_doctor.engine.patterns import Pattern, capture_type
from neuron_doctor.engine.regexes import regex
from neuron_doctor.engine.rulebook import Rule, Rulebook
from neuron_doctor.engine.unlinked import near
from neuron_doctor.lint.ordinary import ordinary_text
from neuron_doctor.lint.remarks import Remark
from neuron_doctor.rulefiles import texts_of

#: A pattern must contain a literal of so many characters, or it makes a candidate of every other line.
MIN_LITERAL = 4
#: Candidates in a megabyte of ordinary text: what a pattern should not have, and may not have.
COSTLY, RUINOUS = 500, 5_000
_MEGABYTE = 1 << 20


def check_patterns(rulebook: Rulebook) -> Iterator[Remark]:
    """What is wrong with the patterns of all packs."""
    used = {query.name for rule in rulebook.rules for query in (*queries(rule.when), *rule.ends)}
    for pattern in rulebook.patterns.patterns:
        path = rulebook.pattern_locations[pattern.id].path
        yield from _pattern(pattern, path, used)
        yield from _cost(pattern, path)
    yield from _overlaps(rulebook)


def _pattern(pattern: Pattern, path: str, used: set[str]) -> Iterator[Remark]:
    key = "anchor" if pattern.anchor else "regex"
    keys = ("patterns", pattern.id, key)
    if pattern.emits == "hit" and pattern.id not in used:
        yield Remark("unused-pattern", path, ("patterns", pattern.id), f"no rule asks for pattern {pattern.id!r}")
    yield from _unmatched(pattern, path)
    yield from _lost_captures(pattern, path)
    if len(required_literal(pattern.search)) < MIN_LITERAL and not _has_words(pattern.search):
        said = f"pattern {pattern.id!r} contains no literal of {MIN_LITERAL} characters"
        yield Remark("no-literal", path, keys, said, "add a word of the message")


_DIGITS = "0123456789"


def _unmatched(pattern: Pattern, path: str) -> Iterator[Remark]:
    """What keeps a pattern from ever matching as its author means it."""
    for key, text in (("regex", pattern.regex), ("anchor", pattern.anchor or ""), ("above", pattern.above or "")):
        at = _midst(text)
        if at is not None:
            hint = "a parameter never stands in a pattern" if re.match(r"\$[a-z]", text[at:]) else _STANDS
            said = f"pattern {pattern.id!r} never matches: {text[at]} stands in its midst"
            yield Remark("never-matches", path, ("patterns", pattern.id, key), said, hint, at, 1)
        if _DELIMITED.fullmatch(text):
            said = f"pattern {pattern.id!r} matches text between two slashes only"
            hint = "leave the slashes out: an expression has no delimiters here, and (?i) before it takes any case"
            yield Remark("never-matches", path, ("patterns", pattern.id, key), said, hint, 0, 1)
    for name in pattern.compiled().groupindex:
        inner = re.search(rf"\(\?P<{name}>(?P<inner>[^()]*)\)", pattern.regex)
        if capture_type(pattern, name) in ("int", "float") and inner and not _has_digits(inner["inner"]):
            said = f"the capture {name!r} is a number ({capture_type(pattern, name)}), and `{inner['inner']}` has no digits"
            hint = f"capture digits, or say what it is: fields: {{{name}: str}}"
            where = (inner.start(), len(inner[0]))
            yield Remark("never-matches", path, ("patterns", pattern.id, "regex"), said, hint, *where)


#: As other languages write an expression: words between slashes, no path.
_DELIMITED = regex(r"/[^/]*\s[^/]*/[gimsu]{0,5}")


def _lost_captures(pattern: Pattern, path: str) -> Iterator[Remark]:
    """Captures that the fact which a match becomes has no field for."""
    if pattern.emits == "hit":
        return
    known = {*KINDS[pattern.emits].fields, *PLACE_FIELDS}
    for name in sorted(pattern.compiled().groupindex.keys() - known):
        said = f"a fact of the kind {pattern.emits!r} has no field {name!r}: what this captures is lost"
        hint = near(name, known) or f"there are: {', '.join(sorted(KINDS[pattern.emits].fields))}"
        at = pattern.regex.find(f"(?P<{name}>")
        yield Remark("lost-capture", path, ("patterns", pattern.id, "regex"), said, hint, at, len(name) + 5)


_STANDS = "put a backslash before it if it stands for itself"


def _midst(text: str) -> int | None:
    """Where `$` is followed, or `^` preceded, by text in the plain run of an expression; None where nothing is sure."""
    plain = re.sub(r"\\.|\[(?:\\.|[^\]\\])+\]", lambda found: "x" * len(found[0]), text)
    if "|" in plain or "(?m" in plain or "\n" in text or "\\n" in text or "\\s" in text:
        return None
    found = re.search(r"\$(?=[\w ]*[\w:;=,/'\" -])(?!\))|(?<=[\w:;=,/'\" -])\^", plain)
    return found.start() if found else None


def _has_digits(inner: str) -> bool:
    """Whether what an expression without groups matches may have a digit in it."""
    leaves = re.findall(r"\\.|\[(?:\\.|[^\]\\])+\]|\{[^}]*\}|.", inner)
    return any(re.fullmatch(leaf, digit) for leaf in leaves if leaf[0] not in "{*+?^$|" for digit in _DIGITS)


def _has_words(text: str) -> bool:
    """Whether alternatives, or words of any case, stand in for a literal."""
    return ("|" in text or "(?i" in text) and bool(re.search(r"[A-Za-z_ ]{4,}", text))


def _cost(pattern: Pattern, path: str) -> Iterator[Remark]:
    if pattern.emits == "progress":
        return  # a job that is well says how far it is, and every such line is wanted
    text = ordinary_text()
    events = sum(1 for _ in _candidates(pattern, text)) * _MEGABYTE // len(text)
    if events > COSTLY:
        check = "ruinous-pattern" if events > RUINOUS else "costly-pattern"
        keys = ("patterns", pattern.id, "anchor" if pattern.anchor else "regex")
        said = f"pattern {pattern.id!r} finds {events:,} candidates in a megabyte in which nothing failed"
        yield Remark(check, path, keys, said, f"at most {COSTLY} are good: begin with what is rare in the message")


def _candidates(pattern: Pattern, text: str) -> Iterator[re.Match[str]]:
    """Where the scan would stop for a pattern. The text is ASCII, so bytes and characters are the same."""
    searched = sought(pattern)
    literal = required_literal(searched).decode()
    if not literal or literal in text:
        yield from re.compile(searched, re.MULTILINE).finditer(text)


# --- overlaps ------------------------------------------------------------------------------------------------------


def _overlaps(rulebook: Rulebook) -> Iterator[Remark]:
    """Patterns that match what the patterns of another rule match in its positive examples, where either line alone would
    be a failure, of different causes, and neither rule knows of the other."""
    owners = _owners(rulebook)
    rules = {rule.id: rule for rule in rulebook.rules}
    said = {rule.id: _messages(rule) for rule in rulebook.rules}
    lines = sorted({line for messages in said.values() for line in messages})
    matched: dict[str, list[Pattern]] = {}
    for pattern in rulebook.patterns.patterns:
        for line in _matching(pattern, lines) if pattern.id in owners else ():
            matched.setdefault(line, []).append(pattern)
    told: set[tuple[str, str]] = set()
    for rule in rulebook.rules:
        for line in said[rule.id]:
            here = matched.get(line, ())
            for other in here if any(rule.id in owners[p.id] for p in here) else ():
                strange = [name for name in owners[other.id] if _competes(rule, rules[name])]
                if strange and rule.id not in owners[other.id] and (rule.id, other.id) not in told:
                    told.add((rule.id, other.id))
                    yield _overlap(rule, other, strange[0], rulebook.pattern_locations[other.id].path)


def _overlap(rule: Rule, pattern: Pattern, owner: str, path: str) -> Remark:
    said = f"pattern {pattern.id!r} of {owner!r} also matches an example of {rule.id!r}, which has another cause"
    hint = f"let one of them supersede the other, or make the pattern of {owner!r} more precise"
    return Remark("overlapping-patterns", path, ("patterns", pattern.id, "regex"), said, hint)


def _matching(pattern: Pattern, lines: Sequence[str]) -> Iterator[str]:
    literal = required_literal(pattern.regex).decode()
    return (line for line in lines if literal in line and pattern.compiled().search(line))


def _owners(rulebook: Rulebook) -> Mapping[str, Sequence[str]]:
    """Pattern -> the rules that one record of it alone makes fire, and that say that something failed."""
    found: dict[str, list[str]] = {}
    for rule in rulebook.rules:
        for name in _enough(rule.when) if rule.role == "root" else ():
            found.setdefault(name, []).append(rule.id)
    return found


def _enough(condition: Condition) -> Iterator[str]:
    """The patterns of which any record meets a condition."""
    if isinstance(condition, Record) and condition.query.where is None:
        yield condition.query.name
    elif isinstance(condition, Combination) and condition.op == "any":
        for part in condition.parts:
            yield from _enough(part)


def _competes(rule: Rule, other: Rule) -> bool:
    return rule.cause.id != other.cause.id and not (_knows(rule, other) or _knows(other, rule))


def _knows(rule: Rule, other: Rule) -> bool:
    """Whether a rule says what becomes of it where the other fires too."""
    explained = any(other.cause.id in explains.causes for explains in rule.explains)
    alternative = any(one.cause == other.cause.id for one in rule.alternatives)
    return other.id in rule.supersedes or explained or alternative or bool(rule.follows)


def _messages(rule: Rule) -> list[str]:
    """The messages in the positive examples of a rule, their prefixes peeled off."""
    examples = rule.examples.positive if rule.examples else ()
    texts = (text for example in examples for text in texts_of(example).values())
    lines = (peel(line) for text in texts for line in text.splitlines())
    return [line.text[record.start : record.end] for line in lines for record in line.records]
