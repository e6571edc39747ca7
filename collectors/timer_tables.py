"""How long the parts of a step took each rank, by the table that Megatron's timers print on one rank for all.

    [2026-10-09 09:01:12] iteration     2330/  500000 | consumed samples: ... | elapsed time per iteration (ms): 1246.2 | ...
    times across ranks (ms):
      forward-backward:
         rank  0: 412.72
         rank  1: 1185.26
      all-grads-sync:
         rank  0: 824.21
         rank  1: 38.06

(`--timing-log-option all`; megatron/core/timers.py, which divides by the steps of the interval. The shortest and the longest
alone, as printed by default, name no rank.) Only what stands within `CONTEXT` of the head is read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set

from msgspec.structs import replace

from neuron_doctor.collectors.lines import decoded
from neuron_doctor.collectors.matches import Candidate, Match
from neuron_doctor.engine.regexes import regex

_TIMER = regex(r"(?:^|\s)([a-z][a-z0-9-]{2,60}):\s*$")
_ROW = regex(r"(?:^|\s)rank {1,8}(\d{1,7}): (\d{1,12}(?:\.\d{1,6})?)\s*$")
#: No table has more lines within the reach of its head; and so many others, of other processes, may stand between two of its own.
_LINES, _BETWEEN = 1024, 8
#: What a rank does by itself; where both parts of it are told, the rest of what holds them is a wait.
_WORK, _WORK_PARTS = "forward-backward", frozenset({"forward-compute", "backward-compute"})
#: Where ranks exchange activations, they are stages of a pipeline, which run different programs.
_STAGES = ("-recv", "-send")
_JOINT = ("-sync", "-all-reduce", "-reduce-scatter", "-all-gather")
_MS = 1e-3


def times_by_rank(candidate: Candidate, match: Match) -> Iterator[tuple[int, Candidate, Match]]:
    """A match for each rank of the table below a head, on the line of its work; none where ranks run different programs, or
    the table tells of no wait."""
    times: dict[int, dict[str, float]] = defaultdict(dict)
    rows: dict[int, tuple[int, int]] = {}
    timers = set[str]()
    for timer, rank, value, bounds in _rows(candidate):
        timers.add(timer)
        times[rank][timer] = value
        rows.setdefault(rank, bounds)
    if any(timer.endswith(_STAGES) for timer in timers):
        return
    for rank, told in sorted(times.items()):
        parts = _parts(told, timers)
        if parts:
            begin, end = rows[rank]
            row = replace(candidate, begin=begin, end=end, at=begin)
            data = {"step": match.data["step"], **parts}
            text = decoded(candidate.lines.block.data[begin:end])
            yield rank, row, replace(match, data=data, text=text.strip())


def _rows(candidate: Candidate) -> Iterator[tuple[str, int, float, tuple[int, int]]]:
    timer, strange, seen = "", 0, set[str]()
    for begin, end in candidate.lines.below(candidate.end, _LINES):
        text = decoded(candidate.lines.block.data[begin:end])
        if row := _ROW.search(text):
            strange = 0
            if timer:
                yield timer, int(row[1]), float(row[2]) * _MS, (begin, end)
        elif head := _TIMER.search(text):
            if head[1] in seen:
                return  # of the next table
            timer, strange = head[1], 0
            seen.add(timer)
        else:
            strange += 1
            if strange > _BETWEEN:
                return


def _parts(told: Mapping[str, float], timers: Set[str]) -> dict[str, float]:
    """The work of a rank and its wait, in seconds; a timer that is not told of a rank took it no time."""
    if _WORK not in told or not any(timer.endswith(_JOINT) for timer in timers):
        return {}
    work = sum(told.get(part, 0.0) for part in _WORK_PARTS) if timers >= _WORK_PARTS else told[_WORK]
    wait = sum(value for timer, value in told.items() if timer.endswith(_JOINT))
    return {"work": work, "wait": wait + max(told[_WORK] - work, 0.0)}
