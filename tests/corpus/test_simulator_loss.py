"""Losses: each cell takes what its name says, and marks are cut with the bytes."""

import gzip
from collections.abc import Callable, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_doctor.corpus.simulator import loss as losses
from neuron_doctor.corpus.simulator.history import History
from neuron_doctor.corpus.simulator.loss import CELLS, Loss, apply, named, restyled, skewed
from neuron_doctor.corpus.simulator.style import Style
from neuron_doctor.corpus.simulator.truth import File, Mark

RANKS = 20
LINE = b"a line that states the fault\n"


def incident() -> tuple[File, ...]:
    """A runtime log, a framework log and a dump of each rank, and a few files of each host; every line is marked."""
    data = b"filler\n" * 20 + LINE + b"more\n" * 20
    marks = (Mark(140, len(LINE) - 1, 0),)
    of_ranks = [
        File(f"h{rank % 2}/{source}-{rank}.log", data, source, rank % 2, (rank,), marks)
        for rank in range(RANKS)
        for source in ("runtime-log", "framework-log", "flight-recorder")
    ]
    of_hosts = [
        File(f"h{host}/{source}", data, source, host, tuple(range(host, RANKS, 2)), marks)
        for host in range(2)
        for source in ("dmesg", "launcher-log", "monitor", "ndet")
    ]
    return (*of_ranks, *of_hosts)


def ranks(files: Sequence[File], source: str) -> set[int]:
    return {rank for file in files if file.source == source for rank in file.ranks}


@settings(deadline=None)
@given(st.sampled_from(CELLS), st.integers(0, 2**32))
def test_in_every_cell_a_mark_that_is_left_still_covers_the_bytes_it_covered(loss: Loss, seed: int) -> None:
    left = apply(loss, incident(), (3,), Random(seed))
    assert left == apply(loss, incident(), (3,), Random(seed))
    assert len({file.path for file in left}) == len(left)
    for file in left:
        data = gzip.decompress(file.data) if file.path.endswith(".gz") else file.data
        for mark in file.marks:
            assert data[mark.offset : mark.offset + mark.length] == LINE[:-1]
        if not file.marks and file.source != "noise":
            assert LINE[:-1] not in data


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32))
def test_each_cell_takes_what_its_name_says(seed: int) -> None:
    def left(cell: str) -> tuple[File, ...]:
        return apply(named(cell), incident(), (3, 4), Random(seed))

    everyone = set(range(RANKS))
    assert ranks(left("full"), "runtime-log") == ranks(left("full"), "flight-recorder") == everyone
    assert not ranks(left("no-recorder"), "flight-recorder")
    assert not ranks(left("no-dmesg"), "dmesg")
    assert not ranks(left("no-launcher"), "launcher-log")
    assert not ranks(left("no-monitor"), "monitor")
    assert len(ranks(left("logs-10"), "runtime-log")) == 18
    assert ranks(left("logs-10"), "runtime-log") == ranks(left("logs-10"), "framework-log")
    assert len(ranks(left("logs-50"), "runtime-log")) == 10
    assert len(ranks(left("dumps-15"), "flight-recorder")) == 17
    assert ranks(left("culprit-log-gone"), "runtime-log") == everyone - {3, 4}
    assert ranks(left("culprit-dump-gone"), "flight-recorder") == everyone - {3, 4}
    assert ranks(left("culprit-dump-gone"), "runtime-log") == everyone
    both = left("no-recorder+logs-10")
    assert not ranks(both, "flight-recorder")
    assert len(ranks(both, "runtime-log")) == 18


def test_cut_cells_cut_and_the_full_cell_does_not() -> None:
    def sizes(cell: str) -> int:
        return sum(
            len(file.data) for file in apply(named(cell), incident(), (), Random(1)) if file.path.endswith(".log")
        )

    assert sizes("cut-tails") < sizes("full")
    assert sizes("cut-heads") < sizes("full")


def test_an_empty_incident_loses_nothing() -> None:
    for loss in CELLS:
        assert all(file.source == "noise" for file in apply(loss, (), (0,), Random(1)))


@settings(deadline=None)
@given(st.integers(0, 2**32))
def test_only_the_skewed_cell_has_clocks_that_are_far_off(hand_made: Callable[..., History], seed: int) -> None:
    job = hand_made().job
    near = skewed(named("full"), job, Random(seed))
    assert all(abs(host.clock.offset) <= 0.02 and host.clock.drift == 0 for host in near.hosts)
    far = skewed(named("skewed"), job, Random(seed))
    assert all(abs(host.clock.offset) <= 600 for host in far.hosts)
    assert far.seats == job.seats


def test_styles_change_only_where_the_cell_is_about_them() -> None:
    style = Style(noise=0.5)
    assert restyled(named("full"), style, Random(1)) == style
    assert restyled(named("noisy"), style, Random(1)).noise == 2.0
    assert len({restyled(named("skewed"), style, Random(seed)).utc_offset for seed in range(20)}) > 3


def test_an_unknown_cell_is_not_made_up() -> None:
    with pytest.raises(StopIteration):
        named("half")
    assert losses.draw(Random(1)) in CELLS
