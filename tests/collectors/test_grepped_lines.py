"""Lines that a search found: the file before them tells whose they are, and hides no time."""

import pytest

from neuron_doctor.collectors.prefixes import Channel, peel
from neuron_doctor.engine.facts import Clock
from neuron_doctor.engine.wallclock import date_of

KERNEL = "Oct 29 21:14:03 n02 kernel: [914233.104772] NEURON_HW_ERR=HBM_UNCORRECTABLE_ERROR nd-id=3"


@pytest.mark.parametrize(
    "before",
    [
        "/fsx/syslog/n02/kern.log:",
        "/var/log/messages-20261030:",
        "./kern.log-20261030.gz:",
        "syslog.2.gz:",
        "messages:1812:",
        "syslog-1811-",
        "var/log/syslog-1811-",
        "1812:",
        "1811-",
    ],
)
def test_the_file_and_the_number_before_a_line_hide_nothing(before: str) -> None:
    [record] = peel(before + KERNEL).records
    text = peel(before + KERNEL).text
    assert (record.place.host, record.channel) == ("n02", Channel.KERNEL)
    assert record.instant is not None
    assert text[record.start :].startswith("NEURON_HW_ERR=")


@pytest.mark.parametrize(
    ("name", "line", "date"),
    [
        ("kern.log-20261030.gz", "Oct 29 21:14:03", "2026-10-29"),
        ("kern.log-20251030.gz", "Oct 29 21:14:03", "2025-10-29"),
        ("messages-20270103.xz", "Dec 31 23:59:58", "2026-12-31"),
        ("messages-20270103", "Jan  3 03:09:12", "2027-01-03"),
    ],
)
def test_the_day_of_rotation_tells_the_year(name: str, line: str, date: str) -> None:
    [record] = peel(f"/var/log/{name}:{line} n02 kernel: neuron: hello").records
    assert record.instant is not None
    assert record.instant.clock is Clock.HOST_LOCAL
    assert str(date_of(record.instant.ns).date()) == date


@pytest.mark.parametrize("name", ["kern.log.1", "kern.log-20261330.gz", "kern.log-2026", "kern.log"])
def test_no_other_name_tells_a_year(name: str) -> None:
    [record] = peel(f"/var/log/{name}:{KERNEL}").records
    assert record.instant is not None
    assert record.instant.clock is Clock.YEARLESS


def test_the_path_tells_the_rank_or_the_host_where_the_line_does_not() -> None:
    [record] = peel("logs/rank_12.log:88:2026-Jul-04 01:12:41.0104 4800:5011 [19] socket.h:579 CCOM WARN late").records
    assert (record.place.rank, record.place.pid) == (12, 4800)
    [record] = peel("hosts/n07/dmesg.txt:[Tue Nov 17 02:41:17 2026] neuron: hello").records
    assert (record.place.host, record.channel) == ("n07", Channel.KERNEL)
    [record] = peel(f"collected/node3/syslog:{KERNEL}").records
    assert record.place.host == "n02"  # whoever wrote it knows best


@pytest.mark.parametrize(
    "line",
    [
        "train.py:12:ValueError: 2026-07-04 01:12:41 is no date",
        "train.py:12: UserWarning: old",
        "step-12-2026",
        "job:2026-07-04 done",
        "see /var/log/syslog: Oct 29 21:14:03",
        "worker:Oct 29 21:14:03 n02 kernel: hello",
    ],
)
def test_other_colons_are_no_files(line: str) -> None:
    [record] = peel(line).records
    assert (record.instant, record.has_header) == (None, False)
