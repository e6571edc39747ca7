"""Reads YAML as plain data with the place of every node; refuses tags, anchors and duplicate keys."""

from __future__ import annotations

from collections.abc import Mapping

import yaml
from msgspec import Struct, field

from neuron_doctor.engine.errors import Location, RulebookError, RuleError
from neuron_doctor.engine.regexes import regex

#: A path into a document: keys and indexes from the root.
Path = tuple[str | int, ...]
Plain = None | bool | int | float | str | list["Plain"] | dict[str, "Plain"]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CONSTRUCTOR = yaml.constructor.SafeConstructor()
_PLAIN_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null", "map", "seq")}
#: Where a line ends, for YAML.
LINE_END = regex("\r\n|[\n\r\x85\u2028\u2029]")
#: What begins a scalar that is not written as it reads: a block's header, a quote.
_OPENING = regex(r"""[|>][^\n]*\n|["']""")

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


class Document(Struct, frozen=True):
    """One YAML document: its data, and where each part of it stands: `places` are those of keys and items, `spans` the
    characters (from, to) of what stands behind them."""

    path: str
    data: Plain
    places: Mapping[Path, Location]
    spans: Mapping[Path, tuple[int, int]] = field(default_factory=dict)
    text: str = ""

    def at(self, *path: str | int) -> Location:
        """The location of the node at `path`, or of its nearest parent that stands in the file."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, Location(self.path))

    def value(self, *path: str | int, skip: int = 0, width: int = 0) -> Location:
        """The location of what stands behind the key at `path`, of the key itself where that are keys or items in turn. Of
        text, the location of `width` characters (0: all of them) after the first `skip`, whichever way it is quoted or folded."""
        said = self._said(path) if path in self.spans else None
        if path not in self.spans or isinstance(said, dict | list):
            return self.at(*path)
        start, end = self.spans[path]
        if start == end:  # nothing stands behind the key
            return self.at(*path)
        if isinstance(said, str) and (skip or width):
            where = _written(self.text[start:end], said)
            start, end = start + where[min(skip, len(where) - 1)], start + where[min(skip + width, len(where)) - 1] + 1
        return self._between(start, end)

    def _said(self, path: Path) -> Plain:
        here = self.data
        for key in path:
            here = here[key]  # type: ignore[index]
        return here

    def _between(self, start: int, end: int) -> Location:
        """A stretch of the text, up to the end of its first line."""
        ends = [match.end() for match in LINE_END.finditer(self.text, 0, start)]
        shown = LINE_END.split(self.text[start:end], 1)[0].rstrip()
        return Location(self.path, len(ends) + 1, start - (ends[-1] if ends else 0) + 1, max(len(shown), 1))


def _written(raw: str, said: str) -> list[int]:
    """For each character of a scalar, and for its end, where it is written; white space may be written otherwise."""
    opening = _OPENING.match(raw)
    at = opening.end() if opening else 0
    where: list[int] = []
    for character in said:
        found = at if character.isspace() else raw.find(character, at)
        where.append(max(found, at))
        at = where[-1] + (not character.isspace())
    return [*where, at]


class _Reader(Struct):
    """Walks the composed nodes once, noting places and collecting errors."""

    path: str
    places: dict[Path, Location] = field(default_factory=dict)
    spans: dict[Path, tuple[int, int]] = field(default_factory=dict)
    errors: list[RuleError] = field(default_factory=list)

    def plain(self, node: yaml.Node, here: Path) -> Plain:
        self.places[here] = self._location(node)
        self.spans[here] = (node.start_mark.index, node.end_mark.index)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, here)
        if isinstance(node, yaml.SequenceNode):
            return [self.plain(item, (*here, i)) for i, item in enumerate(node.value)]
        return self._scalar(node)

    def _mapping(self, node: yaml.MappingNode, here: Path) -> Plain:
        result: dict[str, Plain] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value)
            if not isinstance(key_node, yaml.ScalarNode):
                self._complain(key_node, "a key must be text", "put quotes around what begins with a bracket or brace")
                continue
            if key in result:
                first = self.places[*here, key].line
                self._complain(key_node, f"the key {key!r} stands here twice", f"it stands in line {first} already")
                continue
            result[key] = self.plain(value_node, (*here, key))
            self.places[(*here, key)] = self._location(key_node)
        return result

    def _scalar(self, node: yaml.Node) -> Plain:
        if node.tag not in _PLAIN_TAGS:
            kind = node.tag.rpartition(":")[2]
            self._complain(node, f"{node.value!r} reads as a {kind}", "put it in quotes")
            return str(node.value)
        try:
            value: Plain = _CONSTRUCTOR.construct_object(node)
        except ValueError:
            self._complain(node, f"{node.value!r} does not read as what it looks like", "put it in quotes")
            return str(node.value)
        return value

    def _complain(self, node: yaml.Node, message: str, hint: str) -> None:
        check = "duplicate-key" if "twice" in message else "yaml"
        self.errors.append(RuleError(self._location(node), message, hint, check))

    def _location(self, node: yaml.Node) -> Location:
        start, end = node.start_mark, node.end_mark
        width = end.index - start.index if end.line == start.line else 1
        return Location(self.path, start.line + 1, start.column + 1, max(width, 1))


def read_yaml(text: str, path: str) -> Document:
    """Parse one document. Raises RulebookError with located errors for whatever is not plain data."""
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            mark = event.start_mark
            if mark and (isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None)):
                said = "put the text in quotes if it is meant to begin with * or &"
                where = Location(path, mark.line + 1, mark.column + 1)
                raise RulebookError([RuleError(where, "anchors and aliases are not allowed", said, "yaml")])
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        raise RulebookError([_fault(error, text, path)]) from error
    except yaml.YAMLError as error:
        where = _first_unprintable(text, path)
        said = str(error).partition("\n")[0]
        raise RulebookError([RuleError(where, f"not valid YAML: {said}", "remove that character", "yaml")]) from error
    if node is None:
        return Document(path, None, {})
    reader = _Reader(path)
    data = reader.plain(node, ())
    if reader.errors:
        raise RulebookError(reader.errors)
    return Document(path, data, reader.places, reader.spans, text)


def _fault(error: yaml.MarkedYAMLError, text: str, path: str) -> RuleError:
    """What the parser could not read, where the author sees it: a file does not end where something is not closed."""
    said = str(error.problem or error.context)
    mark = error.problem_mark or error.context_mark
    if error.context_mark and ("end of stream" in said or "or ']'" in said or "or '}'" in said):
        mark = error.context_mark
    lines = LINE_END.split(text)
    if mark is None:
        return RuleError(Location(path, 1, 1), f"not valid YAML: {said}", "", "yaml")
    last = max(number for number, line in enumerate(lines[: mark.line + 1]) if line.strip() or not number)
    where = Location(path, mark.line + 1, mark.column + 1)
    if last < mark.line:
        where = Location(path, last + 1, len(lines[last].rstrip()) or 1)
    if tab := _tab(lines, where.line):
        return RuleError(Location(path, *tab), "not valid YAML: a tab stands before the text", _TAB, "yaml")
    if opened := _open_quote(text):
        return RuleError(Location(path, *opened), "not valid YAML: this quote goes on over lines", _QUOTE, "yaml")
    if "mapping values" in said and _FIRST_KEY.fullmatch(lines[mark.line][: mark.column]):
        return RuleError(where, "not valid YAML: a key stands too far to the right", _DEPTH, "yaml")
    hint = next((advice for words, advice in _ADVICE if words in said), "")
    return RuleError(where, f"not valid YAML: {said}", hint, "yaml")


def _tab(lines: list[str], near: int) -> tuple[int, int] | None:
    """Line and column of a tab in the indentation, in the line of a fault or right before it."""
    for number in range(near, max(near - 3, 0), -1):
        line = lines[number - 1] if number <= len(lines) else ""
        indent = line[: len(line) - len(line.lstrip())]
        if "\t" in indent and line.strip():
            return number, indent.index("\t") + 1
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


def _first_unprintable(text: str, path: str) -> Location:
    for number, line in enumerate(LINE_END.split(text), 1):
        for column, character in enumerate(line, 1):
            if character != "\t" and not character.isprintable():
                return Location(path, number, column)
    return Location(path, 1, 1)
