"""Errors of rule files: each knows its place, they compare by value, and they are collected, not thrown one by one."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct


class Location(Struct, frozen=True, order=True):
    """A point in a rule file; `line` and `column` count from 1, 0 means the file as a whole."""

    path: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path


class RuleError(Struct, frozen=True, order=True):
    """One thing wrong with a rule file, with what to do about it where that is known."""

    location: Location
    message: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.location}: {self.message}" + (f" ({self.hint})" if self.hint else "")


class RulebookError(Exception):
    """A rule pack cannot be used; `errors` has everything that is wrong in all its files."""

    def __init__(self, errors: Sequence[RuleError]) -> None:
        self.errors = tuple(sorted(errors))
        super().__init__("\n".join(map(str, self.errors)))
