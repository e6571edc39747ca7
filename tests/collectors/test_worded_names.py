"""Names of hosts behind words for programs, and what only looks like it."""

from __future__ import annotations

import pytest
from test_layout import fact, hosts, source, together

from neuron_doctor.collectors.layout import placed_by_layout
from neuron_doctor.engine.facts import Collection, Place

STATED = fact("kmsg/ultra-06", "identity", hostname="ultra-06")


def logs(*names: str, ip: bool = False) -> Collection:
    said = (
        fact(name, place=Place(host=f"10.3.0.{n}" if ip else None), text=f"10.3.0.{n} ")
        for n, name in enumerate(names, 20)
    )
    return together(*map(source, names), *said)


@pytest.mark.parametrize(
    "names",
    [
        ("worker-ultra-05.out", "worker-ultra-06.out"),
        ("logs/trainer_ultra-05/stderr.log", "logs/trainer_ultra-06/stderr.log"),
        ("ray.worker.ultra-05.log", "ray.worker.ultra-06.log"),
        ("Worker-ULTRA-05.out", "Worker-Ultra-06.out"),
        ("worker-0-ultra-05.out", "worker-1-ultra-06.out"),
        ("rank_17_ultra-05.log", "rank_24_ultra-06.log"),
    ],
)
def test_names_behind_a_word_for_a_program_are_those_of_hosts_where_content_states_one(names: tuple[str, str]) -> None:
    found = hosts(together(logs(*names), STATED))
    assert [str(found[name]).casefold() for name in names] == ["ultra-05", "ultra-06"]


def test_the_address_before_all_lines_of_such_a_file_alone_is_that_of_its_host() -> None:
    found = placed_by_layout(together(logs("worker-ultra-05.out", "worker-ultra-06.out", ip=True), STATED))
    told = {(f.data["hostname"], f.data.get("address")) for f in found.facts if f.kind == "identity"}
    assert told == {("ultra-06", None), ("ultra-05", "10.3.0.20"), ("ultra-06", "10.3.0.21")}


@pytest.mark.parametrize(
    "names", [("prof-90311-u2-a.log", "prof-90311-u2-b.log"), ("sft.48123.u2-a.out", "sft.48123.u2-b.out")]
)
def test_behind_the_number_of_a_job_one_name_that_content_states_is_enough(names: tuple[str, str]) -> None:
    found = hosts(together(logs(*names), fact("kmsg/u2-a", "identity", hostname="u2-a")))
    assert [found[name] for name in names] == ["u2-a", "u2-b"]


@pytest.mark.parametrize(
    "names",
    [
        ("prof-90311-u2-a.log", "prof-90312-u2-b.log"),  # of two jobs
        ("prof-u2-a.log", "prof-u2-b.log"),
        ("prof-90311-u2-a.log", "prof-90311-u3-bb.log"),
    ],
)
def test_behind_other_words_one_name_is_not(names: tuple[str, str]) -> None:
    assert hosts(together(logs(*names), fact("kmsg/u2-a", "identity", hostname="u2-a"))).get(names[1]) != "u2-b"


@pytest.mark.parametrize(
    "names",
    [
        ("ping-ultra-05.txt", "ping-ultra-06.txt"),  # from wherever it was called
        ("worker-to-ultra-05.log", "worker-to-ultra-06.log"),
        ("worker-ultra-06.out",),
        ("worker-ultra-05.out", "trainer-ultra-06.out"),
        ("worker-alpha-05.out", "worker-alpha-06.out"),
        ("worker-ultra-05-6.out", "worker-ultra-06.out"),
        ("worker-ultra-04-ultra-05.out", "worker-ultra-05-ultra-06.out"),
        ("bench-1-ultra-05.out", "bench-2-ultra-06.out"),
    ],
)
def test_other_words_and_names_that_stand_alone_prove_no_host(names: tuple[str, ...]) -> None:
    assert "ultra-06" not in hosts(together(logs(*names), STATED)).values()


def test_where_a_whole_name_is_a_host_the_word_is_part_of_it() -> None:
    whole = fact("nodes.txt", "identity", hostname="worker-ultra-05")
    found = hosts(together(logs("worker-ultra-05.out", "worker-ultra-06.out"), STATED, whole))
    assert found["worker-ultra-05.out"] == "worker-ultra-05"
    assert found["worker-ultra-06.out"] != "ultra-06"


def test_a_letter_and_a_number_behind_a_word_are_any_number() -> None:
    stated = fact("kmsg/w6", "identity", hostname="w6")
    assert "w6" not in hosts(together(logs("task-w5.log", "task-w6.log"), stated)).values()


ANOTHER = fact("kmsg/ultra-05", "identity", hostname="ultra-05")


@pytest.mark.parametrize("before", ["job_llama70b_0505.", "sft.", "run3-"])
def test_behind_the_name_of_a_job_stand_hosts_where_content_states_each_of_them(before: str) -> None:
    names = [f"{before}ultra-05.log", f"{before}ultra-06.log"]
    found = hosts(together(logs(*names), STATED, ANOTHER))
    assert [found[name] for name in names] == ["ultra-05", "ultra-06"]
    assert "ultra-06" not in hosts(together(logs(*names), STATED)).values()


def test_what_was_asked_of_hosts_was_asked_elsewhere() -> None:
    asked = logs("ping-ultra-05.txt", "ping-ultra-06.txt", "iperf3.ultra-05.log", "iperf3.ultra-06.log")
    assert "ultra-06" not in hosts(together(asked, STATED, ANOTHER)).values()
