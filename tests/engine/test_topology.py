"""Aliases of hosts, ranks of processes, hosts of ranks: only what is proven."""

from __future__ import annotations

import pytest
from builders import hit, source
from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place, Source, Span
from neuron_doctor.engine.topology import complete, completed_place, survey


def identity(source_id: str = "s", offset: int = 0, **said: object) -> Fact:
    place = {name: said.pop(name) for name in ("pid", "instance_id", "host") if name in said}
    return Fact("identity", said, Place(**place), Span(source_id, offset), source_id)  # type: ignore[arg-type]


def test_an_instance_id_and_a_host_name_of_one_record_are_one_host() -> None:
    facts = (identity(hostname="ip-10-0-0-1", instance_id="i-0a"), hit("x", instance_id="i-0a", device=3))
    [_, completed] = complete(facts, survey(facts, ()))
    assert completed.place.host == "ip-10-0-0-1"


def test_a_host_that_is_called_after_its_instance_is_that_instance() -> None:
    full = "i-0a9b3d7714ce2f605.us-west-2.compute.internal"
    short, by_id = hit("x", host=full.partition(".")[0]), hit("y", instance_id=full.partition(".")[0])
    for other in (short, by_id):
        facts = (hit("z", host=full), other)
        for fact in complete(facts, survey(facts, ())):
            assert (fact.place.host, fact.place.instance_id) == (full, full.partition(".")[0])
    another = hit("x", host="i-0a9b3d7714ce2f606")
    [alone] = complete((another,), survey((hit("z", host=full), another), ()))
    assert alone.place.host == another.place.host


def test_the_lines_of_one_processs_infodump_belong_together() -> None:
    facts = (
        identity(pid=7, instance_id="i-0a"),
        identity(pid=7, hostname="node9", offset=5),
        hit("x", instance_id="i-0a"),
    )
    assert list(complete(facts, survey(facts, ())))[2].place.host == "node9"


def test_the_name_of_the_directory_is_the_one_that_is_shown() -> None:
    sources = (source("s", host="rack4-trn1-07"),)
    facts = (hit("x", host="rack4-trn1-07", instance_id="i-0a"), identity(hostname="ip-10-0-0-1", instance_id="i-0a"))
    topology = survey(facts, sources)
    assert completed_place(Place(host="ip-10-0-0-1"), topology).host == "rack4-trn1-07"


def test_what_kubernetes_calls_the_node_of_a_pods_file_is_no_directorys_name() -> None:
    full, short = "ip-10-0-0-1.ec2.internal", "ip-10-0-0-1"
    of_pod = source("s", host=full, container="w-0")
    facts = (hit("x", host=full), hit("y", host=short))
    assert completed_place(Place(host=full), survey(facts, (of_pod,))).host == short
    assert completed_place(Place(host=short), survey(facts, (source("s", host=full),))).host == full


def test_a_node_is_shown_by_the_name_that_kubernetes_knows_unless_a_directory_has_quite_another() -> None:
    full, short = "ip-10-0-0-1.ec2.internal", "ip-10-0-0-1"
    node = Fact("node", {"name": full}, Place(), Span("k", 0), "k")
    by_file = survey((node, hit("x", host=full)), (source("messages-ip-10-0-0-1.txt", host=short),))
    assert completed_place(Place(host=short), by_file).host == full
    by_directory = survey((node, hit("x", host=full)), (source("ip-10-0-0-1/messages.txt", host=short),))
    assert completed_place(Place(host=short), by_directory).host == full
    by_name = survey((node, identity(hostname=full, instance_id="i-0a"), hit("x", host="rack4", instance_id="i-0a")),
                     (source("rack4.txt", host="rack4"),))  # fmt: skip
    assert completed_place(Place(host=full), by_name).host == "rack4"


@pytest.mark.parametrize(("pod", "shown"), [("llm-0", "gpool-b2.lab.example"), (None, "gpool-b2")])
def test_the_node_that_an_event_names_for_a_pod_is_what_kubernetes_calls_it(pod: str | None, shown: str) -> None:
    """Of other objects the host is as often a guess."""
    event = replace(hit("x", host="gpool-b2.lab.example", container=pod), kind="k8s-event", data={})
    facts = (event, hit("kernel", host="gpool-b2"))
    assert survey(facts, [source("gpool-b2.dmesg", host="gpool-b2", kind="kernel")]).hosts == (shown,)


def test_a_directory_that_speaks_of_two_instances_proves_no_alias() -> None:
    facts = (
        hit("x", host="head", instance_id="i-0a"),
        hit("y", host="head", instance_id="i-0b", offset=1),
        identity(hostname="worker1", instance_id="i-0b"),
    )
    topology = survey(facts, ())
    assert completed_place(Place(instance_id="i-0b"), topology).host == "worker1"
    assert completed_place(Place(instance_id="i-0a"), topology).host is None


