"""Where a user keeps things, by the XDG base directories; a process without HOME, such as an epilogue, has one all the same."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

_NAME = "neuron-doctor"


def user_directory(environment: Mapping[str, str], variable: str, usual: str) -> Path | None:
    """Our directory below the one that a variable such as XDG_CACHE_HOME names, if it names an absolute one, else below
    `usual` in the home; None where there is no home."""
    base = Path(environment.get(variable, ""))
    if not base.is_absolute():
        home = Path(environment.get("HOME") or _home())
        if not home.is_absolute():
            return None
        base = home / usual
    return base / _NAME


def _home() -> str:
    import pwd  # noqa: PLC0415 - seldom needed

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""
