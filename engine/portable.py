"""A collection as bytes and back, for what leaves a process: typed msgpack, small, quick, and safe to read from anywhere.

Facts travel in columns. What many of them share (paths, sources, places, kinds with the names of their fields) stands in a
table and is referred to by number. The digest of a quotation is left out where its text gives it. Nothing but plain values
can come out of such bytes, whoever made them: at worst `NotPortable`, and never more memory than a constant times their
length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, starmap
from operator import attrgetter
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import msgpack

from neuron_doctor.engine.digests import sha256
from neuron_doctor.engine.facts import (
    About,
    Clock,
    Collection,
    Fact,
    Gap,
    Instant,
    Place,
    Problem,
    Scalar,
    Searched,
    Source,
    Span,
    Value,
)

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)

#: The first byte: whether the rest is as msgpack has it, or holds what msgpack has not (see `_escaped`).
_PLAIN, _ESCAPED = b"\0", b"\1"
#: Integers beyond 64 bits, and strings with lone surrogates.
_LARGE, _BROKEN = 1, 2
_SMALLEST, _LARGEST = -(1 << 63), (1 << 64) - 1

_CLOCKS = tuple(Clock)
_NUMBER_OF_CLOCK = {clock: number for number, clock in enumerate(_CLOCKS)}

_Number = Annotated[int, msgspec.Meta(ge=0)]
_Name = str | None
_Count = int | None
_Time = tuple[int, _Number, int] | None
_PlaceRow = tuple[
    _Name, _Count, _Name, _Name, _Name, _Count, _Count, _Count, _Count, _Count, _Name, tuple[int, ...]
]  # fmt: skip
_place_row = attrgetter(*Place.__struct_fields__)
#: Nested values that are decoded as the tuples that they were: those of a flight recorder are five deep.
_T1 = tuple[Scalar, ...]
_T2 = tuple[Scalar | _T1, ...]
_T3 = tuple[Scalar | _T2, ...]
_T4 = tuple[Scalar | _T3, ...]
_T5 = tuple[Scalar | _T4, ...]
_Tree = tuple[Scalar | _T5, ...]


class NotPortable(ValueError):
    """The bytes are no collection; the message says what is wrong, and where."""


class _Problem(msgspec.Struct, array_like=True, frozen=True):
    what: str
    line: int | None
    count: int
    about: About = About.OTHER


class _SourceRow(msgspec.Struct, array_like=True, frozen=True):
    """A source; its place and what was searched for by number."""

    id: str
    path: str
    kind: str
    size: int
    records: int
    place: _Number
    first: _Time
    last: _Time
    gaps: tuple[tuple[_Time, _Time], ...]
    problems: tuple[_Problem, ...]
    ranks: tuple[int, ...]
    searched: _Number | None
    unended: bool = False


class _Packed(msgspec.Struct, array_like=True, frozen=True):
    """The tables, then a column for each part of a fact. `shapes`: a kind and the names of its fields; `values`: those of all
    facts, one after the other; `trees`: nested values, by their place in `values`, or `deep` where one is deeper than a
    `_Tree`. `clocks`: the number after the last where a fact has no time; `digests`: None where the text gives it."""

    strings: list[str]
    places: list[_PlaceRow]
    shapes: list[tuple[_Number, ...]]
    searched: list[tuple[str, list[tuple[str, str]]]]
    sources: list[_SourceRow]
    values: list[Scalar]
    trees: list[tuple[_Number, _Tree]]
    deep: list[tuple[_Number, Any]]
    shape_of: list[_Number]
    place_of: list[_Number]
    source_of: list[_Number]
    path_of: list[_Number]
    clocks: list[_Number]
    times: list[int]
    uncertainties: list[int]
    offsets: list[int]
    lengths: list[int]
    lines: list[int | None]
    columns: list[int | None]
    texts: list[str]
    digests: list[str | None]
    truncated: list[bool]
    repeats: list[int]


_ENCODER = msgpack.Encoder()
_DECODER = msgpack.Decoder(_Packed)
_TREES = msgpack.Decoder(list[tuple[_Number, _Tree]])


class _Table(dict[T, int]):
    """Numbers for what is looked up, in the order of first use."""

    def __missing__(self, key: T) -> int:
        self[key] = number = len(self)
        return number


# --- out


def packed(collection: Collection) -> bytes:
    """The collection as bytes; equal collections give equal bytes. Raises NotPortable for values nested too deeply."""
    try:
        document = _columns(collection)
        try:
            return _PLAIN + _ENCODER.encode(document)
        except (OverflowError, UnicodeEncodeError):
            return _ESCAPED + _ENCODER.encode(_escaped(msgspec.to_builtins(document)))
    except RecursionError as error:
        raise NotPortable("values are nested too deeply") from error


def _columns(collection: Collection) -> _Packed:
    strings, places, shapes = _Table[str](), _Table[Place](), _Table[tuple[int, ...]]()
    searched = _Table[Searched]()
    sources = [_source_row(source, places, searched) for source in collection.sources]
    facts = collection.facts
    spans = [fact.span for fact in facts]
    instants = [fact.instant or _NO_TIME for fact in facts]
    values: list[Any] = [*chain.from_iterable([fact.data.values() for fact in facts])]
    trees = [(at, value) for at, value in enumerate(values) if isinstance(value, tuple)]
    for at, _ in trees:
        values[at] = None
    shallow = _is_shallow(trees)
    return _Packed(
        shape_of=_shapes(facts, strings, shapes),
        place_of=[places[fact.place] for fact in facts],
        source_of=[strings[fact.source] for fact in facts],
        path_of=[strings[span.path] for span in spans],
        values=values,
        trees=trees if shallow else [],
        deep=[] if shallow else trees,
        clocks=[len(_CLOCKS) if time is _NO_TIME else _NUMBER_OF_CLOCK[time.clock] for time in instants],
        times=[time.ns for time in instants],
        uncertainties=[time.uncertainty_ns for time in instants],
        offsets=[span.offset for span in spans],
        lengths=[span.length for span in spans],
        lines=[span.line for span in spans],
        columns=[span.column for span in spans],
        texts=[span.text for span in spans],
        digests=[None if span.sha256 == _digest(span.text) else span.sha256 for span in spans],
        truncated=[span.truncated for span in spans],
        repeats=[fact.repeats for fact in facts],
        strings=list(strings),
        places=[_place_row(place) for place in places],
        shapes=list(shapes),
        searched=[(one.digest, list(one.names.items())) for one in searched],
        sources=sources,
    )


def _is_shallow(trees: Sequence[tuple[int, Any]]) -> bool:
    """Whether these can be decoded as typed: tried, because to look would take longer."""
    try:
        _TREES.decode(_ENCODER.encode(trees))
    except (msgspec.ValidationError, OverflowError, UnicodeEncodeError):
        return False
    return True


_NO_TIME = Instant(0, Clock.UTC)


def _shapes(facts: Iterable[Fact], strings: _Table[str], shapes: _Table[tuple[int, ...]]) -> list[int]:
    """The number of each fact's shape. The names of fields are hashed once for each, not for each fact."""
    known: dict[tuple[str, ...], int] = {}
    numbers = []
    for fact in facts:
        shape = (fact.kind, *fact.data)
        number = known.get(shape)
        if number is None:
            number = known[shape] = shapes[tuple(strings[name] for name in shape)]
        numbers.append(number)
    return numbers


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _source_row(source: Source, places: _Table[Place], searched: _Table[Searched]) -> _SourceRow:
    return _SourceRow(
        id=source.id,
        path=source.path,
        kind=source.kind,
        size=source.size,
        records=source.records,
        place=places[source.place],
        first=_time(source.first),
        last=_time(source.last),
        gaps=tuple((_time(gap.start), _time(gap.end)) for gap in source.gaps),
        problems=tuple(_Problem(p.what, p.line, p.count, p.about) for p in source.problems),
        ranks=source.ranks,
        searched=None if source.searched is None else searched[source.searched],
        unended=source.unended,
    )


