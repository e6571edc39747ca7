"""What keeps a text from being YAML, told where its author sees it and in the author's words."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from neuron_doctor.engine.errors import Location, RuleError
from neuron_doctor.engine.regexes import regex

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
#: Where a line ends, for YAML.
LINE_END = regex("\r\n|[\n\r\x85\u2028\u2029]")

#: What the parser says -> what the author probably did.
_ADVICE = (
    ("cannot start any token", "put the text in quotes: it begins with a character that means something in YAML"),
    ("mapping values are not allowed", "text with a colon and a space in it needs quotes"),
    ("expected ',' or ']'", "the bracket that was opened is not closed before this"),
    ("expected ',' or '}'", "the brace that was opened is not closed before this"),
    ("expected node content", "a bracket is not closed, or a comma stands too much"),
    ("unexpected end of stream", "the quote that was opened is not closed"),
    ("expected ':'", "a key is followed by a colon and a space, and a quote or bracket is closed again"),
    ("expected key", "a line is indented otherwise than its siblings above, or a quote ends too early"),
    ("block end", "a line is indented otherwise than its siblings above, or a quote ends too early"),
    ("'-' indicator", "the items of a list stand under each other, each begins with a dash and a space"),
    ("unknown escape character", "a backslash stands for itself in single quotes, not in double ones"),
    ("escape", "a backslash stands for itself in single quotes, not in double ones"),
    ("document start", "a line stands further to the left than the keys of the file"),
    (
        "alphabetic or numeric character",
        "put the text in quotes: it begins with a character that means something in YAML",
    ),
)
_FIRST_KEY = regex(r" *[\w-]+")
_DEPTH = "indent it as its siblings; below a key that has a value already nothing else can stand"
_QUOTE = "close it where its text ends; double it where it is part of the text"
_TAB = "put spaces in its place: YAML is indented with spaces"
_CONFLICT = regex(r"(?:<{7}|>{7}|\|{7}) \S.*|={7}")
#: A key with a value that YAML takes for a list or a mapping, and what stands behind that.
_BRACKETED = regex(r"(?P<key>[ -]*[\w-]+: +)[\[{].*")
_CURLY = regex("[\u2018\u2019\u201c\u201d]")
_QUOTED = "put the text in quotes: it begins with a character that means something in YAML"
#: What the parser sees too late: the key or word before it is what it could not read.
_BEGAN_BEFORE = ("could not find expected ':'", "alphabetic or numeric character")


def fault_of(error: yaml.MarkedYAMLError, text: str, path: str) -> RuleError:
    """What the parser could not read, where the author sees it."""
    said, lines = str(error.problem or error.context), LINE_END.split(text)
    where = _gave_up(error, said, lines, path)
    seen = error.problem_mark.line + 1 if error.problem_mark else where.line
    opened = _open_quote(text)
    likely = _conflict(lines, path) or _tabbed(lines, max(seen, where.line), path)
    likely = likely or _guessed(error, lines, path, closed=opened is None)
    if likely:
        return likely
    if opened:
        return RuleError(Location(path, *opened), "not valid YAML: this quote goes on over lines", _QUOTE, "yaml")
    if "mapping values" in said and _FIRST_KEY.fullmatch(lines[where.line - 1][: where.column - 1]):
        return RuleError(where, "not valid YAML: a key stands too far to the right", _DEPTH, "yaml")
    hint = next((advice for words, advice in _ADVICE if words in said), "")
    return RuleError(where, f"not valid YAML: {said}", hint, "yaml")


def _gave_up(error: yaml.MarkedYAMLError, said: str, lines: list[str], path: str) -> Location:
    """Where the fault is: a file does not end where something is not closed."""
    mark = error.problem_mark or error.context_mark
    late = ("end of stream", "or ']'", "or '}'", *_BEGAN_BEFORE)
    if error.context_mark and any(words in said for words in late):
        mark = error.context_mark
    if mark is None:
        return Location(path, 1, 1)
    last = max(number for number, line in enumerate(lines[: mark.line + 1]) if line.strip() or not number)
    if last < mark.line:
        return Location(path, last + 1, len(lines[last].rstrip()) or 1)
    return Location(path, mark.line + 1, mark.column + 1)


def _conflict(lines: list[str], path: str) -> RuleError | None:
    for number, line in enumerate(lines, 1):
        if _CONFLICT.fullmatch(line):
            where = Location(path, number, 1, len(line))
            return RuleError(where, "not valid YAML: a merge was left unfinished", "take one of the two sides", "yaml")
    return None


def _guessed(error: yaml.MarkedYAMLError, lines: list[str], path: str, *, closed: bool) -> RuleError | None:
    """What the author probably did, where the line shows it and the words of the parser do not. `closed`: each quote is, in the
    line in which it was opened."""
    said, mark = str(error.problem), error.problem_mark
    if mark is None or mark.line >= len(lines) or "end of stream" in said:
        return None
    line = lines[mark.line]
    before, here = line[: mark.column].rstrip(), line[mark.column : mark.column + 1]
    for column, found, hint in _suspicions(line, before, here, said) if closed else ():
        return RuleError(Location(path, mark.line + 1, column), f"not valid YAML: {found}", hint, "yaml")
    return None


def _suspicions(line: str, before: str, here: str, said: str) -> Iterator[tuple[int, str, str]]:
    """Column (from 1), what is there, and what to do, likeliest first. `before` and `here`: what stands in the line before the
    place where the parser gave up, and there."""
    at = len(before) + 1
    if "another document" in said:
        yield at, "a second document begins here", "a file has one document: give each rule a file of its own"
    if curly := _CURLY.search(line):
        yield curly.start() + 1, "a typographic quote", "write straight quotes: ' or \""
    if "${" in line:
        yield line.index("${") + 1, "a parameter has no braces", "write $name"
    if here in ("[", "{") and ("or '}'" in said or "or ']'" in said):
        hint = "put the text in quotes: it stands in brackets or braces itself"
        yield line.index(here, len(before)) + 1, "a bracket stands in text", hint
    if "expected key" not in said and "block end" not in said:
        return
    bracketed = _BRACKETED.match(line)
    if here in ("]", "}"):
        yield at, f"this {here} closes nothing", "remove it, or put the text in quotes"
    if bracketed and before.endswith(("]", "}")):
        yield len(bracketed["key"]) + 1, "text stands behind a bracket that is closed", _QUOTED
    if before.endswith(("'", '"')) and here:
        yield len(before), "a quote ends here, and its line goes on", "double it where it is part of the text"


def _tabbed(lines: list[str], near: int, path: str) -> RuleError | None:
    """A tab in the indentation, in the line of a fault or right before it."""
    for number in range(near, max(near - 3, 0), -1):
        line = lines[number - 1] if number <= len(lines) else ""
        indent = line[: len(line) - len(line.lstrip())]
        if "\t" in indent and line.strip():
            where = Location(path, number, indent.index("\t") + 1)
            return RuleError(where, "not valid YAML: a tab stands before the text", _TAB, "yaml")
    return None


def _open_quote(text: str) -> tuple[int, int] | None:
    """Line and column of the last quote before a fault, where it was closed in another line only: by the next one's opening."""
    opened = None
    try:
        for token in yaml.scan(text, Loader=_LOADER):
            if isinstance(token, yaml.ScalarToken) and token.style in ("'", '"'):
                over = token.end_mark.line > token.start_mark.line
                opened = (token.start_mark.line + 1, token.start_mark.column + 1) if over else None
    except yaml.YAMLError:
        pass
    return opened


def first_unprintable(text: str, path: str) -> Location:
    """The first character that may not stand in a text."""
    for number, line in enumerate(LINE_END.split(text), 1):
        for column, character in enumerate(line, 1):
            if character != "\t" and not character.isprintable():
                return Location(path, number, column)
    return Location(path, 1, 1)
