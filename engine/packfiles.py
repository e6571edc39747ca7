"""The files of rule packs: what is read of them, once, both to know them by and to compile them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

#: What says of a folder which pack it is.
MANIFEST = "pack.yaml"


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
    """Every `*.yaml` below each of these folders, in a fixed order."""
    return [file for root in roots for file in _files(root)]


def _files(root: Root) -> Iterator[PackFile]:
    if root.fault:
        yield PackFile(root.base, b"", fault=root.fault, base=root.base, pack=root.name)
        return
    folder = os.fspath(root.directory)
    paths = sorted(_paths(folder))
    if root.found and (MANIFEST,) not in paths:
        missing = f"there is no {MANIFEST}: a pack that is found by itself says which one it is"
        yield PackFile(f"{root.base}/{MANIFEST}", b"", fault=missing, base=root.base, pack=root.name)
    for path in paths:
        yield _read(f"{folder}/{'/'.join(path)}", f"{root.base}/{'/'.join(path)}", root)


def _paths(root: str) -> Iterator[tuple[str, ...]]:
    for folder, _, names in os.walk(root):
        inner = tuple(os.path.relpath(folder, root).split(os.sep)) if folder != root else ()
        yield from ((*inner, name) for name in names if name.endswith(".yaml"))


def _read(path: str, shown: str, root: Root) -> PackFile:
    try:
        with open(path, "rb", buffering=0) as file:
            content, fault = file.read(), ""
    except OSError as error:
        content, fault = b"", f"cannot be read: {error}"
    return PackFile(shown, content, root.only_terms, fault, path, root.base, root.name)