def test_the_name_of_a_machine_that_was_replaced_is_that_of_no_instance() -> None:
    old = identity(host="trn1-1", hostname="trn1-1", instance_id="i-0a")
    new = identity(host="trn1-1", instance_id="i-0b", offset=90)
    assert completed_place(Place(host="trn1-1"), survey((old,), ())).instance_id == "i-0a"
    assert completed_place(Place(host="trn1-1"), survey((old, new), ())).instance_id is None
    other = identity("t", hostname="trn1-2", instance_id="i-0b")  # a launcher's log that has lines of other hosts
    assert completed_place(Place(host="trn1-1"), survey((old, new, other), ())).instance_id == "i-0a"


def test_a_process_is_the_rank_that_its_other_records_say() -> None:
    facts = (
        hit("x", host="a", pid=7, rank=3),
        hit("y", host="a", pid=7, offset=1),
        hit("z", host="b", pid=7, offset=2),
    )
    ranks = [fact.place.rank for fact in complete(facts, survey(facts, ()))]
    assert ranks == [3, 3, None]


def test_a_pid_that_was_two_ranks_proves_nothing() -> None:
    facts = (hit("x", host="a", pid=7, rank=3), hit("y", host="a", pid=7, rank=4), hit("z", host="a", pid=7))
    assert list(complete(facts, survey(facts, ())))[2].place.rank is None


def test_a_rank_without_a_host_gets_that_of_its_other_records() -> None:
    facts = (hit("x", host="a", rank=3), hit("y", rank=3, offset=1))
    assert list(complete(facts, survey(facts, ())))[1].place.host == "a"


def test_several_ranks_get_the_host_that_all_of_them_run_on() -> None:
    facts = [hit("x", host="w1", rank=rank) for rank in (4, 5)]
    topology = survey([*facts, hit("y", host="w2", rank=6)], ())
    assert completed_place(Place(ranks=(4, 5)), topology).host == "w1"
    assert completed_place(Place(ranks=(4, 6)), topology).host is None
    assert completed_place(Place(ranks=(4, 7)), topology).host is None


def test_the_directory_of_a_log_of_many_hosts_ranks_places_none_of_them() -> None:
    sources = (source("launcher", host="head"), Source("own", "own", "log", place=Place(host="worker", rank=40)))
    facts = (
        hit("x", source="launcher", host="head", rank=40),
        hit("y", source="launcher", host="head", rank=1, offset=3),
    )
    hosts = [fact.place.host for fact in complete(facts, survey(facts, sources))]
    assert hosts == ["worker", None]


def test_the_size_of_the_world_is_known_only_if_all_say_the_same() -> None:
    def world(size: int) -> Fact:
        return Fact("world", {"size": size}, Place(), Span("s"), "s")

    assert survey((world(8), world(8)), ()).world_size == 8
    assert survey((world(8), world(16)), ()).world_size is None


def test_a_pci_address_is_the_device_that_the_driver_put_there() -> None:
    mapped = Fact("pci-device", {"bdf": "cc:00.0", "kind": "neuron"}, Place(host="a", device=6), Span("s"), "s")
    facts = (mapped, hit("aer", host="a", data={"bdf": "0000:CC:00.0"}), hit("aer", host="b", data={"bdf": "cc:00.0"}))
    assert [fact.place.device for fact in complete(facts, survey(facts, ()))] == [6, 6, None]


def test_a_host_and_its_full_name_are_one_unless_two_full_names_begin_so() -> None:
    facts = (hit("x", host="ip-10-0-0-1"), hit("y", host="ip-10-0-0-1.ec2.internal"))
    assert len({fact.place.host for fact in complete(facts, survey(facts, ()))}) == 1
    facts = (hit("x", host="node1"), hit("y", host="node1.a.example"), hit("z", host="node1.b.example"))
    assert len({fact.place.host for fact in complete(facts, survey(facts, ()))}) == 3


def test_a_record_that_names_the_host_places_a_rank_of_a_merged_log() -> None:
    """`srun -l` writes the lines of all tasks into one file, which lies in the directory of the head node."""
    broke = hit("broke", host="head", rank=3, device=1, source="slurm.out")
    failed = Fact("launcher-failure", {}, Place(host="node8", rank=3), Span("slurm.out", 99), "slurm.out")
    beside = hit("broke", host="head", rank=2, source="slurm.out", offset=50)
    local = Fact("launcher-failure", {}, Place(host="head", rank=1), Span("slurm.out", 120), "slurm.out")
    facts = (broke, failed, beside, local)
    topology = survey(facts, (source("slurm.out", host="head"),))
    assert [f.place.host for f in complete(facts, topology)] == ["node8", "node8", None, "head"]
    assert topology.host_of_rank[3] == "node8"


