"""Reads YAML as plain data with the place of every node; refuses tags, anchors and duplicate keys."""

from __future__ import annotations

from collections.abc import Mapping

import yaml
from msgspec import Struct, field

from neuron_doctor.engine.errors import Location, RulebookError, RuleError

#: A path into a document: keys and indexes from the root.
Path = tuple[str | int, ...]
Plain = None | bool | int | float | str | list["Plain"] | dict[str, "Plain"]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CONSTRUCTOR = yaml.constructor.SafeConstructor()
_PLAIN_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null", "map", "seq")}


class Document(Struct, frozen=True):
    """One YAML document: its data, and where each part of it stands."""

    path: str
    data: Plain
    places: Mapping[Path, Location]

    def at(self, *path: str | int) -> Location:
        """The location of the node at `path`, or of its nearest parent that stands in the file."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, Location(self.path))


class _Reader(Struct):
    """Walks the composed nodes once, noting places and collecting errors."""

    path: str
    places: dict[Path, Location] = field(default_factory=dict)
    errors: list[RuleError] = field(default_factory=list)

    def plain(self, node: yaml.Node, here: Path) -> Plain:
        location = self._location(node)
        self.places[here] = location
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, here)
        if isinstance(node, yaml.SequenceNode):
            return [self.plain(item, (*here, i)) for i, item in enumerate(node.value)]
        return self._scalar(node, location)

    def _mapping(self, node: yaml.MappingNode, here: Path) -> Plain:
        result: dict[str, Plain] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value)
            if key in result:
                self.errors.append(RuleError(self._location(key_node), f"the key {key!r} stands here twice"))
            result[key] = self.plain(value_node, (*here, key))
            self.places[(*here, key)] = self._location(key_node)
        return result

    def _scalar(self, node: yaml.Node, location: Location) -> Plain:
        if node.tag not in _PLAIN_TAGS:
            kind = node.tag.rpartition(":")[2]
            self.errors.append(RuleError(location, f"{node.value!r} reads as a {kind}", "put it in quotes"))
            return str(node.value)
        value: Plain = _CONSTRUCTOR.construct_object(node)
        return value

    def _location(self, node: yaml.Node) -> Location:
        return Location(self.path, node.start_mark.line + 1, node.start_mark.column + 1)


def read_yaml(text: str, path: str) -> Document:
    """Parse one document. Raises RulebookError with located errors for whatever is not plain data."""
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            mark = event.start_mark
            if mark and (isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None)):
                raise RulebookError(
                    [RuleError(Location(path, mark.line + 1, mark.column + 1), "anchors and aliases are not allowed")]
                )
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = Location(path, mark.line + 1, mark.column + 1) if mark else Location(path)
        raise RulebookError([RuleError(where, f"not valid YAML: {error.problem or error.context}")]) from error
    except yaml.YAMLError as error:
        raise RulebookError([RuleError(Location(path), f"not valid YAML: {error}")]) from error
    if node is None:
        return Document(path, None, {})
    reader = _Reader(path)
    data = reader.plain(node, ())
    if reader.errors:
        raise RulebookError(reader.errors)
    return Document(path, data, reader.places)
