"""neuron-ls: its table and its JSON say the same, and damage costs what is damaged."""

from __future__ import annotations

import pytest
from host_captures import NEURON_LS_JSON, NEURON_LS_TABLE
from hypothesis import given
from hypothesis import strategies as st
from snapshot_inputs import as_input, by_kind, facts_of, one, read

from neuron_doctor.collectors.base import UnreadableInput
from neuron_doctor.collectors.neuron_ls import COLLECTORS
from neuron_doctor.engine.facts import Place


def test_the_table_gives_devices_their_users_and_the_expected_number() -> None:
    facts = by_kind(facts_of(NEURON_LS_TABLE))
    first, second = facts["device"]
    assert first.place.device == 0
    assert first.data == {
        "bdf": "0000:10:1c.0",
        "cores": 2,
        "lnc": 0,
        "memory_bytes": 32 * 2**30,
        "connected_to": (12, 3, 4),
    }
    assert second.place.device == 1
    assert [(user.place.device, user.place.pid) for user in facts["device-user"]] == [(0, 23518), (0, 23531)]
    assert facts["device-user"][0].data == {"command": "python train.py", "runtime_version": "2.22.14"}
    count = one(facts_of(NEURON_LS_TABLE), "device-count")
    assert count.data == {"neuron": 2, "efa": -1, "cores": 4, "expected_neuron": 16, "expected_efa": 8}
    assert count.place.instance_id == "i-0123456789abcdef0"
    assert one(facts_of(NEURON_LS_TABLE), "identity").data["instance_type"] == "trn1.32xlarge"


def test_the_json_gives_devices_and_users_with_secrets_masked() -> None:
    facts = by_kind(facts_of(NEURON_LS_JSON))
    assert [fact.data["lnc"] for fact in facts["device"]] == [2, 0]
    assert facts["device"][1].data["connected_to"] == ()
    (user,) = facts["device-user"]
    assert (user.place.device, user.place.pid) == (0, 113985)
    assert user.data["command"] == "python train.py --api-key <masked>"
    assert user.span.text == '"pid": 113985'
    assert one(facts_of(NEURON_LS_JSON), "device-count").data["neuron"] == 2


def test_the_indented_table_of_the_documentation_is_read_too() -> None:
    indented = "".join(f"  {line}\n" for line in NEURON_LS_TABLE.splitlines())
    assert len(by_kind(facts_of(indented))["device"]) == 2


def test_the_host_of_the_prompt_is_the_place_of_the_devices() -> None:
    facts = facts_of("ubuntu@ip-10-1-200-50:~$ neuron-ls -j\n" + NEURON_LS_JSON)
    assert one(facts, "device-count").place.host == "ip-10-1-200-50"


def test_the_place_of_the_path_completes_that_of_the_text() -> None:
    facts = facts_of(NEURON_LS_JSON, place=Place(host="node7"))
    assert {fact.place.host for fact in facts} == {"node7"}


def test_no_device_at_all_is_a_count_of_zero() -> None:
    assert one(facts_of("[]\n", "node3/neuron-ls.json"), "device-count").data["neuron"] == 0


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (set(range(16)) - {11}, 16),
        (set(range(16)) - {0, 3}, 16),
        (set(range(12)) - {4}, 12),
        (set(range(16)), 16),
        (set(range(16)) - {1, 2, 3}, 0),  # a container with some of them
        (set(range(8, 16)), 0),
        (set(range(6)) - {2}, 0),
        ({15}, 0),
    ],
)
def test_the_numbers_of_the_devices_tell_where_one_is_missing(numbers: set[int], expected: int) -> None:
    rows = "".join(f"| {number} | 2 | 32 GB | 00:{number:02x}.0 |\n" for number in sorted(numbers))
    rule = "+--------+--------+--------+---------+\n"
    table = f"{rule}| NEURON | NEURON | NEURON |   PCI   |\n| DEVICE | CORES  | MEMORY |   BDF   |\n{rule}{rows}{rule}"
    count = one(facts_of(table), "device-count").data
    assert (count["neuron"], count["expected_neuron"]) == (len(numbers), expected)


def test_a_table_that_is_cut_off_still_tells_the_first_devices() -> None:
    text = NEURON_LS_TABLE[: NEURON_LS_TABLE.index("| 1      |")]
    assert [fact.place.device for fact in by_kind(facts_of(text))["device"]] == [0]


def test_json_that_is_cut_off_gives_no_count() -> None:
    facts, inp = read(NEURON_LS_JSON[: NEURON_LS_JSON.index('"bdf": "b5') + 4])
    assert [fact.place.device for fact in by_kind(facts)["device"]] == [0]
    assert by_kind(facts)["device-count"] == []
    assert list(inp.problems) == ["unreadable JSON: JSONDecodeError"]


@given(st.integers(min_value=0, max_value=len(NEURON_LS_JSON)))
def test_any_cut_of_the_json_gives_facts_a_problem_or_a_refusal(cut: int) -> None:
    inp = as_input(NEURON_LS_JSON[:cut].encode())
    try:
        facts = list(COLLECTORS[0].collect(inp))
    except UnreadableInput:
        assert cut == 0
    else:
        assert inp.problems or by_kind(facts)["device-count"]


@pytest.mark.parametrize(
    "body",
    ['[{"neuron_device": "zero", "nc_count": 2}]', '[{"neuron_device": 0, "nc_count": null, "bdf": 7}, 5, null]'],
)
def test_entries_of_the_wrong_type_are_problems(body: str) -> None:
    _, inp = read(body)
    assert inp.problems["an entry without a device number"].count >= 1


def test_json_that_is_nested_too_deeply_is_a_problem() -> None:
    _, inp = read('[\n{"neuron_device": 0, "nc_count": 1},\n' + "[" * 50_000 + "\n")
    assert list(inp.problems) == ["unreadable JSON: RecursionError"]
