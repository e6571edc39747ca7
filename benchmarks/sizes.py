"""Sizes as people write them: 256M, 2G. Powers of 1024."""

from __future__ import annotations

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
FULL = 2 << 30


def parsed(text: str) -> int:
    """Bytes. Raises ValueError."""
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].upper() in _UNITS else (text, "")
    if not number.isdecimal() or not int(number):
        raise ValueError(f"not a size: {text!r}")
    return int(number) * _UNITS.get(unit, 1)


def shown(size: int) -> str:
    """The shortest way to write it."""
    for unit, factor in sorted(_UNITS.items(), key=lambda item: -item[1]):
        if size % factor == 0:
            return f"{size // factor}{unit}"
    return str(size)


def scaled(number: int, size: int, step: int = 1) -> int:
    """As many of a thing as there are at full size, for a run of this size: a multiple of `step`, at least one."""
    return max(number * size // FULL // step, 1) * step
