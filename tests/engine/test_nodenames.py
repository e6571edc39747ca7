"""A process is at the host that its own account of the machine names, unless something else says where it is."""

from __future__ import annotations

import pytest
from builders import hit
from msgspec.structs import replace

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


def test_a_name_that_ec2_gives_is_that_of_the_host_of_a_container() -> None:
    inside = hit("x", pid=7, container="mnp_default_b7c0")
    assert hosts(inside, named("ip-10-3-19-77", 7, container="mnp_default_b7c0")) == ["ip-10-3-19-77"]


def at(path: str, *, name: str = "", pid: int | None = None) -> Fact:
    fact = named(name, pid) if name else hit("x", pid=pid)
    return replace(fact, source=path, span=Span(path))


def test_a_log_of_a_node_is_of_the_machine_that_a_process_in_it_names() -> None:
    assert hosts(at("cw/x_node2.json!events"), at("cw/x_node2.json!events", name="n-b", pid=7)) == ["n-b"]


@pytest.mark.parametrize(
    ("path", "others"),
    [
        ("slurm-2.out", []),  # of a job, which has several nodes
        ("node2.log", [at("node2.log", name="n-c", pid=8)]),
        ("node2.log", [at("node1.log", name="n-b", pid=8)]),  # one machine behind both: numbers of attempts
        ("node2.log", [at("node2.log", name=name, pid=8) for name in ("n-b", "n-c")]),  # a number of two machines
    ],
)
def test_a_log_that_may_be_of_several_machines_is_of_none_of_them(path: str, others: list[Fact]) -> None:
    assert hosts(at(path), at(path, name="n-b", pid=7), *others) == [None]


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


def said(word: str, rank: int, source: str = "s") -> Fact:
    return Fact("identity", {"word": word}, Place(rank=rank), Span(source), source)


def ended(host: str, *ranks: int, source: str = "s") -> Fact:
    return Fact("launcher-failure", {"launcher": "srun"}, Place(host=host, ranks=ranks), Span(source), source)


def test_a_word_of_a_rank_is_its_host_if_something_else_knows_a_host_of_that_name() -> None:
    kernel = hit("k", host="kestrel03", source="dmesg")
    assert hosts(hit("x", rank=39), said("kestrel03", 39), kernel) == [*["kestrel03"] * 2]
    assert hosts(hit("x", rank=39), said("kestrel03", 39)) == [None]


def test_nodes_of_the_job_are_known_hosts() -> None:
    accounted = Fact("slurm-job", {"job_id": "7", "nodes": "heron[1-2]"}, Place(job="7"), Span("a"), "a")
    assert hosts(hit("x", rank=3), said("heron2", 3), accounted) == ["heron2"]


def test_ranks_whose_ends_srun_reports_were_on_the_host_that_it_names() -> None:
    assert hosts(hit("x", rank=9), hit("y", rank=7), ended("trn-b02", 8, 9, 10)) == ["trn-b02", None]


def test_the_ranks_of_another_log_are_those_of_another_job_perhaps() -> None:
    facts = [hit("x", rank=2, source="a"), hit("y", rank=2, source="b"), ended("q-12", 0, 1, 2, source="b")]
    assert hosts(*facts, ended("q-03", 0, 1, 2, source="a")) == ["q-03", "q-12"]


def test_a_rank_that_was_on_two_hosts_is_on_neither() -> None:
    assert hosts(hit("x", rank=2), ended("q-12", 2), ended("q-03", 2)) == [None]


def mapped(offset: int, source: str = "s", **place: object) -> Fact:
    return Fact("mapping", {}, Place(**place), Span(source, offset), source)  # type: ignore[arg-type]


def test_the_map_of_a_launcher_has_the_ranks_of_each_node_below_its_name() -> None:
    lines = [
        mapped(0, host="trn-a"),
        mapped(5, rank=0),
        mapped(9, rank=1),
        mapped(12, host="trn-b"),
        mapped(20, rank=2),
    ]
    assert hosts(hit("x", rank=1), hit("y", rank=2), hit("z", rank=3), *reversed(lines)) == ["trn-a", "trn-b", None]


def test_ranks_in_another_log_are_below_no_node_of_a_map() -> None:
    assert hosts(hit("x", rank=1, source="t"), mapped(0, host="trn-a"), mapped(5, "t", rank=1)) == [None]