def _time(instant: Instant | None) -> _Time:
    return (instant.ns, _NUMBER_OF_CLOCK[instant.clock], instant.uncertainty_ns) if instant else None


def _escaped(value: Any) -> Any:
    """The same with extension types for what msgpack cannot say."""
    if isinstance(value, int) and not _SMALLEST <= value <= _LARGEST:
        return msgpack.Ext(_LARGE, value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True))
    if isinstance(value, str) and not value.isascii():
        return msgpack.Ext(_BROKEN, value.encode("utf-8", "surrogatepass"))
    if isinstance(value, list | tuple):
        return [_escaped(item) for item in value]
    return value


# --- back


def unpacked(data: bytes) -> Collection:
    """The collection that `packed` wrote. Raises NotPortable for any other bytes."""
    try:
        return _collection(_document(data))
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, OverflowError) as error:
        raise NotPortable(str(error)) from error
    except RecursionError as error:
        raise NotPortable("nested too deeply") from error


def _document(data: bytes) -> _Packed:
    first, rest = data[:1], memoryview(data)[1:]
    if first == _PLAIN:
        return _DECODER.decode(rest)
    if first == _ESCAPED:
        return msgspec.convert(msgpack.decode(rest, ext_hook=_unescaped), _Packed)
    raise NotPortable("the first byte is neither 0 nor 1")


def _unescaped(code: int, data: memoryview) -> int | str:
    if code == _LARGE:
        return int.from_bytes(data, "big", signed=True)
    if code == _BROKEN:
        return str(data, "utf-8", "surrogatepass")
    raise NotPortable(f"there is no extension {code}")


