"""A container that ended before the run is no failure of it; one that ended in it, or at no known time, is."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

STATE = """[{{"Name": "/old-hello", "State": {{
    "Status": "exited", "Running": false, "OOMKilled": true, "Dead": false, "Pid": 0, "ExitCode": 137, "Error": "",
    "StartedAt": "{day}T06:00:00.1Z", "FinishedAt": "{day}T07:00:00.1Z" }} }}]
"""
LOG = "2026-05-26 06:00:01,100 INFO step=100 loss=2.31\n2026-05-26 08:00:01,100 INFO step=200 loss=2.21\n"


@pytest.mark.parametrize(("day", "failed"), [("2024-03-01", False), ("2026-05-24", False), ("2026-05-26", True)])
@pytest.mark.parametrize("in_lines", [True, False])
def test_only_a_container_that_ended_in_the_run_failed_in_it(
    tmp_path: Path, day: str, failed: bool, in_lines: bool
) -> None:
    state = STATE.format(day=day)
    (tmp_path / "inspect.txt").write_text(state.replace(", ", ",\n     ") if in_lines else state)
    (tmp_path / "rank_0.log").write_text(LOG)
    found = diagnose(rulebook(), collect(Request((str(tmp_path),)), rulebook()))
    assert bool(found.root_causes) is failed


def test_without_a_day_or_a_log_with_one_it_counts(tmp_path: Path) -> None:
    (tmp_path / "inspect.txt").write_text(STATE.format(day="2024-03-01"))
    assert diagnose(rulebook(), collect(Request((str(tmp_path),)), rulebook())).root_causes
