"""Reads YAML as plain data with the place of every node; refuses tags, anchors and duplicate keys."""

from __future__ import annotations

from collections.abc import Mapping

import yaml
from msgspec import Struct, field

from neuron_doctor.engine.errors import Location, RulebookError, RuleError
from neuron_doctor.engine.regexes import regex
from neuron_doctor.engine.yamlfaults import LINE_END, fault_of, first_unprintable

#: A path into a document: keys and indexes from the root.
Path = tuple[str | int, ...]
Plain = None | bool | int | float | str | list["Plain"] | dict[str, "Plain"]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CONSTRUCTOR = yaml.constructor.SafeConstructor()
_PLAIN_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null", "map", "seq")}
#: What begins a scalar that is not written as it reads: a block's header, a quote.
_OPENING = regex(r"""[|>][^\n]*\n|["']""")
#: White space that YAML takes for text, and text in quotes that it knows nothing of.
_NO_SPACE = regex(r"[\u00a0\u2000-\u200b\u202f\u3000\ufeff]")
_CURLY = regex("[\u2018\u201c].*[\u2019\u201d]")


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

    def written(self, *path: str | int) -> str:
        """What stands behind a key, letter by letter."""
        start, end = self.spans.get(path, (0, 0))
        return self.text[start:end]

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
            if _NO_SPACE.match(key):
                said = f"a space that YAML takes for text (U+{ord(key[0]):04X}) stands before the key"
                self._complain(key_node, said, "put ordinary spaces in its place")
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
        if not getattr(node, "style", None) and _CURLY.fullmatch(node.value):
            self._complain(node, "typographic quotes would be part of the text", "write straight quotes: ' or \"")
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
        raise RulebookError([fault_of(error, text, path)]) from error
    except yaml.YAMLError as error:
        where = first_unprintable(text, path)
        said = str(error).partition("\n")[0]
        raise RulebookError([RuleError(where, f"not valid YAML: {said}", "remove that character", "yaml")]) from error
    if node is None:
        return Document(path, None, {})
    reader = _Reader(path)
    data = reader.plain(node, ())
    if reader.errors:
        raise RulebookError(reader.errors)
    return Document(path, data, reader.places, reader.spans, text)
