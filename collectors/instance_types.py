"""How many Neuron devices and EFA interfaces each EC2 instance type has, and the fact that compares it with a host."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from neuron_doctor.engine.facts import Value


class Complement(Struct, frozen=True):
    """What an instance of one type must show; 0 where no document says so."""

    neuron: int = 0
    efa: int = 0


UNKNOWN = Complement()

#: Neuron documentation: Inf1, Inf2, Trn1 and Trn2 architecture pages (devices), EFA set-up guide (interfaces).
_COMPLEMENTS: Mapping[str, Complement] = MappingProxyType(
    {
        "inf1.xlarge": Complement(neuron=1),
        "inf1.2xlarge": Complement(neuron=1),
        "inf1.6xlarge": Complement(neuron=4),
        "inf1.24xlarge": Complement(neuron=16),
        "inf2.xlarge": Complement(neuron=1),
        "inf2.8xlarge": Complement(neuron=1),
        "inf2.24xlarge": Complement(neuron=6),
        "inf2.48xlarge": Complement(neuron=12),
        "trn1.2xlarge": Complement(neuron=1),
        "trn1.32xlarge": Complement(neuron=16, efa=8),
        "trn1n.32xlarge": Complement(neuron=16, efa=16),
        "trn2.3xlarge": Complement(neuron=1, efa=1),
        "trn2.48xlarge": Complement(neuron=16, efa=16),
    }
)


#: Of so many devices a container gets any, but never all but one or two of them.
_FULL, _GAPS = frozenset({12, 16}), 2


def device_count(
    neuron: int, *, efa: int = -1, cores: int = 0, instance_type: str = "", highest: int = -1
) -> dict[str, Value]:
    """The fields of a `device-count` fact: -1 for a kind that is not shown, 0 where nothing is known of the rest. `highest` is
    the highest number of the devices: where the type is not told, it tells that one or two below it are missing."""
    wanted = complement_of(instance_type)
    numbered = highest + 1 if highest + 1 in _FULL and highest + 1 - neuron <= _GAPS else 0
    expected = wanted.neuron or numbered
    counts = {"neuron": neuron, "efa": efa, "expected_neuron": expected, "expected_efa": wanted.efa}
    return {**counts, "cores": cores}


def highest_of(neuron: int) -> int:
    """The highest number of so many devices, of which one or two of the most that any type has may be missing: of fewer, a
    container may have got just so many."""
    full = max(_FULL)
    return (full if 0 <= full - neuron <= _GAPS else neuron) - 1


def complement_of(instance_type: str) -> Complement:
    """What an instance of this type must show; zeros for a type that is not known. SageMaker's `ml.` is accepted."""
    return _COMPLEMENTS.get(instance_type.removeprefix("ml."), UNKNOWN)
