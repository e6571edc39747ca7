"""What Slurm says of jobs and nodes: `sacct` (the default form and -P), `scontrol show job` and `show node`, `sinfo -R`, `squeue`
(see `squeue.py`); `seff`, and `sacct` without a title (see `sacct_rows.py`); all of these with `--json` (see `slurm_json.py`).

Source: Slurm manual pages of sacct, scontrol and sinfo (22.05 to 24.11). Times are local, without zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from neuron_doctor.collectors import slurm_json, squeue
from neuron_doctor.collectors.base import Collector, Input, UnreadableInput
from neuron_doctor.collectors.documents import DamagedDocument, document_of
from neuron_doctor.collectors.sacct_rows import ROW, SEFF, SEFF_TITLE, bare_records, seff_records
from neuron_doctor.collectors.snapshot import (
    Line,
    anonymous,
    command_of,
    from_lines,
    has_form,
    lines_of,
    opening,
    output,
    span_on,
)
from neuron_doctor.collectors.timestamps import dated
from neuron_doctor.engine.facts import NOWHERE, Clock, Fact, Instant, Place, Span, Value
from neuron_doctor.engine.regexes import regex

_SACCT_TITLE = regex(r"\s*(?:\w+[\s|]+)?JobID(?:Raw)?[\s|]")
_SACCT = regex(
    r"\s*(?:\w+[\s|]+)?JobID|[- ]+$|\s*\d+(?:[._+\[][\w\[\]%,.+-]*)?(?:[\s|]|$)"
    r"|[^|\n]{0,200}\|\d+(?:[._+]\w+)?\|| {4,}\S|[(#]"
)
#: What somebody has written beside the table.
_REMARK = regex(r"\s*[(#]")
_SINFO_TITLE = regex(r"REASON\s+USER\s+TIMESTAMP\s+NODELIST")
_SINFO = regex(
    r"(?P<reason>\S.*?)\s{1,40}(?P<user>[\w.()-]{1,32})\s+(?P<when>\d{4}-\d\d-\d\dT[\d:]{8}|Unknown)\s+(?P<nodes>\S+)\s*$"
)
_SCONTROL = regex(r"(?:JobId=\d|NodeName=\S)|\s+\S")
_KEY = regex(r"(?:^|\s)([A-Z][\w]{0,40}(?:[/:][A-Za-z]\w{0,20})*)=")
_STATE = regex(r"(?P<state>[A-Z_]+)\+?(?: by (?P<uid>\d{1,10}))?")
_CODE = regex(r"(?P<exit>\d{1,10}):(?P<signal>\d{1,3})(?::\d+)?$")
_ELAPSED = regex(r"(?:(?P<days>\d{1,5})-)?(?:(?P<hours>\d{1,5}):)?(?P<minutes>\d{1,3}):(?P<seconds>\d\d)(?:\.\d+)?$")
_WHEN = regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$")
_UNSET = frozenset({"", "(null)", "None", "N/A", "Unknown", "None assigned", "NONE"})

#: States after which a job or step has not done what it was asked to.
_FAILED = frozenset(
    [
        "BOOT_FAIL",
        "CANCELLED",
        "DEADLINE",
        "FAILED",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "PREEMPTED",
        "REVOKED",
        "TIMEOUT",
        "LAUNCH_FAILED",
    ]
)
_OTHER = frozenset(
    ["COMPLETED", "COMPLETING", "CONFIGURING", "PENDING", "REQUEUED", "RESIZING", "RUNNING", "SUSPENDED"]
)
#: A summary of one job has its state so near its beginning (bytes).
_OPENING = 2048
#: Steps that end as their job does, on the first of its nodes, wherever the reason is.
_OF_THE_JOB = frozenset({"batch", "extern"})
#: Words of a node's state that take it out of service.
_OUT = regex(r"DOWN|DRAIN|FAIL|NOT_RESPONDING|\*", re.IGNORECASE)


def _sniff(head: bytes, _name: str) -> bool:
    first = opening(head)
    return _is_json(head) if first.lstrip().startswith("{") else _is_listing(head, first)


def _is_listing(head: bytes, first: str) -> bool:
    if _SACCT_TITLE.match(first):
        return "State" in first and has_form(head, _SACCT)
    if _SINFO_TITLE.match(first):
        return has_form(head, re.compile(f"{_SINFO_TITLE.pattern}|{anonymous(_SINFO)}"))
    if squeue.is_title(first):
        return squeue.sniff(head)
    if SEFF_TITLE.match(first):
        return "\nState: " in head[:_OPENING].decode("utf-8", "replace") and has_form(head, SEFF)
    if first.startswith(("JobId=", "NodeName=")):
        return has_form(head, _SCONTROL, 0.95)
    return has_form(head, ROW)


def parse(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """`slurm-job` and `launcher-failure` for jobs and steps, `node-condition` for nodes that have a reason."""
    rows = [line for line in output(lines) if not _REMARK.match(line.text)]
    first = rows[0].text if rows else ""
    if first.lstrip().startswith("{"):
        yield from _of_json(inp, lines)
    elif _SACCT_TITLE.match(first):
        for line, record in _sacct_records(rows):
            yield from _job(inp, span_on(inp, line), record)
    elif _SINFO_TITLE.match(first):
        yield from _reasons(inp, rows)
    elif squeue.is_title(first):
        for line, record in squeue.records(rows):
            yield from _job(inp, span_on(inp, line), record)
    elif ROW.match(first) or SEFF_TITLE.match(first):
        for line, record in bare_records(rows) if ROW.match(first) else seff_records(rows):
            yield from _job(inp, span_on(inp, line), record)
    else:
        for line, record in _scontrol_records(rows):
            yield from (
                _job(inp, span_on(inp, line), record) if "JobId" in record else _node(inp, span_on(inp, line), record)
            )


# --- records


def _is_json(head: bytes) -> bool:
    """Whether the document begins as one of Slurm's does, and has such a list: a line of a log may hold any of these words."""
    first = next((line for line in lines_of(head) if line.text.strip() and command_of(line.text) is None), None)
    text = head[first.offset :].decode("utf-8", "replace") if first else ""
    forms = (slurm_json.LISTS, slurm_json.OF_ITS_KIND)
    return slurm_json.BEGINNING.match(text) is not None and all(form.search(text) for form in forms)


