"""The rulebook that the packs of a run make."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

import neuron_doctor.engine
from neuron_doctor.__about__ import VERSION
from neuron_doctor.engine.packfiles import PackFile, Root, read_packs, root_of
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.found import found_packs, found_site, site_of
from neuron_doctor.installed import installed
from neuron_doctor.keep import Keep, keep_of_user
from neuron_doctor.request import Packs
from neuron_doctor.rulecache import code_paths, compiled, recalled
from neuron_doctor.rulestamps import stamp_of

#: What the pack of this program is called.
BUILT_IN = "built-in"
_EMPTY = "there are no rules here: no file ends with .yaml"


def builtin_pack() -> Path:
    """The directory of the built-in rules. It has no Python file, so it is found beside the engine: in a checkout and in
    a wheel alike."""
    return Path(neuron_doctor.engine.__file__).resolve().parent.parent / "rules"


def load(packs: Packs, keep: Keep | None = None) -> Rulebook:
    """The rules of the packs, as the site file has them today, without their examples; compiled once and kept for other runs.
    Raises RulebookError."""
    keep = keep_of_user() if keep is None else keep
    some, site = roots(packs, keep), site_file(packs)
    stamp = stamp_of(some, site, code_paths())
    return _today(recalled(stamp, keep) or compiled(_files_of(some), keep, site, stamp))


def load_with_examples(packs: Packs) -> Rulebook:
    """The same with examples, and from the files. Raises RulebookError."""
    from neuron_doctor.engine.rule_loader import compile_rulebook  # noqa: PLC0415 - YAML and lark: only where needed
    from neuron_doctor.rulefiles import with_directories  # noqa: PLC0415

    rulebook = compile_rulebook(files_of(packs), VERSION, site_file(packs), forgiving=True)
    return with_directories(_today(rulebook), directories(packs))


def _today(rulebook: Rulebook) -> Rulebook:
    if rulebook.site is None:
        return rulebook
    from datetime import date  # noqa: PLC0415 - only where there are silences

    return replace(rulebook, site=rulebook.site.as_of(date.today().isoformat()))


def site_file(packs: Packs) -> PackFile | None:
    """The site file that counts: the one that was named, else the one that is found, if there is any."""
    if packs.site is not None:
        return site_of(packs.site)
    return found_site(os.environ) if packs.sited and _finds(packs) else None


def _finds(packs: Packs) -> bool:
    """Whether anything counts that nobody named."""
    return packs.builtin and not packs.isolated


def directories(packs: Packs) -> list[Path]:
    """The directories that errors call by their last part, the built-in one first; others they call by their whole path."""
    return [builtin_pack(), *packs.further]


def files_of(packs: Packs, keep: Keep | None = None) -> list[PackFile]:
    """The files of the packs, the built-in one first; without its rules if they are not wanted."""
    return _files_of(roots(packs, keep))


def _files_of(some: Sequence[Root]) -> list[PackFile]:
    files = read_packs(some)
    there = {file.root for file in files}
    empty = [root for root in some if root.base not in there]
    return files + [PackFile(root.base, b"", fault=_EMPTY, base=root.base, pack=root.name) for root in empty]


def roots(packs: Packs, keep: Keep | None = None) -> list[Root]:
    """The folders of all packs that count, each once: the built-in one, those that were found, those that the user named."""
    own = Root(builtin_pack(), "rules", BUILT_IN, only_terms=not packs.builtin)
    named = list(_called_apart(dict.fromkeys(packs.further), {own.base}))
    known = {root.directory.resolve() for root in named}
    if not _finds(packs):
        return [own, *named]
    found = found_packs(installed(keep_of_user() if keep is None else keep), os.environ)
    return [own, *_once(found, known), *named]


def _called_apart(directories: Iterable[Path], taken: set[str]) -> Iterator[Root]:
    """Each called by its last part, or by its whole path if another one is called so already."""
    for directory in directories:
        root = root_of(directory)
        yield (
            replace(root, base=str(directory), name=f"{directory.parent.name}/{root.name}")
            if root.base in taken
            else root
        )
        taken.add(root.base)


def _once(found: Iterable[Root], known: set[Path]) -> Iterator[Root]:
    """A folder may be found in two ways, and named too."""
    for root in found:
        place = root.directory.resolve()
        if root.fault or place not in known:
            known.add(place)
            yield root
