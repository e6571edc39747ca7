"""The files of rule packs: what is read of them, once, both to know them by and to compile them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from neuron_doctor.engine.exampledirs import INPUT, example_directories, is_inside

#: What says of a folder which pack it is.
MANIFEST = "pack.yaml"
_ENDING = ".yaml"
#: What authors take for it.
_LIKE_IT = (".yml", ".yaml")


class Root(Struct, frozen=True):
    """The folder of a pack. `base` is what errors call it, `name` what it is called if no manifest says it; of one that is
    there for its `only_terms`, the rules do not count. Nobody named one that is `found`, so it has to have a manifest; with a
    `fault` there is nothing to read."""

    directory: Path
    base: str
    name: str
    only_terms: bool = False
    found: bool = False
    fault: str = ""


class PackFile(Struct, frozen=True):
    """One YAML file of the pack at `base`, called `pack` without a manifest. `shown` is what errors call it; with a `fault` it
    could not be read. `path` is where it is on this machine."""

    shown: str
    content: bytes
    only_terms: bool = False
    fault: str = ""
    path: str = ""
    base: str = ""
    pack: str = ""

    @property
    def root(self) -> str:
        """What errors call the folder of its pack."""
        return self.base or self.shown.partition("/")[0]

    @property
    def inner(self) -> str:
        """Its path within the pack."""
        return self.shown.removeprefix(f"{self.root}/")


def root_of(directory: Path, *, only_terms: bool = False, called: str = "") -> Root:
    """The root of a folder that somebody named; errors call it by its last part, if they are not to call it otherwise."""
    return Root(directory, called or directory.name, directory.name, only_terms)


def read_packs(roots: Sequence[Root]) -> list[PackFile]:
    """Every `*.yaml` below each of these folders, in a fixed order; nothing of what is hidden, called `input`, or named by a rule
    as the directory of an example."""
    return [file for root in roots for file in _files(root)]


def paths_of(root: Root) -> list[str]:
    """Where the files are that may be read of it, in a fixed order."""
    folder = os.path.abspath(root.directory)
    return [f"{folder}/{'/'.join(path)}" for path in sorted(_paths(folder))]


def _files(root: Root) -> Iterator[PackFile]:
    if root.fault:
        yield PackFile(root.base, b"", fault=root.fault, base=root.base, pack=root.name)
        return
    folder = os.path.abspath(root.directory)
    paths = sorted(_paths(folder))
    if root.found and (MANIFEST,) not in paths:
        missing = f"there is no {MANIFEST}: a pack that is found by itself says which one it is"
        yield PackFile(f"{root.base}/{MANIFEST}", b"", fault=missing, base=root.base, pack=root.name)
    files = [_read(f"{folder}/{'/'.join(path)}", f"{root.base}/{'/'.join(path)}", root) for path in paths]
    yield from _without_inputs(files)


def _without_inputs(files: Sequence[PackFile]) -> Iterator[PackFile]:
    """The files that are in no directory of an example. Rules stand above their examples, or beside them."""
    inputs: list[str] = []
    for file in sorted(files, key=lambda file: file.path.count("/")):
        if not any(is_inside(file.path, folder) for folder in inputs):
            inputs += example_directories(file.path, file.content)
    yield from (file for file in files if not any(is_inside(file.path, folder) for folder in inputs))


def _paths(root: str) -> Iterator[tuple[str, ...]]:
    for folder, inside, names in os.walk(root):
        inside[:] = [name for name in inside if not name.startswith(".") and name != INPUT]
        inner = tuple(os.path.relpath(folder, root).split(os.sep)) if folder != root else ()
        yield from ((*inner, name) for name in names if name.lower().endswith(_LIKE_IT) and not name.startswith("."))


def _read(path: str, shown: str, root: Root) -> PackFile:
    content, fault = b"", ""
    if not path.endswith(_ENDING):
        stem = os.path.splitext(os.path.basename(path))[0]
        fault = f"files of a pack end with {_ENDING}: call it {stem}{_ENDING}, or move it elsewhere"
    else:
        content, fault = read_regular(path)
    return PackFile(shown, content, root.only_terms, fault, path, root.base, root.name)


def read_regular(path: str) -> tuple[bytes, str]:
    """What is in a file, or why that cannot be read. A pipe is not waited for."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return b"", "cannot be read: it is no regular file"
        with open(path, "rb", buffering=0) as file:
            return file.read(), ""
    except OSError as error:
        return b"", f"cannot be read: {error.strerror}"
