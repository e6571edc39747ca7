"""Clocks of hosts and the forms in which times are printed."""

from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_doctor.corpus.simulator import clocks
from neuron_doctor.corpus.simulator.job import Host, HostClock

T = 1709642096.123456  # 2024-03-05 12:34:56.123456 UTC


def host(clock: HostClock) -> Host:
    return Host("ip-10-0-0-1", "10.0.0.1", "i-0", "trn1.32xlarge", None, 16, 2, T - 100, clock)


def test_forms_are_those_of_the_programs_that_print_them() -> None:
    assert clocks.iso(T, zone="Z") == "2024-03-05T12:34:56.123456Z"
    assert clocks.iso(T, digits=9, zone="Z") == "2024-03-05T12:34:56.123456000Z"
    assert clocks.iso(T, digits=0, separator=" ") == "2024-03-05 12:34:56"
    assert clocks.runtime(T) == "2024-Mar-05 12:34:56.123456"
    assert clocks.python_logging(T) == "2024-03-05 12:34:56,123"
    assert clocks.glog(T) == "0305 12:34:56.123456"
    assert clocks.syslog(T) == "Mar  5 12:34:56"
    assert clocks.ctime(T) == "Tue Mar  5 12:34:56 2024"
    assert clocks.rfc1123(T) == "Tue, 05 Mar 2024 12:34:56 +0000"


def test_local_time_moves_by_the_zone_and_says_so_only_where_asked() -> None:
    assert clocks.runtime(T, utc_offset=-8 * 3600) == "2024-Mar-05 04:34:56.123456"
    assert clocks.offset_text(19800, colon=True) == "+05:30"
    assert clocks.offset_text(-8 * 3600) == "-0800"


def test_a_clock_that_is_off_and_drifts_reads_so() -> None:
    wrong = host(HostClock(offset=-90.0, drift=1e-5))
    assert clocks.local(wrong, T, T - 1000) == T - 90 + 0.01
    assert clocks.since_boot(wrong, T) == 100


@settings(deadline=None)
@given(st.floats(0, 4e9), st.floats(0, 1e6))
def test_later_is_never_printed_as_earlier(t: float, later: float) -> None:
    assert clocks.iso(t) <= clocks.iso(t + later)
