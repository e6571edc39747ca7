"""Sysfs: counters and states, from files and from text captures, wherever the layout puts them."""

from __future__ import annotations

import pytest
from host_captures import SYSFS_GREP, SYSFS_TAIL
from snapshot_inputs import as_input, by_kind, claimed_by, facts_of, one, read

from neuron_doctor.collectors.base import UnreadableInput
from neuron_doctor.collectors.sysfs import COLLECTORS

ROOT = "node3/sys/devices/virtual/neuron_device"


def counters(text: str, path: str = "capture.txt") -> dict[str, int]:
    return {str(f.data["name"]): f.data["last"] for f in by_kind(facts_of(text, path))["counter"]}  # type: ignore[misc]


def test_a_recursive_grep_gives_the_counters_that_matter() -> None:
    assert counters(SYSFS_GREP) == {
        "mem_ecc_uncorrected": 2,
        "sram_ecc_uncorrected": 0,
        "timeout": 5,
        "infer_completed_with_num_error": 7,
        "reset_fail_count": 1,
    }


def test_a_counter_stands_at_its_core_with_first_and_last_equal() -> None:
    fact = next(f for f in by_kind(facts_of(SYSFS_GREP))["counter"] if f.data["name"] == "timeout")
    assert (fact.place.device, fact.place.core) == (3, 1)
    assert fact.data == {"name": "timeout", "first": 5, "last": 5, "increase": 0, "samples": 1}
    assert fact.span.line == 5


def test_memory_gives_levels_and_the_whole_tree_a_device_count() -> None:
    facts = facts_of(SYSFS_GREP)
    levels = {f.data["name"]: f.data["last"] for f in by_kind(facts)["level"]}
    assert levels == {"device_mem/tensors": 1048576.0, "device_mem/tensors/peak": 2097152.0}
    assert one(facts, "device-count").data["neuron"] == 1


def test_a_part_of_the_tree_gives_no_device_count() -> None:
    assert by_kind(facts_of("neuron0/stats/hardware/mem_ecc_uncorrected:0\n"))["device-count"] == []


def test_headings_with_paths_are_read_too() -> None:
    facts = facts_of(SYSFS_TAIL)
    assert one(facts, "device-state").data == {"state": "ready"}
    assert counters(SYSFS_TAIL) == {"execute_completed_with_error": 3}


@pytest.mark.parametrize(("value", "state"), [("0", "resetting"), ("1", "ready"), ("2", "invalid")])
def test_reading_reset_gives_the_state_of_the_device(value: str, state: str) -> None:
    fact = one(facts_of(f"{value}\n", f"{ROOT}/neuron12/reset"), "device-state")
    assert fact.data == {"state": state}
    assert fact.place.device == 12


def test_an_unknown_state_is_kept_and_is_a_problem() -> None:
    facts, inp = read("7\n", f"{ROOT}/neuron1/reset")
    assert one(facts, "device-state").data == {"state": "7"}
    assert inp.problems


@pytest.mark.parametrize(
    "path",
    [
        f"{ROOT}/neuron3/stats/hardware/mem_ecc_uncorrected",
        "bundle.tar.gz!sys/neuron3/health/ecc/mem_ecc_uncorrected",
        "neuron3/neuron_core1/moved/elsewhere/mem_ecc_uncorrected/total",
    ],
)
def test_a_counter_is_known_by_its_name_wherever_it_stands(path: str) -> None:
    fact = one(facts_of("4\n", path), "counter")
    assert (fact.data["name"], fact.data["last"], fact.place.device) == ("mem_ecc_uncorrected", 4, 3)


def test_a_status_of_zero_is_not_worth_a_fact() -> None:
    assert facts_of("0\n", f"{ROOT}/neuron3/neuron_core1/stats/status/timeout/total") == []


@pytest.mark.parametrize("spelling", ["infer_completed_with_error", "execute_completed_with_error"])
def test_both_spellings_of_a_status_are_read(spelling: str) -> None:
    path = f"{ROOT}/neuron3/neuron_core1/stats/status/{spelling}/total"
    assert counters("9\n", path) == {spelling: 9}


def test_components_that_are_unhealthy_are_named() -> None:
    facts = by_kind(facts_of("hbm0, sram\n", f"{ROOT}/neuron3/unhealthy_components"))["unhealthy-component"]
    assert [f.data["component"] for f in facts] == ["hbm0", "sram"]
    assert facts_of("none\n", f"{ROOT}/neuron3/unhealthy_components") == []


def test_a_file_of_the_same_name_elsewhere_is_refused() -> None:
    with pytest.raises(UnreadableInput, match="neuron<N>"):
        list(COLLECTORS[0].collect(as_input(b"5\n", "results/total")))


def test_an_empty_file_is_refused() -> None:
    with pytest.raises(UnreadableInput, match="empty"):
        list(COLLECTORS[0].collect(as_input(b"", f"{ROOT}/neuron3/reset")))


def test_a_counter_that_is_no_number_is_a_problem() -> None:
    facts, inp = read("unknown\n", f"{ROOT}/neuron3/stats/hardware/mem_ecc_uncorrected")
    assert facts == []
    assert list(inp.problems) == ["the value of a counter is not a number"]


@pytest.mark.parametrize("text", ["stats/loss: 0.31\nstats/step: 7\n", "==> logs/rank0.log <==\nall is well\n", "42\n"])
def test_other_texts_with_paths_and_numbers_are_not_sysfs(text: str) -> None:
    assert claimed_by(text.encode()) == []


ROWS = "".join(
    f"neuron{n} state=1 core_count=4 serial=c8{n:02}f mem_ecc_uncorrected={int(n == 5)} sram_ecc_uncorrected=0\n"
    for n in range(16)
    if n != 9
)


def test_a_row_of_counters_for_each_device_is_read() -> None:
    facts = by_kind(facts_of(ROWS))
    found = {f.place.device: f.data["last"] for f in facts["counter"] if f.data["name"] == "mem_ecc_uncorrected"}
    assert found == {n: int(n == 5) for n in range(16) if n != 9}
    count = one(facts["device-count"], "device-count").data
    assert (count["neuron"], count["expected_neuron"]) == (15, 16)


@pytest.mark.parametrize(
    "row",
    [
        "neuron3 loss=0.3 step=4\n",
        "neuron3 core_count=2" + " a=1," * 39 + " =\n",
        "neuron0: started\n",
        "neuron3 sram_ecc_uncorrected\n",
    ],
)
def test_other_rows_about_a_device_are_not(row: str) -> None:
    assert claimed_by(row.encode() * 4) == []
