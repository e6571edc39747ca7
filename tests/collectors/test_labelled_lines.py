"""Words before the lines of a log are hosts where files of a kind that is made once on a host bear them."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

DMESG = "[ 9120.687627] infiniband efa_0: Failed to process command REG_MR (opcode 7) comp_status 1 err -12\n"
LOST = "2023-Nov-16 11:06:53.0101 3310:3477 [0] include/socket.h:541 CCOM WARN RX, connection closed by remote peer\n"


def hosts(folder: Path, files: dict[str, str]) -> dict[str, set[str | None]]:
    for name, text in files.items():
        (folder / name).write_text(text)
    found: dict[str, set[str | None]] = {name: set() for name in files}
    for fact in collect(Request((str(folder),)), rulebook()).facts:
        found[Path(fact.span.path).name].add(fact.place.host)
    return found


@pytest.mark.parametrize("form", ["[{}:1]  ", "[{}] ", "{}: ", "{}    | "])
def test_names_before_lines_that_kernel_logs_bear_are_hosts(tmp_path: Path, form: str) -> None:
    log = form.format("merlin") + LOST + form.format("kestrel") + LOST
    found = hosts(tmp_path, {"job.log": log, "dmesg.merlin": DMESG, "dmesg.kestrel": DMESG})
    assert found == {"job.log": {"merlin", "kestrel"}, "dmesg.merlin": {"merlin"}, "dmesg.kestrel": {"kestrel"}}


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (("merlin", "kestrel"), ("old", "new")),  # when they were taken
        (("merlin", "merlin"), ("merlin", "kestrel")),  # one name alone
        (("step", "epoch"), ("merlin", "kestrel")),
        (("merlin", "kestrel"), ("merlin", "osprey")),
    ],
)
def test_other_words_are_none(tmp_path: Path, labels: tuple[str, str], names: tuple[str, str]) -> None:
    log = "".join(f"[{label}:1]  {LOST}" for label in labels)
    found = hosts(tmp_path, {"job.log": log, **{f"dmesg.{name}": DMESG for name in names}})
    assert set().union(*found.values()) == {None}


def test_names_before_lines_that_a_list_of_machines_has_with_their_addresses_are_hosts(tmp_path: Path) -> None:
    log = f"merlin: {LOST}kestrel: {LOST}"
    etc_hosts = "127.0.0.1 localhost\n10.0.0.7 merlin\n10.0.0.8 kestrel\n10.0.0.9 osprey\n"
    assert hosts(tmp_path, {"job.log": log, "hosts": etc_hosts})["job.log"] == {"merlin", "kestrel"}
    assert hosts(tmp_path, {"job.log": f"merlin: {LOST}", "hosts": etc_hosts})["job.log"] == {None}


def test_a_line_without_a_label_stays_where_it_is(tmp_path: Path) -> None:
    log = f"[merlin:1] {LOST}[kestrel:0] {LOST}{LOST}"
    found = hosts(tmp_path, {"job.log": log, "dmesg.merlin": DMESG, "dmesg.kestrel": DMESG})
    assert found["job.log"] == {"merlin", "kestrel", None}


def test_names_that_a_blank_sets_apart_are_hosts_where_nearly_all_lines_begin_so(tmp_path: Path) -> None:
    log = "".join(f"{name} {LOST}" for name in ("r12-u07", "r12-u08", "r12-u09") for _ in range(8))
    kernels = {f"r12-u0{n}_dmesg.txt": DMESG for n in (7, 8, 9)}
    found = hosts(tmp_path, {"job.o30177": log, "r12-u08_apt_history.log": LOST, **kernels})
    assert found["job.o30177"] - {None} == {"r12-u07", "r12-u08", "r12-u09"}
    assert found["r12-u08_apt_history.log"] == {"r12-u08"}
