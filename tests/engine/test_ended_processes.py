"""The good end of one process holds for what that process said before, and for no other of its log."""

from __future__ import annotations

from pathlib import Path

from builders import hit
from test_ended_well import end, roles

from neuron_doctor.engine.grades import Role


def test_what_a_process_says_of_its_work_holds_for_what_it_said_before_in_a_log_of_several(tmp_path: Path) -> None:
    told = (hit("waiting", pid=3), hit("raising", pid=4, offset=5))
    assert roles(tmp_path, *told, end(exited=False, pid=3)) == {("waits", Role.SURVIVED), ("raised", Role.ROOT)}
    assert roles(tmp_path, *told, end(exited=False)) == {("waits", Role.CASCADE), ("raised", Role.ROOT)}
    assert roles(tmp_path, hit("raising", rank=4), end(exited=False, rank=4)) == {("raised", Role.SURVIVED)}
    assert roles(tmp_path, hit("raising", rank=4), end(exited=False, rank=5)) == {("raised", Role.ROOT)}
