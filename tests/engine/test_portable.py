"""A collection comes back from its bytes as it was; other bytes are an error that says where, and cost no memory."""

from __future__ import annotations

import math
import subprocess
import sys
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import msgpack
from msgspec.structs import replace

from neuron_doctor.engine.facts import (
    About,
    Clock,
    Collection,
    Fact,
    Gap,
    Instant,
    Place,
    Problem,
    Searched,
    Source,
    Span,
    span_of,
)
from neuron_doctor.engine.portable import NotPortable, packed, unpacked
from neuron_doctor.engine.recorder import GroupRecord

TEXT = st.text(st.characters(), max_size=12)  # lone surrogates too
INTEGER = st.integers() | st.sampled_from([2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**40])
NAMES = st.none() | TEXT
COUNTS = st.none() | INTEGER
SCALARS = st.none() | st.booleans() | INTEGER | st.floats() | TEXT
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=12)
INSTANTS = st.none() | st.builds(Instant, INTEGER, st.sampled_from(Clock), st.integers(0))
PLACES = st.builds(
    Place,
    *(NAMES, COUNTS, NAMES, NAMES, NAMES, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, NAMES),
    st.lists(INTEGER, max_size=3).map(tuple),
)
SPANS = st.builds(Span, TEXT, INTEGER, INTEGER, COUNTS, COUNTS, TEXT, TEXT, st.booleans()) | st.builds(
    span_of, TEXT, st.binary(max_size=20), st.integers(0, 99), st.just(3), st.just(1)
)
FACTS = st.builds(
    Fact, TEXT, st.dictionaries(TEXT, VALUES, max_size=4), PLACES, SPANS, TEXT, INSTANTS, st.integers(0, 2**40)
)
#: A digest names what it is of.
SEARCHED = st.none() | st.dictionaries(TEXT, TEXT, max_size=3).map(
    lambda names: Searched(repr(sorted(names.items())), names)
)
GAPS = st.lists(st.builds(Gap, INSTANTS.filter(bool), INSTANTS.filter(bool)), max_size=2).map(tuple)
PROBLEMS = st.lists(st.builds(Problem, TEXT, COUNTS, INTEGER), max_size=2).map(tuple)
RANKS = st.lists(st.integers(0, 9), max_size=3).map(tuple)
SOURCES = st.builds(
    Source, TEXT, TEXT, TEXT, INTEGER, INTEGER, PLACES, INSTANTS, INSTANTS, GAPS, PROBLEMS, RANKS, SEARCHED
)
COLLECTIONS = st.builds(Collection, st.lists(SOURCES, max_size=3).map(tuple), st.lists(FACTS, max_size=5).map(tuple))
#: What can really be collected, to be damaged.
PLAIN = Collection(
    (
        Source(
            "a",
            "x/y.log",
            "log",
            9,
            2,
            Place(host="h"),
            Instant(5, Clock.UTC),
            problems=(Problem("torn", 3), Problem("whose it is", about=About.RANK)),
            unended=True,
        ),
    ),
    (
        Fact(
            "hit",
            {"pattern": "p", "code": 5},
            Place(host="h", rank=3),
            span_of("x/y.log", b"code 5", 7, 1, 1),
            "a",
            Instant(5, Clock.UTC, 2),
        ),
        Fact("fr-rank", {"groups": (("g", (1, 2)), ())}, Place(rank=3), span_of("x/y.log", b"z", 7), "a", repeats=4),
    ),
)


def exact(value: object) -> object:
    """What tells 1 from True and from 1.0, and NaN from nothing."""
    if isinstance(value, tuple):
        return ("tuple", *(exact(item) for item in value))
    if isinstance(value, float) and math.isnan(value):
        return "float", "nan"
    return type(value).__name__, repr(value)


@given(COLLECTIONS)
@settings(deadline=None)
def test_a_collection_comes_back_as_it_was(collection: Collection) -> None:
    back = unpacked(packed(collection))
    assert [repr(fact) for fact in back.facts] == [repr(fact) for fact in collection.facts]
    assert back.sources == collection.sources
    for one, other in zip(back.facts, collection.facts, strict=True):
        assert list(map(exact, one.data.values())) == list(map(exact, other.data.values()))
    for source, known in zip(back.sources, collection.sources, strict=True):
        assert (source.searched and source.searched.names) == (known.searched and known.searched.names)


@given(COLLECTIONS)
@settings(deadline=None)
def test_equal_collections_give_equal_bytes(collection: Collection) -> None:
    assert packed(unpacked(packed(collection))) == packed(collection)


