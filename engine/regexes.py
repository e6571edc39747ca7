"""Regular expressions of modules, compiled when they are first used: a run uses a few of the hundreds that there are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, overload


class _Unborn:
    """Stands for a `re.Pattern`. Each method that was once asked for stays as an attribute, so that it costs no more than
    the pattern's own."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found

    def __reduce__(self) -> tuple[type[_Unborn], tuple[str | bytes, int]]:
        return _Unborn, (self.pattern, self._flags)


if TYPE_CHECKING:

    @overload
    def regex(pattern: str, flags: int = 0) -> re.Pattern[str]: ...
    @overload
    def regex(pattern: bytes, flags: int = 0) -> re.Pattern[bytes]: ...


def regex(pattern: Any, flags: int = 0) -> Any:
    """What `re.compile` gives, to be held by a module. A wrong expression shows when it is first used."""
    return _Unborn(pattern, flags)
