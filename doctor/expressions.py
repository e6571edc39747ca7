"""Regular expressions, compiled once for many runs: making those of a run takes `re` as long as the interpreter takes to start.

`re` has no way to keep what it has compiled. Its own parts are used for that: the code that its compiler emits is kept, and
given to the function with which it makes a pattern of it, which checks the code. So a pattern that was kept equals the one
that `re.compile` gives, code and all. A Python whose `re` has other parts compiles expressions as ever.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from neuron_doctor.engine.regexes import Expression

if TYPE_CHECKING:
    from msgspec import Raw

    from neuron_doctor.keep import Keep

_SORT = "expressions"
#: Of rules that were changed many times, expressions are left that nobody asks for: then all are made anew.
_MOST = 4_000
_PARTS = (AttributeError, ImportError, TypeError, ValueError, RuntimeError, OverflowError)

#: What `re` makes of an expression: all flags, the words of the code, how many groups, and their names in order.
_Code = tuple[int, list[int], int, list[str | None]]
#: How they are kept; counts up when that changes.
_FORMAT = 2


class KeptExpressions:
    """The expressions that earlier runs compiled. Nothing is read before the first of them is asked for."""

    def __init__(self) -> None:
        self._keep: Keep | None = None
        self._known: dict[Expression, _Code | Raw] = {}

    def recall(self, expression: Expression) -> re.Pattern[Any] | None:
        """The pattern that an earlier run made of it, if one did."""
        if self._keep is None:
            self._open()
        code = _read(self._known.get(expression))
        if code is None:
            self._known.pop(expression, None)
            return None
        return pattern_of(expression, code)

    def remember(self, made: Iterable[Expression]) -> None:
        """Keep what this run has compiled beside what was kept before, if there is anything new."""
        fresh = {expression: code for expression in made if (code := self._new(expression))}
        if self._keep is not None and fresh:
            known = fresh if len(self._known) + len(fresh) > _MOST else {**self._known, **fresh}
            self._keep.put(_SORT, _key(), _packed(known))

    def _new(self, expression: Expression) -> _Code | None:
        return None if expression in self._known else code_of(expression)

    def _open(self) -> None:
        from neuron_doctor.keep import keep_of_user  # noqa: PLC0415 - not for --help

        self._keep = keep_of_user()
        kept = self._keep.get(_SORT, _key())
        self._known = _unpacked(kept) if kept else {}


def _read(code: _Code | Raw | None) -> _Code | None:
    """The code of one expression: a run uses a few hundred of thousands, and the others are not read."""
    from msgspec import DecodeError, Raw, msgpack  # noqa: PLC0415 - not for --help

    if not isinstance(code, Raw):
        return code
    try:
        read: _Code = msgpack.decode(code, type=_Code)
    except DecodeError:
        return None
    return read


def _packed(known: Mapping[Expression, _Code | Raw]) -> bytes:
    from msgspec import msgpack  # noqa: PLC0415 - not for --help

    # as they are kept: whether the expression is one of bytes, its text, its flags, and its code
    return msgpack.encode([(*_plain(pattern), flags, code) for (pattern, flags), code in known.items()])


def _plain(pattern: str | bytes) -> tuple[bool, str]:
    return (True, pattern.decode("latin-1")) if isinstance(pattern, bytes) else (False, pattern)


def _unpacked(kept: bytes) -> dict[Expression, _Code | Raw]:
    from msgspec import DecodeError, Raw, msgpack  # noqa: PLC0415 - not for --help

    try:
        rows = msgpack.decode(kept, type=list[tuple[bool, str, int, Raw]])
    except DecodeError:
        return {}
    return {(text.encode("latin-1") if of_bytes else text, flags): code for of_bytes, text, flags, code in rows}


def _key() -> str:
    """What code depends on: this very Python."""
    from neuron_doctor.engine.digests import sha256  # noqa: PLC0415

    return sha256(f"{sys.version} {_FORMAT}".encode()).hexdigest()


def code_of(expression: Expression) -> _Code | None:
    """What `re` makes of an expression; None where its parts are others."""
    pattern, flags = expression
    try:
        str(pattern).encode()  # lone surrogates cannot be written down
        parsed = import_module("re._parser").parse(pattern, flags)
        code = import_module("re._compiler")._code(parsed, flags)  # noqa: SLF001
        names: list[str | None] = [None] * parsed.state.groups
        for name, number in parsed.state.groupdict.items():
            names[number] = name
        return flags | parsed.state.flags, list(map(int, code)), parsed.state.groups - 1, names
    except _PARTS:
        return None


def pattern_of(expression: Expression, code: _Code) -> re.Pattern[Any] | None:
    """The pattern of this code; None where `re` refuses it."""
    flags, words, groups, names = code
    try:
        made: re.Pattern[Any] = import_module("_sre").compile(
            expression[0],
            flags,
            words,
            groups,
            {name: number for number, name in enumerate(names) if name is not None},
            tuple(names),
        )
    except _PARTS:
        return None
    return made