def test_a_record_that_names_the_host_of_a_rank_or_process_says_so_for_all_of_its_log() -> None:
    bound = Fact("identity", {}, Place(host="node07", rank=8), Span("s"), "s")
    pinned = Fact("identity", {}, Place(host="node08", rank=9, pid=41), Span("s"), "s")
    assert hosts(hit("x", rank=8), hit("y", pid=41), hit("z", rank=8, source="t"), bound, pinned) == [
        "node07",
        "node08",
        None,
    ]


def test_rank_0_is_where_all_others_meet_it_if_something_knows_a_host_of_that_name() -> None:
    meeting = Fact("meeting", {"address": "n23:48620"}, Place(), Span("s"), "s")
    elsewhere = hit("y", host="n23", source="t")
    assert hosts(hit("x", rank=0), hit("x", rank=1), meeting, elsewhere) == ["n23", None, "n23"]
    assert hosts(hit("x", rank=0), meeting) == [None]
    # every node's log tells where that is
    of_a_node = [
        replace(fact, source="worker-1.log", span=Span("worker-1.log")) for fact in (hit("x", device=3), meeting)
    ]
    assert hosts(*of_a_node, elsewhere) == [None, "n23"]
    # a neighbour in a ring cannot be reached either
    cannot = Fact("hang-report", {"what": "retry", "peer": "n23:41021"}, Place(rank=5), Span("s"), "s")
    assert hosts(hit("x", rank=0), cannot, elsewhere) == [None, "n23"]


@pytest.mark.parametrize(
    ("before", "behind", "found"),
    [
        ("-np 4", "train.py", ["n3", "n3", "n7", None]),
        ("--tag-output", "train.py", ["n3", "n3", "n7", None]),
        ("", "-n 2 train.py", ["n3", "n3", None, None]),
        ("-np 4 --map-by node", "train.py", [None] * 4),
        ("-np 4", "--rank-by node train.py", [None] * 4),
        ("-N 1", "train.py", [None] * 4),
        ("-np 4", "-mca rmaps_base_mapping_policy node train.py", [None] * 4),
        ("-np 4", "\\", [None] * 4),
    ],
)
def test_mpirun_fills_the_hosts_that_it_is_told_one_after_the_other(
    before: str, behind: str, found: list[str | None]
) -> None:
    told = {"slots": "n3:2,n7:2", "before": before, "behind": behind}
    command = Fact("host-slots", dict(told), Place(), Span("s"), "s")
    ranks = [hit("x", rank=rank) for rank in (0, 1, 2, 4)]
    assert hosts(*ranks, command) == found
    again = replace(command, data={**told, "slots": "n7:2,n3:2"})
    assert hosts(*ranks, command, again) == [None] * 4
    huge = replace(command, data={**told, "slots": ",".join(f"n{n}:9999" for n in range(99))})
    assert hosts(*ranks, huge) == [None] * 4
    twice = replace(command, data={**told, "slots": "n3:2,n3:2"})
    assert hosts(*ranks, twice) == [None] * 4


@pytest.mark.parametrize(
    ("before", "behind", "found"),
    [
        ("-np 2", "./t5.sh 2>&1 | tee t5.log", ["n3", "n7"]),
        ("", "-n 2 --map-by ppr:1:node ./t5.sh", ["n3", "n7"]),
        ("-np 2 -N 1", "./t5.sh", ["n3", "n7"]),
        ("-np 2", "--rank-by slot ./t5.sh", [None] * 2),
        ("-np 2", "--hostfile h ./t5.sh", [None] * 2),
        ("-np 4", "./t5.sh", [None] * 2),
        ("", "./t5.sh", [None] * 2),
    ],
)
def test_as_many_ranks_as_hosts_without_slots_are_one_on_each(
    before: str, behind: str, found: list[str | None]
) -> None:
    told = {"hosts": "n3,n7", "before": before, "behind": behind}
    command = Fact("hosts-in-turn", dict(told), Place(), Span("s"), "s")
    ranks = [hit("x", rank=rank) for rank in (0, 1)]
    assert hosts(*ranks, command) == found
    twice = replace(command, data={**told, "hosts": "n3,n3"})
    assert hosts(*ranks, twice) == [None] * 2
