"""Chunks as a stream: full reads, damage as an end, and the digest that copies share."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.collectors.base import HEAD
from neuron_doctor.collectors.streams import ChunkStream, Damaged, Sample, digest, finish, streamed
from neuron_doctor.engine.facts import NOWHERE, Place

CHUNKS = st.lists(st.binary(min_size=1, max_size=50).map(lambda b: b * 4000), max_size=12)


def torn(chunks: list[bytes], error: Exception) -> Iterator[bytes]:
    yield from chunks
    raise error


@given(CHUNKS, st.lists(st.integers(1, 300_000), min_size=1))
def test_what_is_read_is_what_the_chunks_hold_whatever_the_sizes(chunks: list[bytes], sizes: list[int]) -> None:
    stream = io.BufferedReader(ChunkStream(iter(chunks)), HEAD)
    whole = b"".join(chunks)
    read = b"".join(stream.read(size) for size in sizes)
    assert read == whole[: sum(sizes)]
    assert read + stream.read() == whole


@given(CHUNKS)
def test_a_peek_shows_the_whole_head(chunks: list[bytes]) -> None:
    stream = io.BufferedReader(ChunkStream(iter(chunks)), HEAD)
    assert stream.peek() == b"".join(chunks)[:HEAD]


@given(CHUNKS)
def test_a_sample_is_the_same_however_the_bytes_were_cut(chunks: list[bytes]) -> None:
    sample, whole = Sample(), b"".join(chunks)
    for chunk in chunks:
        sample.add(chunk)
    assert (sample.size, sample.head, sample.tail) == (len(whole), whole[:HEAD], whole[-HEAD:])


@pytest.mark.parametrize(
    ("error", "problem"),
    [(Damaged("cut off"), "cut off"), (OSError(5, "Input/output error"), "cannot be read: Input/output error")],
)
def test_damage_ends_the_stream_and_becomes_one_problem(error: Exception, problem: str) -> None:
    inp = streamed("a!b", "b", torn([b"what there was"], error))
    assert inp.stream.read() == b"what there was"
    assert inp.stream.read() == b""
    assert [(p.what, p.count) for p in inp.problems.values()] == [(problem, 1)]


def test_the_id_is_final_only_when_all_was_read_and_finishing_reads_the_rest() -> None:
    read = streamed("a", "a", iter([b"x" * 200_000, b"end"]))
    left = streamed("b", "b", iter([b"x" * 100_000, b"x" * 100_000 + b"end"]))
    read.stream.read()
    assert finish(read) == finish(left) == read.source_id == left.source_id
    assert left.size == 200_003


def test_the_id_tells_contents_and_places_apart() -> None:
    big = b"x" * HEAD
    ids = [
        digest(NOWHERE, 3, b"abc", b"abc"),
        digest(NOWHERE, 3, b"abd", b"abd"),
        digest(Place(host="node1"), 3, b"abc", b"abc"),
        digest(Place(rank=1), 3, b"abc", b"abc"),
        digest(NOWHERE, 200_000, big, big),
        digest(NOWHERE, 200_001, big, big),
        digest(NOWHERE, 200_000, big, big[:-1] + b"y"),
    ]
    assert len(set(ids)) == len(ids)
