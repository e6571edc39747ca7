"""Tasks of srun and mpirun that begin with the name of their host as a heading are on it, as far as the headings agree."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

BROKEN = "/sys/devices/virtual/neuron_device/neuron9/stats/hardware/unhealthy_components: axi_fabric"
LOST = "2023-Nov-16 11:06:53.0101 3310:3477 [0] include/socket.h:541 CCOM WARN RX, connection closed by remote peer"


def places(folder: Path, *lines: str) -> list[dict[str, object]]:
    """The places of the records of a log, headings left out."""
    (folder / "all.log").write_text("".join(f"{line}\n" for line in lines))
    facts = collect(Request((str(folder),)), rulebook()).facts
    told = {
        fact.span.line: fact.place.known()
        for fact in facts
        if fact.kind in ("hit", "hang-report", "unhealthy-component")
    }
    return [place for _, place in sorted(told.items())]


@pytest.mark.parametrize("label", ["{}: ", "[1,{}]<stdout>:"])
@pytest.mark.parametrize("heading", ["### {}  trn2.48xlarge", "=== {} ==="])
def test_what_stands_behind_the_number_of_a_task_is_of_the_host_in_its_heading(
    tmp_path: Path, label: str, heading: str
) -> None:
    headings = [label.format(task) + heading.format(f"ip-10-1-4-{11 + task}") for task in (0, 1)]
    found = places(tmp_path, *headings, label.format(0) + BROKEN, label.format(1) + LOST)
    assert found[0] == {"host": "ip-10-1-4-11", "device": 9}
    assert (found[1]["host"], found[1]["rank"]) == ("ip-10-1-4-12", 1)


@pytest.mark.parametrize(
    "headings",
    [
        ("0: ### ip-10-1-4-11", "0: ### ip-10-1-4-12", "1: ### ip-10-1-4-11", "1: ### ip-10-1-4-12"),
        ("0: ### ip-10-1-4-11", "1: ### ip-10-1-4-11"),
        ("0: ### ip-10-1-4-11",),
        ("0: ### epoch-1", "1: ### epoch-2"),
    ],
)
def test_headings_that_do_not_agree_tell_of_no_host(tmp_path: Path, headings: tuple[str, ...]) -> None:
    assert [place.get("host") for place in places(tmp_path, *headings, f"0: {BROKEN}")] == [None]
