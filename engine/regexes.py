"""Regular expressions of modules, compiled when they are first used: a run uses a few of the hundreds that there are."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

#: An expression and its flags.
Expression = tuple[str | bytes, int]


class Compiler:
    """Compiles expressions, each once. `recall` may give what an earlier run has made of one: it must be what `re` makes."""

    def __init__(self) -> None:
        self.made: dict[Expression, re.Pattern[Any]] = {}
        self.recall: Callable[[Expression], re.Pattern[Any] | None] = lambda _: None

    if TYPE_CHECKING:

        @overload
        def __call__(self, pattern: str, flags: int = 0) -> re.Pattern[str]: ...
        @overload
        def __call__(self, pattern: bytes, flags: int = 0) -> re.Pattern[bytes]: ...

    def __call__(self, pattern: Any, flags: int = 0) -> Any:
        """What `re.compile` gives; that remembers 512 expressions, which a large catalogue exceeds."""
        expression = pattern, int(flags)
        made = self.made.get(expression)
        if made is None:
            made = self.made[expression] = self.recall(expression) or re.compile(pattern, flags)
        return made


compiled = Compiler()


class _Unborn:
    """Stands for a `re.Pattern`. Each method that was once asked for stays as an attribute, so that it costs no more than
    the pattern's own."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(compiled(self.pattern, self._flags), name)
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
