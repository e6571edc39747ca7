"""What a name, a code or a message means: the causes and rules that know it, what fires on it alone first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from neuron_doctor.collectors.nrt import CODES, SYMBOLS
from neuron_doctor.engine.conditions import anchors, queries
from neuron_doctor.engine.diagnosis import diagnose_once
from neuron_doctor.engine.explanation import Explanation, Topic
from neuron_doctor.engine.facts import NOWHERE, Collection, Fact, Source, Span, Value
from neuron_doctor.engine.kinds import KINDS
from neuron_doctor.engine.rulebook import Cause, Rule, Rulebook
from neuron_doctor.examples import inputs_of
from neuron_doctor.pipeline import collect_inputs
from neuron_doctor.rulewords import KNOWN_BY, messages_of, values_asked
from neuron_doctor.scan import Engine

#: So many names are offered where nothing of that name is known, if they are so much alike.
_NEAR, _ALIKE = 5, 0.6
#: A single word that is so much like a name is that name, misspelt.
_MISSPELT = 0.85
#: A fragment of a message is looked for if it has so many characters: shorter ones stand everywhere.
_FRAGMENT = 4
#: Names of a log that its format is told by, and of one that it is not.
_FILES = ("message.log", "dmesg.txt")


def explain(
    asked: str, rulebook: Rulebook, engine: Callable[[], Engine], examples: Callable[[], Rulebook]
) -> Explanation:
    """What `asked` means to the rulebook: a name or a number, else a message, else a part of one. `engine` and `examples` (the
    rulebook with its examples) are made only where they are needed."""
    name = asked.strip()
    topics = tuple(_by_name(name, rulebook)) or tuple(_by_message(asked, rulebook, engine()))
    near = () if topics or " " in name else _near(name, rulebook, _MISSPELT)
    topics = topics or (() if near else tuple(_by_fragment(asked, rulebook, examples())))
    return Explanation(asked, topics, near or (() if topics else _near(name, rulebook, _ALIKE)))


# --- a name ----------------------------------------------------------------------------------------------------------


def _by_name(name: str, rulebook: Rulebook) -> Iterator[Topic]:
    folded = name.casefold()
    yield from _status(name, rulebook)
    yield from _values(folded, rulebook)
    rules = {rule.id: rule for rule in rulebook.rules}
    cause = rulebook.causes.get(folded)
    if folded in rules and (cause is None or rules[folded].cause != cause):
        yield Topic(f"{folded} is a rule", (rules[folded],), answers=True)
    if cause is not None:
        found = sorted(_of_cause(cause, rulebook), key=lambda rule: (rule.id != folded, -rule.confidence, rule.id))
        yield Topic(f"{cause.id} is a cause: {cause.meaning}", tuple(found), answers=folded in rules, cause=cause)
    elif folded in {cause.family for cause in rulebook.causes.values()}:
        found = [rule for rule in rulebook.rules if rule.cause.family == folded]
        yield Topic(f"{folded} is a family of causes", tuple(sorted(found, key=lambda rule: rule.id)))


def _of_cause(cause: Cause, rulebook: Rulebook) -> list[Rule]:
    return [rule for rule in rulebook.rules if rule.cause.id == cause.id]


def _status(name: str, rulebook: Rulebook) -> Iterator[Topic]:
    code = int(name) if name.isdecimal() and name.isascii() else CODES.get(name.upper(), -1)
    if code in SYMBOLS:
        called = f"{code} is {SYMBOLS[code]}, a status of the runtime (NRT_STATUS)"
        yield _topic(
            called, "status", {"code": code}, values_asked(rulebook).get("status", {}).get(str(code), ()), rulebook
        )


def _values(folded: str, rulebook: Rulebook) -> Iterator[Topic]:
    for kind, values in sorted(values_asked(rulebook).items()):
        for value, rules in values.items():
            if kind != "status" and value.casefold() == folded:
                called = f"{value} is the {KNOWN_BY[kind]} of a record of kind {kind}: {_briefly(kind)}"
                yield _topic(called, kind, {KNOWN_BY[kind]: value}, rules, rulebook)


def _briefly(kind: str) -> str:
    """The beginning of what a kind of fact is."""
    return KINDS[kind].doc.partition(":")[0].partition(";")[0]


def _topic(called: str, kind: str, data: Mapping[str, Value], asking: Sequence[Rule], rulebook: Rulebook) -> Topic:
    """A meaning that a single record has: what fires on it alone first, then the others that ask for it."""
    record = Fact(kind, data, NOWHERE, Span("asked"), "asked")
    source = Source("asked", "asked", KINDS[kind].sources[0], records=1)
    telling = _firing(Collection((source,), (record,)), rulebook)
    about = [rule for rule in asking if _entry(data) in rule.entries]
    return Topic(called, _joined([*telling, *about], asking), len(telling), answers=True)


def _entry(data: Mapping[str, Value]) -> str:
    """What the fact sheet calls the entry of a status."""
    return f"NRT {data.get('code')}"


def _firing(collection: Collection, rulebook: Rulebook) -> list[Rule]:
    """The rules with a finding, what would be a root cause first."""
    rules = {rule.id: rule for rule in rulebook.rules}
    found = diagnose_once(rulebook, collection).findings
    return [rules[rule] for rule in dict.fromkeys(finding.rule for finding in found) if rule in rules]


def _joined(first: Sequence[Rule], others: Iterable[Rule]) -> tuple[Rule, ...]:
    further = sorted({rule.id: rule for rule in others}.values(), key=_directness)
    return tuple({rule.id: rule for rule in (*first, *further)}.values())


def _directness(rule: Rule) -> tuple[int, float, str]:
    """What asks for little else comes first: it is about what was asked."""
    return sum(1 for _ in queries(rule.when)), -rule.confidence, rule.id


# --- a message -------------------------------------------------------------------------------------------------------


def _by_message(text: str, rulebook: Rulebook, engine: Engine) -> Iterator[Topic]:
    for name in _FILES:
        collection = collect_inputs(inputs_of({name: text.rstrip("\n") + "\n"}), engine)
        telling = _firing(collection, rulebook)
        names = {fact.name for fact in collection.facts}
        asking = [
            rule for rule in rulebook.rules if any(q.name in names and _of_hit(q.name) for q in anchors(rule.when))
        ]
        if telling or asking:
            yield Topic("a message of a log", _joined(telling, asking), len(telling), answers=bool(telling))
            return


def _of_hit(name: str) -> bool:
    """Whether a query asks for a pattern of its own: that a rule asks for a kind tells little of one record of it."""
    return name not in KINDS


def _by_fragment(text: str, rulebook: Rulebook, examples: Rulebook) -> Iterator[Topic]:
    wanted = _squeezed(text)
    if len(wanted) < _FRAGMENT:
        return
    hits = {rule.id for rule in examples.rules if any(wanted in _squeezed(said) for said in messages_of(rule))}
    found = [rule for rule in rulebook.rules if rule.id in hits]
    if found:
        yield Topic("a part of messages in the examples of these rules", _joined((), found))


def _squeezed(text: str) -> str:
    return " ".join(text.split()).casefold()


# --- nothing ---------------------------------------------------------------------------------------------------------


def _near(name: str, rulebook: Rulebook, alike: float) -> tuple[str, ...]:
    known = [rule.id for rule in rulebook.rules]
    known += [*rulebook.causes, *(cause.family for cause in rulebook.causes.values()), *CODES]
    known += [value for values in values_asked(rulebook).values() for value in values]
    folded = {one.casefold(): one for one in known}
    return tuple(folded[one] for one in get_close_matches(name.casefold(), folded, _NEAR, alike))
