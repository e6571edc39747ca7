"""YAML of kubectl as plain mappings, lists and strings: no tags, no aliases, no deep nesting."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import yaml

from neuron_doctor.collectors.documents import DamagedDocument, Element
from neuron_doctor.engine.regexes import regex

_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
_DEPTH = 64

#: At most this many characters of one object are read; a node with many pods has 50,000.
_LIMIT = 1_000_000

_UNDECODED = regex(r"[\udc80-\udcff]")
_START = regex(r"^(?:- (?=\S)|---[ \t]*$)", re.MULTILINE)
_LIST = regex(r"^items:[ \t]*$", re.MULTILINE)
_NEXT_MEMBER = regex(r"^[A-Za-z]", re.MULTILINE)


def yaml_objects(text: str) -> Iterator[Element | DamagedDocument]:
    """Each object of a list or of a multi-document file, with its characters; damage in one leaves the others."""
    for start, end in _ranges(text):
        try:
            value = _value(text[start:end])
        except DamagedDocument as damage:
            yield damage
        else:
            yield Element(value[0] if isinstance(value, list) and value else value, start, end)


def _ranges(text: str) -> Iterator[tuple[int, int]]:
    items = _LIST.search(text)
    start = items.end() + 1 if items else 0
    after = _NEXT_MEMBER.search(text, start) if items else None
    end = after.start() if after else len(text)
    cuts = [found.start() for found in _START.finditer(text, start, end)]
    edges = cuts if items else [start, *cuts]
    for a, b in pairwise([*edges, end]):
        if text[a:b].strip("- \n\t"):
            yield a, b


def _value(text: str) -> object:
    if len(text) > _LIMIT:
        raise DamagedDocument("an object of more than a million characters was not read")
    try:
        # a byte that is not UTF-8 is one character here, and the parser takes none that stands for such a byte
        return _built(yaml.parse(_UNDECODED.sub("\ufffd", text), Loader=_LOADER))
    except (yaml.YAMLError, RecursionError) as error:
        raise DamagedDocument(f"unreadable YAML: {type(error).__name__}") from error


def _built(events: Iterator[yaml.Event]) -> object:
    """The first document of these events; all scalars are strings."""
    stack: list[list[object]] = [[]]
    mappings: list[bool] = []
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            raise DamagedDocument("YAML with aliases is not from kubectl")
        if isinstance(event, yaml.ScalarEvent):
            stack[-1].append(event.value)
        elif isinstance(event, yaml.CollectionStartEvent):
            if len(stack) > _DEPTH:
                raise DamagedDocument("YAML is nested too deeply")
            stack.append([])
            mappings.append(isinstance(event, yaml.MappingStartEvent))
        elif isinstance(event, yaml.CollectionEndEvent):
            children = stack.pop()
            stack[-1].append(_mapping(children) if mappings.pop() else children)
        elif isinstance(event, yaml.DocumentEndEvent):
            break
    return stack[0][0] if stack[0] else None


def _mapping(children: list[object]) -> dict[str, object]:
    return {key: value for key, value in zip(children[::2], children[1::2], strict=True) if isinstance(key, str)}
