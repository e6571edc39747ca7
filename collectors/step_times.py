"""How long the steps of a rank took by its log: of the many lines that say it, one fact about the last ones.

Programs print the parts of a step in any order and in words of their own: `fwd_bwd_ms=718 allreduce_wait_ms=33`,
`"data_time": 0.02`, `total 2.13s data 0.029s fwd 0.7s bwd 1.3s`. What a part is, its name says: loading `data`, `work`, the
`wait` for other ranks, the `total`. Parts of one sort add up; a wait for data is no wait for a rank.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.matches import Candidate, Match, fact_of, match_of, place_of
from neuron_doctor.collectors.timer_tables import times_by_rank
from neuron_doctor.engine.facts import Fact, Place, Value
from neuron_doctor.engine.regexes import regex

#: Of so many last lines of a rank the medians are taken: one step may have saved a checkpoint, or met a long sample.
LAST = 8
TIMES = ("data", "work", "wait", "total")
#: The form of a line that is the head of a table of all ranks.
_TABLE = "table"

_PART = regex(
    r"(?P<name>[A-Za-z][A-Za-z\d_/+.-]{0,40}?(?: [A-Za-z]{1,12}){0,2}?)\"?"
    r"(?: ?[(\[](?P<of>ms|us|s|secs?|seconds)[)\]])?(?: {0,12}[=:] {0,12}| {1,12})\"?"
    r"(?P<value>\d{1,9}(?:\.\d{1,9})?(?:[eE][+-]?\d{1,2})?)(?: ?(?P<unit>ms|us|s|secs?|seconds)\b)?"
)
_WORD = regex(r"[a-z]+(?:2[a-z]+)?")
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "secs": 1.0, "seconds": 1.0}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: What is no time, whatever else its name says.
_OTHER = _words(
    "loss lr norm tokens tok samples sample seq size len length count mem memory gb gib mb mib rss bytes epoch rank world rate "
    "throughput tflops util ratio pct percent id version eta workers"
)
_NAMES_TIME = _words("time times ms us s sec secs seconds t dur duration elapsed took")
_WAITED = _words("wait waits waiting waited stall")
_PARTS: Mapping[str, frozenset[str]] = {
    "data": _words(
        "data dataload dataloader dataloading load loader loading input inputs fetch fetching h2d read reading preprocess "
        "collate tokenize batch"
    ),
    "wait": _WAITED
    | _words(
        "allreduce reduce allgather gather scatter reducescatter alltoall comm comms communication sync synchronize barrier "
        "collective collectives nccl ccom"
    ),
    "work": _words("fwd forward bwd backward compute fb"),
}
_OF_STEP = _words("step iter iteration batch")
_KNOWN = frozenset().union(_OTHER, _NAMES_TIME, *_PARTS.values(), _OF_STEP, {"total"})
#: The parts of a step are not longer than it, but for what rounding makes of them.
_ROUNDED = 1.05


def step_times(candidates: Iterable[Candidate], inp: Input) -> Iterator[Fact]:
    """The `step-time` facts of lines of one pattern, in their order: one for each process that they are of, and for each choice
    of parts that its last lines tell."""
    told: dict[Place, list[tuple[Candidate, Match]]] = defaultdict(list)
    for candidate in candidates:
        if match := match_of(candidate, inp):
            if match.data.get("form") == _TABLE:
                for rank, row, one in times_by_rank(candidate, match):  # who prints it is none of them
                    told[Place(job=inp.place.job, attempt=inp.place.attempt, rank=rank)].append((row, one))
            else:
                told[place_of(candidate, match, inp)].append((candidate, match))
    for place, lines in told.items():
        forms: dict[str, list[tuple[Candidate, Match]]] = defaultdict(list)
        for candidate, match in lines[-LAST:]:
            if timed := _with_parts(candidate, match):
                forms[_form(candidate, timed)].append((candidate, timed))
        for form, alike in forms.items():
            yield _medians(alike, place, form, inp)


def parts_of(text: str) -> dict[str, float]:
    """The times that a line tells of a step, in seconds (of a line without units: in the one that it has); empty where it tells
    too little, or what cannot be."""
    sums: dict[str, float] = {}
    for sort, seconds in _sorted_parts(text):
        if not (sort == "total" and "total" in sums):
            sums[sort] = sums.get(sort, 0.0) + seconds
    total = sums.get("total")
    if total is not None and sum(sums[name] for name in sums if name != "total") > total * _ROUNDED:
        sums = {name: sums[name] for name in ("wait", "total") if name in sums}  # one part is within another
        if sums.get("wait", 0.0) > total:
            return {}
    return sums if len(sums) > 1 else {}


def may_tell_parts(names: Iterable[str]) -> bool:
    """Whether `parts_of` finds something where these are the names, if the values are right."""
    return len({sort for name in names for sort, _ in _sorted_parts(f"{name}=0.1s")}) > 1


def _sorted_parts(text: str) -> Iterator[tuple[str, float]]:
    """The parts of a step in a line, with their seconds; a part may come more than once."""
    for part in _PART.finditer(text):
        words = [word for run in _WORD.findall(part["name"].lower()) for word in _apart(run)]
        sort = _sort(frozenset(words), timed=bool(part["unit"] or part["of"]), fraction="." in part["value"])
        if sort:
            unit = part["unit"] or part["of"] or next((word for word in reversed(words) if word in _UNITS), "s")
            yield sort, float(part["value"]) * _UNITS[unit]


def _sort(words: frozenset[str], *, timed: bool, fraction: bool) -> str:
    """Which part of a step is called so; empty for none."""
    timed = timed or bool(words & _NAMES_TIME)
    if words & _OTHER:
        return ""
    of_part = _PARTS["wait"] | _PARTS["work"] | _PARTS["data"] - _OF_STEP
    if "total" in words or (timed and words & _OF_STEP and not words & of_part):
        return "total"
    if words & _PARTS["data"]:
        return "data" if timed or words & _WAITED or ("data" in words and fraction) else ""
    return next((sort for sort in ("wait", "work") if words & _PARTS[sort]), "")


def _apart(run: str) -> tuple[str, ...]:
    """The words of which a name is made without anything between them: `fwdbwd`, `datatime`."""
    if run not in _KNOWN:
        for at in range(2, len(run) - 1):
            if run[:at] in _KNOWN and run[at:] in _KNOWN:
                return run[:at], run[at:]
    return (run,)


def _with_parts(candidate: Candidate, match: Match) -> Match | None:
    """The match with what its pattern captures, or, where that is no time, with what the line tells."""
    if any(name in match.data for name in TIMES):
        return match
    line = candidate.lines.whole(*candidate.reach)
    parts = parts_of(line.text[match.record.start : match.record.end])
    return replace(match, data={**match.data, **parts}) if parts else None


def _form(candidate: Candidate, match: Match) -> str:
    return form_of(candidate.pattern.id, match.data)


def form_of(how: str, told: Mapping[str, object]) -> str:
    """What records that tell their times in one way have in common if the times can be compared."""
    return "+".join((how, *(name for name in TIMES if name in told)))


def _medians(lines: list[tuple[Candidate, Match]], place: Place, form: str, inp: Input) -> Fact:
    return replace(fact_of(*lines[-1], place, inp), data=medians([match.data for _, match in lines], form))


def medians(told: Sequence[Mapping[str, Value]], form: str) -> dict[str, Value]:
    """What a `step-time` fact says of records with a `step` and times, all of one form."""
    steps = [step for one in told if isinstance(step := one.get("step"), int)]
    summary: dict[str, Value] = {"form": form, "first": min(steps), "step": max(steps), "lines": len(told)}
    for name in TIMES:
        times = [float(time) for one in told if isinstance(time := one.get(name), int | float)]
        if times:
            summary[name] = round(sorted(times)[len(times) // 2], 6)
    return summary
