"""What installed Python packages bring, by their entry points: resolved once and kept, until a package is installed or removed.

That is told by the times of the directories on Python's path, for each install adds, removes or renames a directory in one of
them. An entry point that is edited by hand in place is not seen before something is installed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from neuron_doctor.__about__ import VERSION
from neuron_doctor.engine.digests import sha256
from neuron_doctor.keep import Keep

_SORT = "installed"


class Brought(Struct, frozen=True):
    """One entry point: its `name`, the package that has it with its version, and what it names: the folder of a pack of rules,
    or `module:attribute` of a collector. With a `fault` it names nothing."""

    name: str
    package: str
    version: str
    target: str
    fault: str = ""

    def __str__(self) -> str:
        return f"package {self.package} {self.version} (entry point {self.name})"


class Installed(Struct, frozen=True):
    """All of them, in the order of their names."""

    rules: tuple[Brought, ...] = ()
    collectors: tuple[Brought, ...] = ()


def installed(keep: Keep) -> Installed:
    """What is installed for this Python. Nothing is imported."""
    places = list(_places())
    key = sha256(repr((VERSION, sys.version_info[:2], places)).encode("utf-8", "surrogateescape")).hexdigest()
    kept = keep.get(_SORT, key)
    if kept is not None:
        with suppress(msgspec.DecodeError):
            return msgspec.msgpack.decode(kept, type=Installed)
    from neuron_doctor.entrypoints import resolved  # noqa: PLC0415 - importlib.metadata: only where needed

    found = resolved([place for place, _ in places])
    keep.put(_SORT, key, msgspec.msgpack.encode(found))
    return found


def _places() -> Iterator[tuple[str, int]]:
    """The entries of Python's path with the times at which they last changed. What is relative is not looked at, nor is what
    `python -m` puts first: a folder that somebody stands in, maybe that of an incident, brings nothing."""
    for number, place in enumerate(map(Path, sys.path)):
        if place.is_absolute() and not (number == 0 and not sys.flags.safe_path and _is_here(place)):
            with suppress(OSError):
                yield str(place), place.stat().st_mtime_ns


def _is_here(place: Path) -> bool:
    try:
        return place == Path.cwd()
    except OSError:  # the folder of a job that was cleaned up
        return False
