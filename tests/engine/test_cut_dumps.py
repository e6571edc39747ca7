"""What is said of collectives to which a rank has come whose dump was cut: its status alone is left."""

from __future__ import annotations

import pytest
from fr_simulator import Faults, Job, Mesh, Recorder, dump_of, encoded, fact_of, run

from neuron_doctor.engine.collectives import match_collectives

TIMED = Recorder(timing=True)
MESH = Mesh(2, 4, 2)


def verdicts_with_a_cut(job: Job, cut: int) -> dict[str, set[int]]:
    """What all dumps of a job show, of which one has nothing but its status."""
    dumps = {rank: dump_of(job, rank, TIMED) for rank in range(MESH.size)}
    dumps[cut]["entries"] = []
    found = match_collectives([fact_of(encoded(dump, TIMED.dialect), rank) for rank, dump in dumps.items()])
    return {str(fact.data["verdict"]): set(fact.place.ranks) for fact in found}


@pytest.mark.parametrize("stop", [14, 20, 26, 31])
@pytest.mark.parametrize("ahead", [8, 24])
def test_what_a_rank_issued_ahead_of_its_device_is_no_stall_of_all(stop: int, ahead: int) -> None:
    programs = {rank: MESH.program(rank) for rank in range(MESH.size)}
    job = run(MESH, programs, Faults(host={3: stop}), ahead=ahead)
    for cut in range(MESH.size):
        if cut != 3:
            assert verdicts_with_a_cut(job, cut) == {"rank-missing": {3}}
