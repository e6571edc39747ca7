"""Whose buffer was too small for what a peer sent, where gloo ended a process for that: of the one that noticed, or the sender's.

    what():  [enforce fail at .../gloo/transport/tcp/pair.cc:456] op.preamble.length <= op.nbytes. 4604 vs 4. Received data ...

Either may be wrong. It is the one that noticed if all others that left a dump, half of the job or more, came to one operation,
what was sent is a part of that as gloo cuts it, and what was expected is none: less, if these are all others, else much less.
Else no rank is named.

Gloo reduces in equal parts, as many as the group has members or twice that, the last of which is what is left over
(`gloo/allreduce.cc`, `segmentBytes`); other operations send their tensors whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place, ranks_of
from neuron_doctor.engine.recorder import Operation, rank_record
from neuron_doctor.engine.topology import Topology

_REFUSED = "short-buffer"
_SIGABRT = 6
_ABORTED = frozenset({-_SIGABRT, 128 + _SIGABRT})
_BYTES: Mapping[str, int] = {
    "Double": 8, "Long": 8, "Float": 4, "Int": 4, "Half": 2, "BFloat16": 2, "Short": 2, "Char": 1, "Byte": 1, "Bool": 1,
}  # fmt: skip
#: So many ranks must have come to one operation; what was expected is so many times less than what was sent.
_SEVERAL, _LESS = 2, 2


def with_short_buffers(facts: Sequence[Fact], topology: Topology) -> Sequence[Fact]:
    """The facts; such reports of the rank that noticed where it is known to be the one at fault, else of none."""
    reports = [fact for fact in facts if fact.kind == _REFUSED]
    if not reports:
        return facts
    world = max(topology.world_size or 0, 1 + max((rank for fact in facts for rank in ranks_of(fact.place)), default=0))
    much_less = any(_is_less(report, 1) for report in reports)
    lasts = _last_operations(facts) if much_less else {}
    placed: dict[int, Fact] = {}
    for report in reports:
        noticed = _noticed(report, reports, facts)
        proven = noticed is not None and _is_at_fault(noticed, report, lasts, world)
        place = Place(
            job=report.place.job,
            attempt=report.place.attempt,
            rank=noticed if proven else None,
            host=topology.host_of_rank.get(noticed) if proven and noticed is not None else None,
        )
        placed[id(report)] = replace(report, place=place)
    return [placed.get(id(fact), fact) for fact in facts]


def _noticed(report: Fact, reports: Sequence[Fact], facts: Iterable[Fact]) -> int | None:
    """The rank that was ended: whose log it is, else the one that aborted, by its launcher, where no other one did."""
    if report.place.rank is not None or len(reports) > 1 or report.repeats:
        return report.place.rank
    ends = [fact for fact in facts if fact.kind == "launcher-failure"]
    aborted = [end for end in ends if end.data.get("exitcode") in _ABORTED or end.data.get("signal") == _SIGABRT]
    ranks = {rank for end in aborted for rank in ranks_of(end.place)}
    return min(ranks) if len(ranks) == 1 and all(ranks_of(end.place) for end in aborted) else None


def _is_less(report: Fact, times: int) -> bool:
    """Whether less was expected than sent, by so many times."""
    sent, expected = _bytes_of(report)
    return 0 < expected < sent and expected * times <= sent


def _bytes_of(report: Fact) -> tuple[int, int]:
    """What was sent, and what was expected."""
    sent, expected = (int(str(report.data.get(name) or 0)) for name in ("sent", "expected"))
    return sent, expected


def _is_at_fault(noticed: int, report: Fact, lasts: Mapping[int, tuple[str, Operation]], world: int) -> bool:
    if not _is_less(report, 1 if len(lasts) == world - 1 else _LESS):
        return False
    few = len(lasts) < _SEVERAL or 2 * len(lasts) < world
    if noticed in lasts or few:
        return False
    (group, one), *others = lasts.values()
    if any((name, *_of_program(other)) != (group, *_of_program(one)) for name, other in others):
        return False
    sent, expected = _bytes_of(report)
    parts = _parts(one, world)
    return sent in parts and expected not in parts


def _of_program(one: Operation) -> tuple[str, int, int, str]:
    return one.name, one.sequence, one.inputs, one.dtype


def _last_operations(facts: Iterable[Fact]) -> dict[int, tuple[str, Operation]]:
    """By rank, the last operation that its dump describes, and its group."""
    records = (rank_record(f, f.place.rank) for f in facts if f.kind == "fr-rank" and f.place.rank is not None)
    lasts = ((record.rank, record.last_issued()) for record in records)
    return {rank: (last[0].name, last[1]) for rank, last in lasts if last}


def _parts(one: Operation, world: int) -> set[int]:
    """The lengths in bytes in which gloo may send an operation."""
    width = _BYTES.get(one.dtype, 0)
    whole = one.inputs * width
    found = {whole}
    for number in (world, 2 * world) if width and whole > 0 else ():
        part = -(-whole // number)
        part = -(-part // width) * width
        found |= {part, whole % part}
    return found
