"""What a kind of fact is: a name, what it states, typed fields, and the kinds of source that show it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

from msgspec import Struct

FieldType = Literal["int", "float", "str", "bool", "list"]
_TYPES: Mapping[str, FieldType] = {name: name for name in get_args(FieldType)}
#: The sources that are text.
TEXT = "log kernel"


class FactKind(Struct, frozen=True):
    """One kind of fact: what it states, the type of each field, and which kinds of source can show it."""

    name: str
    doc: str
    fields: Mapping[str, FieldType]
    sources: tuple[str, ...]


def kind_of(name: str, doc: str, sources: str, fields: str = "") -> FactKind:
    """`fields`: `name:type`, each."""
    typed = (field.split(":") for field in fields.split())
    return FactKind(name, doc, MappingProxyType({n: _TYPES[t] for n, t in typed}), tuple(sources.split()))