def test_a_log_of_one_hosts_ranks_keeps_its_directory() -> None:
    facts = (hit("x", host="a", rank=0, source="log"), hit("x", host="a", rank=1, source="log", offset=9))
    topology = survey(facts, (source("log", host="a"), source("other", host="b", rank=7)))
    assert [f.place.host for f in complete(facts, topology)] == ["a", "a"]


def test_the_output_of_a_job_places_no_rank_where_files_of_several_hosts_were_collected() -> None:
    facts = (
        hit("broke", host="head", rank=3, source="slurm-99.out"),
        hit("note", host="head", source="slurm-99.out", offset=9),
    )
    output, other = source("slurm-99.out", host="head", job="99"), source("dmesg", host="node8", kind="kernel")
    assert [f.place.host for f in complete(facts, survey(facts, (output, other)))] == [None, "head"]
    assert [f.place.host for f in complete(facts, survey(facts, (output,)))] == ["head", "head"]


def test_outputs_of_a_job_that_are_called_after_several_hosts_are_each_of_its_own() -> None:
    facts = [hit("broke", host=f"n{n}", rank=n, source=f"slurm-99-n{n}.out") for n in (1, 2)]
    outputs = [source(f"slurm-99-n{n}.out", host=f"n{n}", job="99") for n in (1, 2)]
    kernel = source("dmesg", host="n8", kind="kernel")
    assert [f.place.host for f in complete(facts, survey(facts, (*outputs, kernel)))] == ["n1", "n2"]
    assert [f.place.host for f in complete(facts[:1], survey(facts[:1], (outputs[0], kernel)))] == [None]
    # whose name only begins like another one is called after that one alone
    facts = [hit("broke", host="n1", rank=n, source=f"slurm-99-n{n}.out") for n in (12, 13)]
    outputs = [source(f"slurm-99-n{n}.out", host="n1", job="99") for n in (12, 13)]
    facts.append(hit("broke", host="n2", rank=2, source="slurm-99-n2.out"))
    outputs.append(source("slurm-99-n2.out", host="n2", job="99"))
    assert [f.place.host for f in complete(facts, survey(facts, (*outputs, kernel)))] == [None, None, None]


def test_an_output_is_called_after_a_host_however_its_name_joins_them() -> None:
    for name in ("slurm_99_{}.out", "{}.99.out", "99-{}_1.log", "N-99-{}"):
        facts = [hit("broke", host=f"n{n}", rank=n, source=name.format(f"N{n}")) for n in (1, 2)]
        outputs = [source(name.format(f"N{n}"), host=f"n{n}", job="99") for n in (1, 2)]
        assert [f.place.host for f in complete(facts, survey(facts, outputs))] == ["n1", "n2"]


def test_a_local_rank_is_the_rank_that_the_same_log_says() -> None:
    facts = [hit("a", rank=6, local_rank=2), hit("b", local_rank=2), hit("c", local_rank=2, source="t")]
    topology = survey(facts, [source("s"), source("t")])
    assert [fact.place.rank for fact in complete(facts, topology)] == [6, 6, None]


def test_a_local_rank_of_two_agents_in_one_log_is_nobody() -> None:
    facts = [hit("a", rank=6, local_rank=2), hit("a", rank=2, local_rank=2), hit("b", local_rank=2)]
    assert [f.place.rank for f in complete(facts, survey(facts, [source("s")]))][2] is None


def test_a_line_that_torchrun_passes_on_is_of_the_worker_whose_end_it_reports() -> None:
    reported = Fact("launcher-failure", {}, Place(host="node9", rank=87, local_rank=23, pid=5), Span("s", 99), "s")
    raised, other = hit("raised", local_rank=23), hit("raised", local_rank=2)
    facts = [reported, raised, other, hit("raised", local_rank=23, source="t")]
    found = [(f.place.rank, f.place.host) for f in complete(facts, survey(facts, [source("s"), source("t")]))]
    assert found == [(87, "node9"), (87, "node9"), (None, None), (None, None)]


def test_a_line_passed_on_is_nobodys_where_several_hosts_or_attempts_write_into_one_file() -> None:
    reported = Fact("launcher-failure", {}, Place(host="node9", rank=87, local_rank=23, pid=5), Span("s", 99), "s")
    raised = hit("raised", local_rank=23)
    for beside in (
        hit("x", host="node8", local_rank=1),
        hit("x", local_rank=23, pid=6),
        hit("x", local_rank=23, pid=4),
    ):
        facts = [reported, raised, beside]
        assert [f.place.rank for f in complete(facts, survey(facts, [source("s")]))][1] is None


