"""A pack of a test's own with the causes of the built-in one, but not its rules: loaded in milliseconds."""

from __future__ import annotations

import shutil
from pathlib import Path

from neuron_doctor.engine.rule_loader import load_rulebook
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.packs import builtin_pack
from neuron_doctor.rulefiles import with_directories


def rulebook_of(folder: Path) -> Rulebook:
    """The rules of a folder, with their examples."""
    causes = folder.parent / "with-causes"
    causes.mkdir(exist_ok=True)
    shutil.copy(builtin_pack() / "causes.yaml", causes)
    return with_directories(load_rulebook([causes, folder]), [folder])
