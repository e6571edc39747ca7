"""What filled the device memory when an allocation failed, by the runtime's own account: its list, or its table of categories.

Formats: the list below `Failed to allocate` (runtimes of SDK 2.12 to 2.23) and the table `Displaying Current Memory Utilization`
(SDK 2.24 and newer; "Neuron Device Memory" in the documents), which is also written to /tmp/neuron_mem_table_device_*.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place, Value
from neuron_doctor.engine.regexes import regex

_REQUEST, _USE = "memory-request", "memory-use"

#: The columns of the table, as the list calls them.
_COLUMNS = (
    "total", "model code", "model constants", "tensors", "shared scratchpad", "scratchpad", "runtime", "dma rings",
    "dma rings", "dma rings", "dma rings", "collectives", "collectives", "profiler buffers",
)  # fmt: skip
_TOTAL = _COLUMNS[0]
_SIZE = regex(r"(?P<number>\d{1,15}(?:\.\d{0,15})?) ?(?P<unit>[KMGT]?)B?", re.ASCII)
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
#: So many categories and cores are named, if they hold at least so many percent.
_NAMED, _LEAST = 3, 1


class _Held(Struct, frozen=True):
    """What one device or core holds: the bytes of each category, without the total; and the total as printed."""

    place: Place
    bytes: Mapping[str, float]
    total: str


def accounts(facts: Iterable[Fact]) -> Iterator[Fact]:
    """One `memory-account` for each request that failed and of whose device the runtime tells what it holds: below the
    request, up to the next one of that device, or else in the file of the table."""
    logs: dict[tuple[str, int], list[Fact]] = defaultdict(list)
    for fact in _placed(sorted(facts, key=lambda fact: fact.span.offset)):
        if fact.place.device is not None:
            logs[fact.source, fact.place.device].append(fact)
    apart = [told for told in logs.values() if all(fact.kind == _USE for fact in told)]
    for told in logs.values():
        starts = [number for number, fact in enumerate(told) if fact.kind == _REQUEST]
        for start, end in pairwise([*starts, len(told)]):
            held = _held(_first(told[start + 1 : end])) or _of_files(told[start].place, apart)
            if held:
                yield _account(told[start], held)


def _placed(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Requests and what is in use; of a list whose lines name no device, because a launcher or logger put its own prefix
    before each, that of the request above it, whose prefix names the same writer."""
    asked: dict[tuple[str, Place], Place] = {}
    for fact in facts:
        place = fact.place
        writer = fact.source, Place(host=place.host, container=place.container, rank=place.rank)
        if fact.kind == _REQUEST:
            asked[writer] = place
            yield fact
        elif fact.kind == _USE:
            above = asked.get(writer)
            yield replace(fact, place=place.over(above)) if above and place.device is None else fact


def _of_files(place: Place, apart: Iterable[Sequence[Fact]]) -> list[_Held]:
    """The account of a device in a file without requests, of its host or of a host that nothing tells."""
    for uses in apart:
        host = uses[0].place.host
        if uses[0].place.device == place.device and (host is None or place.host in (None, host)):
            return _held(_first(uses))
    return []


def _first(uses: Iterable[Fact]) -> Iterator[Fact]:
    """The first account of several: up to where a core, or its category, is told of again."""
    seen: set[object] = set()
    for use in uses:
        key = (use.place.core, use.data.get("category"))
        if key in seen:
            return
        seen.add(key)
        yield use


def _held(uses: Iterable[Fact]) -> list[_Held]:
    """The places of one account, what holds most first: the device, if the account has it, and its cores."""
    lists: dict[Place, dict[str, str]] = defaultdict(dict)
    found: list[_Held] = []
    for use in uses:
        row, category = use.data.get("row"), use.data.get("category")
        if isinstance(row, str):
            cells = [cell.strip() for cell in row.split("|") if cell.strip()]
            columns = _COLUMNS if len(cells) == len(_COLUMNS) else _COLUMNS[:1]  # other versions have other columns
            found += [_sums(use.place, zip(columns, cells, strict=False))] if cells else []
        elif isinstance(category, str):
            lists[use.place][category] = str(use.data.get("size"))
    found += [_sums(place, sizes.items()) for place, sizes in lists.items()]
    return sorted(found, key=lambda one: (-_bytes(one.total), one.place.core or 0))


def _sums(place: Place, sizes: Iterable[tuple[str, str]]) -> _Held:
    total, sums = "", defaultdict[str, float](float)
    for category, size in sizes:
        if category == _TOTAL:
            total = size
        else:
            sums[category] += _bytes(size)
    return _Held(place, sums, total)


def _bytes(size: str) -> float:
    """`1.471GB`, in units of 1,024; 0 for what is no size (`n/a`)."""
    number = _SIZE.fullmatch(size)
    return float(number["number"]) * _UNITS.get(number["unit"], 1) if number else 0


def _account(request: Fact, held: Sequence[_Held]) -> Fact:
    whole = held[0]
    everything = _bytes(whole.total) or sum(whole.bytes.values())
    ranked = sorted(whole.bytes.items(), key=lambda item: (-item[1], item[0]))
    shares = [(category, size, round(100 * size / everything)) for category, size in ranked if everything]
    named = [f"{category} {_printed(size)} ({share} %)" for category, size, share in shares[:_NAMED] if share >= _LEAST]
    usage = request.data.get("usage")
    asked = f"device {request.place.device} was asked for {request.data.get('size')}" + (f" ({usage})" if usage else "")
    told = (
        f"{asked} with {whole.total or _printed(everything)} in use{': ' * bool(named)}{', '.join(named)}{_cores(held)}"
    )
    largest, _, percent = shares[0] if shares else ("", 0.0, 0)
    data: dict[str, Value] = {"largest": largest, "percent": percent, "description": told}
    return Fact("memory-account", data, request.place, request.span, request.source, request.instant)


def _cores(held: Sequence[_Held]) -> str:
    """Which cores share the memory, and what each of them holds."""
    cores = [f"core {one.place.core} holds {one.total}" for one in held if one.place.core is not None and one.total]
    return f"; {', '.join(cores[:_NAMED])} of it" if len(cores) > 1 else ""


def _printed(size: float) -> str:
    unit = next((unit for unit in "TGMK" if size >= _UNITS[unit]), "")
    return f"{size / _UNITS.get(unit, 1):.3f}{unit}B"
