"""What one rank's flight recorder says, in the shape in which it travels inside an `fr-rank` fact."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct

from neuron_doctor.engine.facts import Fact, Value

#: The kinds of an operation.
COLLECTIVE, SEND, RECEIVE = "collective", "send", "recv"

#: Of a group's open operations a record describes at most so many: the first ones, which all others wait behind.
PENDING = 1024
#: Of the completed operations of a group at most so many, the last ones, of collectives and of transfers each.
RECENT = 32

#: Collectives that a rank may complete before all others have joined: their data flow from, or to, one rank.
ROOTED = frozenset({"broadcast", "_broadcast_oop", "reduce", "_reduce_oop", "gather", "scatter"})


class Operation(NamedTuple):
    """One recorded operation.

    `record`: its place in the order in which the rank issued operations, counted from the start of its recorder where
    that is known. `sequence`: the number that the recorder gave
    it in its group. `number`: how many collectives of the group stand before it in the dump (-1 for point-to-point).
    `inputs`, `outputs`: elements, -1 where not recorded. `wait_us`: from issue to completion, -1 where unknown.
    `source`, `target`: the two ends as recorded, -1 where not said. `batch`: the record of the operation that closes the
    batch that it belongs to, else -1. `completed_ns`: when the recorder saw it completed, 0 where it did not. `skipped`: how
    many operations its group counted between the one described before it and this one, and the recorder does not describe
    (gloo's point-to-point ones), -1 where that is not known. `timeout_ms`: after how long its rank gives up waiting, 0 where that
    is not recorded.
    """

    record: int
    kind: str
    name: str
    sequence: int
    number: int
    state: str
    inputs: int
    outputs: int
    dtype: str
    created_ns: int
    wait_us: int
    source: int = -1
    target: int = -1
    batch: int = -1
    completed_ns: int = 0
    skipped: int = -1
    timeout_ms: int = 0
    frames: tuple[str, ...] = ()

    @property
    def place(self) -> int:
        """Where it stands in the rank's order of issue: with its batch, if it is in one."""
        return self.batch if self.batch >= 0 else self.record


class Pair(NamedTuple):
    """How many sends or receives (`kind`) between two ends the dump holds."""

    kind: str
    source: int
    target: int
    times: int


class GroupRecord(NamedTuple):
    """One process group on one rank.

    `members` is as `ranks_text` writes it, "" where unknown. `enqueued`, `started`, `completed`: the group's status, in
    whatever unit the recorder counts, None where it has none. `completions`: whether the recorder learns of completions
    in this group at all; `starts`: of starts. `length`: collectives in the dump, `contiguous` when their numbers have no
    gap. `batched`: point-to-point batches, which use up numbers, were seen; `point_to_point`: any such operation ever
    was. `recent`: the last collectives that completed; `pending`: those after them; `transfers`, `pending_transfers`:
    the same for point-to-point operations.
    """

    name: str
    desc: str
    pg_id: int
    members: str
    enqueued: int | None
    started: int | None
    completed: int | None
    completions: bool
    starts: bool
    length: int
    contiguous: bool
    batched: bool
    point_to_point: bool
    recent: tuple[Operation, ...]
    pending: tuple[Operation, ...]
    transfers: tuple[Operation, ...]
    pending_transfers: tuple[Operation, ...]
    pairs: tuple[Pair, ...]

    def last_record(self) -> int:
        """The place of the last operation that the dump describes of the group; -1 where it describes none."""
        listed = (self.recent, self.pending, self.transfers, self.pending_transfers)
        return max((operations[-1].record for operations in listed if operations), default=-1)


class RankRecord(Struct, frozen=True):
    """One dump: its rank, its groups, the fact that it came in. `whole`: the ring has lost no entry yet; `issued`: how
    many operations the rank has issued in all, 0 where unknown; `peers`: ranks that it lists for no group that it names;
    `backend`: whose operations it holds, "" where that is not told; `fresh`: how many collectives had completed so shortly
    before it was written that nobody had retired them."""

    rank: int
    fact: Fact
    groups: tuple[GroupRecord, ...]
    entries: int
    whole: bool
    issued: int
    last_ns: int
    peers: str = ""
    first_ns: int = 0
    backend: str = ""
    fresh: int = 0

    def last_record(self) -> int:
        """The place of the last operation that the dump describes; -1 where it describes none."""
        return max((group.last_record() for group in self.groups), default=-1)

    def last_issued(self) -> tuple[GroupRecord, Operation] | None:
        """The last operation that the dump describes, and its group."""
        described = (
            (group, operation)
            for group in self.groups
            for operations in (group.recent, group.pending, group.transfers, group.pending_transfers)
            for operation in operations[-1:]
        )
        return max(described, key=lambda one: one[1].record, default=None)


def rank_record(fact: Fact, rank: int) -> RankRecord:
    """The dump that an `fr-rank` fact holds; its groups may have become plain sequences on the way (through JSON)."""
    data = fact.data
    return RankRecord(
        rank=rank,
        fact=fact,
        groups=tuple(_group(group) for group in _rows(data["groups"])),
        entries=int(str(data["entries"])),
        whole=bool(data["whole"]),
        issued=int(str(data["issued"])),
        last_ns=int(str(data["last_ns"])),
        peers=str(data.get("peers", "")),
        first_ns=int(str(data.get("first_ns", 0))),
        backend=str(data.get("backend", "")),
        fresh=int(str(data.get("fresh", 0))),
    )


def told_of_collective(verdict: str, description: str, **said: Value) -> dict[str, Value]:
    """The fields of a `collective` fact: those that are not said are empty."""
    empty: dict[str, Value] = {
        "operation": "",
        "ordinal": -1,
        "culprits": (),
        "waiting": (),
        "missing_dumps": (),
        "members": (),
        "suspects": (),
        "scattered": False,
        "culprit_frame": "",
        "waiting_frame": "",
        "difference": "",
    }
    return {"verdict": verdict, "description": description, **empty, **said}


#: So many ranks, and one in so many, can have stopped for reasons of their own.
_TOGETHER, _MANY = 2, 8


def most_alone(ranks: int) -> int:
    """How many of so many ranks can have stopped for reasons of their own: more were stopped together."""
    return max(_TOGETHER, ranks // _MANY)


def ranks_text(ranks: Iterable[int]) -> str:
    """Global ranks, in their order, as text: `0-3,8,12-15`. World-sized groups of large jobs stay small this way."""
    runs: list[list[int]] = []
    for rank in dict.fromkeys(ranks):
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def named_ranks(ranks: Iterable[int]) -> str:
    """`rank 3`, `ranks 0-2,5`."""
    text = ranks_text(ranks)
    return f"rank {text}" if text.isdecimal() else f"ranks {text}"


@lru_cache(maxsize=4096)
def ranks_of(text: str) -> tuple[int, ...]:
    """The ranks that `ranks_text` wrote."""
    ranks: list[int] = []
    for run in text.split(",") if text else ():
        first, _, last = run.partition("-")
        ranks.extend(range(int(first), int(last or first) + 1))
    return tuple(ranks)


def _rows(value: Value) -> Sequence[Value]:
    return value if isinstance(value, tuple | list) else ()


def _group(value: Value) -> GroupRecord:
    if isinstance(value, GroupRecord):
        return value
    *head, recent, pending, transfers, pending_transfers, pairs = _rows(value)
    operations = [tuple(map(_operation, _rows(rows))) for rows in (recent, pending, transfers, pending_transfers)]
    return GroupRecord._make([*head, *operations, tuple(Pair._make(_rows(pair)) for pair in _rows(pairs))])


def _operation(value: Value) -> Operation:
    *head, frames = _rows(value)
    return Operation._make([*head, tuple(_rows(frames))])
