"""What a user asks for; apart from the pipeline, so that the command line can be read without loading it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo


class UsageError(Exception):
    """What was asked for cannot be done; the message says why, in plain words."""


class Packs(Struct, frozen=True):
    """Directories of rules beside the built-in ones, of which `builtin` False leaves out the rules, and all packs that nobody
    named; `pure` asks for the pattern engine without Vectorscan. `sited`: with the `site` file, or the one that is found.
    `isolated`: nothing counts that was only found: no pack, no site file, no plug-in. `plugins`: with the collectors of
    installed packages."""

    further: tuple[Path, ...] = ()
    builtin: bool = True
    pure: bool = False
    sited: bool = True
    site: Path | None = None
    isolated: bool = False
    plugins: bool = True


class Request(Struct, frozen=True):
    """What to look at, and with which rules. `timezone` is for sources whose zone is not proven; at most `jobs` processes
    read the inputs, or the workers of the Dask `scheduler` (its address or file)."""

    paths: tuple[str, ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    packs: Packs = field(default_factory=Packs)
    timezone: ZoneInfo | None = None
    jobs: int = 1
    scheduler: str = ""
