"""A first draft of a rule from marked lines of a log: what varies in them is replaced, and near misses are proposed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from neuron_doctor.collectors.prefixes import peel
from neuron_doctor.engine.expressions import PLACE_FIELDS
from neuron_doctor.engine.loosening import required_literal
from neuron_doctor.engine.regexes import regex
from neuron_doctor.lint.patterns import MIN_LITERAL

#: What varies from one time to the next: the form of it, what it becomes in a pattern, and what such a capture is called
#: where no word before it gives a name. The narrow ones first.
_VARIABLES = (
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", r"[0-9a-f-]{36}", "uuid"),
    (r"i-[0-9a-f]{8,17}\b", r"i-[0-9a-f]{8,17}", "instance_id"),
    (r"0x[0-9a-fA-F]{1,16}\b", r"0x[0-9a-fA-F]{1,16}", "address"),
    (r"ip(?:-\d{1,3}){4}[\w.-]*", r"[\w.-]{1,255}", "peer"),
    (r"\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b", r"[\d.:]{7,21}", "peer"),
    (r"(?:/[\w.+@%~-]+){2,}/?", r"\S{1,200}", "path"),
    (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,64}\b", r"[0-9a-f]{8,64}", "digest"),
    (r"\b0\d{7,63}\b", r"[0-9a-f]{8,64}", "digest"),
    (r"-?\d+\.\d+\b", r"-?\d{1,12}\.\d{1,12}", "value"),
    (r"\d+", r"\d{1,12}", "number"),
)
_VARIABLE = regex("|".join(f"(?P<v{at}>{form})" for at, (form, _, _) in enumerate(_VARIABLES)))
_SPECIAL = regex(r"([\\.^$*+?{}\[\]|()])")
_NAME = regex(r"([A-Za-z_]\w{1,30})[\s:=\[(]{0,3}$")
_WORD = regex(r"\S+|\s+")
_LONG_WORD = regex(r"[A-Za-z_]{3,}")
_NUMBERS = regex(r"\d+")
#: Tells the YAML language server, and so most editors, what may stand in the file.
SCHEMA = "rule.schema.json"
_FOR_EDITORS = f"# yaml-language-server: $schema={SCHEMA}"
_RANGES = regex(r"\d{1,9}(?:-\d{1,9})?(?:,\d{1,9}(?:-\d{1,9})?)*")
#: Marks the pieces of an expression that are captures.
_CAPTURE = "\0"
_ANYTHING = _CAPTURE + r"\S{1,200}"
_TYPES = {_CAPTURE + r"\d{1,12}": "int", _CAPTURE + r"-?\d{1,12}\.\d{1,12}": "float"}
#: Words that stand before anything, and name nothing.
_NAMELESS = regex(r"(?i)an?|and|as|at|by|for|from|got|had|has|in|is|of|on|or|than|that|the|to|want|was|were|with")
#: So many lines that are like the marked ones, and are not among them, are proposed as near misses.
_NEAR_MISSES = 2
_LIKE = 0.5


@dataclass(frozen=True)
class Draft:
    """An expression with the type of each capture, the lines that it was made of, and lines that it must not match."""

    regex: str
    fields: dict[str, str]
    lines: tuple[str, ...]
    near_misses: tuple[str, ...]


def marked_lines(sources: Iterable[str]) -> list[str]:
    """The lines that `LOG:LINES` name, each: `run.log:17`, `run.log:17-19,40`. Raises ValueError for what is no such thing,
    OSError for a log that cannot be read."""
    found: list[str] = []
    for source in sources:
        path, numbers = _parsed(source)
        lines = _lines(path)
        if numbers[-1] > len(lines):
            raise ValueError(f"{path} has {len(lines)} lines, and no line {numbers[-1]}")
        found += [lines[number - 1] for number in numbers]
    return found


def names_a_log(text: str) -> bool:
    """Whether a text is of the form LOG:LINES, and there is such a log: a line of a log may end with a number, too."""
    path, _, numbers = text.rpartition(":")
    return bool(_RANGES.fullmatch(numbers)) and Path(path).is_file()


def everything(sources: Iterable[str]) -> Iterator[str]:
    """All lines of the logs in which lines are marked, each log once."""
    for path in dict.fromkeys(_parsed(source)[0] for source in sources):
        yield from _lines(path)


def _parsed(source: str) -> tuple[str, list[int]]:
    path, _, numbers = source.rpartition(":")
    if not path or not _RANGES.fullmatch(numbers):
        raise ValueError(f"{source!r} is not of the form LOG:LINES, such as run.log:17 or run.log:17-19,40")
    ends = [[int(end) for end in part.split("-")] for part in numbers.split(",")]
    wanted = sorted({number for end in ends for number in range(end[0], end[-1] + 1)})
    if not wanted or not wanted[0]:
        raise ValueError(f"{source!r} names no line; they are counted from 1")
    return path, wanted


def _lines(path: str) -> list[str]:
    return Path(path).read_bytes().decode("utf-8", "replace").splitlines()


def drafted(lines: Sequence[str], others: Iterable[str]) -> Draft:
    """A draft from marked lines, which should be of one message; `others` are lines in which to look for near misses. Raises
    ValueError where the lines have too little in common."""
    messages = [_message(line) for line in lines]
    texts, names = _parts(messages[0])
    for message in messages[1:]:
        texts = _common(texts, _parts(message)[0])
    literal = "".join(text for text in texts if not _is_capture(text))
    if len(required_literal(literal)) < MIN_LITERAL or not _LONG_WORD.search(literal):
        raise ValueError("the lines have no words in common that tell them from others")
    expression = _assembled(texts, names)
    typed = {name: _TYPES[texts[at]] for at, name in names.items() if texts[at] in _TYPES and name not in PLACE_FIELDS}
    misses = _misses(re.compile(expression), messages[0], lines, others)
    return Draft(expression, typed, tuple(lines), misses)


def _message(line: str) -> str:
    """The message of a line, as a pattern sees it."""
    peeled = peel(line)
    return max((peeled.text[record.start : record.end] for record in peeled.records), key=len).strip()


def _parts(message: str) -> tuple[list[str], dict[int, str]]:
    """The pieces of an expression for a message: literal ones, and one for each thing that varies, with the names of those."""
    texts: list[str] = []
    names: dict[int, str] = {}
    at = 0
    for match in _VARIABLE.finditer(message):
        form = int(str(match.lastgroup)[1:])
        texts.append(_SPECIAL.sub(r"\\\1", message[at : match.start()]))
        names[len(texts)] = _named(message[: match.start()], _VARIABLES[form][2], names.values())
        texts.append(_CAPTURE + _VARIABLES[form][1])
        at = match.end()
    texts.append(_SPECIAL.sub(r"\\\1", message[at:]))
    return texts, names


def _is_capture(text: str) -> bool:
    return text.startswith(_CAPTURE)


def _named(before: str, usual: str, taken: Iterable[str]) -> str:
    """A name for what follows a text: the word in front of it, or the usual one; numbered where it is taken."""
    word = _NAME.search(before)
    name = word[1].lower() if word and not _NAMELESS.fullmatch(word[1]) else usual
    return next(free for free in (name, *(f"{name}_{n}" for n in range(2, 99))) if free not in set(taken))


def _common(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """The pieces that two messages of one form share; a literal piece in which they differ keeps the words that both have."""
    if [_is_capture(text) for text in one] != [_is_capture(text) for text in other]:
        raise ValueError("the marked lines are not of one form: mark lines of one message")
    return [a if a == b else _ANYTHING if _is_capture(a) else _merged(a, b) for a, b in zip(one, other, strict=True)]


def _merged(one: str, other: str) -> str:
    first, second = _WORD.findall(one), _WORD.findall(other)
    if len(first) != len(second):
        raise ValueError(f"{one.strip()!r} and {other.strip()!r} are of different forms: mark lines of one message")
    return "".join(a if a == b else r"\S{1,80}" for a, b in zip(first, second, strict=True))


def _assembled(texts: Sequence[str], names: dict[int, str]) -> str:
    return "".join(f"(?P<{names[at]}>{text[1:]})" if _is_capture(text) else text for at, text in enumerate(texts))


def _misses(found: re.Pattern[str], message: str, lines: Sequence[str], others: Iterable[str]) -> tuple[str, ...]:
    """Lines that are most like the marked ones and do not match; where there are none, the line without its end."""
    words = _words(message)
    like: dict[str, tuple[float, str]] = {}
    for line in others:
        other = _message(line)
        shared = len(words & _words(other)) / len(words | _words(other) or {""})
        if shared >= _LIKE and not found.search(other):
            like.setdefault(_NUMBERS.sub("0", other), (-shared, line))  # one of those that differ in numbers alone
    chosen = sorted(like.values())[:_NEAR_MISSES]
    return tuple(line for _, line in chosen) or (_without_end(lines[0], found),)


def _words(message: str) -> set[str]:
    return set(_LONG_WORD.findall(message))


def _without_end(line: str, found: re.Pattern[str]) -> str:
    """The longest beginning of a line, cut between words, that does not match any more."""
    ends = [match.start() for match in _WORD.finditer(line) if match[0].isspace()]
    return next(
        (line[:end] for end in reversed(ends) if not found.search(_message(line[:end]))), line[: len(line) // 2]
    )


def as_yaml(draft: Draft, name: str, said: Mapping[str, object]) -> str:
    """The file of a rule: what the author `said` of it, with the pattern and the examples of the draft."""
    pattern = {"regex": draft.regex, **({"fields": draft.fields} if draft.fields else {})}
    positive = [{"name": f"marked line {n}", "text": line} for n, line in enumerate(draft.lines, 1)]
    negative = [{"name": f"near miss {n}", "text": line} for n, line in enumerate(draft.near_misses, 1)]
    rule = {
        "id": name,
        **said,
        "patterns": {f"{name}-text": pattern},
        "when": {"record": f"{name}-text"},
        "examples": {"positive": positive, "negative": negative},
    }
    return f"{_FOR_EDITORS}\n{yaml.safe_dump(rule, sort_keys=False, allow_unicode=True, width=110)}"
