"""A large training job that hangs because one rank never joins one collective: what every rank issued, and how far it got.

TP x PP x DP, the last step simulated: a collective completes when all members have come, a transfer when both ends have.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property

TP, PP, LAYERS = 8, 4, 6


@dataclass(frozen=True, slots=True)
class Step:
    """One operation: its group's name, what the recorder calls it, elements, and for a transfer both ends."""

    group: str
    desc: str
    name: str
    size: int
    dtype: str = "BFloat16"
    ends: tuple[int, int] | None = None


@dataclass
class Job:
    """`ranks` (a multiple of TP x PP) in TP groups of 8, pipelines of 4 stages, and data-parallel groups of the rest."""

    ranks: int
    pp: int = PP
    groups: dict[str, tuple[str, list[int]]] = field(default_factory=dict)
    of_rank: dict[int, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))

    def __post_init__(self) -> None:
        self.dp = self.ranks // (TP * self.pp)
        where = {
            (t, p, d): (p * self.dp + d) * TP + t for t in range(TP) for p in range(self.pp) for d in range(self.dp)
        }
        sets: dict[tuple[str, int, int], list[int]] = defaultdict(list)
        for (t, p, d), rank in sorted(where.items(), key=lambda item: item[1]):
            for key in (("default_pg", 0, 0), ("TENSOR", p, d), ("DATA", t, p), ("PIPELINE", t, d)):
                sets[key].append(rank)
        for number, ((desc, *_), ranks) in enumerate(sets.items()):
            self.groups[str(number)] = (desc, ranks)
            for rank in ranks:
                self.of_rank[rank][desc] = str(number)

    def step(self, rank: int) -> list[Step]:
        """What a rank does in each step."""
        names = self.of_rank[rank]
        pipeline = self.groups[names["PIPELINE"]][1]
        stage = pipeline.index(rank)
        before, after = stage - 1, stage + 1 if stage + 1 < len(pipeline) else -1

        def move(kind: str, peer: int) -> list[Step]:
            ends = (stage, peer) if kind == "send" else (peer, stage)
            return [Step(names["PIPELINE"], "PIPELINE", kind, 8192, ends=ends)] if peer >= 0 else []

        tensor = [
            Step(names["TENSOR"], "TENSOR", name, 4096 + layer)
            for layer in range(LAYERS)
            for name in ("_all_gather_base", "_reduce_scatter_base")
        ]
        forward = [*move("recv", before), *tensor, *move("send", after)]
        backward = [*move("recv", after), *tensor, *move("send", before)]
        data = [Step(names["DATA"], "DATA", "allreduce_coalesced", 1 << 20, "Float")]
        return [*forward, *backward, *data, Step(names["default_pg"], "default_pg", "all_reduce", 1, "Float")]

    @cached_property
    def steps(self) -> dict[int, list[Step]]:
        """The step of every rank."""
        return {rank: self.step(rank) for rank in range(self.ranks)}

    def stops(self, culprit: int, at: int) -> dict[int, int]:
        """How many operations of the last step complete on each rank if `culprit` never issues its operation `at`."""
        come: dict[tuple[object, ...], list[int]] = defaultdict(list)
        done = dict.fromkeys(self.steps, 0)
        seen: dict[tuple[int, object], int] = defaultdict(int)
        todo = list(self.steps)
        while todo:
            rank = todo.pop()
            if done[rank] >= len(self.steps[rank]) or (rank == culprit and done[rank] == at):
                continue
            step = self.steps[rank][done[rank]]
            like = (step.group, step.ends)
            key = (*like, seen[rank, like])
            seen[rank, like] += 1
            come[key].append(rank)
            if len(come[key]) == (len(self.groups[step.group][1]) if step.ends is None else 2):
                for member in come[key]:
                    done[member] += 1
                todo += come[key]
        return done
