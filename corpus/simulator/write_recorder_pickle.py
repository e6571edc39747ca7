"""Flight-recorder dumps as torch's C++ pickler writes them: protocol 2, where strings and shared frames are memoised."""

import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from neuron_doctor.corpus.simulator.history import Frame
from neuron_doctor.corpus.simulator.write_recorder_ring import Record
from neuron_doctor.corpus.simulator.write_recorder_schema import VARYING, Fields, Pair, Version, entries_first, entry

_BYTE, _SHORT, _INT = 0xFF, 0xFFFF, 0x7FFFFFFF
_Template = tuple[list[tuple[bytes, str]], bytes]  # what stands before each varying value, the value's key; the rest


def dump(top: Fields, records: Iterable[Record], version: Version, *, stacks: bool) -> bytes:
    """The bytes of a dump with these fields at its top level."""
    kept = list(records)
    pickler = Pickler(_shared(kept))
    pickler.out += b"\x80\x02"
    if not version[0]:
        pickler.entries(kept, version, stacks=stacks)
    else:
        pickler.out += b"}("
        if not entries_first(version):
            pickler.pairs(top)
        pickler.put("entries")
        pickler.entries(kept, version, stacks=stacks)
        if entries_first(version):
            pickler.pairs(top)
        pickler.out += b"u"
    pickler.remember()
    return bytes(pickler.out + b".")


class Pickler:
    """The state of one dump: what is written, the memo numbers given, and the templates of entries seen before."""

    def __init__(self, shared: frozenset[Frame]) -> None:
        self.out = bytearray()
        self._shared = shared
        self._memo: dict[str | Frame, bytes] = {}
        self._numbers = 0
        self._templates: dict[tuple[int, bool], _Template] = {}

    def entries(self, records: Iterable[Record], version: Version, *, stacks: bool) -> None:
        """The list of entries. An entry like one before it differs in a few numbers only: the rest is kept as bytes."""
        self.out += b"]("
        for record in records:
            fields = entry(record, version, stacks=stacks)
            key = (id(record.shape), record.duration_ms is None)
            if (template := self._templates.get(key)) is not None:
                self._fill(template, fields)
                continue
            before = self._numbers
            self.put(fields)
            if self._numbers == before:
                self._templates[key] = self._template(fields)
        self.out += b"e"

    def put(self, value: object) -> None:
        """Any value."""
        if value is None or isinstance(value, bool | int | float):
            self.out += _number(value)
        elif isinstance(value, str):
            self._string(value)
        elif isinstance(value, Frame):
            self._frame(value)
        elif isinstance(value, Pair):
            self._string(value.name)
            self._string(value.desc)
            self.out += b"\x86"
        elif isinstance(value, Mapping):
            self.out += b"}("
            self.pairs(value)
            self.out += b"u"
        elif isinstance(value, Sequence):
            self.out += b"]("
            for item in value:
                self.put(item)
            self.out += b"e"

    def pairs(self, fields: Mapping[object, object] | Fields) -> None:
        """The keys and values of a dictionary."""
        for key, value in fields.items():
            self.put(key)
            self.put(value)

    def remember(self) -> None:
        """Give the next memo number to what was written last."""
        self.out += _put_memo(self._numbers)
        self._numbers += 1

    def _string(self, text: str) -> None:
        if (known := self._memo.get(text)) is not None:
            self.out += known
            return
        data = text.encode()
        self.out += b"X" + struct.pack("<I", len(data)) + data
        self._learn(text)

    def _frame(self, frame: Frame) -> None:
        if (known := self._memo.get(frame)) is not None:
            self.out += known
            return
        self.put({"name": frame.function, "filename": frame.file, "line": frame.line})
        if frame in self._shared:
            self._learn(frame)

    def _learn(self, value: str | Frame) -> None:
        self._memo[value] = _get_memo(self._numbers)
        self.remember()

    def _template(self, fields: Fields) -> _Template:
        """The bytes of an entry around its varying values. All its strings are known, so nothing is memoised."""
        written, self.out = self.out, bytearray(b"}(")
        parts: list[tuple[bytes, str]] = []
        for key, value in fields.items():
            self.put(key)
            if key in VARYING:
                parts.append((bytes(self.out), key))
                self.out = bytearray()
            else:
                self.put(value)
        rest = bytes(self.out + b"u")
        self.out = written
        return parts, rest

    def _fill(self, template: _Template, fields: Fields) -> None:
        parts, rest = template
        for part, key in parts:
            self.out += part
            self.put(fields[key])
        self.out += rest


def _shared(records: list[Record]) -> frozenset[Frame]:
    """The frames that stand in more than one place: torch's pickler memoises by the count of references to an object."""
    entries = Counter(id(record.shape) for record in records)
    shapes = {id(record.shape): record.shape for record in records}
    uses: Counter[Frame] = Counter()
    for key, times in entries.items():
        for frame in shapes[key].frames:
            uses[frame] += times
    return frozenset(frame for frame, times in uses.items() if times > 1)


def _number(value: int | float | None) -> bytes:
    if value is None:
        return b"N"
    if isinstance(value, bool):
        return b"\x88" if value else b"\x89"
    if isinstance(value, float):
        return b"G" + struct.pack(">d", value)
    return _integer(value)


def _integer(value: int) -> bytes:
    if 0 <= value <= _BYTE:
        return struct.pack("<cB", b"K", value)
    if 0 <= value <= _SHORT:
        return struct.pack("<cH", b"M", value)
    if -_INT - 1 <= value <= _INT:
        return struct.pack("<ci", b"J", value)
    return b"\x8a\x08" + struct.pack("<q", value)


def _put_memo(number: int) -> bytes:
    return struct.pack("<cB", b"q", number) if number <= _BYTE else struct.pack("<cI", b"r", number)


def _get_memo(number: int) -> bytes:
    return struct.pack("<cB", b"h", number) if number <= _BYTE else struct.pack("<cI", b"j", number)
