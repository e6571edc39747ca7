"""How the producers of flight recorders number what a rank issues: sequence numbers, operation ids, coalesced batches."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from neuron_doctor.corpus.simulator.history import Call, Op

P2P = frozenset({Op.SEND, Op.RECV})


class Issued(NamedTuple):
    """An operation as a recorder sees it issued. `status` is the number that the group's status counts it by.

    `closes` marks the operation that a recorder adds at the end of a coalesced batch; `inner` one within a batch, whose
    end nobody watches.
    """

    call: Call
    collective: int
    p2p: int
    op: int
    status: int
    started: float | None
    completed: float | None
    failed: float | None
    inner: bool = False
    closes: bool = False


@dataclass(slots=True)
class Counters:
    """What one process group of one rank has counted so far."""

    collective: int = 0
    p2p: int = 0
    op: int = 0


Groups = Mapping[str, Counters]
Numbering = Callable[[Iterable[Call], Groups], Iterator[Issued]]


def counted_before(calls: Iterable[Call], groups: Iterable[str]) -> dict[str, Counters]:
    """Where the groups' counters stood before these calls: a history may hold the last calls of a long run only."""
    first: dict[str, int] = {}
    for call in calls:
        if call.op not in P2P:
            first.setdefault(call.group, call.ordinal)
    return {name: Counters(collective=first.get(name, 0), op=first.get(name, 0)) for name in groups}


def nccl(calls: Iterable[Call], groups: Groups) -> Iterator[Issued]:
    """ProcessGroupNCCL: counts from 1; a coalesced batch burns a collective's number, even if it holds sends only."""
    for batch, run in groupby(calls, key=_batch):
        if batch is None:
            for call in run:
                yield _single(call, groups[call.group])
        else:
            members = list(run)
            yield from _coalesced(members, groups[members[0].group])


def hook(calls: Iterable[Call], groups: Groups) -> Iterator[Issued]:
    """FlightRecorderHook: operation ids count from 0 and are what the status shows; batches leave no trace of their own."""
    for call in calls:
        count = groups[call.group]
        _bump(call, count)
        count.op += 1
        yield _issued(call, count, op=count.op - 1, status=count.op - 1)


def gloo(calls: Iterable[Call], groups: Groups) -> Iterator[Issued]:
    """ProcessGroupGloo: sends and receives are not recorded, though they take operation ids."""
    for call in calls:
        count = groups[call.group]
        count.op += 1
        if call.op in P2P:
            continue
        count.collective += 1
        yield _issued(call, count, op=count.op, status=count.op)


def _batch(call: Call) -> tuple[str, int] | None:
    return None if call.batch is None else (call.group, call.batch)


def _bump(call: Call, count: Counters) -> None:
    if call.op in P2P:
        count.p2p += 1
    else:
        count.collective += 1


def _single(call: Call, count: Counters) -> Issued:
    _bump(call, count)
    count.op += 1
    return _issued(call, count, op=count.op, status=count.p2p if call.op in P2P else count.collective)


def _coalesced(members: list[Call], count: Counters) -> Iterator[Issued]:
    count.collective += 1
    for call in members:
        count.op += 1
        yield _issued(call, count, op=count.op, status=0)._replace(inner=True)
    last = members[-1]
    yield Issued(
        last,
        count.collective,
        count.p2p,
        count.op,
        count.p2p if last.op in P2P else count.collective,
        _when_all(call.started for call in members),
        _when_all(call.completed for call in members),
        _when_all(call.failed for call in members),
        closes=True,
    )


def _issued(call: Call, count: Counters, *, op: int, status: int) -> Issued:
    return Issued(call, count.collective, count.p2p, op, status, call.started, call.completed, call.failed)


def _when_all(times: Iterable[float | None]) -> float | None:
    """When the last of them came; None as long as one has not."""
    known = list(times)
    came = [time for time in known if time is not None]
    return max(came) if len(came) == len(known) else None
