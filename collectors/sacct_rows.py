"""Rows of `sacct` without their title (`sacct -n`, with or without `-P`), known by what their cells look like, and the summary of
one job that `seff` makes of them.

Source: manual page of sacct (22.05 to 24.11), contribs/seff of Slurm. The id of the job comes first, a state and an exit code are
among the rest; which other fields were asked for is up to whoever asked, so that only those are named whose form is theirs alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neuron_doctor.collectors.snapshot import Line
from neuron_doctor.engine.regexes import regex

_STATES = (
    r"(?:BOOT_FAIL|CANCELLED|COMPLETED|COMPLETING|DEADLINE|FAILED|NODE_FAIL|OUT_OF_MEMORY|PENDING|PREEMPTED|REQUEUED|RESIZING|REVOKED"
    r"|RUNNING|SUSPENDED|TIMEOUT|OUT_OF_ME)"
)
_STATE = regex(_STATES + r"\+?(?: by \d{1,10})?")
#: The status of an exit, or a signal; one of them is 0.
_CODE = regex(r"(?:\d{1,3}:0|0:[1-9]\d{0,2})(?!\d)")
_ELAPSED = regex(r"(?:\d{1,5}-)?\d\d:\d\d:\d\d")
_WHEN = regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|Unknown|None")
#: Nodes, and no partition: a list in brackets, or a name that ends with a number of its own.
_NODES = regex(r"[A-Za-z][\w.-]{0,250}(?:\[[\d,-]{1,2000}\]|-\d{1,6}(?:\.[\w.-]{1,200})?)(?:,[\w.,\[\]-]{1,2000})?")
_CELL = regex(r"CANCELLED by \d{1,10}|\S+")
_JOB = r"\d{1,12}(?:_(?:\d{1,10}|\[[^\]\s|]{1,200}\]))?(?:\.(?:batch|extern|interactive|\d{1,10}))?"

#: Up to a further cell.
_MORE = r"(?:\|(?:[^|\n]{0,2000}\|){0,40}?|\s{1,80}(?:[^|\n]{1,400}?\s)?)"
#: `0:30` is a time (`3 tests FAILED in 0:30`) where it does not stand in a column; no time is written `1:0`.
_IN_COLUMN = r"(?!0:\d\d)|(?<=[|\t])|(?<=\s\s)"
#: A row: the job, further cells, a state and a code.
ROW = regex(rf"\s{{0,20}}{_JOB}{_MORE}{_STATE.pattern}{_MORE}(?:{_IN_COLUMN}){_CODE.pattern}(?:[|\s]|$)")


def bare_records(rows: Sequence[Line]) -> Iterator[tuple[Line, dict[str, str]]]:
    """The cells of each row, by the names that sacct has for them."""
    for line in rows:
        cells = [cell.strip() for cell in line.text.split("|")] if "|" in line.text else _CELL.findall(line.text)
        yield line, _record(cells)


def _record(cells: Sequence[str]) -> dict[str, str]:
    state = next((n for n, cell in enumerate(cells) if n and _STATE.fullmatch(cell)), 0)
    behind = cells[state + 1 :]
    codes = [cell for cell in behind if _CODE.fullmatch(cell)]
    times = [cell for cell in cells if _WHEN.fullmatch(cell)]
    record = {
        "JobID": cells[0],
        "JobName": cells[1] if state > 1 else "",
        "State": cells[state] if state else "",
        "ExitCode": next(iter(codes), ""),
        "DerivedExitCode": next(iter(codes[1:]), ""),
        "Elapsed": next((cell for cell in cells if _ELAPSED.fullmatch(cell)), ""),
        "NodeList": next((cell for cell in reversed(behind) if _NODES.fullmatch(cell)), ""),
    }
    return record | ({"End": times[-1]} if len(times) > 1 else {})  # the start comes first


SEFF_TITLE = regex(r"(?:Array )?Job ID: \d{1,12}(?:_\d{1,10})?\s*$")
SEFF = regex(r"(?:[A-Z][A-Za-z/ -]{1,40}: \S|WARNING: |\(|The task which )")
_SEFF_STATE = regex(r"(?P<state>[A-Z_]{4,30}) \(exit code (?P<code>\d{1,3})\)")


def seff_records(rows: Sequence[Line]) -> Iterator[tuple[Line, dict[str, str]]]:
    """The one job, at the line with its state (`State: COMPLETED (exit code 0)`)."""
    told = {name: value.strip() for line in rows for name, _, value in [line.text.partition(": ")]}
    for line in rows:
        if line.text.startswith("State: ") and (state := _SEFF_STATE.match(line.text.removeprefix("State: "))):
            job = told.get("Array Job ID") or told.get("Job ID", "")
            yield line, {"JobID": job, "State": state["state"], "ExitCode": f"{state['code']}:0"}
