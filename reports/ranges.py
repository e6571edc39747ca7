"""Many ranks or hosts in few characters: `0-31,40`, `node-[01-64]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from neuron_doctor.engine.regexes import regex

_NUMBERED = regex(r"(.*?)([0-9]{1,18})\Z", re.DOTALL)


def ranges(numbers: Iterable[int], most: int = 12) -> str:
    """Sorted, without repetition, runs written `a-b`: `0-31,40`. Of more than `most` runs the first ones, and how many
    numbers there are in all."""
    runs = list(_runs(sorted(set(numbers))))
    text = ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs[:most])
    return text if len(runs) <= most else f"{text},... ({sum(b - a + 1 for a, b in runs):,} in all)"


def _runs(numbers: Sequence[int]) -> Iterable[tuple[int, int]]:
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        members = [number for _, number in run]
        yield members[0], members[-1]


def host_list(hosts: Iterable[str], most: int = 3) -> str:
    """Host names as Slurm writes them, `node-[01-16,20]`; of more than `most` such groups the first ones, and how many
    hosts are left out."""
    groups = _by_prefix(sorted(set(hosts)))
    shown, rest = groups[:most], groups[most:]
    names = ", ".join(_folded(prefix, digits) for prefix, digits in shown)
    return f"{names} and {sum(len(digits) for _, digits in rest):,} more" if rest else names


def _by_prefix(hosts: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Hosts by what stands before their last number, and by how many digits that number has."""
    groups: dict[tuple[str, int], list[str]] = {}
    for host in hosts:
        match = _NUMBERED.match(host)
        prefix, digits = (match[1], match[2]) if match else (host, "")
        groups.setdefault((prefix, len(digits)), []).append(digits)
    return [(prefix, digits) for (prefix, _), digits in groups.items()]


def _folded(prefix: str, digits: Sequence[str]) -> str:
    if len(digits) == 1:
        return prefix + digits[0]
    width = len(digits[0])
    runs = _runs(sorted(int(d) for d in digits))
    return prefix + "[" + ",".join(f"{a:0{width}}" if a == b else f"{a:0{width}}-{b:0{width}}" for a, b in runs) + "]"
