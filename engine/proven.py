"""What is stated once, or always alike, is proven; what is stated in two ways proves nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def unique(pairs: Iterable[tuple[K, V]]) -> dict[K, V]:
    """The keys that have one value; a key with two proves nothing."""
    values: dict[K, set[V]] = defaultdict(set)
    for key, value in pairs:
        values[key].add(value)
    return {key: next(iter(found)) for key, found in values.items() if len(found) == 1}
