"""The type of the reports that are like a given one: the same groups, processes, cores and devices, and the same values
but for those that are never the same. What decodes to it needs no comparing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from neuron_doctor.collectors.monitor_model import Report

#: The members that may have another value in every report; of the rest, a change is worth a look.
_VARYING = frozenset(
    {"neuroncore_utilization", "p50", "p99", "completed", "user", "system", "idle", "io_wait"}
    | {"host", "neuron_device", "memory_used_bytes", "swap_used_bytes"}
)
#: Members whose members are sizes, by core and by what they are used for.
_SIZES, _SIZE = "neuroncore_memory_usage", "size"


#: More processes, devices or cores than any instance has: not worth a type.
_MAX_MEMBERS = 512


_INT64_BITS = 64


class _Unlike(Exception):
    """No type admits only reports like this one."""


def decoder_like(report: Report) -> Callable[[bytes], Any] | None:
    """Decodes reports like this one and raises what is in `base.UNREADABLE_JSON` for others. Members that JSON names by
    an index become attributes (see `attribute`), lists become tuples."""
    try:
        return msgspec.json.Decoder(_Types().like(report, ""), strict=False).decode
    except _Unlike:
        return None


def attribute(position: int) -> str:
    """The attribute for a member of an object whose members are named by an index."""
    return f"at_{position}"


def _plain(name: str) -> bool:
    """Whether a member may be named so in a type."""
    return name.isascii() and name.replace("_", "").isalnum()


def _is_int64(value: object) -> bool:
    """Whether a type can name this number."""
    return isinstance(value, int) and value.bit_length() < _INT64_BITS


class _Types:
    """Makes types; processes are alike, and so are most of theirs."""

    def __init__(self) -> None:
        self._made: dict[object, type[msgspec.Struct]] = {}

    def like(self, value: object, name: str) -> Any:
        """The type of values like this one, which is a member of that name."""
        if isinstance(value, msgspec.Struct):
            members = {field: getattr(value, field) for field in value.__struct_fields__}
            return self._struct({field: self.like(member, field) for field, member in members.items()}, None)
        if isinstance(value, Mapping):
            if len(value) > _MAX_MEMBERS or not all(map(_plain, value)):
                raise _Unlike
            inside = _SIZE if name in {_SIZES, _SIZE} else ""
            renamed = {attribute(n): key for n, key in enumerate(value)}
            types = [self.like(member, inside or key) for key, member in value.items()]
            return self._struct(dict(zip(renamed, types, strict=True)), renamed)
        if isinstance(value, list) and len(value) <= _MAX_MEMBERS:
            return tuple.__class_getitem__(tuple(self.like(element, name) for element in value))
        if name == _SIZE:
            return self._size(value)
        if name in _VARYING and isinstance(value, int | float):
            return int if name == "completed" else int | float
        if value is None or (isinstance(value, str) and not (value and name == "error")) or _is_int64(value):
            return Literal.__getitem__(value)
        raise _Unlike  # also where a group says that it could not be read: that is counted

    def _size(self, value: object) -> Any:
        if isinstance(value, int):
            return int
        raise _Unlike

    def _struct(self, types: dict[str, Any], renamed: dict[str, str] | None) -> type[msgspec.Struct]:
        known = (*types.items(), *(renamed or {}).items())
        made = self._made.get(known)
        if made is None:
            # What was absent may be null, and what was null absent: neither says anything.
            fields = [(n, t, None) if t == Literal[None] else (n, t) for n, t in types.items()]
            strict = renamed is not None
            made = msgspec.defstruct(
                "Like", fields, gc=False, kw_only=True, rename=renamed, forbid_unknown_fields=strict
            )
            self._made[known] = made
        return made
