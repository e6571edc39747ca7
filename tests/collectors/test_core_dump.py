"""Core dumps: places from names, and the arguments of neuron-dump."""

from __future__ import annotations

import pytest
from host_captures import DUMP_ARGUMENTS, DUMP_JSON
from hypothesis import given
from hypothesis import strategies as st
from snapshot_inputs import claimed_by, facts_of, one

from neuron_doctor.collectors import core_dump
from neuron_doctor.collectors.core_dump import arguments_of, core_dump_data, place_of_core_dump_path
from neuron_doctor.collectors.hints import place_of_path
from neuron_doctor.collectors.snapshot import head_lines
from neuron_doctor.engine.facts import NOWHERE

IID = "i-0123456789abcdef0"
DIRECTORY = "node1/neuron-core-dump/dt-20250917-194443-cid-00000000deadbeef"


def test_the_file_of_a_core_names_its_place() -> None:
    fact = one(facts_of(b"\x00\x01", f"{DIRECTORY}/{IID}-nd7-nc1-pid-4242-tid-4250-lid-3"), "core-dump")
    assert fact.place.known() == {"instance_id": IID, "pid": 4242, "device": 7, "core": 1}
    assert fact.data == {
        "part": "core",
        "cluster_id": "00000000deadbeef",
        "dumped_at": "20250917-194443",
        "tid": 4250,
        "log_id": 3,
        "cc_core": -1,
    }


def test_the_file_of_a_collectives_core_says_which() -> None:
    fact = one(facts_of(b"", f"{DIRECTORY}/{IID}-nd7-cc-core-5-pid-4242-tid-4250-lid-3"), "core-dump")
    assert (fact.data["part"], fact.data["cc_core"], fact.place.core) == ("cc-core", 5, None)


@pytest.mark.parametrize(
    "directory", ["dumps/20250917-194443-00000000deadbeef", "d.tar!dt-20250917-194443-cid-00000000deadbeef"]
)
def test_other_directory_templates_give_the_join_key_too(directory: str) -> None:
    data = core_dump_data(f"{directory}/{IID}-nd0-nc0-pid-1-tid-1-lid-1")
    assert data is not None
    assert data["cluster_id"] == "00000000deadbeef"


def test_the_documented_form_of_the_date_is_kept_as_it_is() -> None:
    data = core_dump_data(f"dt-2025-09-17-19-44-cid-0000000000000000/{IID}-nd0-nc0-pid-7-tid-1-lid-1")
    assert data is not None
    assert (data["dumped_at"], data["cluster_id"], data["part"]) == ("2025-09-17-19-44", "0" * 16, "core")


@pytest.mark.parametrize("name", [f"{IID}-nrt-pid-4242.log", f"nrt-{IID}-pid-4242.log", f"nrt-{IID}-pid-4242.log.gz"])
def test_a_log_tail_has_a_place_by_its_path_and_is_left_to_the_reader_of_logs(name: str) -> None:
    place = place_of_path(f"{DIRECTORY}/{name}")
    assert (place.instance_id, place.pid) == (IID, 4242)
    assert core_dump_data(f"{DIRECTORY}/{name}") is None
    assert claimed_by(b"2025-Sep-17 19:44:43.000000 4242:4242 ERROR NRT:nrt_execute x\n", name) == []


def test_a_host_that_is_no_instance_gives_no_instance_id() -> None:
    place = place_of_core_dump_path("x/lab-7-nd0-nc0-pid-1-tid-1-lid-1")
    assert place.known() == {"pid": 1, "device": 0, "core": 0}


@given(st.text())
def test_any_other_path_is_nowhere_or_well_formed(path: str) -> None:
    assert (core_dump_data(path) is None) == (place_of_core_dump_path(path) == NOWHERE)


@pytest.mark.parametrize("text", [DUMP_ARGUMENTS, DUMP_JSON])
def test_the_arguments_of_neuron_dump_are_read(text: str) -> None:
    fact = one(facts_of(text), "core-dump-args")
    shown = {name: fact.data[name] for name in ("neff", "log_id", "cluster_id", "api", "code")}
    assert shown == {
        "neff": "model.neff",
        "log_id": 3,
        "cluster_id": "00000000deadbeef",
        "api": "nrt_execute",
        "code": 1006,
    }
    assert fact.place.pid == 4242


def test_arguments_in_a_list_are_read_too() -> None:
    text = '{"args": ["neuron-dump", "--error-code", "5", "--log-id", "1", "--cluster-id", "00"], "when": "x"}'
    assert one(facts_of(text), "core-dump-args").data["code"] == 5


def test_a_flag_without_a_value_takes_nothing_from_the_next_one() -> None:
    flags = arguments_of("--s3-output-prefix --error-code 5 --log-id 1")
    assert flags == {"error-code": "5", "log-id": "1"}


@pytest.mark.parametrize("text", ["--lr 1 --error-code 5", "", "neuron-dump failed with error-code 5"])
def test_other_command_lines_are_not_arguments_of_neuron_dump(text: str) -> None:
    assert arguments_of(text) == {}


LINES = st.sampled_from(
    [
        "neuron-dump --error-code 5 --log-id 7 --cluster-id 0123456789abcdef --error-location api",
        "--log-id 7 --cluster-id 0123456789abcdef",
        "--error-code 5",
        "noise with error-code in it",
        "$ neuron-dump --help",
        "",
        "x" * 3000,
        "\0",
        "{",
    ]
)


@given(st.lists(LINES, max_size=4))
def test_a_look_at_the_first_line_refuses_no_arguments_of_neuron_dump(lines: list[str]) -> None:
    text = "\n".join(lines)
    head, texts = text.encode(), head_lines(text.encode())
    arguments = "error-code" in text and bool(texts) and all(arguments_of(one) for one in texts)
    assert core_dump.COLLECTORS[1].sniff(head, "x") == arguments
