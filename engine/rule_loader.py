"""Rule packs to a rulebook: rules, patterns and causes of all files, checked and linked; every error of every file at once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from neuron_doctor.engine import conditions as cond
from neuron_doctor.engine.condition_loader import Spot, condition_of, query_of
from neuron_doctor.engine.durations import parse_duration
from neuron_doctor.engine.errors import Location, RulebookError
from neuron_doctor.engine.grades import EdgeType
from neuron_doctor.engine.kinds import KINDS
from neuron_doctor.engine.packfiles import PackFile, read_packs
from neuron_doctor.engine.patterns import Pattern, PatternSet
from neuron_doctor.engine.rulebook import Cause, Explains, Follows, Rule, Rulebook
from neuron_doctor.engine.rulefile import (
    ExplainsDoc,
    FollowsDoc,
    PatternDoc,
    PatternsFile,
    RuleDoc,
    TermsFile,
)
from neuron_doctor.engine.unlinked import Unlinked, near
from neuron_doctor.engine.yamlfile import Document, read_yaml
from neuron_doctor.engine.yamlfile import Path as DocPath

T = TypeVar("T")


def load_rulebook(packs: Sequence[Path], only_terms: Sequence[Path] = ()) -> Rulebook:
    """The rulebook of every `*.yaml` below each pack directory. Raises RulebookError with all errors of all files."""
    return compile_rulebook(read_packs(packs, only_terms))


def compile_rulebook(files: Sequence[PackFile]) -> Rulebook:
    """The rulebook of these files. A pack may bring `causes.yaml`, `terms.yaml`, files with a top-level
    `patterns`, and rule files. Raises RulebookError with all errors of all files."""
    loader = Unlinked()
    for file in files:
        document = _document(file, loader)
        if document and not (file.only_terms and _is_rule(document)):
            _sort_in(loader, document)
    rules = [rule for doc, source in loader.rules.values() if (rule := _link(loader, doc, source))]
    ordered = _in_order(loader, rules)
    if loader.errors:
        raise RulebookError(loader.errors)
    counted = {query.name for rule in ordered for query in cond.counts(rule.when)}
    patterns = tuple(
        replace(p, counted=p.id in counted or p.emits in counted)
        for p, _ in sorted(loader.patterns.values(), key=lambda x: x[0].id)
    )
    digest = hashlib.sha256(b"\0".join(sorted(file.content for file in files))).hexdigest()
    places = {name: where for name, (_, where) in loader.patterns.items()}
    return Rulebook(tuple(ordered), PatternSet(patterns), MappingProxyType(loader.causes), digest, places)


def _document(file: PackFile, loader: Unlinked) -> Document | None:
    if file.fault:
        loader.complain(Location(file.shown), f"cannot be read: {file.fault}")
        return None
    try:
        return read_yaml(file.content.decode("utf-8"), file.shown)
    except RulebookError as error:
        loader.errors.extend(error.errors)
    except UnicodeDecodeError as error:
        loader.complain(Location(file.shown), f"cannot be read: {error}")
    return None


def _is_rule(document: Document) -> bool:
    return isinstance(document.data, dict) and "id" in document.data


def _sort_in(loader: Unlinked, document: Document) -> None:
    data = document.data
    if document.path.endswith("/causes.yaml") and isinstance(data, dict):
        _take_causes(loader, data)
    elif document.path.endswith("/terms.yaml"):
        terms = _convert(loader, document, TermsFile)
        loader.terms.update(terms.causes if terms else {})
        loader.conditions.update({name: (doc, document) for name, doc in (terms.conditions if terms else {}).items()})
    elif isinstance(data, dict) and set(data) == {"patterns"}:
        shared = _convert(loader, document, PatternsFile)
        _take_patterns(loader, shared.patterns if shared else {}, document)
    else:
        rule = _convert(loader, document, RuleDoc)
        if rule is None:
            loader.unread.update(_names(data))
            return
        if rule.id in loader.rules:
            first = loader.rules[rule.id][1].at("id")
            loader.complain(document.at("id"), f"rule {rule.id!r} stands at {first} already")
        loader.rules[rule.id] = (rule, document)
        _take_patterns(loader, rule.patterns, document)


def _names(data: object) -> Iterator[str]:
    """What a rule file gives names to, as far as it can be read."""
    if isinstance(data, dict):
        patterns = data.get("patterns")
        yield from (str(name) for name in (data.get("id"), *(patterns if isinstance(patterns, dict) else ())))


def _take_causes(loader: Unlinked, data: Mapping[str, object]) -> None:
    for family, causes in data.items():
        for name, said in causes.items() if isinstance(causes, dict) else ():
            loader.causes[name] = Cause(name, family, str(said["by"]), str(said["is"]))


def _take_patterns(loader: Unlinked, docs: Mapping[str, PatternDoc], document: Document) -> None:
    for name, doc in docs.items():
        where = document.at("patterns", name)
        if name in loader.patterns or name in KINDS:
            other = f" at {loader.patterns[name][1]}" if name in loader.patterns else ", as a kind of fact"
            loader.complain(where, f"{name!r} is taken{other}")
            continue
        pattern = Pattern(name, doc.regex, doc.channel, doc.fields, doc.emits, doc.values, doc.anchor, doc.above)
        if doc.emits not in KINDS:
            loader.complain(where, f"there is no kind of fact {doc.emits!r}", near(doc.emits, KINDS))
        if fault := _regex_fault(doc):
            loader.complain(document.at("patterns", name, "regex"), fault)
            continue
        loader.patterns[name] = (pattern, where)


def _regex_fault(doc: PatternDoc) -> str:
    try:
        for expression in filter(None, (doc.regex, doc.anchor, doc.above)):
            re.compile(expression)
    except re.error as error:
        return f"not a regular expression: {error}"
    return ""


def _convert(loader: Unlinked, document: Document, shape: type[T]) -> T | None:
    try:
        return msgspec.convert(document.data, shape)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `")
        keys = _keys(path.rstrip("`"))
        unknown = re.search(r"unknown field `(\w+)`", message)
        if unknown:
            keys = (*keys, unknown[1])
        elif named := [key for key in keys if isinstance(key, str)]:
            message = f"{named[-1]}: {message}"
        hint = near(unknown[1], getattr(shape, "__struct_fields__", ())) if unknown else ""
        loader.complain(document.at(*keys), message, hint)
        return None


def _keys(path: str) -> DocPath:
    return tuple(int(i) if i else key for key, i in re.findall(r"\.(\w+)|\[(\d+)\]", path))


def _link(loader: Unlinked, doc: RuleDoc, source: Document) -> Rule | None:
    """A rule with its names resolved; None where it cannot be built (the errors are noted)."""
    before = len(loader.errors)
    cause = loader.causes.get(doc.cause)
    if cause is None:
        loader.complain(source.at("cause"), f"there is no cause {doc.cause!r}", near(doc.cause, loader.causes))
    when = condition_of(doc.when, Spot(loader, source, ("when",)))
    explains = tuple(Explains(*_lag(loader, e, source, ("explains", i))) for i, e in enumerate(doc.explains))
    follows = tuple(
        Follows(
            *_lag(loader, f, source, ("follows", i)),
            _causes(loader, f.but, source, ("follows", i)),
            roots=f.of == "root",
            unknown=f.unknown,
        )
        for i, f in enumerate(doc.follows)
    )
    _check_names(loader, doc, source)
    ends = tuple(q for i, text in enumerate(doc.ends) if (q := query_of(text, Spot(loader, source, ("ends", i)))))
    if when is None or cause is None or len(loader.errors) > before:
        return None
    return Rule(
        id=doc.id,
        title=doc.title,
        cause=cause,
        severity=doc.severity,
        role=doc.role or {"peer": "victim", "none": "benign"}.get(cause.by, "root"),
        at=doc.at,
        status=doc.status,
        confidence=doc.confidence,
        when=when,
        explanation=doc.explanation,
        explains=explains,
        follows=follows,
        sole=doc.sole,
        supersedes=frozenset(doc.supersedes),
        alternatives=tuple(doc.alternatives),
        actions=tuple(doc.actions),
        references=tuple(doc.references),
        trust=tuple(doc.trust),
        entries=tuple(doc.entries),
        survivable=doc.survivable,
        ends=ends,
        examples=doc.examples,
        location=source.at("id"),
        patterns=tuple(doc.patterns),
        headline=doc.headline,
    )


def _lag(
    loader: Unlinked, doc: ExplainsDoc | FollowsDoc, source: Document, where: DocPath
) -> tuple[frozenset[str], str, int, int, EdgeType]:
    """What both directions of an explanation say alike: causes, relation, durations, edge."""
    causes = _causes(loader, doc.causes, source, where)
    return causes, doc.relation, parse_duration(doc.within), parse_duration(doc.lead), doc.edge


def _check_names(loader: Unlinked, doc: RuleDoc, source: Document) -> None:
    """Whether the rules and causes that a rule names beside its own are there."""
    if (doc.status == "deprecated") != (doc.successor is not None):
        said = "a deprecated rule, and no other, names the rule that took its place"
        loader.complain(source.at("status"), said, "add or leave out successor")
    if doc.successor is not None and doc.successor not in loader.rules.keys() | loader.unread:
        loader.complain(
            source.at("successor"), f"there is no rule {doc.successor!r}", near(doc.successor, loader.rules)
        )
    for name in set(doc.supersedes) - loader.rules.keys() - loader.unread:
        loader.complain(source.at("supersedes"), f"there is no rule {name!r}", near(name, loader.rules))
    for i, alternative in enumerate(doc.alternatives):
        if alternative.cause not in loader.causes:
            loader.complain(source.at("alternatives", i, "cause"), f"there is no cause {alternative.cause!r}")
        if alternative.ranks and not any(kind.fields.get(alternative.ranks) == "list" for kind in KINDS.values()):
            loader.complain(source.at("alternatives", i, "ranks"), f"no record has a list {alternative.ranks!r}")


def _causes(loader: Unlinked, names: Iterable[str], source: Document, where: DocPath) -> frozenset[str]:
    found: set[str] = set()
    for name in names:
        members = loader.terms.get(name, [name])
        for member in members:
            if member not in loader.causes:
                loader.complain(
                    source.at(*where, "causes"),
                    f"there is no cause or set of causes {member!r}",
                    near(member, [*loader.causes, *loader.terms]),
                )
        found.update(members)
    return frozenset(found)


def _in_order(loader: Unlinked, rules: Sequence[Rule]) -> list[Rule]:
    """Referenced rules before their users; a cycle among references is an error."""
    by_id = {rule.id: rule for rule in sorted(rules, key=lambda rule: rule.id)}
    ordered: dict[str, Rule] = {}
    open_: dict[str, None] = {}

    def visit(rule: Rule) -> None:
        if rule.id in open_:
            loader.complain(rule.location, f"rules ask for each other's findings: {' -> '.join([*open_, rule.id])}")
            return
        open_[rule.id] = None
        for asked in cond.references(rule.when):
            if asked.rule in by_id and asked.rule not in ordered:
                visit(by_id[asked.rule])
        del open_[rule.id]
        ordered[rule.id] = rule

    for rule in by_id.values():
        if rule.id not in ordered:
            visit(rule)
    return list(ordered.values())
