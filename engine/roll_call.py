"""Which ranks a job has, as far as its dumps tell where they do not list the members of its groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from neuron_doctor.engine.recorder import GroupRecord, RankRecord, ranks_of

#: Collectives that put the parts of all members together, and those that give each member its part of a whole.
_GATHERING = ("all_gather", "allgather", "_all_gather", "_allgather")
_SCATTERING = ("reduce_scatter", "reducescatter", "_reduce_scatter")

#: No job has so many ranks.
_RANKS = 1 << 22


class Roll(Struct, frozen=True):
    """`ranks`: those that the job is known to have. `whole`: all of them left a dump, and nothing hints at more."""

    ranks: tuple[int, ...]
    whole: bool


def roll_of(dumps: Mapping[int, RankRecord], heard: Iterable[int]) -> Roll:
    """The ranks of a job: they are counted from 0, a dump may list others of its job, and `heard` are known otherwise.

    Where none of this names a rank without a dump, an odd number of dumps still hints at one: jobs have an even number of
    ranks, and single dumps get lost.
    """
    told = {*heard, *(peer for dump in dumps.values() for peer in ranks_of(dump.peers))}
    last = max([*dumps, *told], default=-1)
    if last >= _RANKS:  # a number that is damaged, or made up: of such a job not all ranks are known
        return Roll(tuple(sorted({*dumps, *told})), whole=False)
    ranks = set(range(last + 1))
    even = len(ranks) == 1 or len(ranks) % 2 == 0
    return Roll(tuple(sorted(ranks)), ranks <= dumps.keys() and (even or ranks <= told))


def size_of(records: Iterable[GroupRecord]) -> int | None:
    """How many members a group has by the sizes of what they exchanged; None where none tells, or they contradict."""
    sizes = {
        size
        for record in records
        for operation in (*record.recent, *record.pending)
        for size in [_size(operation.name.lower(), operation.inputs, operation.outputs)]
        if size
    }
    return sizes.pop() if len(sizes) == 1 else None


def _size(name: str, inputs: int, outputs: int) -> int:
    """What one collective says of the number of its members; 0 where nothing."""
    part, whole = (inputs, outputs) if name.startswith(_GATHERING) else (outputs, inputs)
    fits = name.startswith((*_GATHERING, *_SCATTERING)) and 0 < part <= whole and whole % part == 0
    return whole // part if fits else 0
