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
from itertools import islice, pairwise

from msgspec import Struct

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.delimited import Row, cells_of, delimiter_of, rows_of, text_of
from neuron_doctor.collectors.step_times import LAST, form_of, medians, parts_of
from neuron_doctor.collectors.timestamps import read_iso, read_milliseconds, read_unix
from neuron_doctor.engine.facts import Fact, Place, Value, span_of
from neuron_doctor.engine.regexes import regex

_STEP = frozenset(
    {"step", "steps", "iter", "iteration", "it", "update", "global_step", "global_iter", "step_id", "train_step"}
)
_TIME = frozenset({"time", "timestamp", "ts", "date", "datetime", "_time", "@timestamp"})
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
_LABEL = regex(r'([A-Za-z_]\w{0,60})="([^"]{0,400})"')
_NUMBER = regex(r"\d{1,9}(?:\.\d{0,20})?(?:[eE]-?\d{1,2})?|\.\d{1,20}")
_STRANGE = regex(r"[^A-Za-z0-9]{1,80}")
#: What a counter adds up, and what else a histogram or a summary consists of.
_ADDED, _OTHER = ("_seconds_total", "_seconds_sum", "_ms_total", "_ms_sum"), ("_bucket", "_count", "_created")
#: The metrics of machines and of their exporters are no times of steps.
_MACHINES = ("node_", "container_", "kube_", "process_", "go_", "neuron_", "system_", "scrape_")
_MEDIAN = 0.5
#: The head of the table is one of so many first lines.
_COMMAND = 2
#: So many rows must tell it.
_FEWEST, _LOOKED_AT = 2, 512
_MOST_TELLERS = 65_536


class _Columns(Struct, frozen=True):
    """What the columns of a table are, by their numbers."""

    names: tuple[str, ...]
    key: int
    timed: bool
    who: Mapping[str, int]
    name: int | None = None
    value: int | None = None


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
    lines = [
        line.rstrip("\r")
        for line in head.decode("utf-8-sig", "replace").split("\n", _LOOKED_AT)[:_LOOKED_AT]
        if line.strip()
    ]
    at = next((n for n, line in enumerate(lines[:_COMMAND]) if _columns(line)), None)
    columns = _columns(lines[at]) if at is not None else None
    if at is None or columns is None:
        return False
    lines = lines[:-1] if len(lines) > at + _FEWEST and not head.endswith(b"\n") else lines
    rows = [cells_of(line, delimiter_of(lines[at])) for line in lines[at + 1 :]]
    if len(rows) < _FEWEST or any(len(row) != len(columns.names) for row in rows):
        return False
    told: dict[Place, dict[str, str]] = defaultdict(dict)
    for row in rows:
        for sample in _samples(columns, row):
            told[sample.place][_plain(sample.name)] = sample.text
    return any(parts_of(_line(times)) for times in told.values())


def _columns(header: str) -> _Columns | None:
    names = tuple(name.strip() for name in cells_of(header.rstrip("\r")))
    low = [name.lower() for name in names]
    step = next((number for number, name in enumerate(low) if name in _STEP), None)
    time = next((number for number, name in enumerate(low) if name in _TIME), None)
    key = time if step is None else step
    if key is None or len(names) <= _FEWEST:
        return None
    who = {field: low.index(name) for field, known in _WHO.items() for name in reversed(known) if name in low}
    name = next((number for number, text in enumerate(low) if text in _NAME), None)
    free = [n for n in range(len(low)) if n not in (key, name, *who.values())]
    values = [n for n in free if _VALUE.fullmatch(low[n]) and (low[n] != "time" or step is not None)]
    value = next((n for n in values if n != time), values[0] if values else None)
    if name is None or value is None:
        name = value = None
    return _Columns(names, key, step is None, who, name, value)


def _samples(columns: _Columns, cells: Sequence[str]) -> Iterator[_Sample]:
    """What a row tells: nothing where its step is no number."""
    step = _step(cells[columns.key].strip(), timed=columns.timed)
    if step is None:
        return
    said = {field: cells[number].strip() for field, number in columns.who.items()}
    if columns.name is not None and columns.value is not None:
        series = cells[columns.name].strip()
        labels = dict(_LABEL.findall(series))
        name = series.partition("{")[0] or labels.get("__name__", "")
        told = [(said | _who(labels), f"{name}_{columns.names[columns.value]}", name, cells[columns.value])]
        told = told if float(labels.get("quantile") or _MEDIAN) == _MEDIAN else []
    else:
        fixed = {columns.key, *columns.who.values()}
        wide = ((n, name) for n, name in enumerate(columns.names) if n not in fixed)
        told = []
        for number, column in wide:
            of_rank = _OF_RANK.fullmatch(column)
            labels = dict(_LABEL.findall(column))
            name = of_rank[2] if of_rank else column.partition("{")[0] if labels else column
            told.append((said | _who(labels) | ({"rank": of_rank[1]} if of_rank else {}), name, name, cells[number]))
    for whose, called, name, text in told:
        if _NUMBER.fullmatch(text.strip()) and not name.startswith(_MACHINES) and not name.endswith(_OTHER):
            yield _Sample(_place(whose), step, called, text.strip())


def _who(labels: Mapping[str, str]) -> dict[str, str]:
    return {field: labels[name] for field, known in _WHO.items() for name in reversed(known) if name in labels}


def _place(said: Mapping[str, str]) -> Place:
    host = said.get("host", "")
    host = host.rpartition(":")[0] if host.count(":") == 1 else host
    return Place(host=host or None, rank=_number(said.get("rank", "")), local_rank=_number(said.get("local_rank", "")))


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _step(text: str, *, timed: bool) -> int | None:
    """The number of a step; of one that has none, its second."""
    if timed:
        when = read_iso(text.replace(" ", "T", 1)) or read_milliseconds(text) or read_unix(text)
        return when.ns // 10**9 if when else None
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if math.isfinite(number) and number >= 0 else None


def _collect(inp: Input) -> Iterator[Fact]:
    """The `step-time` facts: for each rank or host, and each choice of parts that its last steps tell."""
    rows = rows_of(inp)
    header = next((text for row in islice(rows, _COMMAND) if _columns(text := text_of(row[2]))), "")
    columns = _columns(header)
    tellers: dict[Place, _Teller] = {}
    for row in rows if columns else ():
        cells = cells_of(text_of(row[2]), delimiter_of(header))
        if columns is None or len(cells) != len(columns.names):
            inp.problem("a row of the table has another number of columns than its head", row[0])
            continue
        inp.records += 1
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
