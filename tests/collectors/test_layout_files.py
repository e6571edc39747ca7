"""Files that are called after a host and what they are about, and those of terminals that say which host they are of."""

from __future__ import annotations

import pytest
from test_layout import fact, hosts, ranks, source, together

from neuron_doctor.collectors.layout import placed_by_layout
from neuron_doctor.engine.facts import Collection, Place


@pytest.mark.parametrize("name", ["q1-dy-trn-2-dnf.txt", "q1-dy-trn-2_cloud-init_output.log", "Q1-DY-TRN-2-bootstrap"])
def test_a_file_that_is_called_after_a_host_and_what_it_is_about_is_of_that_host(name: str) -> None:
    stated = fact("slurm.out", "launcher-failure", Place(host="q1-dy-trn-2"))
    assert hosts(together(source("slurm.out"), stated, source(name)))[name] == "q1-dy-trn-2"


@pytest.mark.parametrize(
    "name",
    [
        "q1-dy-trn-2-vs-q1-dy-trn-3.txt",
        "q1-dy-trn-2-b.txt",
        "q1-dy-trn-20-dnf.txt",
        "q1-dy-trn-dnf.txt",
        "q1-dy-trn-2-replacement.log",
        "q1-dy-trn-2-peer-cloudinit.log",
        "q1-dy-trn-2.spare.log",
    ],
)
def test_a_file_with_the_name_of_another_host_or_of_two_is_of_none(name: str) -> None:
    stated = fact("slurm.out", "launcher-failure", Place(host="q1-dy-trn-2"))
    assert hosts(together(source("slurm.out"), stated, source(name)))[name] is None


def test_terminals_of_workers_that_prompt_on_one_host_are_no_hosts() -> None:
    def pane(path: str, rank: int, host: str) -> Collection:
        prompt = [fact(path, "identity", hostname=host), fact(path, "env", name="HOSTNAME", value=host)]
        return Collection(
            (source(path, start=0),), (*prompt, *(fact(path, place=Place(rank=rank + n)) for n in range(2)))
        )

    several = [
        pane("pane-smew.0.txt", 0, "smew"),
        pane("pane-smew.1.txt", 2, "smew"),
        pane("pane-teal.0.txt", 4, "teal"),
    ]
    assert set(hosts(together(*several)).values()) == {"smew", "teal"}


def test_a_file_is_of_the_host_whose_name_stands_behind_the_number_of_a_job() -> None:
    logs = [ranks(f"job_4411_w-b{n}.log", 8 * n, 8) for n in range(2)]
    stated = [fact("job_4411_w-b0.log", place=Place(host=f"w-b{n}")) for n in range(2)]
    assert hosts(together(*logs, *stated)) == {"job_4411_w-b0.log": "w-b0", "job_4411_w-b1.log": "w-b1"}
    assert not {"w-b0", "w-b1"} & set(hosts(together(*logs)).values())


@pytest.mark.parametrize(("one", "other"), [("J801", "J802"), ("J801/logs", "J802/logs"), ("llama", "mixtral")])
def test_files_called_like_the_hosts_of_a_directory_beside_theirs_are_of_hosts(one: str, other: str) -> None:
    known = ranks(f"{other}/atlas8.log", 0), ranks(f"{other}/atlas9.log", 32)
    found = hosts(together(*known, source(f"{one}/atlas3.log"), source(f"{one}/atlas4.log")))
    assert sorted(map(str, found.values())) == ["atlas3", "atlas4", "atlas8", "atlas9"]


@pytest.mark.parametrize(
    "others",
    [
        [ranks("J801/atlas3.log", 0), ranks("J801/atlas4.log", 0)],  # copies, or runs
        [source("J801/atlas3.log", start=0), source("J801/atlas4.log", start=5000)],
        [source("J801/retry3.log"), source("J801/retry4.log")],
        [source("J801/seed-3.log"), source("J801/seed-4.log")],
        [source("J801/x/atlas3.log"), source("J801/x/atlas4.log")],
    ],
)
def test_runs_and_names_of_another_shape_are_no_hosts_though_hosts_lie_beside_them(others: list[Collection]) -> None:
    found = hosts(together(ranks("J802/atlas8.log", 0), ranks("J802/atlas9.log", 32), *others))
    assert {host for path, host in found.items() if "J801" in path} == {None}


def test_what_was_asked_of_a_scheduler_on_a_host_is_not_of_that_host() -> None:
    stated = fact("slurm.out", "launcher-failure", Place(host="birch"))
    asked = fact("epilog-birch/scontrol.txt", "slurm-job", Place(job="7"), job_id="7")
    found = together(source("slurm.out"), stated, source("epilog-birch/scontrol.txt", kind="slurm"), asked)
    assert [f.place.host for f in placed_by_layout(found).facts if f.kind == "slurm-job"] == [None]
    beside = together(found, source("epilog-birch/dmesg.txt", kind="kernel"))
    assert hosts(beside)["epilog-birch/dmesg.txt"] == "birch"
