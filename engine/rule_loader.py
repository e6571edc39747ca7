"""Rule packs to a rulebook: rules, patterns and causes of all files, checked and linked; every error of every file at once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from msgspec import UnsetType
from msgspec.structs import replace

from neuron_doctor.engine import conditions as cond
from neuron_doctor.engine.condition_loader import Spot, condition_of, duration_at, query_of
from neuron_doctor.engine.digests import sha256
from neuron_doctor.engine.errors import Location, RulebookError, RuleError
from neuron_doctor.engine.expression_tree import NotLinear
from neuron_doctor.engine.expressions import RecordQuery
from neuron_doctor.engine.grades import EdgeType
from neuron_doctor.engine.kinds import KINDS
from neuron_doctor.engine.manifest import by_pack, misplaced, pack_of
from neuron_doctor.engine.packfiles import MANIFEST, PackFile, read_packs, root_of
from neuron_doctor.engine.parameters import BadValue, Parameter
from neuron_doctor.engine.patterns import Pattern, PatternSet
from neuron_doctor.engine.rulebook import Cause, Explains, Follows, Pack, Rule, Rulebook
from neuron_doctor.engine.rulefile import (
    TRIED_LITTLE,
    USUAL,
    CausesFile,
    ExplainsDoc,
    FollowsDoc,
    ParameterDoc,
    PatternDoc,
    PatternsFile,
    RuleDoc,
    TermsFile,
)
from neuron_doctor.engine.shapes import NAME, converted
from neuron_doctor.engine.site_loader import added_to, take_site
from neuron_doctor.engine.unlinked import Unlinked, near
from neuron_doctor.engine.ways import ways
from neuron_doctor.engine.yamlfile import Document, Plain, read_yaml

#: Kinds of which every record tells others apart, so that none is folded in a storm.
_TOLD_APART = frozenset({"section", "test"})


def load_rulebook(packs: Sequence[Path], only_terms: Sequence[Path] = ()) -> Rulebook:
    """The rulebook of every `*.yaml` below each pack directory. Raises RulebookError with all errors of all files."""
    return compile_rulebook(read_packs([root_of(pack, only_terms=pack in only_terms) for pack in packs]))


def compile_rulebook(
    files: Sequence[PackFile], version: str = "", site: PackFile | None = None, *, forgiving: bool = False
) -> Rulebook:
    """The rulebook of these files. A pack may bring a manifest, `causes.yaml`, `terms.yaml`, files with a top-level
    `patterns`, and rule files. `version` is that of this program, which a pack may be too new for; `site` a site file, of which
    a `forgiving` reader leaves out what is about rules, causes or parameters that are gone. Raises RulebookError with all errors
    of all files."""
    loader = Unlinked()
    packs = [pack for some in by_pack(files) if (pack := _take_pack(loader, some, version))]
    of_site = take_site(loader, site, _document(site, loader), forgiving=forgiving) if site else None
    rules = [rule for doc, source in loader.rules.values() if (rule := _link(loader, doc, source))]
    ordered = _in_order(loader, rules)
    if loader.errors:
        raise RulebookError(loader.errors)
    counted = {query.name for rule in ordered for query in cond.counts(rule.when)}
    patterns = tuple(
        replace(p, counted=p.id in counted or p.emits in counted | _TOLD_APART)
        for p, _ in sorted(loader.patterns.values(), key=lambda x: x[0].id)
    )
    rules_of = Counter(rule.pack for rule in ordered)
    return Rulebook(
        tuple(ordered),
        PatternSet(patterns),
        MappingProxyType(loader.causes),
        sha256(b"\0".join(sorted(file.content for file in files))).hexdigest(),
        {name: where for name, (_, where) in loader.patterns.items()},
        tuple(loader.parameters[name] for name in sorted(loader.parameters)),
        tuple(replace(pack, rules=rules_of[pack.name]) for pack in packs),
        of_site,
    )


def _take_pack(loader: Unlinked, files: Sequence[PackFile], version: str) -> Pack | None:
    """The pack that has these files, all of them sorted in; None where it is not for this engine."""
    manifests = [_document(file, loader) for file in files if file.inner == MANIFEST]
    pack = pack_of(files, manifests[0] if manifests else None, loader, version)
    for file in files:
        if file.inner == MANIFEST or misplaced(file, loader):
            continue
        if pack is None:
            loader.unread.update(NAME.findall(file.content.decode("utf-8", "replace")))
            continue
        document = _document(file, loader)
        if document and not (file.only_terms and _is_rule(document)):
            loader.packs[document.path] = pack.name
            _sort_in(loader, document)
    return pack


def _document(file: PackFile, loader: Unlinked) -> Document | None:
    if file.fault:
        loader.complain(Location(file.shown), file.fault, check="file")
        return None
    try:
        return read_yaml(file.content.decode("utf-8"), file.shown)
    except RulebookError as error:
        loader.errors.extend(error.errors)
    except UnicodeDecodeError as error:
        begin = file.content.rfind(b"\n", 0, error.start) + 1
        column = len(file.content[begin : error.start].decode("utf-8", "replace")) + 1
        where = Location(file.shown, file.content.count(b"\n", 0, error.start) + 1, column)
        loader.complain(where, f"this is no UTF-8: byte 0x{file.content[error.start]:02x}", "save it as UTF-8", "file")
    loader.unread.update(NAME.findall(file.content.decode("utf-8", "replace")), [Path(file.shown).stem])
    return None


def _is_rule(document: Document) -> bool:
    return isinstance(document.data, dict) and "id" in document.data


def _sort_in(loader: Unlinked, document: Document) -> None:
    data = document.data
    if document.path.endswith("/causes.yaml") and isinstance(data, dict):
        causes = converted(loader, document, CausesFile)
        for family, members in causes.items() if causes else ():
            for name, doc in members.items():
                loader.claim("cause", name, document.at(family, name))
                loader.causes[name] = Cause(name, family, doc.by, doc.meaning, tuple(doc.seen))
    elif document.path.endswith("/terms.yaml"):
        terms = converted(loader, document, TermsFile)
        if terms:
            _take_terms(loader, terms, document)
    elif isinstance(data, dict) and _is_shared(data):
        shared = converted(loader, document, PatternsFile)
        _take_patterns(loader, shared.patterns if shared else {}, document)
    else:
        rule = converted(loader, document, RuleDoc)
        if rule is None:
            return
        if rule.id in loader.rules:
            first = loader.rules[rule.id][1].at("id")
            loader.complain(
                document.value("id"), f"rule {rule.id!r} stands at {first} already", "rename one", "duplicate-id"
            )
            return  # most likely a copy, whose patterns and parameters are as double as it is
        loader.rules[rule.id] = (rule, document)
        _declare(loader, rule.parameters, document, f"{rule.id}.")
        _take_patterns(loader, rule.patterns, document)


def _is_shared(data: dict[str, Plain]) -> bool:
    """Whether a file has patterns and nothing else, as far as it is spelt right."""
    return set(data) == {"patterns"} or (len(data) == 1 and bool(near(next(iter(data)), ["patterns"])))


def _take_terms(loader: Unlinked, terms: TermsFile, document: Document) -> None:
    for name, causes in terms.causes.items():
        loader.claim("set of causes", name, document.at("causes", name))
        loader.terms[name] = causes
    for name, condition in terms.conditions.items():
        loader.claim("condition", name, document.at("conditions", name))
        loader.conditions[name] = (condition, document)
    _declare(loader, terms.parameters, document)


def _declare(loader: Unlinked, docs: Mapping[str, ParameterDoc], document: Document, owner: str = "") -> None:
    """Take note of parameters, of all rules or of the one whose name stands before theirs."""
    for name, doc in docs.items():
        keys = ("parameters", name)
        loader.claim("parameter", owner + name, document.at(*keys))
        where = document.value(*keys, "default")
        parameter = Parameter(
            owner + name, doc.type, doc.default, doc.default, doc.description.strip(), where, doc.at_least, doc.at_most
        )
        try:
            parameter.check_bounds()
            parameter.check(doc.default)
        except BadValue as error:
            loader.complain(where, f"parameter {name!r}: {error}", "", "value")
            loader.unread.add(name)
            continue
        loader.parameters[owner + name] = parameter


def _take_patterns(loader: Unlinked, docs: Mapping[str, PatternDoc], document: Document) -> None:
    for name, doc in docs.items():
        where = document.at("patterns", name)
        if name in loader.patterns or name in KINDS:
            other = f" at {loader.patterns[name][1]}" if name in loader.patterns else ", as a kind of fact"
            loader.complain(where, f"{name!r} is taken{other}", "rename it", "duplicate-id")
            continue
        pattern = Pattern(name, doc.regex, doc.channel, doc.fields, doc.emits, doc.values, doc.anchor, doc.above)
        if doc.emits not in KINDS:
            there = document.value("patterns", name, "emits")
            loader.complain(there, f"there is no kind of fact {doc.emits!r}", near(doc.emits, KINDS))
            loader.unread.add(name)
        if faults := [*_regex_faults(doc, document, name), *_field_faults(doc, document, name)]:
            loader.errors.extend(faults)
            loader.unread.add(name)
            continue
        loader.patterns[name] = (pattern, where)


_BACKSLASH = "a backslash before ( ) [ ] { } . * + ? | makes it stand for itself"
#: What Python says of an expression -> what to do.
_REGEX_HINTS = (
    ("global flags", "put it at the very beginning, or around a part of it: (?i:...)"),
    ("unknown extension ?<", "a named group is written (?P<name>...)"),
    ("missing >", "a named group is written (?P<name>...)"),
    ("group name", "a named group is written (?P<name>...), each with a name of its own"),
    ("bad escape", "a backslash before a letter has a meaning of its own; two stand for a backslash"),
)


def _regex_faults(doc: PatternDoc, document: Document, name: str) -> Iterator[RuleError]:
    for key in ("regex", "anchor", "above"):
        expression = getattr(doc, key) or ""
        try:
            re.compile(expression)
        except re.error as error:
            where = document.value("patterns", name, key, skip=error.pos or 0, width=1)
            hint = next((hint for words, hint in _REGEX_HINTS if words in error.msg), _BACKSLASH)
            yield RuleError(where, f"not a regular expression: {error.msg}", hint, "regex")
            continue
        try:
            ways(expression)
        except NotLinear as error:
            where = document.value("patterns", name, key, skip=error.begin, width=error.end - error.begin)
            yield RuleError(where, f"this cannot be matched in linear time: {error}", error.hint, "not-linear")


def _field_faults(doc: PatternDoc, document: Document, name: str) -> Iterator[RuleError]:
    """Types of captures that there are not."""
    try:
        captures = re.compile(doc.regex).groupindex
    except re.error:
        return  # which is told
    for key in doc.fields.keys() - captures.keys() - doc.values.keys():
        where = document.at("patterns", name, "fields", key)
        hint = near(key, captures) or (f"it has: {', '.join(captures)}" if captures else f"write (?P<{key}>...)")
        yield RuleError(where, f"the pattern has no capture {key!r}", hint, "name")


def _link(loader: Unlinked, doc: RuleDoc, source: Document) -> Rule | None:
    """A rule with its names resolved; None where it cannot be built (the errors are noted)."""
    before = len(loader.errors)
    shared = loader.shared_parameters()
    for name in doc.parameters.keys() & shared.keys():
        said = f"parameter {name!r} is one that rules share: it stands at {shared[name].location}"
        loader.complain(source.at("parameters", name), said, "rename it, or leave it out here", "duplicate-id")
    cause = loader.causes.get(doc.cause)
    if cause is None and doc.cause not in loader.unread:
        loader.complain(source.value("cause"), f"there is no cause {doc.cause!r}", near(doc.cause, loader.causes))
    spot = Spot(loader, source, parameters=loader.parameters_of(doc.id))
    when = condition_of(doc.when, spot.at("when"))
    explains = tuple(
        Explains(*_lag(e, at := spot.at("explains", i)), _queries(e.unless, at.at("unless")))
        for i, e in enumerate(doc.explains)
    )
    follows = tuple(
        Follows(
            *_lag(f, spot.at("follows", i)),
            _causes(f.but, spot.at("follows", i, "but")),
            roots=f.of == "root",
            unknown=f.unknown,
        )
        for i, f in enumerate(doc.follows)
    )
    _check_names(loader, doc, source)
    ends = _queries(doc.ends, spot.at("ends"))
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
        confidence=_confidence(doc),
        when=when,
        explanation=doc.explanation,
        explains=explains,
        follows=follows,
        sole=doc.sole,
        shared=doc.shared,
        names_core=doc.names_core,
        supersedes=frozenset(doc.supersedes),
        alternatives=tuple(doc.alternatives),
        actions=(
            *added_to(doc.id, doc.cause, loader.added, first=True),
            *doc.actions,
            *added_to(doc.id, doc.cause, loader.added, first=False),
        ),
        references=tuple(doc.references),
        trust=tuple(doc.trust),
        entries=tuple(doc.entries),
        survivable=doc.survivable,
        ends=ends,
        examples=doc.examples,
        location=source.at("id"),
        patterns=tuple(doc.patterns),
        headline=doc.headline,
        parameters=tuple(sorted(spot.used)),
        pack=loader.packs.get(source.path, ""),
    )


def _lag(doc: ExplainsDoc | FollowsDoc, spot: Spot) -> tuple[frozenset[str], str, int, int, EdgeType]:
    """What both directions of an explanation say alike: causes, relation, durations, edge."""
    within, lead = duration_at(doc.within, spot.at("within")), duration_at(doc.lead, spot.at("lead"))
    return _causes(doc.causes, spot.at("causes")), doc.relation, within or 0, lead or 0, doc.edge


def _queries(texts: Sequence[str], spot: Spot) -> tuple[RecordQuery, ...]:
    return tuple(query for i, text in enumerate(texts) if (query := query_of(text, spot.at(i))))


def _confidence(doc: RuleDoc) -> float:
    if not isinstance(doc.confidence, UnsetType):
        return doc.confidence
    return TRIED_LITTLE if doc.status == "experimental" else USUAL


def _check_names(loader: Unlinked, doc: RuleDoc, source: Document) -> None:
    """Whether the rules and causes that a rule names beside its own are there."""
    if (doc.status == "deprecated") != (doc.successor is not None):
        said = "a deprecated rule, and no other, names the rule that took its place"
        loader.complain(source.value("status"), said, "add or leave out successor", "value")
    if doc.successor is not None and doc.successor not in loader.rules.keys() | loader.unread:
        loader.complain(
            source.value("successor"), f"there is no rule {doc.successor!r}", near(doc.successor, loader.rules)
        )
    if doc.id in doc.supersedes:
        where = source.value("supersedes", doc.supersedes.index(doc.id))
        loader.complain(where, "a rule does not supersede itself", "name the more general rule", "name")
    for name in set(doc.supersedes) - loader.rules.keys() - loader.unread:
        where = source.value("supersedes", doc.supersedes.index(name))
        loader.complain(where, f"there is no rule {name!r}", near(name, loader.rules))
    for i, alternative in enumerate(doc.alternatives):
        if alternative.cause not in loader.causes.keys() | loader.unread:
            where = source.value("alternatives", i, "cause")
            loader.complain(where, f"there is no cause {alternative.cause!r}", near(alternative.cause, loader.causes))
        if alternative.ranks and not any(kind.fields.get(alternative.ranks) == "list" for kind in KINDS.values()):
            loader.complain(source.value("alternatives", i, "ranks"), f"no record has a list {alternative.ranks!r}")


def _causes(names: Iterable[str], spot: Spot) -> frozenset[str]:
    loader = spot.loader
    found: set[str] = set()
    for i, name in enumerate(names):
        members = loader.terms.get(name, [name])
        for member in members:
            if member not in loader.causes.keys() | loader.unread:
                said = f"there is no cause or set of causes {member!r}"
                spot.at(i).complain(said, near(member, [*loader.causes, *loader.terms]), "name")
        found.update(members)
    return frozenset(found)


def _in_order(loader: Unlinked, rules: Sequence[Rule]) -> list[Rule]:
    """Referenced rules before their users; a cycle among references is an error."""
    by_id = {rule.id: rule for rule in sorted(rules, key=lambda rule: rule.id)}
    ordered: dict[str, Rule] = {}
    open_: dict[str, None] = {}

    def visit(rule: Rule) -> None:
        if rule.id in open_:
            loader.complain(
                rule.location,
                f"rules ask for each other's findings: {' -> '.join([*open_, rule.id])}",
                "let one of them ask for records, or use `explains`",
                "circle",
            )
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
