"""Blocks of a trace in which every event ended well under a name that is known: nearly all of a trace of gigabytes.

The type that such a block decodes to admits nothing else, so that the decoding is the proof, and no event needs a look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, Literal

import msgspec
from msgspec import Struct

from neuron_doctor.collectors.base import UNREADABLE_JSON
from neuron_doctor.collectors.chrome_trace import Brief

#: So many names are told from others; a trace with more is hardly one of neuron-det.
_MAX_NAMES = 1024
#: After failures in a row, at most so many blocks are let go before the next attempt.
_MAX_REST = 64


class _Args(Struct, gc=False):
    ret: Literal[0] | None = None


class Usual(Struct):
    """Decodes usual blocks. `names` are all that were seen, each with its kind and whether it is an error."""

    names: Mapping[str, tuple[str, bool]]
    _decoder: msgspec.json.Decoder[Any] | None = None
    _built_of: int = 0
    _rest: int = 0
    _failures: int = 0

    def decode(self, text: bytes) -> Sequence[Brief] | None:
        """The events of an array, all of them usual; else None."""
        if self._rest:
            self._rest -= 1
            return None
        if self._built_of != len(self.names):
            self._build()
        if self._decoder is not None:
            try:
                events: Sequence[Brief] = self._decoder.decode(text)
            except UNREADABLE_JSON:
                pass
            else:
                self._failures = 0
                return events
        self._rest = min(self._failures, _MAX_REST)
        self._failures += 1
        return None

    def _build(self) -> None:
        self._built_of = len(self.names)
        known = tuple(name for name, (_, is_error) in self.names.items() if not is_error)[:_MAX_NAMES]
        if known:
            fields: list[tuple[str, Any] | tuple[str, Any, Any]]
            fields = [("ph", Literal["X"]), ("name", Literal.__getitem__(known)), ("args", _Args | None, None)]
            event = msgspec.defstruct("_Usual", fields, bases=(Brief,), gc=False, kw_only=True)
            self._decoder = msgspec.json.Decoder(list[event], strict=False)  # type: ignore[valid-type]


def latest(events: Sequence[Brief]) -> list[int]:
    """The latest event of each track and name, and among equally late ones the last; in the order in which tracks and
    names appear first. This runs for every event of a trace of gigabytes: attributes of one type are quickest in a loop."""
    found: dict[tuple[object, object, str], int] = {}
    newest = -inf
    for index, event in enumerate(events):
        key = event.pid, event.tid, event.name
        if event.ts >= newest:
            newest = event.ts
        elif key in found and events[found[key]].ts > event.ts:
            continue
        found[key] = index
    return list(found.values())
