"""The host of a stream by what it says of itself: only where others say so of other hosts, and none speaks for all."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from neuron_doctor.collectors.hints import place_of_path
from neuron_doctor.collectors.layout import placed_by_layout
from neuron_doctor.engine.facts import NOWHERE, Clock, Collection, Fact, Instant, Place, Source, Span, Value

A, B = "9f3c21/8c1d.log", "9f3c21/77ab.log"


def stream(path: str, *facts: Fact, start: int = 0) -> Collection:
    """A log of 100 seconds, of no name that says anything."""
    first, last = (Instant((start + more) * 10**9, Clock.UTC) for more in (0, 100))
    return Collection((Source(path, path, "log", place=place_of_path(path), first=first, last=last),), facts)


def fact(path: str, kind: str = "hit", place: Place = NOWHERE, **data: Value) -> Fact:
    return Fact(kind, {"pattern": "p", **data}, place, Span(path, 0, 10, 1, 1, "message"), path)


def env(path: str, value: str, name: str = "HOSTNAME") -> Fact:
    return fact(path, "env", name=name, value=value)


def of_process(path: str, pid: int = 80) -> Fact:
    return fact(path, place=Place(pid=pid))


def hosts(*streams: Collection) -> set[str | None]:
    whole = Collection(tuple(s for c in streams for s in c.sources), tuple(f for c in streams for f in c.facts))
    return {source.place.host for source in placed_by_layout(whole).sources}


def said(path: str, host: str, *more: Fact, start: int = 0) -> Collection:
    return stream(path, env(path, host), of_process(path), *more, start=start)


def test_streams_that_each_say_where_they_run_are_there() -> None:
    assert hosts(said(A, "ip-10-0-12-83"), said(B, "ip-10-0-13-5")) == {"ip-10-0-12-83", "ip-10-0-13-5"}


def test_two_streams_of_one_host_beside_one_of_another_are_there_too() -> None:
    assert hosts(said(A, "node3"), said("x/e.log", "node3"), said(B, "node4")) == {"node3", "node4"}


def banner(path: str, name: str, offset: int = 0) -> Fact:
    return replace(
        fact(path, "section", form="banner", name=name), span=Span(path, offset, 10, 1, 1, f"#### {name} ####")
    )


def headed(path: str, host: str, *more: Fact) -> Collection:
    return stream(path, banner(path, host), banner(path, "date", 20), of_process(path), *more)


def test_a_file_that_a_heading_with_a_host_begins_is_of_that_host() -> None:
    assert hosts(headed("probe/a.txt", "node3"), headed("probe/b.txt", "node4")) == {"node3", "node4"}
    among = banner("probe/a.txt", "node5", 40)
    assert hosts(headed("probe/a.txt", "node3", among), headed("probe/b.txt", "node4")) == {None}
    assert hosts(headed("probe/a.txt", "uptime"), headed("probe/b.txt", "free")) == {None}


def test_first_lines_that_name_hosts_of_no_known_shape_tell_them_together() -> None:
    def named(path: str, name: str) -> Collection:
        return stream(path, env(path, name, "HOST_HEADING"), of_process(path))

    assert hosts(named("att1.txt", "neu-n3"), named("att2.txt", "neu-n4")) == {"neu-n3", "neu-n4"}
    assert hosts(named("att1.txt", "neu-n3"), named("att2.txt", "cpu-4")) == {None}
    assert hosts(named("att1.txt", "step-3"), named("att2.txt", "step-4")) == {None}


def test_one_stream_alone_may_be_that_of_the_whole_job() -> None:
    assert hosts(said(A, "ip-10-0-12-83")) == {None}
    assert hosts(said(A, "ip-10-0-12-83"), said(B, "ip-10-0-12-83")) == {None}


def test_what_one_launcher_says_for_all_is_of_no_host() -> None:
    waiting = stream(B, env(B, "ip-10-0-13-5"))
    assert hosts(said(A, "ip-10-0-12-83"), waiting) == {None}


def test_a_stream_with_the_infodump_of_another_host_speaks_for_several() -> None:
    other = fact(A, "identity", Place(pid=7), hostname="ip-10-0-13-9")
    assert hosts(said(A, "ip-10-0-12-83", other), said(B, "ip-10-0-13-5")) == {None}
    own = fact(A, "identity", Place(pid=7), hostname="ip-10-0-12-83")
    assert len(hosts(said(A, "ip-10-0-12-83", own), said(B, "ip-10-0-13-5"))) > 1


def test_two_runs_are_no_hosts_of_one_job() -> None:
    assert hosts(said(A, "ip-10-0-12-83"), said(B, "ip-10-0-13-5", start=5000)) == {None}
    same_rank = [fact(path, place=Place(rank=3)) for path in (A, B)]
    assert hosts(said(A, "ip-10-0-12-83", same_rank[0]), said(B, "ip-10-0-13-5", same_rank[1])) == {None}


@pytest.mark.parametrize("names", [("3f9d0c1a22be", "aa01c1a22bef"), ("llama-worker-0", "llama-worker-1")])
def test_ids_of_containers_and_names_of_pods_are_no_hosts(names: tuple[str, str]) -> None:
    assert hosts(said(A, names[0]), said(B, names[1])) == {None}


def test_a_variable_that_only_names_nodes_may_have_any_value() -> None:
    streams = [stream(p, env(p, host, "SLURMD_NODENAME"), of_process(p)) for p, host in ((A, "alpha"), (B, "beta"))]
    assert hosts(*streams) == {"alpha", "beta"}


def test_a_stream_that_says_two_hosts_is_of_none() -> None:
    assert hosts(said(A, "node3", env(A, "node5")), said(B, "node4")) == {None}


def test_the_output_of_a_whole_job_is_of_no_host() -> None:
    assert hosts(said("slurm-12.out", "node3"), said("slurm-13.out", "node4")) == {None}


def setting(path: str, host: str, *more: Fact, start: int = 0) -> Collection:
    return stream(path, env(path, host, "HOST"), of_process(path), *more, start=start)


@pytest.mark.parametrize("names", [("hera", "juno"), ("trn-pool-1", "trn-pool-2"), ("zen-1", "zen-2"), ("e1", "e2")])
def test_what_a_program_calls_its_host_among_its_settings_may_be_any_word(names: tuple[str, str]) -> None:
    assert hosts(setting(A, names[0]), setting(B, names[1])) == set(names)


@pytest.mark.parametrize(
    "names",
    [
        ("3f9d0c1a22be", "aa01c1a22bef"),  # containers
        ("llama-worker-0", "llama-worker-1"),
        ("bert-7d9f8b6c5-x2x4z", "bert-7d9f8b6c5-q8r2t"),  # pods of a deployment and of a job
        ("bert-x2x4z", "bert-q8r2t"),
        ("pool-1", "pool-2"),
        ("stage1", "stage2"),
        ("hera", "hera"),
    ],
)
def test_what_a_program_calls_its_host_is_none_where_it_is_that_of_a_container_or_of_all(
    names: tuple[str, str],
) -> None:
    assert hosts(setting(A, names[0]), setting(B, names[1])) == {None}


def test_where_there_are_pods_a_word_may_be_the_name_of_one() -> None:
    pods = Collection((Source("p", "pods.txt", "kubectl"),), ())
    assert hosts(setting(A, "zen-1"), setting(B, "zen-2"), pods) == {None}
    assert hosts(setting(A, "node-1"), setting(B, "node-2"), pods) == {"node-1", "node-2", None}


def test_a_program_that_lists_others_names_no_host_of_its_own() -> None:
    assert hosts(setting(A, "hera", env(A, "juno", "HOST")), setting(B, "juno")) == {None}


def test_what_else_is_called_after_a_host_that_a_stream_names_is_of_it_too() -> None:
    kernel = Collection((Source("k", "x/dmesg-hera.txt", "kernel"),), ())
    assert hosts(setting(A, "hera"), setting(B, "juno"), kernel) == {"hera", "juno"}


def reported(path: str, host: str, rank: int, launcher: str = "torchrun") -> Fact:
    return fact(path, "launcher-failure", Place(host=host, rank=rank, pid=131), launcher=launcher, exitcode=1)


def test_what_torchrun_reports_of_its_workers_names_the_host_of_its_log() -> None:
    assert hosts(stream(A, reported(A, "algo-1", 2)), stream(B, reported(B, "algo-2", 37))) == {"algo-1", "algo-2"}
    assert hosts(stream(A, reported(A, "tin", 2)), stream(B, reported(B, "zinc", 37))) == {"tin", "zinc"}


def test_what_srun_reports_and_one_log_of_all_hosts_names_none() -> None:
    assert hosts(stream(A, reported(A, "n1", 2, "srun")), stream(B, reported(B, "n2", 37, "srun"))) == {None}
    whole = stream(A, reported(A, "algo-1", 2), reported(A, "algo-2", 37))
    assert hosts(whole, stream(B, reported(B, "algo-2", 37))) == {None}


def label(path: str, word: str) -> Fact:
    return fact(path, "identity", word=word)


def test_the_label_before_the_settings_of_a_rank_is_its_host_where_that_is_known() -> None:
    known = [
        Collection((Source(f"{h}/dmesg", f"{h}/dmesg", "kernel", place=Place(host=h)),), ()) for h in ("tin3", "tin4")
    ]
    streams = [stream(p, label(p, host), of_process(p)) for p, host in ((A, "tin3"), (B, "tin4"))]
    assert hosts(*streams, *known) == {"tin3", "tin4"}
    assert hosts(*streams) == {None}
    several = stream(A, label(A, "tin3"), label(A, "tin4"), of_process(A))
    assert None in hosts(several, streams[1], *known)


NODES = [f"hyperpod-i-0{number}a4c6e8f0b2d4f6a" for number in (1, 2, 3)]


def dumped(path: str, hostname: str, node: str) -> Fact:
    """What an infodump says of the machine: in a pod, the name of the pod."""
    return fact(path, "identity", Place(pid=80), hostname=hostname, instance_id=node.removeprefix("hyperpod-"))


def test_a_node_that_was_replaced_between_two_attempts_needs_no_time_in_common_with_the_next_one() -> None:
    ran = ((0, 0, NODES[0]), (0, 1, NODES[1]), (1, 0, NODES[0]), (1, 1, NODES[2]))
    streams = [said(f"attempt_{n}/w{w}x.log", node, start=9000 * n) for n, w, node in ran]
    assert hosts(*streams) == set(NODES)
    assert hosts(*streams[:1], streams[3]) == {None}


def test_an_infodump_with_the_name_of_the_pod_speaks_of_the_node_that_is_called_after_its_instance() -> None:
    pod = dumped(A, "moe-worker-1", NODES[0])
    assert hosts(said(A, NODES[0], pod), said(B, NODES[1])) == set(NODES[:2])
    other = dumped(A, "moe-worker-1", NODES[2])
    assert NODES[0] not in hosts(said(A, NODES[0], other), said(B, NODES[1]))


def test_a_node_that_is_called_after_its_instance_is_the_host_whatever_the_path_calls_the_worker() -> None:
    paths = [f"moe-worker-{n}.log" for n in (0, 1)]
    kernel = stream("nodes/x/kmsg.txt", fact("nodes/x/kmsg.txt", "identity", Place(host="moe-worker-1")))
    streams = [said(path, node) for path, node in zip(paths, NODES, strict=False)]
    assert {"moe-worker-0", "moe-worker-1"}.isdisjoint(hosts(*streams, kernel))
    words = [said(path, f"node{n}") for n, path in enumerate(paths)]
    assert hosts(*words, stream("hosts/moe-worker-1/d.txt")) >= {"moe-worker-1"}


def heading(path: str, value: str, offset: int = 0) -> Fact:
    return replace(env(path, value, "HOST_HEADING"), span=Span(path, offset, 10, 1, 1, "message"))


def test_whoever_saved_a_log_may_have_said_in_its_first_line_whose_it_is() -> None:
    nodes = {"ip-10-0-12-83.ec2.internal", "ip-10-0-13-5.ec2.internal"}
    logs = zip((A, B), sorted(nodes), strict=True)
    assert hosts(*(stream(path, heading(path, node), of_process(path)) for path, node in logs)) == nodes
    logs = zip((A, B), sorted(nodes), strict=True)
    assert hosts(*(stream(path, heading(path, node, 80), of_process(path)) for path, node in logs)) == {None}


def test_what_ec2_calls_its_host_holds_against_the_name_of_a_pod_in_the_path() -> None:
    ranks = [fact(f"jd_default_77_{n}.log", place=Place(rank=8 * n + more)) for n in (0, 1) for more in range(8)]
    logs = [
        stream(f"jd_default_77_{n}.log", *ranks[8 * n : 8 * n + 8], env(f"jd_default_77_{n}.log", node, "HOST"))
        for n, node in enumerate(("ip-10-0-12-83", "ip-10-0-13-5"))
    ]
    assert hosts(*logs) == {"ip-10-0-12-83", "ip-10-0-13-5"}
    unsaid = [replace(one, facts=one.facts[:-1]) for one in logs]
    assert hosts(*unsaid) == {"jd_default_77_0", "jd_default_77_1"}
    assert hosts(unsaid[0], logs[1]) == {"jd_default_77_0", "jd_default_77_1"}


def test_a_directory_with_the_kernel_log_of_a_host_is_called_after_that() -> None:
    both = []
    for n, node in enumerate(("ip-10-0-12-83", "ip-10-0-13-5")):
        log, kernel = f"q{n}x/train.log", f"q{n}x/dmesg"
        both += [stream(log, env(log, node, "HOST"), of_process(log)), stream(kernel)]
        both[-1] = replace(both[-1], sources=tuple(replace(s, kind="kernel") for s in both[-1].sources))
    assert hosts(*both) == {"q0x", "q1x"}


@pytest.mark.parametrize("attempt", ["attempt_1/", ""])
def test_logs_of_one_attempt_ran_together_though_only_their_errors_have_a_time(attempt: str) -> None:
    logs = [
        stream(f"{attempt}{name}.log", fact(f"{attempt}{name}.log", place=Place(attempt=1, rank=n)), start=n * 900)
        for n, name in enumerate("ab")
    ]
    said = [
        replace(log, facts=(*log.facts, env(log.sources[0].path, f"node{n}"))) for n, log in enumerate(logs, start=3)
    ]
    assert hosts(*said) == ({"node3", "node4"} if attempt else {None})


def at(host: str, *facts: Fact, path: str = "logs/{}.log") -> Collection:
    """A log that is called after a host, or after the number of one; its records are there."""
    name = path.format(host)
    moved = (
        replace(f, span=replace(f.span, path=name), place=f.place.over(Place(host=host)), source=name) for f in facts
    )
    collection = stream(name, *moved)
    assert collection.sources[0].place.host == host
    return collection


def other_names(*streams: Collection) -> set[tuple[Value, Value]]:
    whole = Collection(tuple(s for c in streams for s in c.sources), tuple(f for c in streams for f in c.facts))
    return {
        (fact.data["hostname"], fact.data["address"])
        for fact in placed_by_layout(whole).facts
        if fact.kind == "identity"
    }


ONE, TWO = env(A, "ip-10-0-12-83", "HOST"), env(B, "ip-10-0-13-5", "HOST")


def test_logs_that_number_the_hosts_of_a_job_and_say_where_they_ran_give_these_another_name() -> None:
    pairs = {("node0", "ip-10-0-12-83"), ("node1", "ip-10-0-13-5")}
    assert other_names(at("node0", ONE), at("node1", TWO)) == pairs
    # of the hosts themselves there are sources, too
    kernels = at("ip-10-0-12-83", path="{}/kern.log"), at("ip-10-0-13-5", path="{}/kern.log")
    assert other_names(at("node0", ONE), at("node1", TWO), *kernels) == pairs


def test_what_such_logs_say_alike_or_differently_or_alone_is_no_other_name() -> None:
    assert other_names(at("node0", ONE), at("node1", ONE)) == set()
    assert other_names(at("node0", ONE)) == set()
    assert other_names(at("node0", ONE), at("node1", ONE, TWO)) == set()
    again = at("node1", ONE, path="later/{}.log")
    assert other_names(at("node0", ONE), at("node1", TWO), again) == set()


def test_a_host_that_has_a_name_is_not_called_as_another_one_that_has_sources() -> None:
    there = at("ip-10-0-12-83", path="{}/kern.log"), at("ip-10-0-13-5", path="{}/kern.log")
    assert other_names(at("trn1-03", ONE), at("trn1-04", TWO), *there) == set()
    assert other_names(at("trn1-03", ONE), at("trn1-04", TWO)) == {
        ("trn1-03", "ip-10-0-12-83"),
        ("trn1-04", "ip-10-0-13-5"),
    }
