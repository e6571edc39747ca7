"""Hosts from the layout: what lies side by side is hosts of one job by proof, and runs, copies and pods are not."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from neuron_doctor.collectors.hints import place_of_path
from neuron_doctor.collectors.layout import placed_by_layout
from neuron_doctor.engine.facts import NOWHERE, Clock, Collection, Fact, Instant, Place, Source, Span, Value
from neuron_doctor.engine.hostnames import names_of_hosts
from neuron_doctor.engine.nodelists import nodes_of


def source(path: str, kind: str = "log", start: int | None = None, content: str | None = None) -> Source:
    """A source that runs for 100 seconds, or has no times."""
    times = [None if start is None else Instant((start + more) * 10**9, Clock.HOST_LOCAL) for more in (0, 100)]
    return Source(content or path, path, kind, place=place_of_path(path), first=times[0], last=times[1])


def fact(path: str, kind: str = "hit", place: Place = NOWHERE, text: str = "", **data: Value) -> Fact:
    span = Span(path, 0, 10, 1, len(text) + 1, text + "message")
    return Fact(kind, {"pattern": "p", **data}, place.over(place_of_path(path)), span, path)


def ranks(path: str, first: int, count: int = 4, start: int = 0) -> Collection:
    """A log of several ranks."""
    return Collection(
        (source(path, start=start),),
        tuple(fact(path, place=Place(rank=first + n, local_rank=n)) for n in range(count)),
    )


def together(*parts: Collection | Source | Fact) -> Collection:
    sources = [part for part in parts if isinstance(part, Source)]
    facts = [part for part in parts if isinstance(part, Fact)]
    for part in parts:
        if isinstance(part, Collection):
            sources += part.sources
            facts += part.facts
    return Collection(tuple(sources), tuple(facts))


def hosts(collection: Collection) -> dict[str, str | None]:
    return {source.path: source.place.host for source in placed_by_layout(collection).sources}


def test_directories_whose_logs_tell_of_ranks_of_their_own_are_hosts_and_so_are_their_facts() -> None:
    found = placed_by_layout(together(ranks("trn-a17/torchrun.log", 0), ranks("trn-a18/torchrun.log", 4)))
    assert [s.place.host for s in found.sources] == ["trn-a17", "trn-a18"]
    assert [(f.place.rank, f.place.host) for f in found.facts] == [
        *((n, "trn-a17") for n in range(4)),
        *((n, "trn-a18") for n in range(4, 8)),
    ]
    assert {f.source for f in found.facts} == {s.id for s in found.sources}


def test_flat_logs_of_several_ranks_each_are_of_hosts() -> None:
    found = hosts(together(ranks("queue1-dy-a-1.txt", 0), ranks("queue1-dy-a-2.txt", 16)))
    assert found == {"queue1-dy-a-1.txt": "queue1-dy-a-1", "queue1-dy-a-2.txt": "queue1-dy-a-2"}


def test_files_of_one_rank_each_are_of_hosts_by_their_directories() -> None:
    files = [source(f"lw-{1 + n // 8}/rank{n}.log") for n in range(16)]
    assert set(hosts(together(*files)).values()) == {"lw-1", "lw-2"}


def test_a_file_that_begins_with_the_name_of_a_host_which_content_states_is_of_that_host() -> None:
    logs = [ranks(f"w{n}.fit.log", 4 * n) for n in range(2)]
    assert set(hosts(together(*logs)).values()) == {"w0.fit", "w1.fit"}
    stated = [fact("w0.fit.log", place=Place(host=f"w{n}")) for n in range(2)]
    assert hosts(together(*logs, *stated)) == {"w0.fit.log": "w0", "w1.fit.log": "w1"}


def test_logs_of_one_rank_each_are_no_hosts() -> None:
    assert set(hosts(together(*(ranks(f"foo-{n}.log", n, 1) for n in range(8)))).values()) == {None}


@pytest.mark.parametrize("names", [("exp-a", "exp-b"), ("alpha-a", "alpha-b")])
def test_two_experiments_with_the_same_ranks_are_no_hosts(names: tuple[str, str]) -> None:
    files = [source(f"{name}/rank_{n}.log", start=0) for name in names for n in range(4)]
    assert set(hosts(together(*files)).values()) == {None}


def test_ranks_of_one_attempt_each_prove_nothing_and_those_of_common_attempts_do() -> None:
    apart = [source(f"alpha-{n}/attempt_{n}/rank_{n}{m}.log", start=0) for n in (0, 1) for m in range(3)]
    assert set(hosts(together(*apart)).values()) == {None}
    swapped = [
        source(f"alpha-{(n + attempt) % 2}/attempt_{attempt}/rank_{n}{m}.log", start=0)
        for attempt in (0, 1)
        for n in (1, 2)
        for m in range(3)
    ]
    assert set(hosts(together(*swapped)).values()) == {"alpha-0", "alpha-1"}


def test_runs_one_after_the_other_are_no_hosts_even_with_a_kernel_log_each() -> None:
    first = [source("good-1/train.log", start=0), source("good-1/dmesg", "kernel")]
    second = [source("good-2/train.log", start=5000), source("good-2/dmesg", "kernel")]
    assert set(hosts(together(*first, *second)).values()) == {None}
    meanwhile = [source("good-2/train.log", start=50), source("good-2/dmesg", "kernel")]
    assert set(hosts(together(*first, *meanwhile)).values()) == {"good-1", "good-2"}


def test_two_captures_of_one_machine_are_no_hosts() -> None:
    names = [fact(f"foo-{n}/ls.txt", "identity", instance_id="i-0123456789abcdef0") for n in (1, 2)]
    files = [source(f"foo-{n}/ls.txt", "neuron-ls") for n in (1, 2)]
    assert set(hosts(together(*files, *names)).values()) == {None}


@pytest.mark.parametrize(
    "names",
    [
        ("2024-01-01", "2024-01-02"),
        ("ckpt-100", "ckpt-200"),
        ("exp-a", "exp-b"),
        ("attempt_0", "attempt_1"),
        ("stage0", "stage1"),
        ("rack-a", "rack-b"),
        ("day-1", "day-2"),
        ("e0", "e1"),
        ("m1", "m2"),
        ("alpha", "beta"),
        ("trn-1", "inf-b"),
    ],
)
def test_names_that_never_mean_a_host_or_are_of_two_shapes_are_none(names: tuple[str, str]) -> None:
    parts = [ranks(f"{name}/train.log", 4 * number) for number, name in enumerate(names)]
    assert set(hosts(together(*parts)).values()) == {None}


def test_a_name_of_one_letter_needs_a_kernel_log_and_ranks_of_its_own() -> None:
    parts = [ranks("n101/app.log", 0), ranks("n102/app.log", 4)]
    assert set(hosts(together(*parts)).values()) == {None}
    assert set(hosts(together(*parts, source("n102/console.txt", "kernel"))).values()) == {"n101", "n102"}
    alone = [source("n101/dmesg", "kernel"), source("n102/dmesg", "kernel")]
    assert set(hosts(together(*alone)).values()) == {None}


def test_a_name_of_one_letter_is_a_host_where_its_machine_and_that_of_a_sibling_are_stated() -> None:
    logs = [source(f"m{n}/job.log") for n in (0, 1)]
    streams = [source(f"m{n}/monitor.json", "neuron-monitor") for n in (0, 1)]
    said = [fact(f"m{n}/monitor.json", "identity", instance_id=f"i-0123456789abcdef{n}") for n in (0, 1)]
    assert set(hosts(together(*logs, *streams, *said)).values()) == {"m0", "m1"}
    assert set(hosts(together(*logs, *streams, said[0])).values()) == {None}
    files = [source(f"m{n}.json", "neuron-monitor") for n in (0, 1)]
    said = [fact(f"m{n}.json", "identity", instance_id=f"i-0123456789abcdef{n}") for n in (0, 1)]
    assert set(hosts(together(*files, *said)).values()) == {None}


def test_a_part_that_content_names_is_that_host_and_its_siblings_are_hosts_too() -> None:
    files = [source("trn-x1.log"), source("trn-x2.log"), source("note.txt")]
    named = fact("trn-x2.log", place=Place(host="TRN-X2"))
    assert hosts(together(*files, named)) == {"trn-x1.log": "trn-x1", "trn-x2.log": "TRN-X2", "note.txt": None}


def test_the_first_label_of_a_name_names_the_host_if_one_name_has_it() -> None:
    files = [source("gold/run.log"), source("other/run.log")]
    one = fact("other/run.log", "identity", hostname="gold.cluster.corp")
    two = fact("other/run.log", "identity", hostname="gold.backup.corp")
    assert hosts(together(*files, one))["gold/run.log"] == "gold"
    assert hosts(together(*files, one, two))["gold/run.log"] is None


def test_nodes_of_a_job_are_known_hosts() -> None:
    files = [source("tin-b03/run.log"), source("sacct.txt", "slurm")]
    job = fact("sacct.txt", "slurm-job", nodes="tin-b[01-03],head")
    assert hosts(together(*files, job)) == {"tin-b03/run.log": "tin-b03", "sacct.txt": None}


@pytest.mark.parametrize(
    "told",
    [
        fact("slurmctld.log", "listed-nodes", nodes="tin-b[01-03],head"),
        fact("slurmctld.log", "env", name="SLURM_JOB_NODELIST", value="tin-b[01-03]"),
    ],
)
def test_nodes_that_a_scheduler_names_are_known_hosts(told: Fact) -> None:
    files = [source("tin-b03/dmesg.txt", "kernel"), source("slurmctld.log")]
    assert hosts(together(*files, told)) == {"tin-b03/dmesg.txt": "tin-b03", "slurmctld.log": None}


def test_another_variable_with_a_list_names_no_hosts() -> None:
    files = [source("tin-b03/dmesg.txt", "kernel"), source("env.log")]
    told = fact("env.log", "env", name="NEURON_RT_VISIBLE_CORES", value="tin-b03")
    assert hosts(together(*files, told)) == {"tin-b03/dmesg.txt": None, "env.log": None}


@pytest.mark.parametrize(
    ("listed", "nodes"),
    [
        ("a1", ["a1"]),
        ("a[1-3],b", ["a1", "a2", "a3", "b"]),
        ("a[08-10,12]", ["a08", "a09", "a10", "a12"]),
        ("None assigned", []),
        ("", []),
        ("a[1-2-3],b", []),
        ("n-[1-4096]", [f"n-{number}" for number in range(1, 4097)]),
        *((longer, []) for longer in ("n-[1-4097]", "b,n-[1-4096]", "n-[1-9999999]", "<4*n> " * 4097, "<4*n1> <4*n")),
    ],
)
def test_lists_of_nodes_are_read(listed: str, nodes: list[str]) -> None:
    assert nodes_of(listed) == nodes


@given(st.text("a1-,[]9. ", max_size=40))
def test_no_list_of_nodes_is_longer_than_a_cluster(listed: str) -> None:
    assert len(nodes_of(listed)) <= 4096


def test_what_lies_above_everything_is_no_host_of_it() -> None:
    files = [source(f"admin-7/collected/{name}") for name in ("a.log", "b.log")]
    assert set(hosts(together(*files, fact("admin-7/collected/a.log", "identity", hostname="admin-7"))).values()) == {
        None
    }


def test_a_host_that_a_record_or_a_hint_states_stays() -> None:
    parts = together(ranks("tin-1/node7/a.log", 0), ranks("tin-2/a.log", 4), ranks("tin-1/a.log", 8))
    stated = fact("tin-2/a.log", place=Place(host="elsewhere"))
    found = placed_by_layout(together(parts, stated))
    assert {s.path: s.place.host for s in found.sources}["tin-1/node7/a.log"] == "node7"
    assert "elsewhere" in {f.place.host for f in found.facts}


def snapshots(*names: str) -> list[Source]:
    return [source(f"{name}/df.txt", "df") for name in names]


def test_directories_of_any_names_that_each_hold_what_only_a_host_writes_are_hosts_if_they_ran_at_once() -> None:
    logs = [source("alpha/train.log", start=0), source("beta/train.log", start=50)]
    assert set(hosts(together(*logs, *snapshots("alpha", "beta"))).values()) == {"alpha", "beta"}
    assert set(hosts(together(*logs, *snapshots("alpha"))).values()) == {None}
    other = [source("alpha/df.txt", "df"), source("beta/usage.txt", "df")]
    assert set(hosts(together(*logs, *other)).values()) == {None}
    later = [source("alpha/train.log", start=0), source("beta/train.log", start=111)]
    assert set(hosts(together(*later, *snapshots("alpha", "beta"))).values()) == {None}
    assert set(hosts(together(*snapshots("alpha", "beta"))).values()) == {None}
    deeper = [source(f"{name}/os/df.txt", "df") for name in ("alpha", "beta")]
    assert set(hosts(together(*logs, *deeper)).values()) == {None}


def test_directories_of_one_letter_are_hosts_by_the_same_proof() -> None:
    logs = [source("w0/train.log", start=0), source("w1/train.log", start=105)]
    assert set(hosts(together(*logs, *snapshots("w0", "w1"))).values()) == {"w0", "w1"}


def test_snapshots_beside_logs_of_the_same_ranks_or_with_names_that_never_mean_a_host_prove_nothing() -> None:
    same = [ranks("alpha/train.log", 0), ranks("beta/train.log", 2)]
    assert set(hosts(together(*same, *snapshots("alpha", "beta"))).values()) == {None}
    runs = [source("before/train.log", start=0), source("after/train.log", start=50)]
    assert set(hosts(together(*runs, *snapshots("before", "after"))).values()) == {None}


def test_clocks_are_set_right_by_what_the_time_service_says() -> None:
    logs = [source("alpha/train.log", start=0), source("beta/train.log", start=420)]
    asked = [source(f"{name}/chronyc.txt", "clock-report") for name in ("alpha", "beta")]
    assert set(hosts(together(*logs, *asked)).values()) == {None}
    ahead = fact("beta/chronyc.txt", "clock-error", ahead_s=420.2)
    assert set(hosts(together(*logs, *asked, ahead)).values()) == {"alpha", "beta"}


def test_who_says_how_long_it_has_waited_was_there_all_that_time() -> None:
    files = [source("gx1/out.log", start=230), source("gx2/out.log", start=0)]
    files += [source(f"gx{n}/neuron-ls.json", "neuron-ls") for n in (1, 2)]
    assert set(hosts(together(*files)).values()) == {None}
    at = Instant(240 * 10**9, Clock.HOST_LOCAL)
    waits = replace(fact("gx1/out.log", "hang-report", what="retry", waited_s=150), instant=at)
    assert set(hosts(together(*files, waits)).values()) == {"gx1", "gx2"}


def flat(*names: str, kind: str = "kernel") -> list[Source]:
    """A log and a kernel log of each name; those in capitals have a log alone."""
    logs = [source(f"{name.lower()}.log", start=0) for name in names]
    return [*logs, *(source(f"{name}.dmesg", kind) for name in names if name.islower())]


def test_names_that_a_log_and_a_file_of_a_host_bear_each_are_hosts_if_they_ran_at_once() -> None:
    assert set(hosts(together(*flat("alpha", "beta"))).values()) == {"alpha", "beta"}
    assert set(hosts(together(*flat("w-a", "w-b"))).values()) == {"w-a", "w-b"}
    assert set(hosts(together(*flat("alpha", "BETA"))).values()) == {None}
    assert set(hosts(together(*flat("alpha"), source("other.log", start=0))).values()) == {None}
    later = [source("alpha.log", start=0), source("beta.log", start=500), *flat("alpha", "beta")[2:]]
    assert set(hosts(together(*later)).values()) == {None}
    kernels = [source("alpha.dmesg", "kernel"), source("beta.dmesg", "kernel")]
    assert set(hosts(together(*kernels)).values()) == {None}


def test_of_names_of_one_shape_those_are_hosts_that_pair_with_a_file_of_a_host() -> None:
    found = hosts(together(*flat("W-A", "w-b", "W-C")))
    assert found == {"w-a.log": None, "w-b.log": "w-b", "w-b.dmesg": "w-b", "w-c.log": None}
    same = [ranks("w-a.log", 0), ranks("w-b.log", 2), source("w-b.dmesg", "kernel")]
    assert set(hosts(together(*same)).values()) == {None}
    later = [source("w-a.log", start=0), source("w-b.log", start=500), source("w-b.dmesg", "kernel")]
    assert set(hosts(together(*later)).values()) == {None}
    alone = [source("w-b.log", start=0), source("w-b.dmesg", "kernel")]
    assert set(hosts(together(*alone)).values()) == {None}


def test_pods_stay_containers() -> None:
    parts = [ranks(f"pods/trn-a{n}/main/0.log", 4 * n) for n in range(3)]
    assert set(hosts(together(*parts)).values()) == {None}
    below = [ranks(f"tin-{n}/pods/p-{n}/main/0.log", 4 * n) for n in range(3)]
    assert set(hosts(together(*below)).values()) == {"tin-0", "tin-1", "tin-2"}


def test_the_log_of_the_whole_job_beside_the_hosts_is_of_none() -> None:
    job = together(source("slurm-99.out"), source("launcher.log"), source("job-1.log"), source("job-2.log"))
    found = hosts(together(job, ranks("tin-1/a.log", 0), ranks("tin-2/a.log", 4)))
    assert [found[name] for name in ("slurm-99.out", "launcher.log", "job-1.log", "job-2.log")] == [None] * 4
    assert found["tin-1/a.log"] == "tin-1"


def test_same_names_need_one_job_or_one_world_with_room_at_the_same_time() -> None:
    def layout(start: int, **said: Value) -> set[str | None]:
        paths = ["tin-1/local_rank_0.log", "tin-2/local_rank_0.log"]
        files = [source(paths[0], start=0), source(paths[1], start=start)]
        kind = "world" if "size" in said else "env"
        return set(hosts(together(*files, *(fact(path, kind, **said) for path in paths if said))).values())

    hosted = {"tin-1", "tin-2"}
    assert layout(10) == {None}
    assert layout(10, size=2) == hosted
    assert layout(10, size=1) == {None}
    assert layout(10, name="TORCHELASTIC_RUN_ID", value="run7") == hosted
    assert layout(10, name="TORCHELASTIC_RUN_ID", value="none") == {None}
    assert layout(999, name="TORCHELASTIC_RUN_ID", value="run7") == {None}


def test_files_that_are_numbered_through_are_of_one_job() -> None:
    files = [source(f"st-q-{1 + n // 4}/{n}.log", start=n % 4) for n in range(8)]
    assert set(hosts(together(*files)).values()) == {"st-q-1", "st-q-2"}
    apart = [source(f"st-q-{1 + n // 4}/{n}.log", start=1000 * (n // 4)) for n in range(8)]
    assert set(hosts(together(*apart)).values()) == {None}


def test_two_levels_that_might_both_be_hosts_are_none() -> None:
    parts = [ranks(f"east-{side}/tin-{node}/a.log", 8 * side + 4 * node) for side in (0, 1) for node in (0, 1)]
    assert set(hosts(together(*parts)).values()) == {None}
    named = fact("east-0/tin-0/a.log", "identity", hostname="tin-0")
    assert set(hosts(together(*parts, named)).values()) == {"tin-0", "tin-1"}


def prefixed(path: str, address: str) -> Fact:
    return fact(path, place=Place(host=address), text=f"(Worker pid=1, ip={address}) ")


def aliases(collection: Collection) -> Mapping[str, str]:
    found = placed_by_layout(collection)
    places = [s.place for s in found.sources]
    return names_of_hosts(found.facts, places, [*places, *(f.place for f in found.facts)])[0]


def test_the_address_before_every_line_of_a_host_is_its_other_name() -> None:
    parts = [ranks("tin-1/worker.out", 0), ranks("tin-2/worker.out", 4)]
    lines = [prefixed("tin-1/worker.out", "10.5.0.10"), prefixed("tin-2/worker.out", "10.5.0.11")]
    found = aliases(together(*parts, *lines))
    assert (found["10.5.0.10"], found["10.5.0.11"]) == ("tin-1", "tin-2")


def test_an_address_in_a_message_or_before_lines_of_two_hosts_is_no_other_name() -> None:
    parts = [ranks("tin-1/worker.out", 0), ranks("tin-2/worker.out", 4)]
    said = [fact(f"tin-{n}/worker.out", place=Place(host=f"10.5.0.{n}")) for n in (1, 2)]
    assert "10.5.0.1" not in aliases(together(*parts, *said))
    driver = [prefixed("tin-1/worker.out", f"10.5.0.{n}") for n in (1, 2)]
    assert "10.5.0.2" not in aliases(together(*parts, *driver, prefixed("tin-2/worker.out", "10.5.0.2")))


def test_what_two_hosts_write_alike_is_two_sources_and_a_copy_elsewhere_is_none() -> None:
    parts = [ranks("tin-1/a.log", 0), ranks("tin-2/a.log", 4)]
    alike = [source(f"tin-{n}/limits.txt", content="same") for n in (1, 2)]
    placed = placed_by_layout(together(*parts, *alike)).sources
    assert len({s.id for s in placed}) == 4
    copy = source("saved/x.log", content="tin-1/a.log")
    found = {s.path: s for s in placed_by_layout(together(*parts, copy)).sources}
    assert (found["saved/x.log"].place.host, found["saved/x.log"].id) == ("tin-1", found["tin-1/a.log"].id)


def test_a_directory_around_everything_that_seems_to_name_a_rank_changes_nothing() -> None:
    parts = [ranks(f"hang-of-rank-27/tin-{n}.log", 4 * n) for n in (1, 2)]
    silent = [fact(f"hang-of-rank-27/tin-{n}.log") for n in (1, 2)]
    assert set(hosts(together(*parts, *silent)).values()) == {"tin-1", "tin-2"}


def test_nothing_and_one_file_are_left_as_they_are() -> None:
    assert placed_by_layout(Collection()) == Collection()
    assert hosts(ranks("tin-1.log", 0)) == {"tin-1.log": None}


LAYOUTS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(["a.log", "rank_0.log", "dmesg"]), st.integers(0, 12)),
    max_size=10,
    unique_by=lambda item: item[:2],
)


def laid_out(layout: list[tuple[str, str, int]], name: str) -> Collection:
    parts: list[Collection | Source] = []
    for letter, file, first in layout:
        path = f"{name.format(ord(letter) - ord('a') + 1, letter)}/{file}"
        parts.append(source(path, "kernel") if file == "dmesg" else ranks(path, first, 3))
    return together(*parts)


@given(LAYOUTS, st.sampled_from(["tin-{0}", "xy{0}", "ab-{1}", "queue9-st-q-{0}"]))
def test_other_names_of_one_shape_give_the_same_classes(layout: list[tuple[str, str, int]], name: str) -> None:
    def classes(scheme: str) -> list[int]:
        found = [s.place.host for s in placed_by_layout(laid_out(layout, scheme)).sources]
        return [found.index(host) if host else -1 for host in found]

    assert classes(name) == classes("zed-{0}")


@given(LAYOUTS, st.integers(0, 99))
def test_the_order_of_sources_and_facts_and_copies_change_nothing(
    layout: list[tuple[str, str, int]], seed: int
) -> None:
    whole = laid_out(layout, "tin-{0}")
    shuffled = random.Random(seed)
    other = Collection(
        tuple(shuffled.sample(whole.sources, len(whole.sources))),
        tuple(shuffled.sample(whole.facts, len(whole.facts))),
    )
    assert hosts(other) == hosts(whole)
    copied = together(whole, *(source("saved/" + s.path, s.kind, content=s.id) for s in whole.sources[:1]))
    assert {path: host for path, host in hosts(copied).items() if not path.startswith("saved/")} == hosts(whole)


@given(st.lists(st.text(max_size=30), max_size=8, unique=True))
def test_any_paths_are_taken(paths: list[str]) -> None:
    found = placed_by_layout(together(*(source(path) for path in paths)))
    assert [s.path for s in found.sources] == paths


def test_directories_of_any_names_are_hosts_if_their_ranks_are_the_blocks_of_hosts() -> None:
    found = hosts(together(ranks("beryl/home/u/fit.log", 0, 8), ranks("topaz/home/u/fit.log", 8, 8)))
    assert set(found.values()) == {"beryl", "topaz"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("bad/fit.log", 3, 1), ("good/fit.log", 4, 1)),  # one rank each
        (("bad/fit.log", 0, 8), ("good/fit.log", 8, 16)),  # not as many each
        (("bad/fit.log", 0, 4), ("good/fit.log", 4, 4)),  # too few for a host
        (("bad/fit.log", 2, 8), ("good/fit.log", 10, 8)),  # no multiples
        (("actor/fit.log", 0, 8), ("critic/fit.log", 0, 8)),  # the same ranks
        (("beryl/fit.log", 0, 8), ("topaz/train.log", 8, 8)),  # nothing alike in them
        (("n/fit.log", 0, 8), ("m/fit.log", 8, 8)),  # letters
        (("run/fit.log", 0, 8), ("stage/fit.log", 8, 8)),  # words that never mean a host
    ],
)
def test_other_shares_of_ranks_make_no_hosts_of_words(one: tuple[str, int, int], other: tuple[str, int, int]) -> None:
    assert set(hosts(together(ranks(*one), ranks(*other))).values()) == {None}


def named(path: str, host: str) -> Collection:
    """A file that holds the name of its machine."""
    return Collection((source(path, "hostname"),), (fact(path, "identity", Place(host=host), hostname=host),))


@pytest.mark.parametrize("file", ["hostname", "etc/hostname", "sos_commands/host/hostname"])
def test_a_tree_that_has_the_name_of_its_machine_in_it_is_of_that_host(file: str) -> None:
    trees = [
        together(named(f"sosreport-{name}-8812/{file}", name), source(f"sosreport-{name}-8812/var/log/fit.log"))
        for name in ("tern-a", "tern-b")
    ]
    found = hosts(together(*trees))
    assert {
        path.split("/")[0].removesuffix("-8812").removeprefix("sosreport-"): host for path, host in found.items()
    } == {
        "tern-a": "tern-a",
        "tern-b": "tern-b",
    }


def test_the_name_at_the_top_is_of_who_collected_and_a_tree_with_other_hosts_is_of_none() -> None:
    assert hosts(together(named("all/hostname", "head"), source("all/x.log")))["all/x.log"] is None
    mixed = together(named("all/etc/hostname", "head"), source("all/x.log"), source("all/node-7/y.log"))
    assert hosts(mixed)["all/x.log"] is None
    alone = together(named("all/etc/hostname", "head"), source("all/x.log"))
    assert hosts(alone)["all/x.log"] == "head"


def test_files_that_are_called_after_workers_are_hosts_only_where_kernels_wrote_such() -> None:
    logs = [ranks("logs/worker-0.srun.log", 0), ranks("logs/worker-1.srun.log", 4)]
    kernels = [source("dmesg/worker-0.txt", "kernel"), source("dmesg/worker-1.txt", "kernel")]
    assert set(hosts(together(*logs)).values()) == {None}
    assert set(hosts(together(*logs, *kernels)).values()) == {"worker-0", "worker-1"}
    assert set(hosts(together(*logs, kernels[0])).values()) == {None}


def test_lsf_has_each_host_in_brackets_behind_its_slots() -> None:
    assert nodes_of("<64*n04> <64*n05> <n06.lab>") == ["n04", "n05", "n06.lab"]
    assert nodes_of("<none>") == ["none"]
