"""The nodes of a Workflow of Argo (`status.nodes`, Argo Workflows 3): which pods failed in attempts of steps.

A node of type Retry has its attempts as children, and what they consist of below them. Ids of nodes, and names of their pods, end
with the same number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from neuron_doctor.collectors import members
from neuron_doctor.engine.facts import Value

_FAILED = frozenset({"Failed", "Error"})


class FailedPod(Struct, frozen=True):
    """A pod of an attempt of a step: the node that it is, the step, the number of the attempt."""

    name: str
    unit: str
    number: int
    made_good: bool

    @property
    def data(self) -> dict[str, Value]:
        """The fields of its `attempt` fact. The `stream` is what its node, its pod and its log have in common."""
        stream = self.name.rpartition("-")[2]
        return {"unit": self.unit, "number": self.number, "stream": stream, "failed": True, "made_good": self.made_good}


def failed_pods(nodes: object) -> Iterator[FailedPod]:
    """The pods that failed in attempts of steps that may be tried anew."""
    if not isinstance(nodes, dict):
        return
    for name, node in nodes.items():
        if members.text(node, "type") == "Retry":
            good = members.text(node, "phase") == "Succeeded"
            for number, child in enumerate(_children(node), 1):
                yield from (FailedPod(pod, name, number, good) for pod in _failed_below(nodes, child))


def _failed_below(nodes: Mapping[str, object], first: str) -> Iterator[str]:
    left, seen = [first], set[str]()
    while left:
        name = left.pop()
        node = nodes.get(name)
        if name not in seen and members.text(node, "phase") in _FAILED:
            left += _children(node)
            if members.text(node, "type") == "Pod":
                yield name
        seen.add(name)


def _children(node: object) -> Sequence[str]:
    found = members.dig(node, "children")
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []
