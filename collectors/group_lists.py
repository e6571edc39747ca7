"""Process groups as frameworks print them: a list of lists of ranks, `[[0, 1], [2, 3]]`.

Source: NeuronxDistributed, `parallel_layers/parallel_state.py` (`tp_groups: replica_groups.tp_groups=[[0, 1], ...]`),
as its logs of SDK 2.21 to 2.28 show it.
"""

from __future__ import annotations

import re

from neuron_doctor.engine.recorder import ranks_text
from neuron_doctor.engine.regexes import regex

_INNER = regex(r"\[([\d, ]+)\]", re.ASCII)
_NUMBER = regex(r"\d{1,7}", re.ASCII)


def groups_text(printed: str) -> str:
    """The groups of a printed list, each as `ranks_text` writes it, separated by blanks: `0-1 2-3`. Of a list that was
    cut off, the last group is left out, whose members are not all known."""
    groups = (_NUMBER.findall(inner) for inner in _INNER.findall(printed))
    return " ".join(ranks_text(map(int, numbers)) for numbers in groups if numbers)