def crash(thread: int) -> Fact:
    return Fact("hit", {"pattern": "crash", "thread": thread}, Place(host="node9", pid=thread), Span("k", 0), "k")


def test_the_number_of_a_thread_is_that_of_its_process_only_where_a_process_has_it() -> None:
    known = hit("x", host="node9", pid=36005)
    facts = (known, crash(36071), crash(36005))
    assert [fact.place.pid for fact in complete(facts, survey(facts, ()))] == [36005, None, 36005]


def test_the_number_of_a_thread_is_taken_for_the_process_where_no_process_of_the_host_is_known() -> None:
    facts = (crash(36071), hit("x", host="node8", pid=36005))
    assert next(iter(complete(facts, survey(facts, ())))).place.pid == 36071


def ended(host: str, *ranks: int, job: str | None = None) -> Fact:
    return Fact("launcher-failure", {"launcher": "srun"}, Place(host=host, ranks=ranks, job=job), Span("l"), "l")


def test_ranks_whose_ends_a_launcher_reports_together_are_at_the_host_that_it_names() -> None:
    facts = (ended("trn-b02", 8, 9), hit("x", rank=9, source="rank_9.log"), hit("x", rank=7, source="rank_7.log"))
    assert [f.place.host for f in complete(facts, survey(facts, ()))] == ["trn-b02", "trn-b02", None]


def test_where_the_ranks_of_one_job_ran_says_nothing_of_those_of_another() -> None:
    facts = (ended("trn-b02", 8, 9, job="7"), hit("x", rank=9, job="8", source="o"), hit("x", rank=8, source="p"))
    assert [f.place.host for f in complete(facts, survey(facts, ()))] == ["trn-b02", None, "trn-b02"]


def test_nor_do_its_blocks_of_ranks_say_where_those_of_another_job_are() -> None:
    def of_job_7(*without: int) -> list[Fact]:
        return [
            ended(f"n{node}", *(rank for rank in range(4 * node, 4 * node + 4) if rank not in without), job="7")
            for node in range(4)
        ]

    other, own = hit("x", rank=3, job="8", source="o"), hit("x", rank=3, job="7", source="p")
    for facts in ((*of_job_7(), other), (*of_job_7(3), other), (*of_job_7(3), other, own)):
        assert survey(facts, ()).host_of_rank.get(3) is None
        assert next(f.place.host for f in complete(facts, survey(facts, ())) if f.source == "o") is None
    for facts in ((*of_job_7(3), own), (*of_job_7(3), hit("x", rank=3, source="q"))):
        assert survey(facts, ()).host_of_rank[3] == "n0"
    placing = hit("x", rank=40, job="8", host="m0", source="r")
    assert survey((*of_job_7(3), other, placing), ()).host_of_rank.get(3) is None


def test_a_host_that_is_called_like_an_instance_is_that_instance() -> None:
    (placed,) = complete([hit("x", host="i-0a9b3d7714ce2f605")], survey([hit("x", host="i-0a9b3d7714ce2f605")], ()))
    assert placed.place.instance_id == "i-0a9b3d7714ce2f605"


def test_what_two_lists_of_machines_tell_differently_joins_nothing() -> None:
    def listed(source: str, offset: int, **said: str) -> Fact:
        return identity(source, offset, listed=True, **said)

    old = listed("old", 0, hostname="trn-1", address="10.0.0.5")
    new = listed("new", 0, hostname="trn-7", address="10.0.0.5")
    assert survey([old], []).host_of["10.0.0.5"] == "trn-1"
    known = survey([old, new], []).host_of
    assert len({known.get(name, name) for name in ("trn-1", "trn-7", "10.0.0.5")}) == 3
    # what has a name more, or the one that EC2 made of the address, does not differ
    same = [
        listed("new", 0, hostname="trn-1.lab", address="10.0.0.5"),
        listed("new", 1, hostname="trn-9", address="10.0.0.5"),
    ]
    assert survey([old, *same], []).host_of["10.0.0.5"] == "trn-1"
    assert (
        survey([old, listed("ec2", 0, hostname="ip-10-0-0-5", address="10.0.0.5")], []).host_of["ip-10-0-0-5"]
        == "trn-1"
    )
    moved = listed("new", 0, hostname="trn-1", address="10.0.0.6", instance_id="i-0a")
    known = survey([old, moved], []).host_of
    assert known["i-0a"] == known["10.0.0.6"] != known.get("trn-1", "trn-1") != known.get("10.0.0.5")
