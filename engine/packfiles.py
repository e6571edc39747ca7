"""The files of rule packs: what is read of them, once, both to know them by and to compile them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct


class PackFile(Struct, frozen=True):
    """One YAML file. `shown` is what errors call it; of a pack that is there for its `only_terms`, the rules do not count;
    with a `fault` it could not be read. `path` is where it is on this machine."""

    shown: str
    content: bytes
    only_terms: bool = False
    fault: str = ""
    path: str = ""


def read_packs(packs: Sequence[Path], only_terms: Sequence[Path] = ()) -> list[PackFile]:
    """Every `*.yaml` below each of these directories, in a fixed order."""
    return [
        _read(f"{root}/{'/'.join(path)}", f"{pack.name}/{'/'.join(path)}", pack in only_terms)
        for pack in packs
        for root in (os.fspath(pack),)
        for path in sorted(_paths(root))
    ]


def _paths(root: str) -> Iterator[tuple[str, ...]]:
    for folder, _, names in os.walk(root):
        inner = tuple(os.path.relpath(folder, root).split(os.sep)) if folder != root else ()
        yield from ((*inner, name) for name in names if name.endswith(".yaml"))


def _read(path: str, shown: str, only_terms: bool) -> PackFile:
    try:
        with open(path, "rb", buffering=0) as file:
            return PackFile(shown, file.read(), only_terms, path=path)
    except OSError as error:
        return PackFile(shown, b"", only_terms, str(error), path)
