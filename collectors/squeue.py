"""What `squeue` prints: the default form, the long one (`-l`, below a date), and those that `-o` and `-O` make.

Source: Slurm manual page of squeue (22.05 to 24.11). The columns are those of the title. All but names and reasons
are words; a cell that is too long is cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from neuron_doctor.collectors.snapshot import Line, head_lines
from neuron_doctor.engine.regexes import regex

_WORD = regex(r"[A-Z][A-Z_()/:]{0,30}")
#: Of a longer line only this much is looked at.
_LONGEST = 1000
#: What a title must have besides the number of the job.
_STATES = ("ST", "STATE")
#: Columns whose cells may hold spaces.
_LOOSE = frozenset({"NAME", "REASON", "NODELIST(REASON)", "COMMAND", "WORK_DIR", "COMMENT"})
_FORMS: Mapping[str, str] = MappingProxyType(
    {"JOBID": r"\d+(?:[_+]\S*)?", "ST": "[A-Z]{1,3}", "STATE": "[A-Z_]+", "NODES": r"\d+[KM]?"}
)
#: The codes of states that `%t` gives (squeue, JOB STATE CODES).
_CODES: Mapping[str, str] = MappingProxyType(
    {
        "BF": "BOOT_FAIL",
        "CA": "CANCELLED",
        "CD": "COMPLETED",
        "CF": "CONFIGURING",
        "CG": "COMPLETING",
        "DL": "DEADLINE",
        "F": "FAILED",
        "NF": "NODE_FAIL",
        "OOM": "OUT_OF_MEMORY",
        "PD": "PENDING",
        "PR": "PREEMPTED",
        "R": "RUNNING",
        "RQ": "REQUEUED",
        "RS": "RESIZING",
        "RV": "REVOKED",
        "S": "SUSPENDED",
        "TO": "TIMEOUT",
    }
)
#: How `scontrol` calls what stands in a column.
_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "JOBID": "JobId",
        "NAME": "JobName",
        "STATE": "JobState",
        "NODELIST": "NodeList",
        "REASON": "Reason",
        "TIME": "RunTime",
        "START_TIME": "StartTime",
    }
)


def is_title(text: str) -> bool:
    """Whether a line is the title of a table of jobs."""
    words = _cells_of_title(text)
    return "JOBID" in words and any(state in words for state in _STATES) and all(map(_WORD.fullmatch, words))


def sniff(head: bytes) -> bool:
    """Whether the text is such a table and nothing else; its last line may have been cut off."""
    title, *rows = head_lines(head) or ("",)
    if rows and not head.endswith(b"\n"):
        rows.pop()
    return is_title(title) and all(is_title(row) or _cells(title, row) for row in rows)


def records(rows: Iterable[Line]) -> Iterator[tuple[Line, dict[str, str]]]:
    """The jobs, as `scontrol show job` would call what is known of them."""
    title = ""
    for row in rows:
        if is_title(row.text):
            title = row.text
        elif title and (cells := _cells(title, row.text)):
            yield row, _record(cells)


def _record(cells: Mapping[str, str]) -> dict[str, str]:
    record = {_KEYS[name]: cell for name, cell in cells.items() if name in _KEYS}
    if "ST" in cells:
        record["JobState"] = _CODES.get(cells["ST"], cells["ST"])
    where = cells.get("NODELIST(REASON)", "")
    if where:  # the nodes of a job that has some, else why it has none
        record["Reason" if where.startswith("(") else "NodeList"] = where
    record["Reason"] = record.get("Reason", "").strip("()")
    return record


def _cells_of_title(title: str) -> Sequence[str]:
    return [word.strip() for word in title.split("|")] if "|" in title else title.split()


def _cells(title: str, row: str) -> dict[str, str]:
    """The cells of a row by their titles; nothing where it is no row of this table."""
    names = _cells_of_title(title)
    if "|" in title:
        cells = [cell.strip() for cell in row.split("|")]
        return dict(zip(names, cells, strict=True)) if len(cells) == len(names) else {}
    found = _row_of(tuple(names)).match(row[:_LONGEST])
    return dict(zip(names, found.groups(), strict=True)) if found else {}


@lru_cache(maxsize=8)
def _row_of(names: tuple[str, ...]) -> re.Pattern[str]:
    cells = [r"\S(?:.*?\S)?|" if name in _LOOSE else _FORMS.get(name, r"\S+") for name in names]
    return re.compile(r"\s*" + r"\s+".join(f"({cell})" for cell in cells) + r"\s*$")
