"""Where recorders note what has started, a device that is stuck is told from a network that stalls."""

from __future__ import annotations

import pytest
from fr_simulator import Faults, Mesh, Recorder, facts_of, run
from test_collectives import index_of, programs_of, verdicts


@pytest.mark.parametrize("shape", [(4, 2, 1), (2, 2, 2)], ids=str)
def test_with_timing_a_stuck_device_is_told_from_a_stalled_network(shape: tuple[int, int, int]) -> None:
    mesh = Mesh(*shape)
    programs = programs_of(mesh)
    at = index_of(programs[3], desc="TENSOR", nth=8)
    stuck = run(mesh, programs, Faults(device={3: at}))
    assert verdicts(facts_of(stuck, Recorder(timing=True))) == {"device-stuck": {3}}
    assert verdicts(facts_of(stuck)) == {"transport-stall": set()}


@pytest.mark.parametrize("active_only", [False, True])
def test_with_timing_a_device_that_is_stuck_before_a_transfer_is_told(active_only: bool) -> None:
    mesh = Mesh(1, 1, 2)
    programs = programs_of(mesh)
    at = max(at for at, op in enumerate(programs[1]) if op.peers == (("recv", 0),))
    stuck = run(mesh, programs, Faults(device={1: at}))
    assert verdicts(facts_of(stuck, Recorder(timing=True, active_only=active_only))) == {"device-stuck": {1}}
    assert verdicts(facts_of(stuck, Recorder(active_only=active_only))) == {"transport-stall": set()}
