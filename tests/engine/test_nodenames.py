"""A process is at the host that its own account of the machine names, unless something else says where it is."""

from __future__ import annotations

import pytest
from builders import hit

from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.nodenames import at_their_nodenames
from neuron_doctor.engine.topology import complete, survey


def named(host: str, pid: int | None, source: str = "s", **place: object) -> Fact:
    return Fact("identity", {"hostname": host}, Place(pid=pid, **place), Span(source), source)  # type: ignore[arg-type]


def hosts(*facts: Fact) -> list[str | None]:
    return [fact.place.host for fact in at_their_nodenames(facts) if fact.kind == "hit"]


def test_what_a_process_says_was_where_its_infodump_names() -> None:
    assert hosts(hit("x", pid=7), named("node3", 7)) == ["node3"]


def test_another_process_or_file_may_be_of_another_host() -> None:
    assert hosts(hit("x", pid=8), hit("x"), hit("x", pid=7, source="t"), named("node3", 7)) == [None, None, None]


def test_a_number_that_is_a_process_of_two_hosts_proves_nothing() -> None:
    assert hosts(hit("x", pid=7), named("node3", 7), named("node4", 7)) == [None]


def test_what_is_known_otherwise_stays() -> None:
    assert hosts(hit("x", pid=7, host="rack4-07"), named("ip-10-0-3-7", 7)) == ["rack4-07"]


def test_the_nodename_in_a_container_is_the_pods() -> None:
    assert hosts(hit("x", pid=7, container="w-0"), named("w-0", 7, container="w-0")) == [None]


def pod(name: str, node: str, source: str = "k") -> Fact:
    return Fact("pod", {"name": name, "node": node}, Place(host=node, container=name), Span(source), source)


def test_a_process_whose_nodename_is_a_pod_is_on_the_node_of_that_pod() -> None:
    placed = at_their_nodenames([hit("x", pid=7), named("serve-c-m4tz", 7), pod("serve-c-m4tz", "inf2-c")])
    assert placed[0].place.known() == {"host": "inf2-c", "container": "serve-c-m4tz", "pid": 7}
    assert placed[1].data["hostname"] == "inf2-c"


def test_a_pod_that_was_seen_on_two_nodes_is_on_none_of_them() -> None:
    assert hosts(hit("x", pid=7), named("w-0", 7), pod("w-0", "inf2-a"), pod("w-0", "inf2-b")) == ["w-0"]


@pytest.mark.parametrize(("name", "found"), [("ip-10-2-9-44", "ip-10-2-9-44"), ("10.2.9.45", "10.2.9.45")])
def test_a_host_that_is_called_after_its_address_is_the_one_of_that_address(name: str, found: str) -> None:
    facts = [hit("x", host="ip-10-2-9-44"), hit("y", host="10.2.9.44"), hit("z", host=name)]
    placed = list(complete(facts, survey(facts, ())))
    assert [fact.place.host for fact in placed] == ["ip-10-2-9-44", "ip-10-2-9-44", found]


def test_a_rank_that_says_the_name_of_a_known_host_is_there() -> None:
    told = [named("node3", None, rank=7), named("part-00012", None, rank=8)]
    kernel = hit("oops", host="node3", source="dmesg", offset=9)
    assert hosts(hit("x", rank=7), hit("x", rank=8, offset=1), kernel, *told) == ["node3", None, "node3"]
    assert hosts(hit("x", rank=7), *told) == [None]
    nothing = Fact("identity", {}, Place(rank=7), Span("s"), "s")
    assert hosts(hit("x", rank=7), nothing) == [None]
    moved = [*told, named("node4", None, rank=7), hit("y", host="node4", source="d", offset=8)]
    assert hosts(hit("x", rank=7), kernel, *moved)[0] is None
