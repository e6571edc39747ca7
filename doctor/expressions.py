"""Regular expressions, compiled once for many runs: making those of a run takes `re` as long as the interpreter takes to start.

`re` has no way to keep what it has compiled. Its own parts are used for that: the code that its compiler emits is kept, and
given to the function with which it makes a pattern of it, which checks the code. So a pattern that was kept equals the one
that `re.compile` gives, code and all. A Python whose `re` has other parts compiles expressions as ever.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from neuron_doctor.engine.regexes import Expression

if TYPE_CHECKING:
    from neuron_doctor.keep import Keep

_SORT = "expressions"
#: Of rules that were changed many times, expressions are left that nobody asks for: then all are made anew.
_MOST = 4_000
_PARTS = (AttributeError, ImportError, TypeError, ValueError, RuntimeError)

#: What `re` makes of an expression: all flags, the code in machine words, how many groups, and their names in order.
_Code = tuple[int, bytes, int, list[str | None]]


class KeptExpressions:
    """The expressions that earlier runs compiled. Nothing is read before the first of them is asked for."""

    def __init__(self) -> None:
        self._keep: Keep | None = None
        self._known: Mapping[Expression, _Code] = {}

    def recall(self, expression: Expression) -> re.Pattern[Any] | None:
        """The pattern that an earlier run made of it, if one did."""
        if self._keep is None:
            self._open()
        code = self._known.get(expression)
        return pattern_of(expression, code) if code else None

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


#: As they are kept: whether the expression is one of bytes, its text, its flags, and its code.
_Row = tuple[bool, str, int, _Code]


def _packed(known: Mapping[Expression, _Code]) -> bytes:
    from msgspec import msgpack  # noqa: PLC0415 - not for --help

    return msgpack.encode([(*_plain(pattern), flags, code) for (pattern, flags), code in known.items()])


def _plain(pattern: str | bytes) -> tuple[bool, str]:
    return (True, pattern.decode("latin-1")) if isinstance(pattern, bytes) else (False, pattern)


def _unpacked(kept: bytes) -> dict[Expression, _Code]:
    from msgspec import DecodeError, msgpack  # noqa: PLC0415 - not for --help

    try:
        rows = msgpack.decode(kept, type=list[_Row])
    except DecodeError:
        return {}
    return {(text.encode("latin-1") if of_bytes else text, flags): code for of_bytes, text, flags, code in rows}


def _key() -> str:
    """What code depends on: this very Python."""
    from hashlib import sha256  # noqa: PLC0415

    return sha256(f"{sys.version} {sys.byteorder} {array('I').itemsize}".encode()).hexdigest()


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
        return flags | parsed.state.flags, array("I", code).tobytes(), parsed.state.groups - 1, names
    except _PARTS:
        return None


def pattern_of(expression: Expression, code: _Code) -> re.Pattern[Any] | None:
    """The pattern of this code; None where `re` refuses it."""
    flags, words, groups, names = code
    try:
        made: re.Pattern[Any] = import_module("_sre").compile(
            expression[0],
            flags,
            array("I", words).tolist(),
            groups,
            {name: number for number, name in enumerate(names) if name is not None},
            tuple(names),
        )
    except _PARTS:
        return None
    return made