def _collection(packed: _Packed) -> Collection:
    places = [*starmap(Place, packed.places)]
    searched = [Searched(digest, dict(names)) for digest, names in packed.searched]
    sources = tuple(_source(row, places, searched) for row in packed.sources)
    count = len(packed.shape_of)
    for name in _OF_A_FACT:
        if len(getattr(packed, name)) != count:
            raise NotPortable(f"{len(getattr(packed, name))} {name} of {count} facts")
    facts = _made(
        Fact,
        kind=_taken("kind of fact", [packed.strings[shape[0]] for shape in _named_shapes(packed)], packed.shape_of),
        data=_data(packed),
        place=_taken("place of fact", places, packed.place_of),
        span=_spans(packed),
        source=_taken("source of fact", packed.strings, packed.source_of),
        instant=_instants(packed),
        repeats=packed.repeats,
    )
    return Collection(sources, tuple(facts))


_OF_A_FACT = _Packed.__struct_fields__[_Packed.__struct_fields__.index("place_of") :]


def _made(cls: type[S], **columns: Iterable[object]) -> list[S]:
    """The objects whose values stand in these columns, one for each field."""
    in_order = [columns[name] for name in cls.__struct_fields__]
    return [*starmap(cls, zip(*in_order, strict=True))]


def _taken(what: str, table: Sequence[T], numbers: Sequence[int]) -> list[T]:
    """What stands at each of these numbers."""
    try:
        return [*map(table.__getitem__, numbers)]
    except IndexError:
        at = next(at for at, number in enumerate(numbers) if number >= len(table))
        raise NotPortable(f"{what} {at}: there is no {numbers[at]} in a table of {len(table)}") from None


def _named_shapes(packed: _Packed) -> Iterator[tuple[int, ...]]:
    for at, shape in enumerate(packed.shapes):
        if not shape or max(shape) >= len(packed.strings) or len(set(shape[1:])) < len(shape) - 1:
            raise NotPortable(f"shape {at}: no kind, a field twice, or a name that is not in the table")
        yield shape


def _data(packed: _Packed) -> Iterator[Mapping[str, Value]]:
    """The fields of each fact. Equal strings become one."""
    names = [[packed.strings[number] for number in shape[1:]] for shape in _named_shapes(packed)]
    seen: dict[str, str] = {}
    values: list[Value] = [seen.setdefault(v, v) if type(v) is str else v for v in packed.values]
    for at, tree in chain(packed.trees, ((at, _tuples(tree)) for at, tree in packed.deep)):
        if at >= len(values):
            raise NotPortable(f"a nested value is number {at} of {len(values)}")
        values[at] = tree
    wanted = sum(len(names[number]) for number in packed.shape_of)
    if wanted != len(values):
        raise NotPortable(f"{len(values)} values, and {wanted} fields")
    following = iter(values)
    return (
        dict(zip(fields, islice(following, len(fields)), strict=True))
        for fields in map(names.__getitem__, packed.shape_of)
    )


def _tuples(value: Any) -> Value:
    """A nested value, which decodes as lists, as the tuples that it was."""
    if type(value) is not list:
        raise NotPortable(f"a nested value holds {type(value).__name__}")
    return tuple([item if type(item) in _SCALARS else _tuples(item) for item in value])


_SCALARS = frozenset({str, int, float, bool, type(None)})


def _spans(packed: _Packed) -> list[Span]:
    digests = [
        _digest(text) if digest is None else digest for text, digest in zip(packed.texts, packed.digests, strict=True)
    ]
    return _made(
        Span,
        path=_taken("path of fact", packed.strings, packed.path_of),
        offset=packed.offsets,
        length=packed.lengths,
        line=packed.lines,
        column=packed.columns,
        text=packed.texts,
        sha256=digests,
        truncated=packed.truncated,
    )


def _instants(packed: _Packed) -> list[Instant | None]:
    clocks = _taken("clock of fact", (*_CLOCKS, None), packed.clocks)
    times = _made(Instant, ns=packed.times, clock=clocks, uncertainty_ns=packed.uncertainties)
    return [time if clock else None for time, clock in zip(times, clocks, strict=True)]


def _source(row: _SourceRow, places: Sequence[Place], searched: Sequence[Searched]) -> Source:
    (place,) = _taken(f"place of source {row.path!r}:", places, [row.place])
    return Source(
        id=row.id,
        path=row.path,
        kind=row.kind,
        size=row.size,
        records=row.records,
        place=place,
        first=_instant_of(row.first),
        last=_instant_of(row.last),
        gaps=tuple(_gap(start, end) for start, end in row.gaps),
        problems=tuple(Problem(p.what, p.line, p.count, p.about) for p in row.problems),
        ranks=row.ranks,
        searched=None if row.searched is None else _taken("searched", searched, [row.searched])[0],
        unended=row.unended,
    )


def _instant_of(time: _Time) -> Instant | None:
    if time is None:
        return None
    ns, clock, uncertainty_ns = time
    return Instant(ns, _taken("clock", _CLOCKS, [clock])[0], uncertainty_ns)


def _gap(start: _Time, end: _Time) -> Gap:
    begins, ends = _instant_of(start), _instant_of(end)
    if begins is None or ends is None:
        raise NotPortable("a gap without a beginning or an end")
    return Gap(begins, ends)
