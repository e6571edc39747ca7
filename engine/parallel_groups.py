"""The process groups of a job with their members and what they are for, and each rank's pipeline stage.

From the flight recorders' list of groups, and from what frameworks and torch print. Descriptions are those of
Megatron-Core (`TENSOR_MODEL_PARALLEL_GROUP`), torch's device meshes (`mesh_tp`), NeuronxDistributed (`tp`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.proven import unique
from neuron_doctor.engine.recorder import rank_record, ranks_of, ranks_text
from neuron_doctor.engine.regexes import regex

PIPELINE = "pipeline"

#: What groups are called -> along which axis of the job they lie. Any other name is kept as it is.
_AXES: Mapping[str, str] = {
    **dict.fromkeys(("pp", "pipe", "pipeline", "pipeline parallel", "pipeline model parallel"), PIPELINE),
    **dict.fromkeys(("tp", "tensor", "tensor parallel", "tensor model parallel"), "tensor-parallel"),
    **dict.fromkeys(("dp", "data", "data parallel"), "data-parallel"),
    **dict.fromkeys(("ep", "expert", "expert parallel", "expert model parallel"), "expert-parallel"),
    **dict.fromkeys(("cp", "context", "context parallel"), "context-parallel"),
}
_WORD = regex(r"[a-z]+|\d+")
_FILLERS = frozenset({"group", "mesh"})
_NAMED_AT_MOST = 40


class ParallelGroup(Struct, frozen=True, order=True):
    """A process group: its axis, or what it is called where that is none of the known ones, and its ranks in order."""

    axis: str
    ranks: tuple[int, ...]

    @property
    def title(self) -> str:
        """What a sentence calls it."""
        text = ranks_text(self.ranks)
        shown = text if len(text) <= _NAMED_AT_MOST else f"{self.ranks[0]} to {self.ranks[-1]}"
        return f"{self.axis or 'process'} group of ranks {shown}"


def axis_of(name: str) -> str:
    """The axis of a group that is called so."""
    words = (word for word in _WORD.findall(name.lower()) if word not in _FILLERS)
    return _AXES.get(" ".join(words), name if name != "undefined" else "")


def parallel_groups(facts: Iterable[Fact]) -> tuple[ParallelGroup, ...]:
    """All groups of several ranks whose members are known, each once, in canonical order."""
    facts = tuple(facts)
    listed = {pair for fact in facts if fact.kind in ("fr-rank", "process-groups") for pair in _listed(fact)}
    groups = {ParallelGroup(axis_of(name), ranks_of(members)) for name, members in listed}
    groups |= {ParallelGroup(axis, ranks) for axis, ranks in _numbered(facts)}
    return tuple(sorted(group for group in groups if len(group.ranks) > 1))


def pipeline_stages(facts: Iterable[Fact], groups: Sequence[ParallelGroup]) -> dict[int, int]:
    """The stage of each rank: its number in its pipeline group, where all that say it agree."""
    placed = [(rank, stage) for group in groups if group.axis == PIPELINE for stage, rank in enumerate(group.ranks)]
    said = [
        (fact.place.rank, int(str(fact.data["position"])))
        for fact in facts
        if fact.kind == "group-position" and fact.place.rank is not None and axis_of(_text(fact, "axis")) == PIPELINE
    ]
    return unique([*placed, *said])


def _listed(fact: Fact) -> Iterator[tuple[str, str]]:
    """Name and members of each group that a fact lists."""
    if fact.kind == "fr-rank":
        for record in rank_record(fact, fact.place.rank or 0).groups:
            yield record.desc, record.members
    else:
        for members in _text(fact, "groups").split():
            yield _text(fact, "axis"), members


def _numbered(facts: Iterable[Fact]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The groups whose members each say their number in it, all of them from 0 on."""
    said: dict[tuple[str, str], set[tuple[int, int]]] = defaultdict(set)
    for fact in facts:
        if fact.kind == "group-position" and fact.place.rank is not None and _text(fact, "group"):
            key = (_text(fact, "axis"), _text(fact, "group"))
            said[key].add((int(str(fact.data["position"])), fact.place.rank))
    for (axis, _), members in said.items():
        if [position for position, _ in sorted(members)] == list(range(len(members))):
            yield axis_of(axis), tuple(rank for _, rank in sorted(members))


def _text(fact: Fact, name: str) -> str:
    return str(fact.data.get(name, ""))
