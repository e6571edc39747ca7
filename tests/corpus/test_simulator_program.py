"""The operations that a rank issues in each step."""

import pytest

from neuron_doctor.corpus.simulator.history import Op
from neuron_doctor.corpus.simulator.jobs import Shape
from neuron_doctor.corpus.simulator.program import Kind, Launch, Program, Recipe
from neuron_doctor.corpus.simulator.sites import CODEBASES, Site


def launches(program: Program, rank: int) -> list[Launch]:
    return [one for one in program.step(rank, Kind.PLAIN) if isinstance(one, Launch)]


@pytest.mark.parametrize("batched", [True, False])
def test_every_send_of_a_step_has_its_receive(batched: bool) -> None:
    program = Program(Shape(2, 4, 2, 1, 16), Recipe(CODEBASES[0], 4, one_f_one_b=batched))
    sends, receives = [], []
    for rank in range(16):
        for launch in launches(program, rank):
            sends += [(rank, part.peer) for part in launch.parts if part.op is Op.SEND]
            receives += [(part.peer, rank) for part in launch.parts if part.op is Op.RECV]
    assert sends
    assert sorted(sends) == sorted(receives)


def test_members_of_a_group_call_it_equally_often() -> None:
    program = Program(Shape(2, 2, 4, 2, 16), Recipe(CODEBASES[0], 4))
    for (axis, rank), (name, ranks) in program.groups.items():
        counts = {sum(part.group == name for one in launches(program, other) for part in one.parts) for other in ranks}
        assert len(counts) == 1 or axis == "pp", (axis, rank)


@pytest.mark.parametrize("codebase", CODEBASES)
def test_call_sites_of_a_codebase_differ(codebase: object) -> None:
    frames = codebase.frames  # type: ignore[attr-defined]
    assert set(frames) == set(Site)
    assert len(set(frames.values())) == len(frames)
