"""The middle of some numbers: `statistics` would load random numbers and fractions for it, which takes 2 ms of every start."""

from __future__ import annotations

from collections.abc import Iterable


def median(numbers: Iterable[float]) -> float:
    """The one in the middle, or what is half way between the two. Raises IndexError where there is none."""
    ordered = sorted(numbers)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
