"""The core that does not hang while the kernels say of all others of the job that they do."""

from __future__ import annotations

import pytest

from neuron_doctor.engine.facts import Fact, Place, Source, Span
from neuron_doctor.engine.quiet_cores import quiet_rank
from neuron_doctor.engine.silence import silent_ranks
from neuron_doctor.engine.topology import Topology

#: Two hosts with four devices of two cores each; the ranks of `b` come first.
HOSTS = {"b": 0, "a": 8}


def hangs(*but: int, hosts: tuple[str, ...] = ("a", "b")) -> list[Fact]:
    """What the kernels say of all cores but those of these ranks."""
    return [
        Fact(
            "hw-err", {"name": "HANG_ON_COLLECTIVES"}, Place(host=host, device=n // 2, core=n % 2), Span("kern"), "kern"
        )
        for host in hosts
        for n in range(8)
        if HOSTS[host] + n not in but
    ]


def says(rank: int, *, over_host: bool = False, **place: int) -> Fact:
    """What the runtime of a rank says, of its core on the device or on the host."""
    host, n = ("a", rank - 8) if rank >= 8 else ("b", rank)
    where = Place(**{"host": host, "rank": rank, "device": n // 2, "core": n if over_host else n % 2, **place})  # type: ignore[arg-type]
    return Fact("hang-report", {"what": "collectives"}, where, Span("train.log"), "train.log")


def quiet(*facts: Fact, size: int = 16) -> int | None:
    found = quiet_rank(facts, size)
    return found.rank if found else None


@pytest.mark.parametrize("over_host", [False, True])
def test_the_one_quiet_core_is_that_of_a_rank(*, over_host: bool) -> None:
    told = [says(rank, over_host=over_host) for rank in (8, 9, 14)]
    assert quiet(*hangs(11), *told) == 11
    assert quiet(*hangs(11), *told[:2]) is None  # too few show how ranks are numbered
    assert quiet(*hangs(3), *told) is None  # those are of another host


def test_nothing_follows_where_more_than_one_is_quiet_or_a_host_has_not_spoken() -> None:
    told = [says(rank) for rank in (8, 9, 14)]
    assert quiet(*hangs(), *told) is None
    assert quiet(*hangs(10, 11), *told) is None
    assert quiet(*hangs(11, hosts=("a",)), *told) is None
    assert quiet(*hangs(11), *told, size=32) is None


def test_ranks_that_are_numbered_otherwise_do_not_tell_whose_core_it_is() -> None:
    assert quiet(*hangs(11), says(8), says(9), says(14, device=1)) is None
    assert quiet(*hangs(11), says(8), says(9), says(14), says(15, core=0)) is None


def test_the_rank_of_the_quiet_core_is_silent_unless_it_speaks() -> None:
    step = Fact("progress", {}, Place(), Span("train.log"), "train.log")
    facts = [step, *hangs(11), *(says(rank) for rank in (1, 8, 9, 14))]
    tee = [Source("train.log", "train.log", "log", records=9)]

    def silent(*more: Fact) -> list[int | None]:
        found = silent_ranks([*facts, *more], tee, frozenset(), Topology(world_size=16))
        return [fact.place.rank for fact in found]

    assert silent() == [11]
    assert silent(says(11)) == []
