"""What is stated once, or always alike, is proven; what is stated in two ways proves nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def unique(pairs: Iterable[tuple[K, V]]) -> dict[K, V]:
    """The keys that have one value; a key with two proves nothing."""
    first: dict[K, V] = {}
    disputed: set[K] = set()
    for key, value in pairs:
        if first.setdefault(key, value) != value:
            disputed.add(key)
    return {key: value for key, value in first.items() if key not in disputed} if disputed else first
