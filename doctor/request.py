"""What a user asks for; apart from the pipeline, so that the command line can be read without loading it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True)
class Request:
    """What to look at, and with which rules. `timezone` is for sources whose zone is not proven; `pure` asks for the
    pattern engine without Vectorscan."""

    paths: tuple[str, ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    packs: tuple[Path, ...] = ()
    builtin_rules: bool = True
    timezone: ZoneInfo | None = None
    pure: bool = False