def test_a_summary_of_a_ring_comes_back_as_plain_tuples_that_equal_it() -> None:
    group = GroupRecord("0", "dp", 0, "0-3", 5, 4, 3, True, True, 9, True, False, False, (), (), (), (), ())
    fact = replace(PLAIN.facts[1], data={"groups": (group,)})
    assert unpacked(packed(Collection(facts=(fact,)))).facts == (fact,)


def test_what_facts_share_is_one_object_again() -> None:
    facts = tuple(replace(PLAIN.facts[0], repeats=n) for n in range(9))
    back = unpacked(packed(Collection(facts=facts))).facts
    assert len({id(f.place) for f in back}) == len({id(f.span.path) for f in back}) == 1
    assert len({id(f.data["pattern"]) for f in back}) == 1


def test_values_that_are_nested_too_deeply_are_refused_on_the_way_out() -> None:
    deep: tuple[object, ...] = ()
    for _ in range(100_000):
        deep = (deep,)
    with pytest.raises(NotPortable, match="too deeply"):
        packed(Collection(facts=(replace(PLAIN.facts[0], data={"x": deep}),)))  # type: ignore[dict-item]


@given(st.binary(max_size=200))
def test_any_bytes_are_a_collection_or_an_error(data: bytes) -> None:
    with suppress(NotPortable):
        assert isinstance(unpacked(data), Collection)


@given(st.integers(0, 10**6), st.integers(0, 255), st.booleans())
@settings(deadline=None, max_examples=400)
def test_a_collection_with_a_byte_changed_or_an_end_lost_is_one_or_an_error(at: int, byte: int, cut: bool) -> None:
    whole = packed(PLAIN)
    at %= len(whole)
    damaged = whole[:at] if cut else whole[:at] + bytes([byte]) + whole[at + 1 :]
    with suppress(NotPortable):
        assert unpacked(packed(unpacked(damaged))) == unpacked(damaged)


def changed(**columns: object) -> bytes:
    """The bytes of PLAIN with other columns."""
    from neuron_doctor.engine import portable  # noqa: PLC0415

    document = msgpack.decode(packed(PLAIN)[1:])
    names = portable._Packed.__struct_fields__
    return b"\0" + msgpack.encode([columns.get(name, column) for name, column in zip(names, document, strict=True)])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"path_of": [0, 99]}, "path of fact 1: there is no 99 in a table of"),
        ({"source_of": [77, 0]}, "source of fact 0: there is no 77"),
        ({"place_of": [0, -1]}, r"Expected `int` >= 0 - at `\$\[9\]\[1\]`"),
        ({"place_of": [0]}, "1 place_of of 2 facts"),
        ({"clocks": [0, 9]}, "clock of fact 1"),
        ({"shape_of": [0, 5]}, "fact 1: there is no 5"),
        ({"shapes": [[], [0]]}, "shape 0"),
        ({"shapes": [[0, 1, 1], [0]]}, "shape 0"),
        ({"values": []}, "nested value is number|0 values, and 3 fields"),
        ({"trees": [[9, [1]]]}, "nested value is number 9"),
        ({"trees": [[0, {"a": 1}]]}, "Expected `array`"),
        ({"deep": [[0, {"a": 1}]]}, "holds dict"),
        ({"texts": ["x", 5]}, r"Expected `str`, got `int` - at `\$\[19\]\[1\]`"),
        ({"places": [[None]]}, "length"),
    ],
)
def test_what_does_not_fit_together_is_said_with_its_place(columns: dict[str, object], message: str) -> None:
    with pytest.raises(NotPortable, match=message):
        unpacked(changed(**columns))


HOSTILE = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))
from neuron_doctor.engine.portable import NotPortable, unpacked
for flag in (b"\\0", b"\\1"):
    for head in (b"\\xdd\\x7f\\xff\\xff\\xff", b"\\x91\\xdd\\x7f\\xff\\xff\\xff", b"\\xdf\\x7f\\xff\\xff\\xff",
                 b"\\xdb\\xff\\xff\\xff\\xff", b"\\xc9\\xff\\xff\\xff\\xff\\1", b"\\x91" * 100_000,
                 b"\\xdd\\x7f\\xff\\xff\\xff" * 1000):
        for tail in (b"", b"\\1" * 50):
            try:
                unpacked(flag + head + tail)
            except NotPortable:
                continue
            raise SystemExit("taken for a collection")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
def test_declared_lengths_and_nesting_cost_no_memory() -> None:
    done = subprocess.run([sys.executable, "-c", HOSTILE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
