"""The wait-for graph alone: `python -m benchmarks.graph match FILE` matches the ranks of a job whose facts were pickled, and
`components FILE` only finds the strongly connected components of the same graph with networkx.

In that graph a group is a node: a rank points to the group in which it waits, and a group to its members that have not come.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.flight_recorder import facts_of
from neuron_doctor.engine.collectives import match_collectives
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.recorder import GroupRecord


def write_facts(path: Path, ranks: int) -> None:
    """The facts of a job of which one rank never joins, for this program alone to read."""
    path.write_bytes(pickle.dumps(facts_of(ranks), protocol=5))


def edges(facts: Sequence[Fact]) -> Iterator[tuple[str, str]]:
    """Who waits for whom."""
    for fact in facts:
        rank = f"rank {fact.place.rank}"
        groups = fact.data["groups"]
        for group in groups if isinstance(groups, tuple) else ():
            if not isinstance(group, GroupRecord):
                continue
            yield (rank, f"group {group.name}") if group.pending else (f"group {group.name}", rank)


def components(facts: Sequence[Fact]) -> int:
    """How many there are, condensed and sorted as a verdict would need them."""
    import networkx  # type: ignore[import-untyped]  # noqa: PLC0415 - a yardstick, not always installed

    condensed = networkx.condensation(networkx.DiGraph(edges(facts)))
    return len(list(networkx.topological_sort(condensed)))


def main() -> None:
    """What the arguments say."""
    what, name = sys.argv[1:]
    facts: list[Fact] = pickle.loads(Path(name).read_bytes())
    if what == "components":
        print(components(facts))
    else:
        (found,) = match_collectives(facts)
        print(found.data["verdict"], found.place.ranks)


if __name__ == "__main__":
    main()