def _of_json(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    document = document_of(inp.path, [line for line in lines if command_of(line.text) is None])
    read = False
    try:
        for one in slurm_json.told(document):
            read = True
            if "NodeName" in one.cells:
                yield from _node(inp, one.span, one.cells)
            else:
                yield from _job(inp, one.span, one.cells, one.ended, one.began)
    except DamagedDocument as damage:
        if not read:  # that nothing is said of a failure says nothing
            inp.records = 0
            raise UnreadableInput(str(damage)) from damage
        inp.problem(str(damage))


def _sacct_records(rows: Sequence[Line]) -> Iterator[tuple[Line, dict[str, str]]]:
    title = rows[0].text
    if "|" in title:
        names = title.split("|")
        for line in rows[1:]:
            yield line, dict(zip(names, (cell.strip() for cell in line.text.split("|")), strict=False))
        return
    ruler = next((line.text for line in rows[1:2] if set(line.text.strip()) <= {"-", " "}), title)
    words = title.split()
    if ruler is title and all(len(line.text.split()) == len(words) for line in rows):  # somebody took the ruler out
        for line in rows[1:]:
            yield line, dict(zip(words, line.text.split(), strict=True))
        return
    columns = [found.span() for found in re.finditer(r"\S+", ruler)]
    names = _cells(title, columns)
    for line in rows[1:]:
        if line.text.strip("- "):
            yield line, dict(zip(names, _cells(line.text, columns), strict=True))


def _cells(row: str, columns: Sequence[tuple[int, int]]) -> list[str]:
    """The words of a row, each in the column that it covers most: in a table that somebody has pasted, columns may be
    off by some places."""
    words: list[list[str]] = [[] for _ in columns]
    for found in re.finditer(r"\S+", row):
        start, end = found.span()
        near = max(range(len(columns)), key=lambda at: min(columns[at][1], end) - max(columns[at][0], start))
        words[near].append(found.group())
    return [" ".join(some) for some in words]


def _scontrol_records(rows: Sequence[Line]) -> Iterator[tuple[Line, dict[str, str]]]:
    first: Line | None = None
    record: dict[str, str] = {}
    for line in rows:
        if not line.text[:1].isspace():
            if first is not None:
                yield first, record
            first, record = line, {}
        record |= _pairs(line.text)
    if first is not None:
        yield first, record


def _pairs(text: str) -> dict[str, str]:
    """The `Key=value` members of a line; a value runs to the next key, for names and reasons hold spaces."""
    found = list(_KEY.finditer(text))
    ends = [*(match.start() for match in found[1:]), len(text)]
    return {match[1]: text[match.end() : end].strip() for match, end in zip(found, ends, strict=False)}


def _value(record: Mapping[str, str], *keys: str) -> str:
    values = (record.get(key, "").strip() for key in keys)
    return next((value for value in values if value not in _UNSET), "")


# --- jobs


def _job(
    inp: Input, span: Span, record: Mapping[str, str], ended: Instant | None = None, began: Instant | None = None
) -> Iterator[Fact]:
    job, _, step = _value(record, "JobId", "JobID", "JobIDRaw").partition(".")
    array, task = _value(record, "ArrayJobId"), _value(record, "ArrayTaskId")
    job = f"{array}_{task}" if array.isdigit() and task.isdigit() else job  # as sacct and squeue call it
    state = _STATE.match(_value(record, "JobState", "State"))
    if not job or state is None:
        inp.problem("a row without a job or a state", span.line)
        return
    word = _whole(state["state"])
    exits = _code(_value(record, "ExitCode"))
    derived = _code(_value(record, "DerivedExitCode"))
    nodes = _value(record, "NodeList")
    host = nodes if re.fullmatch(r"[\w.-]+", nodes) and step not in _OF_THE_JOB else None
    place = replace(NOWHERE, job=job, host=host)
    when = ended or _instant(_value(record, "EndTime", "End"))
    start = began or _instant(_value(record, "StartTime", "Start"))
    data: dict[str, Value] = {
        "job_id": job,
        "step": step,
        "name": _value(record, "JobName"),
        "state": word,
        "exitcode": exits[0],
        "signal": exits[1],
        "derived_exitcode": derived[0],
        "nodes": nodes,
        "reason": _value(record, "Reason"),
        "restarts": int(text) if (text := _value(record, "Restarts")).isdigit() else 0,
        "cancelled_by": state["uid"] or "",
        "elapsed_s": _seconds(_value(record, "RunTime", "Elapsed")),
        "start_s": start.ns // 1_000_000_000 if start else -1,
    }
    yield _at(inp, span, "slurm-job", data, place, when)
    if word in _FAILED and any(exits):
        failure: dict[str, Value] = {
            "launcher": "slurm",
            "exitcode": exits[0],
            "signal": exits[1],
            "first": False,
            "message": word,
        }
        yield _at(inp, span, "launcher-failure", failure, place, when)


def _whole(word: str) -> str:
    """The state that a word stands for: sacct cuts long ones to the width of the column (`OUT_OF_ME+`)."""
    return next((state for state in sorted(_FAILED | _OTHER) if word not in _FAILED and state.startswith(word)), word)


def _at(inp: Input, span: Span, kind: str, data: Mapping[str, Value], place: Place, when: Instant | None) -> Fact:
    """The fact at this place: what the controller says does not hold for the host that asked it."""
    where = place.over(Place(job=inp.place.job, attempt=inp.place.attempt))
    return Fact(kind, data, where, span, inp.source_id, when)


def _code(text: str) -> tuple[int, int]:
    found = _CODE.match(text)
    return (int(found["exit"]), int(found["signal"])) if found else (0, 0)


def _seconds(text: str) -> int:
    """How long a job has run: `2-03:04:05`, `3:04:05` or `4:05`; -1 where nothing says so."""
    found = _ELAPSED.match(text)
    if found is None:
        return -1
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def _instant(text: str) -> Instant | None:
    if not _WHEN.match(text):
        return None
    try:
        when = datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return None
    return dated(when, Clock.HOST_LOCAL)


# --- nodes


def _node(inp: Input, span: Span, record: Mapping[str, str]) -> Iterator[Fact]:
    state, reason = _value(record, "State"), _value(record, "Reason")
    if reason or _OUT.search(state):
        yield _condition(inp, span, record.get("NodeName", ""), state, reason)


def _reasons(inp: Input, rows: Sequence[Line]) -> Iterator[Fact]:
    for line in rows[1:]:
        found = _SINFO.match(line.text)
        if found is None:
            inp.problem("a row of sinfo that is not understood", line.number)
            continue
        yield _condition(inp, span_on(inp, line), found["nodes"], "", found["reason"].strip(), _instant(found["when"]))


def _condition(inp: Input, span: Span, node: str, state: str, reason: str, when: Instant | None = None) -> Fact:
    data: dict[str, Value] = {
        "name": node,
        "type": "slurm",
        "status": state,
        "reason": reason,
        "message": "",
        "healthy": False,
    }
    place = Place(host=node if re.fullmatch(r"[\w.-]+", node) else None)
    return _at(inp, span, "node-condition", data, place, when)


COLLECTORS = (Collector("slurm", "Slurm accounting and states", _sniff, from_lines(parse)),)
