"""The good end of one process holds for what that process said before, and for no other of its log."""

from __future__ import annotations

from pathlib import Path

from builders import hit, pack, progress, rule, source
from test_ended_well import end, roles

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Collection
from neuron_doctor.engine.grades import Role


def test_what_a_process_says_of_its_work_holds_for_what_it_said_before_in_a_log_of_several(tmp_path: Path) -> None:
    told = (hit("waiting", pid=3), hit("raising", pid=4, offset=5))
    steps = (progress(pid=3, offset=40), progress(rank=4, offset=41))
    assert roles(tmp_path, *told, *steps, end(exited=False, pid=3)) == {("waits", Role.SURVIVED), ("raised", Role.ROOT)}
    assert roles(tmp_path, *told, end(exited=False)) == {("waits", Role.CASCADE), ("raised", Role.ROOT)}
    assert roles(tmp_path, hit("raising", rank=4), *steps, end(exited=False, rank=4)) == {("raised", Role.SURVIVED)}
    assert roles(tmp_path, hit("raising", rank=4), *steps, end(exited=False, rank=5)) == {("raised", Role.ROOT)}


def test_a_wait_of_a_process_is_over_when_it_says_that_its_work_is_done(tmp_path: Path) -> None:
    waits = pack(
        tmp_path, rule("waits", "record: waiting", cause="stuck", patterns=("waiting",), more="survivable: job")
    )
    for pid, role in ((3, Role.SURVIVED), (4, Role.CASCADE)):
        facts = (hit("waiting", pid=3), hit("noise", pid=4, offset=5), end(exited=False, pid=pid))
        [found] = diagnose(waits, Collection((source("s"),), facts)).findings
        assert found.role is role


def test_what_a_process_says_on_its_way_out_of_an_exception_makes_nothing_good(tmp_path: Path) -> None:
    raised, others = hit("raising", rank=4, offset=50), progress(rank=0, offset=60)
    assert roles(tmp_path, progress(rank=4, offset=40), raised, others, end(exited=False, rank=4)) == {
        ("raised", Role.ROOT)
    }
