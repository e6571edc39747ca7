"""lspci: devices are counted in each of its formats, and a filtered listing counts only what it shows."""

from __future__ import annotations

import pytest
from host_captures import LSPCI, LSPCI_NUMERIC, LSPCI_TREE
from hypothesis import given
from hypothesis import strategies as st
from snapshot_inputs import by_kind, claimed_by, facts_of, one

from neuron_doctor.collectors import lspci
from neuron_doctor.collectors.snapshot import command_of, first_line


def addresses(text: str) -> list[tuple[object, object]]:
    return [(f.data["kind"], f.data["bdf"]) for f in by_kind(facts_of(text))["pci-device"]]


def test_the_plain_form_gives_kinds_addresses_and_counts() -> None:
    assert addresses(LSPCI) == [("efa", "10:19.0"), ("neuron", "10:1c.0"), ("neuron", "10:1d.0")]
    count = one(facts_of(LSPCI), "device-count").data
    assert count == {"neuron": 2, "efa": 1, "cores": 0, "expected_neuron": 0, "expected_efa": 0}


def test_a_device_that_does_not_answer_is_gone() -> None:
    assert [f.data["gone"] for f in by_kind(facts_of(LSPCI))["pci-device"]] == [False, False, True]


def test_the_tree_gives_the_bus_of_each_device() -> None:
    assert addresses(LSPCI_TREE) == [("efa", "0000:a0:19.0"), ("neuron", "0000:a0:1b.0"), ("neuron", "0000:90:1b.0")]


def test_the_numeric_form_is_read_by_device_id() -> None:
    assert addresses(LSPCI_NUMERIC) == [("efa", "0000:10:19.0"), ("neuron", "0000:10:1c.0")]


def test_details_between_the_devices_change_nothing() -> None:
    detailed = LSPCI.replace("\n", "\n\tSubsystem: Amazon.com, Inc. Device 0000\n\tKernel driver in use: neuron\n\n")
    assert addresses(detailed) == addresses(LSPCI)


def test_a_whole_listing_without_neuron_devices_counts_none() -> None:
    text = "\n".join(line for line in LSPCI.splitlines() if "Neuron" not in line and "EFA" not in line)
    count = one(facts_of(text), "device-count").data
    assert (count["neuron"], count["efa"]) == (0, 0)


@pytest.mark.parametrize(("word", "expected"), [("Neuron", (2, -1)), ("EFA", (-1, 1))])
def test_a_filtered_listing_does_not_count_what_it_leaves_out(word: str, expected: tuple[int, int]) -> None:
    text = "\n".join(line for line in LSPCI.splitlines() if word in line)
    count = one(facts_of(text), "device-count").data
    assert (count["neuron"], count["efa"]) == expected


CALLED = """$ lspci | grep -c "Elastic Fabric Adapter"
1
$ lspci | grep -i efa
10:19.0 Ethernet controller: Amazon.com, Inc. Elastic Fabric Adapter (EFA)
$ sudo /usr/sbin/lspci -d 1d0f:
10:19.0 Ethernet controller: Amazon.com, Inc. Elastic Fabric Adapter (EFA)
10:1c.0 System peripheral: Amazon.com, Inc. NeuronDevice
$ ls /dev/infiniband
uverbs0
"""


@given(
    st.lists(
        st.sampled_from(
            [
                *CALLED.splitlines(keepends=True),
                "\n",
                "\u2028",
                "\x0b",
                "\ufeff",
                "\udcff",
                "# ls -l\r\n",
                "==> a <==\n",
            ]
        ),
        max_size=9,
    )
)
def test_where_the_first_line_is_no_command_nothing_is_of_several(parts: list[str]) -> None:
    head = "".join(parts).encode("utf-8", "surrogateescape")
    texts = head.decode("utf-8", "replace").removeprefix("\ufeff").splitlines()
    assert first_line(head) == next(iter(texts), "")
    commands = [command for text in texts if (command := command_of(text)) is not None]
    if len(commands) <= 1 or command_of(texts[0]) is None:
        assert lspci._called(head) is None
    else:
        assert lspci._called(head) is not None


def test_of_several_commands_what_lspci_printed_counts_and_each_device_once() -> None:
    count = one(facts_of(CALLED), "device-count").data
    assert (count["neuron"], count["efa"]) == (1, 1)
    assert addresses(CALLED) == [("efa", "10:19.0"), ("neuron", "10:1c.0")]
    assert claimed_by(f"\ufeff{CALLED}".encode()) == claimed_by(CALLED.encode()) == ["lspci"]


@pytest.mark.parametrize("text", [CALLED.replace("lspci", "cat"), "$ uptime\n1 day\n" + CALLED])
def test_another_command_first_is_no_listing(text: str) -> None:
    assert claimed_by(text.encode()) == []
