"""Ways to find a rule: by the family of its cause, by every cause there is, by what stands in a log or counter, and by what
one sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from neuron_doctor.collectors.nrt import SYMBOLS
from neuron_doctor.engine.conditions import anchors
from neuron_doctor.engine.grades import Complaint
from neuron_doctor.engine.parameters import Parameter, shown
from neuron_doctor.engine.patterns import Pattern
from neuron_doctor.engine.rulebook import Cause, Rule, Rulebook
from neuron_doctor.reports.escape import code_span, shortened, table_cell
from neuron_doctor.rulewords import KNOWN_BY, messages_of, values_asked

#: A message is shown up to so many characters.
_LONGEST = 100
_BY_CAUSE, _BY_MESSAGE, _BY_SIGHT, _PARAMETERS = "by-cause.md", "by-message.md", "by-what-you-see.md", "parameters.md"
#: What somebody says who has not looked into a log yet.
_IN_WORDS = {
    Complaint.HANGS: "The job hangs, or ranks wait for ever",
    Complaint.SLOW: "The job is slow",
    Complaint.ENDS: "A process ends: an exit code, a signal, an exception",
    Complaint.START: "It does not start: no cores, no device, no driver, no group of ranks",
    Complaint.MEMORY: "Memory, disk or another resource runs out",
    Complaint.LOAD: "A graph does not load",
    Complaint.COMPILE: "It does not compile, or compiles without end",
    Complaint.EXECUTION: "An execution fails with a code of the runtime",
    Complaint.WRONG: "Results are wrong, or no numbers (NaN)",
    Complaint.HARDWARE: "A device, the instance or its kernel reports an error",
    Complaint.NETWORK: "Ranks lose each other, or EFA fails",
    Complaint.CLUSTER: "Kubernetes, Slurm or EC2: pending pods, cancelled jobs, lost nodes",
    Complaint.NOISE: "Alarming messages while the job goes on",
}
_ELSE = "Anything else"


def index_pages(rulebook: Rulebook) -> Iterator[tuple[str, str]]:
    """File name below docs/rules/ and content of each index."""
    yield "index.md", _by_family(rulebook)
    yield _BY_CAUSE, _by_cause(rulebook)
    yield _BY_MESSAGE, _by_message(rulebook)
    yield _BY_SIGHT, _by_sight(rulebook)
    yield _PARAMETERS, _of_parameters(rulebook)


def table(*header: str, rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table, whatever stands in its cells."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(table_cell(cell) for cell in line)} |\n" for line in lines)


def _links(rules: Iterable[Rule]) -> str:
    return ", ".join(f"[{name}]({name}.md)" for name in sorted({rule.id for rule in rules})) or "none yet"


def _by_family(rulebook: Rulebook) -> str:
    families: dict[str, list[Rule]] = {}
    for rule in sorted(rulebook.rules, key=lambda r: (r.cause.family, r.id)):
        families.setdefault(rule.cause.family, []).append(rule)
    ways = f"{len(rulebook.rules)} rules. Also: [by what you see]({_BY_SIGHT}), [by cause]({_BY_CAUSE}), "
    ways += f"[by message or code]({_BY_MESSAGE}), [what a site may set]({_PARAMETERS}). `neuron-doctor explain WHAT` answers "
    ways += "from the terminal.\n"
    return "\n".join(["# Rules\n", ways, *(_family(name, rules) for name, rules in families.items())])


def _family(name: str, rules: Iterable[Rule]) -> str:
    rows = ((_links([r]), r.title, f"`{r.cause.id}`", r.severity.value, r.role) for r in rules)
    return f"## {name}\n\n" + table("rule", "what it finds", "cause", "severity", "role", rows=rows)


def _by_cause(rulebook: Rulebook) -> str:
    said = "Every cause that a report can name, who is normally at fault, and the rules that find it.\n"
    families: dict[str, list[Cause]] = {}
    for cause in rulebook.causes.values():
        families.setdefault(cause.family, []).append(cause)
    rules: dict[str, list[Rule]] = {}
    for rule in rulebook.rules:
        rules.setdefault(rule.cause.id, []).append(rule)
    return "\n".join(["# Rules by cause\n", said, *(_causes(name, part, rules) for name, part in families.items())])


def _causes(family: str, causes: Iterable[Cause], rules: Mapping[str, list[Rule]]) -> str:
    rows = ((f"`{cause.id}`", cause.by, cause.meaning, _links(rules.get(cause.id, ()))) for cause in causes)
    return f"## {family}\n\n" + table("cause", "at fault", "meaning", "rules", rows=rows)


# --- by what one sees ----------------------------------------------------------------------------------------------


def _by_sight(rulebook: Rulebook) -> str:
    said = "What people come with, and the causes that it can have: first those that are at fault, then what victims report.\n"
    seen = {words: [c for c in rulebook.causes.values() if one in c.seen] for one, words in _IN_WORDS.items()}
    seen[_ELSE] = [cause for cause in rulebook.causes.values() if not cause.seen]
    there = {words: causes for words, causes in seen.items() if causes}
    contents = "".join(f"- [{words}](#{_anchor(words)})\n" for words in there)
    sections = (_sight(words, causes, rulebook) for words, causes in there.items())
    return "\n".join(["# Rules by what you see\n", said, contents, *sections])


def _sight(words: str, causes: Iterable[Cause], rulebook: Rulebook) -> str:
    rows = (
        (f"`{cause.id}`", cause.meaning, _links(rule for rule in rulebook.rules if rule.cause.id == cause.id))
        for cause in sorted(causes, key=lambda cause: cause.by in {"peer", "none"})
    )
    return f"## {words}\n\n" + table("cause", "meaning", "rules", rows=rows)


def _anchor(heading: str) -> str:
    """As GitHub makes it."""
    return "".join(c for c in heading.lower().replace(" ", "-") if c.isalnum() or c == "-")


# --- what a site may set -------------------------------------------------------------------------------------------


def _of_parameters(rulebook: Rulebook) -> str:
    said = "The parameters of the rules: a [site file](../packs.md#the-site-file) sets them by these names.\n"
    rows = (
        (f"`{one.name}`", one.type, code_span(shown(one.default)), about(one), _links(_users(one, rulebook)))
        for one in rulebook.parameters
    )
    return "\n".join(
        ["# What a site may set\n", said, table("parameter", "type", "default", "what it is", "rules", rows=rows)]
    )


def _users(parameter: Parameter, rulebook: Rulebook) -> list[Rule]:
    return [rule for rule in rulebook.rules if parameter.name in rule.parameters]


def about(parameter: Parameter) -> str:
    """What a parameter is, with its bounds."""
    limits = (("at least", parameter.at_least), ("at most", parameter.at_most))
    bounds = ", ".join(f"{word} {bound}" for word, bound in limits if bound is not None)
    return parameter.description + (f" ({bounds})" if bounds else "")


# --- by message or code --------------------------------------------------------------------------------------------


def _by_message(rulebook: Rulebook) -> str:
    values = values_asked(rulebook)
    codes = values.pop("status", {})
    rows = ((str(code), f"`{symbol}`", _links(codes.get(str(code), ()))) for code, symbol in SYMBOLS.items())
    parts = [
        "# Rules by message or code\n",
        "What makes a rule fire; the evidence that it asks to be absent is not listed.\n",
        "## NRT status codes\n",
        table("code", "symbol", "rules", rows=rows),
    ]
    for kind, found in sorted(values.items()):
        named = ((code_span(value), _links(rules)) for value, rules in sorted(found.items()))
        parts.append(f"## {kind}\n\n" + table(KNOWN_BY[kind], "rules", rows=named))
    return "\n".join([*parts, "## Messages\n", table("such as", "leads to", rows=_messages(rulebook))])


def _messages(rulebook: Rulebook) -> list[tuple[str, str]]:
    """For each pattern the text that it matches in an example (its regex where none does), and where that leads."""
    users: dict[str, list[Rule]] = {}
    for rule in rulebook.rules:
        for query in anchors(rule.when):
            users.setdefault(query.name, []).append(rule)
    said = {rule.id: messages_of(rule) for rule in rulebook.rules}
    everything = [message for messages in said.values() for message in messages]
    own = {name: said[rule.id] for rule in rulebook.rules for name in rule.patterns}
    found: dict[str, set[str]] = {}
    for pattern in rulebook.patterns.patterns:
        if pattern.emits == "hit" and pattern.id not in users:
            continue  # asked for only to be absent
        shown = _matched(pattern, own.get(pattern.id, ())) or _matched(pattern, everything) or pattern.search
        text = code_span(shortened(" ".join(shown.split()), _LONGEST))
        found.setdefault(text, set()).add(_target(pattern, users.get(pattern.id, ())))
    return sorted(((text, ", ".join(sorted(to))) for text, to in found.items()), key=lambda row: row[0].casefold())


def _target(pattern: Pattern, users: Iterable[Rule]) -> str:
    return _links(users) if pattern.emits == "hit" else f"a fact: [{pattern.emits}](../facts.md#{pattern.emits})"


def _matched(pattern: Pattern, messages: Sequence[str]) -> str:
    regex = pattern.compiled() if pattern.anchor is None else None
    return next((match[0] for message in messages if regex and (match := regex.search(message))), "")
