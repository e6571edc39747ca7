"""The rulebook that the packs of a run make."""

from __future__ import annotations

from pathlib import Path

import neuron_doctor.engine
from neuron_doctor.engine.packfiles import PackFile, read_packs
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.keep import Keep, keep_of_user
from neuron_doctor.request import Packs
from neuron_doctor.rulecache import compiled


def builtin_pack() -> Path:
    """The directory of the built-in rules. It has no Python file, so it is found beside the engine: in a checkout and in
    a wheel alike."""
    return Path(neuron_doctor.engine.__file__).resolve().parent.parent / "rules"


def load(packs: Packs, keep: Keep | None = None) -> Rulebook:
    """The rules of the packs, without their examples; compiled once and kept for other runs. Raises RulebookError."""
    return compiled(files_of(packs), keep_of_user() if keep is None else keep)


def load_with_examples(packs: Packs) -> Rulebook:
    """The rules of the packs as their authors want them: with examples, and from the files. Raises RulebookError."""
    from neuron_doctor.engine.rule_loader import compile_rulebook  # noqa: PLC0415 - YAML and lark: only where needed
    from neuron_doctor.rulefiles import with_directories  # noqa: PLC0415

    return with_directories(compile_rulebook(files_of(packs)), directories(packs))


def directories(packs: Packs) -> list[Path]:
    """Where the rules of the packs are, the built-in ones first."""
    return [builtin_pack(), *packs.further]


def files_of(packs: Packs) -> list[PackFile]:
    """The files of the packs, the built-in one first; without its rules if they are not wanted."""
    return read_packs(directories(packs), only_terms=() if packs.builtin else (builtin_pack(),))
