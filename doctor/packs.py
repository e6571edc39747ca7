"""The rulebook that the packs of a run make."""

from __future__ import annotations

from pathlib import Path

import neuron_doctor.engine
from neuron_doctor.engine.rulebook import Rulebook, load_rulebook
from neuron_doctor.request import Packs


def builtin_pack() -> Path:
    """The directory of the built-in rules. It has no Python file, so it is found beside the engine: in a checkout and in
    a wheel alike."""
    return Path(neuron_doctor.engine.__file__).resolve().parent.parent / "rules"


def load(packs: Packs) -> Rulebook:
    """The rules of the packs. Raises RulebookError."""
    return load_rulebook([builtin_pack(), *packs.further], only_terms=() if packs.builtin else (builtin_pack(),))
