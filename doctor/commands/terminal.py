"""What standard output is: how wide, and whether in colour."""

from __future__ import annotations

import os
import shutil
import sys
from enum import StrEnum

#: Where nobody watches, and at least and at most where somebody does.
_USUAL, _NARROWEST, _WIDEST = 80, 60, 120


class Colour(StrEnum):
    """When to use colour."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


def columns() -> int:
    """The width of the terminal, in cells."""
    width = shutil.get_terminal_size((_USUAL, 24)).columns if sys.stdout.isatty() else _USUAL
    return max(_NARROWEST, min(width, _WIDEST))


def in_colour(wanted: Colour = Colour.AUTO, *, printed: bool = True) -> bool:
    """Whether to write in colour; `printed`: to standard output, not into a file. As https://no-color.org and FORCE_COLOR have
    it, where the user says nothing."""
    if wanted is not Colour.AUTO:
        return wanted is Colour.ALWAYS
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return printed and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
