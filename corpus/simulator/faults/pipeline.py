"""Faults of transfers between pipeline stages: one left out, one sent astray, two in an order that deadlocks."""

from dataclasses import replace

from neuron_doctor.corpus.simulator.faults.injection import Injection, Setting
from neuron_doctor.corpus.simulator.history import Op
from neuron_doctor.corpus.simulator.program import Instruction, Launch, Part
from neuron_doctor.corpus.simulator.truth import Fault

_WEAKER = ("collectives-hang", "collectives-rank-missing", "collectives-order-mismatch")


def missing(setting: Setting) -> Injection:
    """One rank leaves out its last send (or receive) of a step: its partner waits for it in vain."""
    op = Op.RECV if setting.plan.variant % 2 else Op.SEND

    def leave_out(instructions: list[Instruction]) -> list[Instruction]:
        index, launch, part = _last(instructions, op)
        rest = tuple(one for one in launch.parts if one is not part)
        kept: list[Instruction] = [replace(launch, parts=rest)] if rest else []
        return [*instructions[:index], *kept, *instructions[index + 1 :]]

    partner = _last(setting.step(), op)[2].peer
    return _injection(setting, leave_out, setting.plan.rank, partner)


def astray(setting: Setting) -> Injection:
    """The first stage sends its last activations to the stage after next."""
    shape = setting.program.shape
    tensor, data, _ = shape.coordinates(setting.plan.rank)
    rank, wrong = shape.at(tensor, data, 0), shape.at(tensor, data, 2)

    def misdirect(instructions: list[Instruction]) -> list[Instruction]:
        index, launch, part = _last(instructions, Op.SEND)
        parts = tuple(replace(one, peer=wrong) if one is part else one for one in launch.parts)
        return [*instructions[:index], replace(launch, parts=parts), *instructions[index + 1 :]]

    return _injection(setting, misdirect, rank, shape.at(tensor, data, 1))


def crossed(setting: Setting) -> Injection:
    """Without batches, one rank receives its first gradients before it has sent what its partner needs to make them."""
    shape = setting.program.shape
    tensor, data, _ = shape.coordinates(setting.plan.rank)
    rank, partner = shape.at(tensor, data, 0), shape.at(tensor, data, 1)

    def swap(instructions: list[Instruction]) -> list[Instruction]:
        send, first, _ = _last(instructions, Op.SEND)
        receive = instructions[send + 1]
        return [*instructions[:send], receive, first, *instructions[send + 2 :]]

    return _injection(setting, swap, rank, partner)


def _injection(setting: Setting, edit: object, rank: int, partner: int | None) -> Injection:
    host = setting.job.host_of(rank).name
    involved = () if partner is None else (partner,)
    fault = Fault(setting.plan.cause, (rank,), (host,), weaker=_WEAKER, involved=involved)
    return Injection(fault, {(rank, setting.plan.step): (edit,)})  # type: ignore[dict-item]


def _last(instructions: list[Instruction], op: Op) -> tuple[int, Launch, Part]:
    """The last transfer of this kind: its index, its launch, itself."""
    return next(
        (index, launch, part)
        for index, launch in reversed(list(enumerate(instructions)))
        if isinstance(launch, Launch)
        for part in launch.parts
        if part.op is op
    )
