"""Errors of rules, packs and site files: each knows its check and its place, they compare by value, and are collected, not
thrown one by one."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct


class Location(Struct, frozen=True, order=True):
    """A stretch of `width` characters of one line of a file; `line` and `column` count from 1, 0 means the file as a whole."""

    path: str
    line: int = 0
    column: int = 0
    width: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path


class RuleError(Struct, frozen=True, order=True):
    """One thing wrong with a file of rules, a manifest or a site file, with what to do about it where that is known. `check`
    is the id of what it breaks (docs/lint.md)."""

    location: Location
    message: str
    hint: str = ""
    check: str = "value"

    def __str__(self) -> str:
        return f"{self.location}: {self.message}" + (f" ({self.hint})" if self.hint else "")


class RulebookError(Exception):
    """Packs or the site file cannot be used; `errors` has everything that is wrong in all their files."""

    def __init__(self, errors: Sequence[RuleError]) -> None:
        self.errors = tuple(sorted(set(errors)))
        super().__init__("\n".join(map(str, self.errors)))
