"""lsmod and modinfo: what is loaded, what is not, and what is installed."""

from __future__ import annotations

from host_captures import LSMOD, MODINFO
from snapshot_inputs import as_input, by_kind, claimed_by, facts_of, one

from neuron_doctor.collectors.modules import parse_lsmod
from neuron_doctor.collectors.snapshot import read_lines


def test_the_driver_is_listed_with_its_users() -> None:
    facts = by_kind(facts_of(LSMOD))
    shown = {f.data["name"]: f.data["used_by"] for f in facts["module"]}
    assert shown == {"efa": 0, "ib_uverbs": 1, "neuron": 34}
    assert facts["module-absent"] == []


def test_a_whole_listing_without_the_driver_says_that_it_is_absent() -> None:
    fact = one(facts_of(LSMOD.replace("neuron  ", "unrelated")), "module-absent")
    assert fact.data == {"name": "neuron"}
    assert fact.span.line == 1


def test_a_filtered_listing_says_nothing_of_what_it_does_not_show() -> None:
    facts = by_kind(facts_of("efa                   135168  0\n"))
    assert len(facts["module"]) == 1
    assert facts["module-absent"] == []


def test_a_listing_that_was_cut_off_early_says_nothing_either() -> None:
    assert by_kind(facts_of("Module                  Size  Used by\nnvme  57344  2\n"))["module-absent"] == []


def test_asking_for_the_driver_and_getting_nothing_says_that_it_is_absent() -> None:
    inp = as_input(b"$ lsmod | grep neuron\n")
    assert one(list(parse_lsmod(inp, read_lines(inp))), "module-absent").span.text == "$ lsmod | grep neuron"


def test_asking_for_another_module_and_getting_nothing_says_nothing() -> None:
    inp = as_input(b"$ lsmod | grep nvidia\n")
    assert list(parse_lsmod(inp, read_lines(inp))) == []


def test_proc_modules_is_read_like_lsmod() -> None:
    assert one(facts_of("neuron 237568 3 - Live 0x0000000000000000 (OE)\n"), "module").data["used_by"] == 3


def test_modinfo_names_the_driver_that_is_installed() -> None:
    fact = one(facts_of(MODINFO), "version")
    assert fact.data == {"component": "driver-installed", "version": "2.19.64.0"}


def test_modinfo_of_another_module_gives_nothing() -> None:
    assert facts_of(MODINFO.replace("neuron.ko", "nvme.ko")) == []


def test_a_version_below_its_command_is_read_alone_and_a_terminal_that_begins_so_is_left_to_others() -> None:
    asked = "$ modinfo -F version neuron\n2.27.4.0\n"
    assert one(facts_of(asked), "version").data == {"component": "driver-installed", "version": "2.27.4.0"}
    assert claimed_by(f"{asked}$ uptime\n 10:00 up 3 days\n".encode()) == []
