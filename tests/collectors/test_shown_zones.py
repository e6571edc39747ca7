"""Whether a host's shell shows UTC: only where its own `date`, or timedatectl, says so."""

from __future__ import annotations

import pytest
from snapshot_inputs import as_input

from neuron_doctor.collectors.shown_zones import shown_zones
from neuron_doctor.collectors.snapshot import read_lines

DATE = "Sun Aug 30 08:02:55 UTC 2026\n"


def shows(text: str) -> bool:
    inp = as_input(text.encode(), "a.txt")
    return any(fact.kind == "utc-host" for fact in shown_zones(inp, read_lines(inp)))


@pytest.mark.parametrize(
    "text",
    [
        f"$ date; grep . /sys/devices/virtual/neuron_device/neuron*/stats\n{DATE}/sys/a:0\n",
        f"ubuntu@w3:~$ date\n{DATE}",
        "$ cd /tmp && date\nSun Aug 30 08:02:55 AM UTC 2026\n",
        "               Local time: Sun 2026-08-30 08:02:55 UTC\n                Time zone: Etc/UTC (UTC, +0000)\n",
    ],
)
def test_a_host_shows_utc(text: str) -> None:
    assert shows(text)


@pytest.mark.parametrize(
    "text",
    [
        f"$ date -u\n{DATE}",
        f"$ TZ=UTC date\n{DATE}",
        f"$ validate\n{DATE}",
        DATE,
        f"$ date\nSun Aug 30 08:02:55 PDT 2026\n$ cat x\n{DATE}",
        "                Time zone: Europe/London (GMT, +0000)\n",
    ],
)
def test_who_asked_for_utc_or_nobody_knows_shows_nothing(text: str) -> None:
    assert not shows(text)
