"""How likely a coincidence is by chance."""

from __future__ import annotations

from math import exp, lgamma


def tail(population: int, members: int, drawn: int, inside: int) -> float:
    """The chance that of `drawn` things, taken from `population` without putting back, at least `inside` are among
    `members` of them (hypergeometric)."""
    lowest, highest = max(inside, drawn - (population - members)), min(members, drawn)
    whole = _log_ways(population, drawn)
    ways = (
        _log_ways(members, k) + _log_ways(population - members, drawn - k) - whole for k in range(lowest, highest + 1)
    )
    return min(1.0, sum(map(exp, ways)))


def _log_ways(of: int, taken: int) -> float:
    """The logarithm of the number of ways to take so many of so many."""
    return lgamma(of + 1) - lgamma(taken + 1) - lgamma(of - taken + 1)
