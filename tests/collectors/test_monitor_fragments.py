"""Groups of reports of neuron-monitor that jq cut out."""

from __future__ import annotations

import json

import pytest
from cluster_captures import MONITOR_GROUP
from snapshot_inputs import by_kind, claimed_by, facts_of, read

from neuron_doctor.collectors.shown_tables import shown_tables

COUNTERS = {"period": 5.0, "neuron_devices": [{"neuron_device_index": 3, "mem_ecc_uncorrected": 2}], "error": ""}
STATS = {
    "period": 5.0,
    "error_summary": {"generic": 0, "numerical": 0, "transient": 0, "model": 0, "runtime": 0, "hardware": 3},
    "execution_summary": {"completed": 10, "timed_out": 0},
    "error": "",
}


def counters(text: str) -> dict[str, tuple[object, object, int | None]]:
    found = by_kind(facts_of(text, "shown.txt"))
    assert "level" not in found
    return {str(f.data["name"]): (f.data["increase"], f.place.device, f.span.line) for f in found["counter"]}


def test_a_counter_that_rises_is_shown_where_it_first_did() -> None:
    assert counters(MONITOR_GROUP)["mem_ecc_uncorrected"] == (2, 3, 3)
    assert counters(MONITOR_GROUP)["mem_ecc_corrected"][0] == 0


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("indent", [2, None])
def test_with_its_name_or_without_in_lines_or_in_one(named: bool, indent: int | None) -> None:
    hardware = json.dumps({"neuron_hw_counters": COUNTERS} if named else COUNTERS, indent=indent)
    assert counters(hardware)["mem_ecc_uncorrected"][:2] == (0, 3)  # it may be as old as the driver
    stats = json.dumps({"execution_stats": STATS} if named else STATS, indent=indent)
    assert counters(stats)["error_hardware"][0] == 3


def test_it_is_of_the_machine_on_which_it_was_asked() -> None:
    [fact, *_] = facts_of("ubuntu@trn-1" + ":~" + MONITOR_GROUP, "shown.txt")
    assert fact.place.host == "trn-1"


def test_what_is_cut_off_leaves_what_stands_before() -> None:
    facts, inp = read(MONITOR_GROUP[:-20] + "\n", "shown.txt")
    assert {fact.data["samples"] for fact in facts} == {1}
    assert inp.problems


@pytest.mark.parametrize(
    "text",
    [
        '{"msg": "read", "mem_ecc_uncorrected": 2}\n',
        f"{json.dumps(COUNTERS)}\n2026-05-26 10:00:00 INFO step 3\n",
        '{"period": 5.0, "error": ""}\n',
    ],
)
def test_what_is_no_group_is_left_to_others(text: str) -> None:
    assert claimed_by(text.encode()) == []


def test_between_other_commands_of_a_terminal() -> None:
    text = f"$ uptime\n 11:00 up 3 days\n{MONITOR_GROUP}$ date\nTue\n"
    assert [member.name for member in shown_tables(text.encode())] == ["neuron-monitor.txt"]


def test_groups_behind_others_are_quoted_where_they_stand() -> None:
    later = {**COUNTERS, "neuron_devices": [{"neuron_device_index": 3, "mem_ecc_uncorrected": 5}]}
    texts = [json.dumps(one, indent=2, ensure_ascii=False) for one in ({**COUNTERS, "note": "\u00e9"}, later)]
    text = "".join(f"{one}\r\n" for one in texts)
    [fact] = [one for one in facts_of(text, "shown.txt") if one.data.get("name") == "mem_ecc_uncorrected"]
    assert fact.data["increase"] == 3
    assert fact.span.line is not None
    assert fact.span.line > texts[0].count("\n") + 1
