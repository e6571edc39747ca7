"""Who is waited for, as texts and recorders say together: `collective` facts also where no flight recorder ran.

What a rank says of itself in words becomes the record of a rank without a dump, so that one wait-for graph
(engine.collectives) serves dumps, watchdogs, desync reports and execution traces. A rank is convicted only by its own
stand, by a peer that names it, or where it is silent beside its log while all others of the world wait.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.barriers import absences
from neuron_doctor.engine.collectives import left_out, match_collectives
from neuron_doctor.engine.dumps import of_last_attempts
from neuron_doctor.engine.facts import Fact, Source
from neuron_doctor.engine.lone_ranks import lone_ranks
from neuron_doctor.engine.standing_records import Known, known_groups, records_of, waiting_ranks
from neuron_doctor.engine.stands import DEFAULT, Stand, stands_of
from neuron_doctor.engine.topology import Topology
from neuron_doctor.engine.trace_stands import trace_stands

_Run = tuple[str | None, int | None]

#: Verdicts of the graph that words alone can carry; the others need what only a recorder knows.
_TOLD = frozenset({"rank-missing", "op-mismatch", "size-mismatch", "order-mismatch", "device-stuck"})
#: Those that hold only where all members of the group are known.
_WHOLE = frozenset({"transport-stall", "partial-completion"})
#: A rank that completed so many fewer than its peers has a device that is stuck, not a lost message.
_LAG = 2
#: Of the ranks of a job, at most one in so many are convicted together for what they did not say.
_FEW = 4


class Standings(Struct, frozen=True):
    """`collectives`: what holds of the job. `told`: what the words alone would say where there are dumps too."""

    collectives: tuple[Fact, ...]
    told: tuple[Fact, ...]


def match_standings(facts: Sequence[Fact], sources: Sequence[Source], topology: Topology) -> Standings:
    """The `collective` facts that follow from dumps and words: the same whatever their order."""
    dumps, earlier = of_last_attempts(fact for fact in facts if fact.kind == "fr-rank")
    stands = [*stands_of(facts, topology), *trace_stands(facts)]
    beside = [*absences(facts, topology.world_size), *_by("recorder", left_out(earlier))]
    heard = _heard(dumps, sources, topology)
    if not stands:
        return Standings((*_by("recorder", match_collectives(dumps, heard)), *beside), ())
    runs = _runs(dumps, stands)
    logged = {s.place.rank for s in sources if s.kind == "log" and s.records and s.place.rank is not None}
    logged |= {f.place.rank for f in facts if f.kind == "progress" and f.place.rank is not None}
    hangs = any(fact.kind == "hang-report" for fact in facts)
    found: list[Fact] = []
    told: list[Fact] = []
    for run in sorted(runs, key=str):
        world = _Words(run, runs[run], topology.world_size, frozenset(logged), hangs, heard)
        of_run = [fact for fact in dumps if _run_of(fact) == run]
        alone = [*world.graph(), *world.lone()]
        known = any(fact.place.rank is not None for fact in of_run)  # dumps of nobody known stand beside no words
        found += world.beside(of_run) if known else [*alone, *_by("recorder", match_collectives(of_run, heard))]
        told += alone if known else []
    other = [fact for fact in dumps if _run_of(fact) not in runs]
    return Standings((*_by("recorder", match_collectives(other, heard)), *found, *beside), tuple(told))


def _heard(dumps: Sequence[Fact], sources: Iterable[Source], topology: Topology) -> frozenset[int]:
    """The ranks that the job has by other evidence than what the dumps say: its size, and dumps that cannot be read."""
    known = {fact.place.rank for fact in dumps}
    found = {s.place.rank for s in sources if s.kind == "flight-recorder" and s.place.rank is not None} - known
    size = topology.world_size or 0
    return frozenset(rank for rank in (*range(size), *found) if rank is not None and (not size or rank < size))


def _run_of(fact: Fact) -> _Run:
    return fact.place.job, fact.place.attempt


def _runs(dumps: Iterable[Fact], stands: Iterable[Stand]) -> dict[_Run, list[Stand]]:
    """The stands by run: that of the dumps where there is one only, else by attempt."""
    of_dumps = {_run_of(fact) for fact in dumps}
    only = next(iter(of_dumps)) if len(of_dumps) == 1 else None
    runs: dict[_Run, list[Stand]] = defaultdict(list)
    for stand in stands:
        attempt = stand.fact.place.attempt
        fits = only is not None and (only[1] is None or attempt in (None, only[1]))
        runs[only if only is not None and fits else (None, attempt)].append(stand)
    return dict(runs)


def _by(witness: str, facts: Iterable[Fact]) -> list[Fact]:
    return [replace(fact, data={**fact.data, "witness": witness}) for fact in facts]


class _Words(Struct, frozen=True):
    """The stands of one run, the size of its world where known, the ranks whose own logs were collected, whether anybody
    says that the job hangs, and the ranks that it is known to have."""

    run: _Run
    stands: list[Stand]
    size: int | None
    logged: frozenset[int]
    hangs: bool
    heard: frozenset[int]

    def graph(self) -> list[Fact]:
        """What the wait-for graph of the words alone says."""
        found: list[Fact] = []
        for witness in ("ndet", ""):
            stands = [stand for stand in self.stands if (stand.witness == "ndet") == (witness == "ndet")]
            known = known_groups(stands, (), self.size)
            if waiting_ranks(stands):
                found += self._sound(match_collectives(self._records(stands, known)), stands, known)
        return found

    def _records(self, stands: Sequence[Stand], known: Known) -> list[Fact]:
        """The records. Ranks that wait in nothing that they tell of may wait unseen in another group for one of them: where
        several would be convicted, nothing is known of them, unless they are few and the job shows one group only."""
        records = records_of(stands, known, self.run)
        waiting = waiting_ranks(stands)
        idle = {fact.place.rank for fact in records} - waiting
        blamed = {rank for fact in match_collectives(records) for rank in _culprits(fact)} & idle
        unsure = len(blamed) > 1 and (known.several or _FEW * len(blamed) > len(waiting | idle))
        return [fact for fact in records if not (unsure and fact.place.rank in blamed)]

    def _sound(self, facts: Iterable[Fact], stands: Sequence[Stand], known: Known) -> list[Fact]:
        waiting = waiting_ranks(stands)
        kept: list[Fact] = []
        for fact in facts:
            verdict = fact.data["verdict"]
            whole = known.whole and fact.place.group == known.title(DEFAULT)
            if verdict == "rank-missing" and not _culprits(fact):
                kept += self._missing(fact, waiting)
            elif verdict in _TOLD or (verdict in _WHOLE and whole):
                kept.append(_as_stuck(fact, stands))
        return [_witnessed(fact, stands) if "witness" not in fact.data else fact for fact in kept]

    def _missing(self, fact: Fact, waiting: frozenset[int]) -> list[Fact]:
        """A wait for ranks of which no word tells: the one of them that is silent beside its log is convicted where all
        others of the world wait."""
        missing = fact.data["missing_dumps"]
        ranks = [rank for rank in missing if isinstance(rank, int)] if isinstance(missing, tuple) else []
        alone = len(ranks) == 1 and self.size is not None and len(waiting) == self.size - 1 and ranks[0] not in waiting
        if not alone or ranks[0] not in self.logged:
            return [fact] if ranks else []
        [rank] = ranks
        told = f"all other ranks of the job wait, at last for rank {rank}, whose log says nothing"
        data = {**fact.data, "culprits": (rank,), "description": told, "witness": "silence"}
        place = replace(fact.place, rank=rank, ranks=(rank,), host=None)
        return [replace(fact, data=data, place=place, instant=None)]  # the instant is of a peer's clock

    def lone(self) -> list[Fact]:
        """The few ranks that stand elsewhere than all others, by the words of the runtime."""
        return lone_ranks(self.stands, hangs=self.hangs)

    def beside(self, dumps: list[Fact]) -> list[Fact]:
        """What dumps say, with the words of ranks that left none."""
        stands = [stand for stand in self.stands if stand.witness != "ndet"]
        known = known_groups(stands, dumps, self.size)
        dumped = frozenset(fact.place.rank for fact in dumps if fact.place.rank is not None)
        spoken = [stand for stand in stands if stand.rank not in dumped]
        records = self._beside(spoken, known, dumps)
        alone = _by("recorder", match_collectives(dumps, self.heard))
        if not records:
            return alone
        both = match_collectives([*dumps, *records], self.heard)
        return _by("recorder", both)

    def _beside(self, spoken: Sequence[Stand], known: Known, dumps: Sequence[Fact]) -> list[Fact]:
        records = records_of(spoken, known, self.run)
        idle = {fact.place.rank for fact in records} - waiting_ranks(spoken)
        blamed = {rank for fact in match_collectives([*dumps, *records], self.heard) for rank in _culprits(fact)} & idle
        return [fact for fact in records if not (len(blamed) > 1 and fact.place.rank in blamed)]


def _culprits(fact: Fact) -> tuple[int, ...]:
    culprits = fact.data.get("culprits")
    return tuple(rank for rank in culprits if isinstance(rank, int)) if isinstance(culprits, tuple) else ()


def _as_stuck(fact: Fact, stands: Sequence[Stand]) -> Fact:
    """A rank that lags by several collectives behind its peers has a stuck device: no message was lost there."""
    culprits = _culprits(fact)
    if fact.data["verdict"] != "partial-completion" or not culprits:
        return fact
    done: Mapping[int, int] = {s.rank: s.sequence - 1 for s in stands if s.waits and s.pg == DEFAULT}
    top = max(done.values(), default=-1)
    lags = all(done.get(rank, top) + _LAG <= top for rank in culprits)
    return replace(fact, data={**fact.data, "verdict": "device-stuck"}) if lags else fact


def _witnessed(fact: Fact, stands: Sequence[Stand]) -> Fact:
    """The fact with the kind of witness that convicts: a peer that names the ranks, or their own words."""
    culprits = set(_culprits(fact))
    named = [stand.witness for stand in stands if stand.named and stand.rank in culprits]
    witness = min(named, default=min((stand.witness for stand in stands), default="watchdog"))
    return replace(fact, data={**fact.data, "witness": witness})
