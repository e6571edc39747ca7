"""Ranks that come with something else: another operation, another size or type, or the groups in another order."""

from dataclasses import replace

from neuron_doctor.corpus.simulator.faults.injection import Injection, Setting, at, changed
from neuron_doctor.corpus.simulator.history import Op
from neuron_doctor.corpus.simulator.program import Edit, Instruction, Launch, Part
from neuron_doctor.corpus.simulator.sites import Site
from neuron_doctor.corpus.simulator.truth import Fault

_SECOND = 2  # the variant (of three) in which two ranks are odd
_LARGE = 5  # members of a group in which two are still a minority
_SQUARE = 4  # ranks of a cycle: in a job of no more, no rank shows which order is right
_PAIR = 2
_WEAKER = ("collectives-hang",)
_OTHER = {
    Op.ALL_REDUCE: Op.ALL_GATHER,
    Op.ALL_GATHER: Op.ALL_REDUCE,
    Op.REDUCE_SCATTER: Op.ALL_REDUCE,
    Op.ALL_TO_ALL: Op.ALL_GATHER,
    Op.BARRIER: Op.ALL_REDUCE,
}


def mismatched(setting: Setting) -> Injection:
    """One rank (or two in a large group) calls a collective with another operation, size or type than its peers."""
    plan = setting.plan
    steps = setting.step()
    index = at(steps, plan.place, lambda launch: _majority(setting, launch) and _changes(plan.cause, launch.parts[0]))
    launch = steps[index]
    part = launch.parts[0] if isinstance(launch, Launch) else None
    ranks: tuple[int, ...] = (plan.rank,)
    if part is not None and plan.variant % 3 == _SECOND and len(_group(setting, part)) >= _LARGE:
        ranks = tuple(sorted((plan.rank, next(rank for rank in _group(setting, part) if rank != plan.rank))))
    back = index - len(steps)  # from the end, where the steps of all members agree
    places = {rank: len(setting.step(rank)) + back for rank in ranks}
    edits = {
        (rank, plan.step): (changed(place, lambda one: _changed(plan.cause, one)),) for rank, place in places.items()
    }
    return Injection(_fault(setting, ranks), edits)


def disordered(setting: Setting) -> Injection:
    """Ranks use two groups in another order than the others: one against the world, or two that close a cycle of four."""
    shape = setting.program.shape
    if setting.plan.variant % 2 and shape.tensor > 1 and shape.data > 1 and shape.world > _SQUARE:
        return _cycle(setting)
    return _two_groups(setting)


def _two_groups(setting: Setting) -> Injection:
    """One rank calls the world before its own group; its group waits for it and it waits for them."""
    plan = setting.plan

    def swap(instructions: list[Instruction]) -> list[Instruction]:
        world = at(instructions, 0.0, lambda launch: launch.site is Site.GRAD_NORM)
        rest = [one for index, one in enumerate(instructions) if index != world]
        earlier = at(rest[:world], 1.0, lambda launch: launch.parts[0].peer is None and launch.blocks)
        return [*rest[:earlier], instructions[world], *rest[earlier:]]

    return Injection(_fault(setting, (plan.rank,)), {(plan.rank, plan.step): (swap,)})


def _cycle(setting: Setting) -> Injection:
    """Two ranks that share no group reduce gradients before their last tensor parallel call: alone, neither would hang."""
    shape, plan = setting.program.shape, setting.plan
    tensor, data, stage = shape.coordinates(plan.rank)
    other = shape.at((tensor + 1) % shape.tensor, (data + 1) % shape.data, stage)
    ranks = tuple(sorted((plan.rank, other)))

    def early(instructions: list[Instruction]) -> list[Instruction]:
        reduce = at(instructions, 0.0, lambda launch: launch.site is Site.REDUCE_GRADS)
        launch = instructions[reduce]
        rest = [one for index, one in enumerate(instructions) if index != reduce]
        last = at(rest[:reduce], 1.0, lambda one: one.parts[0].peer is None and one.site is Site.BACKWARD_MLP)
        return (
            [*rest[:last], replace(launch, blocks=True), *rest[last:]] if isinstance(launch, Launch) else instructions
        )

    edit: Edit = early
    return Injection(_fault(setting, ranks), {(rank, plan.step): (edit,) for rank in ranks})


def _fault(setting: Setting, ranks: tuple[int, ...]) -> Fault:
    hosts = tuple(dict.fromkeys(setting.job.host_of(rank).name for rank in ranks))
    return Fault(setting.plan.cause, ranks, hosts, weaker=_WEAKER)


def _group(setting: Setting, part: Part) -> tuple[int, ...]:
    return setting.job.groups[int(part.group)].ranks


def _majority(setting: Setting, launch: Launch) -> bool:
    """A collective of three or more: of two that differ, nobody can say which is wrong."""
    return launch.parts[0].peer is None and len(_group(setting, launch.parts[0])) > _PAIR


def _changes(cause: str, part: Part) -> bool:
    """Whether recorders write down what differs: a barrier has no tensor of its own, and ranks differ in what they exchange."""
    if cause == "collectives-op-mismatch":
        return True
    return part.op is not Op.BARRIER and (part.op is not Op.ALL_TO_ALL or cause != "collectives-size-mismatch")


def _changed(cause: str, launch: Launch) -> Launch:
    return replace(launch, parts=(_other(cause, launch.parts[0]),))


def _other(cause: str, part: Part) -> Part:
    if cause == "collectives-op-mismatch":
        return replace(part, op=_OTHER[part.op])
    if cause == "collectives-dtype-mismatch":
        return replace(part, dtype="Float" if part.dtype == "BFloat16" else "Double")
    return replace(part, inputs=_longer(part.inputs), outputs=_longer(part.outputs))


def _longer(sizes: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    """A batch that is cut off or padded: the first dimension differs."""
    return tuple((size[0] * 2 + 1 if len(size) == 1 else size[0] - 37, *size[1:]) for size in sizes)
