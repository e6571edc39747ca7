"""What texts say of how far each rank came: `stand` facts, each given to one rank and one process group.

Sources of the texts: ProcessGroupNCCL.cpp and TraceUtils.h of torch 2.1 to 2.15, TorchNeuron's watchdog, the Neuron runtime.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, ranks_of
from neuron_doctor.engine.topology import Topology

#: The default group: PG 0 in every version, on every rank.
DEFAULT = "0"
#: Watchdogs name a group by its name only since torch 2.4; before, and where they name none, by the rank's own number.
LOCAL = ""
#: Operations with a numbering of their own: a group in which they occur counts differently on each rank.
POINT_TO_POINT = frozenset({"send", "recv", "recvanysource", "coalesced", "recvany"})


class Stand(Struct, frozen=True):
    """How far `rank` came in the group `pg`; -1: unknown. A completed number that is not below the one that the rank
    waits in was never set (torch 2.3) and is unknown."""

    rank: int
    fact: Fact
    witness: str
    pg: str
    desc: str
    group_rank: int
    sequence: int
    operation: str
    numel_in: int
    numel_out: int
    enqueued: int
    started: int
    completed: int
    total: int
    waits: bool
    named: bool


def stands_of(facts: Sequence[Fact], topology: Topology) -> list[Stand]:
    """The stands of all ranks that did not get on afterwards, in the order of their texts."""
    told = [fact for fact in facts if fact.kind == "stand"]
    if not told:
        return []
    overcome = _progress(facts)
    last_attempt = max(
        (f.place.attempt for f in facts if f.kind == "progress" and f.place.attempt is not None), default=-1
    )
    cores = _rank_of_core(facts)
    found: list[Stand] = []
    for fact in sorted(told, key=lambda fact: (fact.span.path, fact.span.offset)):
        if fact.place.attempt is not None and fact.place.attempt < last_attempt:
            continue
        ranks = ranks_of(fact.place) or cores.get((fact.place.host, fact.place.device, fact.place.core), ())
        found += [_stand(rank, fact) for rank in ranks if not _got_on(fact, overcome)]
    calls = {stand.rank: id(stand) for stand in found if stand.witness == "api"}
    last = [s for s in found if s.witness != "api" or calls[s.rank] == id(s)]
    return _with_groups([stand for stand in last if _is_possible(stand, topology)])


def _is_possible(stand: Stand, topology: Topology) -> bool:
    return topology.world_size is None or stand.rank < topology.world_size


def _stand(rank: int, fact: Fact) -> Stand:
    def number(name: str) -> int:
        value = fact.data.get(name)
        return value if isinstance(value, int) else -1

    def text(name: str) -> str:
        value = fact.data.get(name)
        return value if isinstance(value, str) else ""

    sequence, completed, waits = number("sequence"), number("last_completed"), fact.data.get("waits") is True
    enqueued = number("last_enqueued")
    limit = sequence - 1 if waits and sequence >= 0 else enqueued
    return Stand(
        rank=rank,
        fact=fact,
        witness=text("witness"),
        pg=_group_name(text("pg"), text("pg_desc"), fact),
        desc=text("pg_desc"),
        group_rank=number("group_rank"),
        sequence=sequence,
        operation=text("operation").lower(),
        numel_in=number("numel_in"),
        numel_out=number("numel_out"),
        enqueued=enqueued,
        started=number("last_started"),
        completed=completed if completed <= limit or limit < 0 else -1,
        total=number("total"),
        waits=waits,
        named=fact.data.get("named") is True,
    )


def _group_name(name: str, desc: str, fact: Fact) -> str:
    """The name of a group that means the same on all ranks."""
    return name if name == DEFAULT or desc or "pg_id" in fact.data else LOCAL


def _progress(facts: Iterable[Fact]) -> dict[tuple[str, int | None], int]:
    """By source and rank: where the last sign of progress stands."""
    found: dict[tuple[str, int | None], int] = defaultdict(lambda: -1)
    for fact in facts:
        if fact.kind == "progress":
            key = fact.source, fact.place.rank
            found[key] = max(found[key], fact.span.offset)
    return dict(found)


def _got_on(fact: Fact, progress: Mapping[tuple[str, int | None], int]) -> bool:
    return progress.get((fact.source, fact.place.rank), -1) > fact.span.offset


def _rank_of_core(facts: Iterable[Fact]) -> dict[tuple[str | None, int | None, int | None], tuple[int, ...]]:
    """The rank that runs on a core, where all records that name both agree."""
    seen: dict[tuple[str | None, int | None, int | None], set[int]] = defaultdict(set)
    for fact in facts:
        place = fact.place
        if place.rank is not None and place.device is not None and place.core is not None:
            seen[place.host, place.device, place.core].add(place.rank)
    return {core: tuple(ranks) for core, ranks in seen.items() if len(ranks) == 1}


def _with_groups(stands: list[Stand]) -> list[Stand]:
    """The stands, the watchdogs' words for a rank and an operation taken together: one line names the operation, another
    the group and its status. A line without a group is of the default group where the job names no other, and waits all
    stand at one number."""
    by_wait: dict[tuple[int, int], list[Stand]] = defaultdict(list)
    for stand in stands:
        if stand.witness == "watchdog" and stand.waits and stand.sequence >= 0:
            by_wait[stand.rank, stand.sequence].append(stand)
    joined = {id(stand): one for group in by_wait.values() for stand, one in _joined(group)}
    kept = [joined.get(id(stand), stand) for stand in stands]
    return _in_default_group([stand for stand in kept if stand is not None])


def _joined(stands: list[Stand]) -> Iterator[tuple[Stand, Stand | None]]:
    """Each of the stands of one rank at one number, and what becomes of it."""
    grouped = [stand for stand in stands if stand.group_rank >= 0]
    named = [stand for stand in stands if stand.operation]
    if len({stand.pg for stand in grouped}) != 1 or len({(s.operation, s.numel_in, s.numel_out) for s in named}) != 1:
        yield from ((stand, stand) for stand in stands if stand.group_rank >= 0)
        yield from ((stand, stand if not grouped else None) for stand in stands if stand.group_rank < 0)
        return
    best, words = max(grouped, key=lambda stand: (stand.enqueued, stand.completed)), named[0]
    whole = replace(
        best, fact=words.fact, operation=words.operation, numel_in=words.numel_in, numel_out=words.numel_out
    )
    yield from ((stand, whole if stand is best else None) for stand in stands)


def _in_default_group(stands: list[Stand]) -> list[Stand]:
    numbered = [stand for stand in stands if stand.witness in {"watchdog", "desync"}]
    local = [stand for stand in numbered if stand.pg == LOCAL and stand.waits]
    if {stand.pg for stand in numbered} - {LOCAL, DEFAULT} or len({stand.sequence for stand in local}) > 1:
        return stands
    if any(stand.group_rank >= 0 or stand.operation in POINT_TO_POINT for stand in local):
        return stands
    unnamed = {id(stand) for stand in numbered if stand.pg == LOCAL}
    return [replace(stand, pg=DEFAULT) if id(stand) in unnamed else stand for stand in stands]
