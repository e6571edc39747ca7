"""Many ranks and hosts in few characters."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.reports.ranges import host_list, ranges


def expanded(text: str) -> set[int]:
    numbers: set[int] = set()
    for run in filter(None, text.split(",")):
        first, _, last = run.partition("-")
        numbers |= set(range(int(first), int(last or first) + 1))
    return numbers


def test_runs_of_ranks_are_written_as_intervals() -> None:
    assert ranges([40, *range(32), 31]) == "0-31,40"
    assert ranges([7]) == "7"
    assert ranges([]) == ""


def test_many_runs_end_with_the_number_of_ranks_in_all() -> None:
    assert ranges(range(0, 2048, 2), most=3) == "0,2,4,... (1,024 in all)"


@given(st.sets(st.integers(0, 300)))
def test_ranges_say_exactly_the_numbers_that_went_in(numbers: set[int]) -> None:
    assert expanded(ranges(numbers, most=400)) == numbers


def test_numbered_hosts_are_folded_as_slurm_does() -> None:
    assert host_list([f"node-{n:02d}" for n in (1, 2, 3, 7)]) == "node-[01-03,07]"
    assert host_list(["ip-10-0-3-7"]) == "ip-10-0-3-7"
    assert host_list(["n9", "n10"]) == "n10, n9"
    assert host_list(["head", "node1", "node2"]) == "head, node[1-2]"


def test_many_unlike_hosts_end_with_a_count_of_the_rest() -> None:
    hosts = [f"ip-10-0-{n}-7" for n in range(64)]
    assert host_list(hosts) == "ip-10-0-0-7, ip-10-0-1-7, ip-10-0-10-7 and 61 more"


@given(st.sets(st.text(min_size=1, max_size=12), min_size=1))
def test_every_host_that_cannot_be_folded_is_named_when_there_is_room(hosts: set[str]) -> None:
    text = host_list(hosts, most=len(hosts))
    assert all(host in text for host in hosts if not re.search(r"[0-9]\Z", host))
