"""Listings of neuron-ls between other lines: they say there what they say in a file of their own."""

from __future__ import annotations

import json
from functools import partial

import pytest
from host_captures import (
    CHRONY,
    DF,
    DPKG,
    LSMOD,
    LSPCI,
    LSPCI_NUMERIC,
    MODINFO,
    NEURON_LS_JSON,
    NEURON_LS_TABLE,
    UNAME,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from snapshot_inputs import as_input, by_kind, facts_of

from neuron_doctor.collectors import clock_reports, file_systems, lspci, modules, packages, uname
from neuron_doctor.collectors.base import HEAD, Collector
from neuron_doctor.collectors.blocks import WHOLE, Extent
from neuron_doctor.collectors.shown_listings import shown_listings
from neuron_doctor.collectors.text import text_collector
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.matcher import build_matcher
from neuron_doctor.engine.patterns import PatternSet

DENSE = json.dumps(json.loads(NEURON_LS_JSON)) + "\n"
ROWS = "[" + ",\n ".join(json.dumps(entry) for entry in json.loads(NEURON_LS_JSON)) + "]\n"
INDENTED = "".join(f"  {line}\n" for line in NEURON_LS_JSON.splitlines())
FORMS = [NEURON_LS_TABLE, NEURON_LS_JSON, DENSE, ROWS, INDENTED]
LISTED = {
    "limit",
    "counter",
    "device-state",
    "device",
    "device-user",
    "device-count",
    "pci-device",
    "module",
    "file-system",
    "version",
    "identity",
}
NOISE = st.lists(st.sampled_from(["", "EFA devices: 16", "[rank0]: step 3", "| a | b |", "[1, 2]", "[", "]", "NEURON"]))


def listed(text: str) -> list[Fact]:
    return list(shown_listings(as_input(text.encode(), "node3/prolog.log")))


def of_text(text: str, extent: Extent = WHOLE, *, pure: bool = False) -> list[Fact]:
    """What the collector of texts reads of it beside the sections, which is where listings are looked for."""
    inp = as_input(text.encode(), "node3/prolog.log")
    inp.extent = extent
    collector = text_collector(PatternSet(()), partial(build_matcher, pure=pure))
    return [fact for fact in collector.collect(inp) if fact.kind in LISTED]


def said(facts: list[Fact]) -> list[tuple[str, object, object]]:
    return [(fact.kind, fact.place, fact.data) for fact in facts]


@pytest.mark.parametrize("form", FORMS)
@settings(deadline=None)
@given(above=NOISE, below=NOISE)
def test_what_stands_around_a_listing_changes_nothing(form: str, above: list[str], below: list[str]) -> None:
    head = "".join(f"{line}\n" for line in [*above, "prolog of job 7"])
    tail = "".join(f"{line}\n" for line in ["--", *below])
    found, alone = listed(head + form + tail), facts_of(form, "node3/prolog.log")
    assert said(found) == said(alone)
    assert [fact.span.line for fact in found] == [(fact.span.line or 0) + head.count("\n") for fact in alone]


@pytest.mark.parametrize("above", ["prolog\n", " 15:38:02 up 12 min\n" * 2, "-" * 64 + "\n", "step 1\n" * 30])
@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize("shown", [*FORMS, f"$ lspci\n{LSPCI}", f"=== /usr/sbin/lsmod ===\n{LSMOD}", f"+ df -h\n{DF}"])
def test_a_text_is_looked_through_where_its_scan_finds_a_listing(shown: str, above: str, *, pure: bool) -> None:
    text = f"{above}{shown}$ date\n"
    found = listed(text)
    assert found
    assert of_text(text, pure=pure) == found
    assert of_text(f"{above}pdf adapter\npip installs\n", pure=pure) == []


@pytest.mark.parametrize("cut", [7, 300, HEAD - 1, HEAD + 10])
def test_of_a_text_that_is_read_in_parts_the_first_part_has_its_listings(cut: int) -> None:
    text = f"prolog\n{NEURON_LS_TABLE}done\n" + "step 1\n" * HEAD
    parts = (Extent(0, cut), Extent(cut, None))
    assert [of_text(text, extent) for extent in parts] == [listed(text), []]


def test_each_of_several_hosts_is_counted_where_its_prompt_stands() -> None:
    text = "".join(
        f"[root@trn-{n} ~]# neuron-ls\n{NEURON_LS_TABLE}[root@trn-{n} ~]# uptime\n up {n} days\n" for n in (1, 2)
    )
    assert [fact.place.host for fact in by_kind(listed(text))["device-count"]] == ["trn-1", "trn-2"]


@pytest.mark.parametrize("form", FORMS)
def test_a_listing_that_may_go_on_behind_the_first_64_kib_is_left_out(form: str) -> None:
    filler = "step 1\n" * ((HEAD - len(form)) // 7 + 2)
    assert listed(filler + form) == []


@pytest.mark.parametrize(
    ("command", "output", "collectors"),
    [
        ("lspci", LSPCI, lspci.COLLECTORS),
        ("sudo lspci -nn | grep -i amazon", LSPCI_NUMERIC, lspci.COLLECTORS),
        ("lsmod", LSMOD, modules.COLLECTORS[:1]),
        ("modinfo neuron", MODINFO, modules.COLLECTORS[1:2]),
        ("dpkg -l | grep neuron", DPKG, packages.COLLECTORS),
        ("uname -a", UNAME, uname.COLLECTORS),
        ("df -h", DF, file_systems.COLLECTORS),
        ("chronyc tracking", CHRONY, clock_reports.COLLECTORS),
    ],
)
@settings(deadline=None)
@given(above=NOISE, below=NOISE)
def test_what_a_command_printed_among_others_is_read_as_in_a_file_of_its_own(
    command: str, output: str, collectors: tuple[Collector, ...], above: list[str], below: list[str]
) -> None:
    before = "".join(
        f"{line}\n" for line in [*above, "[root@trn-3 ~]# uptime", " 10:00:00 up 3 days", f"[root@trn-3 ~]# {command}"]
    )
    after = "".join(f"{line}\n" for line in ["[root@trn-3 ~]# date", *below])
    (collector,) = collectors
    alone = list(collector.collect(as_input(f"[root@trn-3 ~]# {command}\n{output}".encode(), "node3/prolog.log")))
    found = listed(before + output + after)
    assert said(found) == said(alone) != []
    assert [fact.span.line for fact in found] == [(fact.span.line or 0) + before.count("\n") - 1 for fact in alone]
    text = (before + output + after).encode()
    assert all(text[fact.span.offset :].startswith(fact.span.text[:20].encode()) for fact in found)


@pytest.mark.parametrize(
    "command", ["lspci | head -3", "lspci | wc -l", "lspci; lsmod", "cat lspci.txt", "lspci $(echo -nn)"]
)
def test_below_a_command_that_shows_less_or_more_nothing_is_counted(command: str) -> None:
    assert listed(f"uptime\n$ {command}\n{LSPCI}$ date\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "NEURON_RT_VISIBLE_CORES=0-3\n",
        "+------+\n| NAME |\n+------+\n",
        '{"neuron_device": 3}\n',
        '[{"neuron_device": 3}, \n',
        '[{"neuron_device": 3},\n' * (HEAD // 23),
    ],
)
def test_what_is_no_listing_says_nothing(text: str) -> None:
    assert listed(text) == []


NODE = "/sys/devices/virtual/neuron_device"
COUNTED = (
    f"{NODE}/neuron3/stats/hardware/sram_ecc_uncorrected:2\n{NODE}/neuron4/stats/hardware/sram_ecc_uncorrected:0\n"
)


@pytest.mark.parametrize(
    ("shown", "device"),
    [
        (f"$ grep -r . {NODE}/neuron*/stats/hardware/\n{COUNTED}", 3),
        (f"checking the counters\n{COUNTED}", 3),
        (f"$ cat {NODE}/neuron7/stats/hardware/sram_ecc_uncorrected\n2\n", 7),
        (f"$ tail -n +1 {NODE}/neuron*/reset\n==> {NODE}/neuron5/stats/hardware/sram_ecc_uncorrected <==\n2\n", 5),
        ("$ ./counters.sh\nneuron6 core_count=2 sram_ecc_uncorrected=2 mem_ecc_uncorrected=0\n", 6),
    ],
)
def test_counters_of_the_driver_are_read_among_other_lines(shown: str, device: int) -> None:
    asked = f"[root@n7 ~]# {shown.removeprefix('$ ')}"
    text = f"prolog of the job {'-' * 60}\n[root@n7 ~]# date\nTue Jun  9 13:35:12 UTC 2026\n{asked}done\n"
    found = [fact for fact in of_text(text) if fact.kind == "counter" and fact.data["last"]]
    assert [(fact.data["name"], fact.data["last"], fact.place.device) for fact in found] == [
        ("sram_ecc_uncorrected", 2, device)
    ]


@pytest.mark.parametrize(
    "said", [f"cat: {NODE}/neuron7/reset: No such file or directory\n", f"see {NODE}/neuron7/reset: 2\n"]
)
def test_what_only_speaks_of_a_counter_is_none(said: str) -> None:
    assert of_text(f"epilog\n{said}epilog\n") == []


@pytest.mark.parametrize(
    ("shown", "component"),
    [
        ("$ modinfo -F version neuron\n2.27.4.0\n", "driver-installed"),
        ("$ modinfo neuron | grep ^version\nversion:        2.27.4.0\n", "driver-installed"),
        ("$ modinfo --field=version efa\n2.27.4.0\n", "efa-driver-installed"),
        ("$ cat /sys/module/neuron/version\n2.27.4.0\n", "driver-loaded"),
    ],
)
def test_one_version_below_its_command_is_that_of_the_driver(shown: str, component: str) -> None:
    [version] = [fact for fact in of_text(f"epilog {'=' * 60}\n{shown}$ date\n") if fact.kind == "version"]
    assert version.data == {"component": component, "version": "2.27.4.0"}


def test_one_version_of_another_module_is_not() -> None:
    assert of_text("epilog\n$ modinfo -F version nvme\n1.0\n$ cat /sys/module/nvme/version\n1.0\n") == []


NAMES = [f"/dev/neuron{n}" for n in range(16) if n != 9]


@pytest.mark.parametrize(
    "shown",
    [
        f"$ ls /dev/neuron*\n{'  '.join(NAMES)}\n",
        "$ ls /dev/neuron*\n" + "\n".join(NAMES) + "\n",
        "$ ls -l /dev/neuron*\n" + "".join(f"crw-rw-rw- 1 root root 239, 0 Aug 30 21:00 {name}\n" for name in NAMES),
        "$ ls /dev | grep neuron\n" + "".join(name.removeprefix("/dev/") + "\n" for name in NAMES),
        "$ ls /dev/neuron* | wc -l\n15\n",
        "$ ls -1 /dev/neuron[0-9]* | wc -l\n15\n",
    ],
)
def test_the_nodes_of_devices_are_counted(shown: str) -> None:
    [count] = [fact for fact in of_text(f"epilog {'=' * 60}\n{shown}$ date\n") if fact.kind == "device-count"]
    assert (count.data["neuron"], count.data["expected_neuron"]) == (15, 16)


@pytest.mark.parametrize(
    ("count", "expected"), [(16, 16), (15, 16), (14, 16), (13, 0), (12, 12), (11, 0), (10, 0), (4, 0)]
)
def test_a_count_alone_tells_of_missing_devices_only_where_no_smaller_whole_may_be_meant(
    count: int, expected: int
) -> None:
    """A container may have got ten or eleven of sixteen."""
    [fact] = [fact for fact in of_text(f"$ ls /dev/neuron* | wc -l\n{count}\n$ date\n") if fact.kind == "device-count"]
    assert (fact.data["neuron"], fact.data["expected_neuron"]) == (count, expected)


@pytest.mark.parametrize(
    "shown",
    [
        "$ ls /dev/neuron* | head -3\n/dev/neuron0\n",
        "$ ls /dev\nneuron0 null\n",
        "$ ls /dev/neuron* | wc -l\nfifteen\n",
    ],
)
def test_what_does_not_show_all_nodes_counts_none(shown: str) -> None:
    assert [fact for fact in of_text(f"epilog\n{shown}$ date\n") if fact.kind == "device-count"] == []


@pytest.mark.parametrize(
    ("shown", "name", "value"),
    [
        ("$ ulimit -l\n64\n", "memlock", 65536),
        ("$ ulimit -Hn\n4096\n", "nofile", 4096),
        ("$ ulimit -l\nunlimited\n", "memlock", -1),
        ("$ cat /proc/30110/limits | grep -i locked\nMax locked memory   65536   65536   bytes\n", "memlock", 65536),
        ("$ grep 'open files' /proc/self/limits\nMax open files   1024   4096   files\n", "nofile", 1024),
    ],
)
def test_one_limit_below_its_command_is_read(shown: str, name: str, value: int) -> None:
    [limit] = [fact for fact in of_text(f"epilog {'=' * 60}\n{shown}$ date\n") if fact.kind == "limit"]
    assert (limit.data["name"], limit.data["value"]) == (name, value)


@pytest.mark.parametrize(
    "shown", ["$ ulimit -c\n0\n", "$ ulimit -l 64\n64\n", "$ cat /proc/30110/limits\nno such process\n"]
)
def test_what_asks_for_no_such_limit_says_none(shown: str) -> None:
    assert [fact for fact in of_text(f"epilog\n{shown}$ date\n") if fact.kind == "limit"] == []
