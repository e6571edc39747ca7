"""A rank waits for one that it never had to do with: which of the two is wrong, the dumps do not say."""

from __future__ import annotations

from fr_simulator import Faults, Mesh, Op, Pg, Program, Recorder, facts_of, run

from neuron_doctor.engine.collectives import match_collectives

WORLD = Pg("0", "default_pg", (0, 1, 2, 3))


def found(programs: dict[int, Program]) -> list[tuple[object, tuple[int, ...], object]]:
    facts = match_collectives(facts_of(run(Mesh(4, 1), programs, Faults()), Recorder()))
    return [(fact.data["verdict"], fact.place.ranks, fact.data["members"]) for fact in facts]


def ring(rounds: int) -> dict[int, Program]:
    """Each rank sends to the next and receives from the one before, in one batch."""
    return {
        rank: [Op(WORLD, peers=(("send", (rank + 1) % 4), ("recv", (rank - 1) % 4)), batch=True)] * rounds
        for rank in range(4)
    }


def test_a_receive_out_of_all_habit_convicts_nobody_though_its_partner_never_sends() -> None:
    programs = ring(4)
    usual = programs[2][-1]
    programs[2] = [*programs[2][:-1], Op(WORLD, peers=(*usual.peers, ("recv", 0)), batch=True)]
    assert found(programs) == [("p2p-missing", (), (0, 2))]


def test_a_partner_that_does_not_send_as_before_is_convicted() -> None:
    send, receive = Op(WORLD, peers=(("send", 1),)), Op(WORLD, peers=(("recv", 0),))
    assert found({0: [send] * 3, 1: [receive] * 4, 2: [], 3: []}) == [("p2p-missing", (0,), ())]


def test_a_partner_that_does_not_send_at_all_is_convicted() -> None:
    assert found({0: [], 1: [Op(WORLD, peers=(("recv", 0),))], 2: [], 3: []}) == [("p2p-missing", (0,), ())]
