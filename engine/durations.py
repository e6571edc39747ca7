"""Spans of time as authors write them: a number with its unit."""

from __future__ import annotations

from neuron_doctor.engine.regexes import regex

NS = {"ms": 1_000_000, "s": 1_000_000_000, "m": 60_000_000_000, "h": 3_600_000_000_000, "d": 86_400_000_000_000}
_DURATION = regex(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


class BadDuration(ValueError):
    """Not a number with a unit."""


def parse_duration(text: str) -> int:
    """`30s`, `1.5h`, `500ms` -> nanoseconds. Raises BadDuration, for a missing unit too."""
    found = _DURATION.fullmatch(text)
    if not found:
        raise BadDuration(f"{text!r} is not a duration: write a number and a unit (ms, s, m, h, d), such as 30s")
    return round(float(found[1]) * NS[found[2]])


def format_duration(ns: int) -> str:
    """The shortest exact form: 90 s is `90s`, 3600 s is `1h`."""
    for unit in ("d", "h", "m", "s"):
        if ns and ns % NS[unit] == 0:
            return f"{ns // NS[unit]}{unit}"
    return f"{ns // NS['ms']}ms"
