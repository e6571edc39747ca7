"""What time services say of the clock of their host."""

from __future__ import annotations

import pytest
from host_captures import CHRONY, NTPQ, TIMEDATECTL
from snapshot_inputs import claimed_by, facts_of


@pytest.mark.parametrize(
    ("text", "ahead"),
    [
        (CHRONY.replace("0.000003331 seconds slow", "420.118820331 seconds fast"), 420.118820331),
        (CHRONY, -0.000003331),
        (TIMEDATECTL, 1.5),
        (TIMEDATECTL.replace("-1.500s", "+2min 3s"), -123.0),
        (TIMEDATECTL.replace("-1.500s", "+114us"), -0.000114),
        (NTPQ, 0.1205),
    ],
)
def test_a_clock_is_ahead_by_so_many_seconds(text: str, ahead: float) -> None:
    assert claimed_by(text.encode()) == ["clock-report"]
    [found] = facts_of(text)
    assert found.data["ahead_s"] == pytest.approx(ahead)


def test_a_clock_that_is_not_synchronised_says_nothing() -> None:
    assert facts_of("Reference ID    : 00000000 ()\nStratum         : 0\nLeap status     : Not synchronised\n") == []
