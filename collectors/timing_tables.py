"""Tables of how long the parts of a step took each rank or host, as programs and stores of metrics export them.

    step,rank,host,t_fwd_bwd_s,t_allreduce_wait_s,t_data_s                 (a column for each part)
    step,rank0_compute_ms,rank0_wait_ms,rank1_compute_ms,rank1_wait_ms     (a column for each rank and part)
    step,rank,phase,seconds                                                (a row for each part)
    timestamp,instance,metric,value                                        (Prometheus: `train_wait_seconds{rank="3"}`)

What a part is, its name says, as in the lines of logs (step_times); of each rank the last steps count. What a counter adds up
(`..._seconds_sum`, `..._seconds_total`) is what it grew between two samples. Steps that have no number are known by their time.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.delimited import TIME, Row, beginning_of, labels_of, moment_of, table_of, without_port
from neuron_doctor.collectors.step_times import LAST, form_of, may_tell_parts, medians, parts_of
from neuron_doctor.engine.facts import Fact, Place, Value, span_of
from neuron_doctor.engine.regexes import regex

_STEP = frozenset(
    {"step", "steps", "iter", "iteration", "it", "update", "global_step", "global_iter", "step_id", "train_step"}
)
#: Who was measured: the fields of a place by the names of columns and labels, the best first.
_WHO: Mapping[str, tuple[str, ...]] = {
    "rank": ("rank", "global_rank", "world_rank", "rank_id", "process_rank"),
    "local_rank": ("local_rank", "localrank"),
    "host": ("host", "hostname", "node", "nodename", "node_name", "instance"),
}
#: What was measured, where each row tells one time.
_NAME = frozenset(
    {
        "phase",
        "part",
        "section",
        "region",
        "timer",
        "metric",
        "name",
        "op",
        "operation",
        "event",
        "series",
        "__name__",
        "key",
        "_field",
    }
)
_VALUE = regex(
    r"_?(?:value|(?:duration|elapsed|dur|took|mean|avg|median|p50|time)(?:_(?:s|secs?|seconds|ms|us))?|s|secs?|seconds|ms|us)"
    r"(?: ?[(\[](?:s|secs?|seconds|ms|us)[)\]])?"
)
_OF_RANK = regex(r"(?:global_)?(?:rank|r)[ _-]?(\d{1,7})[ _./:|-]{1,3}(\w.{0,80})")
_NUMBER = regex(r"\d{1,9}(?:\.\d{0,20})?(?:[eE]-?\d{1,2})?|\.\d{1,20}")
_STRANGE = regex(r"[^A-Za-z0-9]{1,80}")
#: What a counter adds up, and what else a histogram or a summary consists of.
_ADDED, _OTHER = ("_seconds_total", "_seconds_sum", "_ms_total", "_ms_sum"), ("_bucket", "_count", "_created")
#: The metrics of machines and of their exporters are no times of steps.
_MACHINES = ("node_", "container_", "kube_", "process_", "go_", "neuron_", "system_", "scrape_")
_MEDIAN = regex(r"0?\.50{0,9}|")
#: So many rows must tell it; of a table with a column for each part a few are looked at, of one with a row for each part all.
_FEWEST, _FEW, _MANY = 2, 32, 512
_MOST_TELLERS = 65_536


class _Times(Struct, frozen=True):
    """A column of times: its number, of whom they are by its name, and how they are called."""

    number: int
    who: dict[str, str]
    name: str


class _Columns(Struct, frozen=True):
    """What the columns of a table are, by their numbers: one with the names of parts and one with their times, or `times`."""

    names: Sequence[str]
    key: int
    timed: bool
    who: Mapping[str, int]
    part: tuple[int, int] | None = None
    times: Sequence[_Times] = ()


class _Sample(Struct, frozen=True):
    """One time: of whom, in which step, how it is called and what stands there."""

    place: Place
    step: int
    name: str
    text: str


class _Teller(Struct):
    """The last steps of one rank or host: what they tell, and where. `several`: it is not known of which rank a row is."""

    steps: dict[int, dict[str, str]]
    row: Row
    furthest: int = 0
    several: bool = False

    def add(self, sample: _Sample, row: Row) -> None:
        """One more time; of more steps than count the first ones are left out."""
        told = self.steps.get(sample.step)
        if told is None:
            if len(self.steps) > LAST:
                first = min(self.steps)
                if sample.step < first:
                    return
                del self.steps[first]
            told = self.steps[sample.step] = {}
        if sample.name in told and sample.place.rank is None and sample.place.local_rank is None:
            self.several = True
        told[sample.name] = sample.text
        if sample.step >= self.furthest:
            self.furthest, self.row = sample.step, row


def _sniff(head: bytes, _name: str) -> bool:
    """A head of a table, maybe below the command that was asked; rows with as many cells, and two parts of a step in them."""
    begin = beginning_of(head, _is_head)
    columns = _columns_of(begin.columns) if begin is not None else None
    if begin is None or columns is None or len(begin.lines) < _FEWEST:
        return False
    rows = begin.rows(_MANY) if columns.part else []
    if not may_tell_parts(_called(_plain(name)) for name in _names(columns, rows)):
        return False
    told: dict[Place, dict[str, str]] = defaultdict(dict)
    for row in rows or begin.rows(_FEW):
        for sample in _samples(columns, row):
            told[sample.place][_plain(sample.name)] = sample.text
    return any(parts_of(_line(times)) for times in told.values())


def _names(columns: _Columns, rows: Sequence[Sequence[str]]) -> set[str]:
    """What the times are called, by the head of a table with a column for each, else by its rows."""
    if columns.part is None:
        return {times.name for times in columns.times}
    of, value = columns.part
    return {f"{_named(cell)[0]}_{columns.names[value]}" for cell in {row[of].strip() for row in rows}}


def _is_head(names: Sequence[str]) -> bool:
    return _key(names) is not None


def _key(names: Sequence[str]) -> tuple[int, bool] | None:
    """The column that tells the steps apart, and whether it is their time."""
    low = [name.lower() for name in names]
    step = next((number for number, name in enumerate(low) if name in _STEP), None)
    time = next((number for number, name in enumerate(low) if name in TIME), None)
    key = time if step is None else step
    return (key, step is None) if key is not None and len(names) > _FEWEST else None


def _columns_of(names: Sequence[str]) -> _Columns | None:
    found = _key(names)
    if found is None:
        return None
    key, timed = found
    low = [name.lower() for name in names]
    who = {field: low.index(name) for field, known in _WHO.items() for name in reversed(known) if name in low}
    name = next((number for number, text in enumerate(low) if text in _NAME), None)
    free = [n for n in range(len(low)) if n not in (key, name, *who.values())]
    values = [n for n in free if _VALUE.fullmatch(low[n]) and (low[n] != "time" or not timed)]
    time = next((number for number, text in enumerate(low) if text in TIME), None)
    value = next((n for n in values if n != time), values[0] if values else None)
    if name is not None and value is not None:
        return _Columns(names, key, timed, who, (name, value))
    times = [_times_of(n, column) for n, column in enumerate(names) if n not in (key, *who.values())]
    return _Columns(names, key, timed, who, None, [one for one in times if _is_of_a_step(one.name)])


def _times_of(number: int, column: str) -> _Times:
    of_rank = _OF_RANK.fullmatch(column)
    name, labels = _named(column)
    if of_rank:
        return _Times(number, {"rank": of_rank[1]}, of_rank[2])
    return _Times(number, _who(labels), name if labels else column)


def _named(series: str) -> tuple[str, Mapping[str, str]]:
    """The name of a series, and its labels."""
    labels = labels_of(series)
    return series.partition("{")[0] or labels.get("__name__", ""), labels


def _is_of_a_step(name: str) -> bool:
    return not name.startswith(_MACHINES) and not name.endswith(_OTHER)


def _samples(columns: _Columns, cells: Sequence[str]) -> Iterator[_Sample]:
    """What a row tells: nothing where its step is no number."""
    step = _step(cells[columns.key].strip(), timed=columns.timed)
    if step is None:
        return
    said = {field: cells[number].strip() for field, number in columns.who.items()}
    if columns.part is None:
        for times in columns.times:
            if _NUMBER.fullmatch(text := cells[times.number].strip()):
                yield _Sample(_place(said | times.who), step, times.name, text)
        return
    of, value = columns.part
    name, labels = _named(cells[of].strip())
    text = cells[value].strip()
    if _MEDIAN.fullmatch(labels.get("quantile", "")) and _is_of_a_step(name) and _NUMBER.fullmatch(text):
        yield _Sample(_place(said | _who(labels)), step, f"{name}_{columns.names[value]}", text)


def _who(labels: Mapping[str, str]) -> dict[str, str]:
    return {field: labels[name] for field, known in _WHO.items() for name in reversed(known) if name in labels}


def _place(said: Mapping[str, str]) -> Place:
    """Whose a row is. A number is no host: it may be the index of a node."""
    host = without_port(said.get("host", ""))
    host = "" if host.isdecimal() else host
    return Place(host=host or None, rank=_number(said.get("rank", "")), local_rank=_number(said.get("local_rank", "")))


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _step(text: str, *, timed: bool) -> int | None:
    """The number of a step; of one that has none, its second."""
    if timed:
        when = moment_of(text)
        return when.ns // 10**9 if when else None
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if math.isfinite(number) and number >= 0 else None


def _collect(inp: Input) -> Iterator[Fact]:
    """The `step-time` facts: for each rank or host, and each choice of parts that its last steps tell."""
    names, rows = table_of(inp, _is_head)
    columns = _columns_of(names)
    if columns is None:
        return
    tellers: dict[Place, _Teller] = {}
    for row, cells in rows:
        for sample in _samples(columns, cells):
            if sample.place not in tellers and len(tellers) < _MOST_TELLERS:
                tellers[sample.place] = _Teller({}, row)
            if teller := tellers.get(sample.place):
                teller.add(sample, row)
    for place, teller in tellers.items():
        if not teller.several:
            yield from _facts(place, teller, inp)


def _facts(place: Place, teller: _Teller, inp: Input) -> Iterator[Fact]:
    forms: dict[str, list[dict[str, Value]]] = defaultdict(list)
    for step, times in sorted(_apart(teller.steps).items())[-LAST:]:
        if parts := parts_of(_line({_plain(name): text for name, text in times.items()})):
            forms[form_of("table", parts)].append({"step": step, **parts})
    number, offset, raw = teller.row
    for form, told in forms.items():
        span = span_of(inp.path, raw, offset, number, 1)
        yield Fact("step-time", medians(told, form), place.over(inp.place), span, inp.source_id or inp.path)


def _apart(steps: Mapping[int, Mapping[str, str]]) -> Mapping[int, Mapping[str, str]]:
    """The times of each step; what a counter adds up, less what it was before. What falls is none, whatever it is called."""
    in_order = sorted(steps.items())
    values: dict[str, list[float]] = defaultdict(list)
    for _, told in in_order:
        for name, text in told.items():
            values[name].append(float(text))
    added = {name for name, told in values.items() if _is_added(name) and told == sorted(told)}
    if not added:
        return steps
    return {
        step: {
            name: f"{float(text) - float(before[name]):.6f}" if name in added else text
            for name, text in told.items()
            if name not in added or name in before
        }
        for (_, before), (step, told) in pairwise(in_order)
    }


def _is_added(name: str) -> bool:
    return any(f"{ending}_" in f"{name}_" for ending in _ADDED)


def _plain(name: str) -> str:
    """A name in words, without what says that it is of a counter."""
    for ending in _ADDED:
        if (at := f"{name}_".find(f"{ending}_")) >= 0:
            return name[:at] + ending.rpartition("_")[0]
    return name


def _line(times: Mapping[str, str]) -> str:
    """The times as a line of a log would have them."""
    return " | ".join(f"{_called(name)}={_written(text)}" for name, text in times.items())


def _written(text: str) -> str:
    """A number as people write it: without an exponent."""
    return text if text.isdecimal() else f"{float(text):.6f}"


def _called(name: str) -> str:
    return _STRANGE.sub("_", name).strip("_") or "x"


COLLECTOR = Collector("step-times", "exported table of the times of steps", _sniff, _collect)
