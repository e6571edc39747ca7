"""What `sacct`, `squeue`, `scontrol` and `sinfo` say with `--json`, as the cells that their tables have.

Source: data_parser/v0.0.38 to v0.0.42 of Slurm (22.05 to 24.11). A state is a word or a list of words, an exit code a number or
an object, and numbers may stand in objects that say whether they are set. Times are seconds since 1970.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from neuron_doctor.collectors import members
from neuron_doctor.collectors.documents import DamagedDocument, Document, Element, elements
from neuron_doctor.collectors.timestamps import read_unix
from neuron_doctor.engine.facts import Instant, Span
from neuron_doctor.engine.regexes import regex

#: What is told of each of several: the list, as the first that is one, and what every one in it has.
LISTS = regex(r'"(?P<list>jobs|nodes)"\s{0,8}:\s{0,8}\[')
BEGINNING = regex(
    r'\s{0,80}\{\s{0,80}"(?:(?:jobs|nodes)"\s{0,8}:\s{0,8}\[|(?:meta|errors|warnings|last_\w{1,20})"\s{0,8}:\s{0,8}[\[{\d])'
)
OF_ITS_KIND = regex(r'"(?:job_id|slurmd_version|slurmd_start_time)"\s{0,8}:')


class Told(Struct, frozen=True):
    """One job, step or node: its cells by the names that the tables have for them, where it stands, and when it began and
    ended."""

    cells: Mapping[str, str]
    span: Span
    ended: Instant | None = None
    began: Instant | None = None


def told(document: Document) -> Iterator[Told]:
    """The jobs, each before its steps, and the nodes. Raises DamagedDocument where the text is no JSON any more."""
    found = LISTS.search(document.text)
    if found is None:
        raise DamagedDocument("neither jobs nor nodes")
    for element in elements(document.text, found.end()):
        if found["list"] == "nodes":
            yield _node(document, element)
            continue
        yield _job(document, element)
        for step in members.all_of(element.value, "steps"):
            yield _step(document, element, step)


def _node(document: Document, element: Element) -> Told:
    name = members.text(element.value, "name")
    reason, state = members.text(element.value, "reason"), _words(members.dig(element.value, "state"), "+")
    return Told({"NodeName": name, "State": state, "Reason": reason}, document.quote(element, "name", name))


def _job(document: Document, element: Element) -> Told:
    job = element.value
    number = members.text(job, "job_id")
    array = _number(members.dig(job, "array_job_id") or members.dig(job, "array", "job_id"))
    task = _number(members.dig(job, "array_task_id") or members.dig(job, "array", "task_id"))
    cells = {
        "JobID": f"{array}_{task}" if array not in ("", "0") and task else number,
        "JobName": members.text(job, "name"),
        "State": _state(job),
        "ExitCode": _code(members.dig(job, "exit_code")),
        "DerivedExitCode": _code(members.dig(job, "derived_exit_code")),
        "NodeList": members.text(job, "nodes"),
        "Reason": members.text(job, "state_reason") or members.text(members.dig(job, "state"), "reason"),
        "Restarts": members.text(job, "restart_cnt"),
        "Elapsed": _elapsed(job),
    }
    return Told(cells, document.quote(element, "job_id", number), _when(job, "end"), _when(job, "start"))


def _step(document: Document, job: Element, step: object) -> Told:
    named = members.dig(step, "step", "id")
    name = (
        ".".join(members.text(named, key) for key in ("job_id", "step_id")) if isinstance(named, dict) else str(named)
    )
    cells = {
        "JobID": name if "." in name else "",
        "JobName": members.text(members.dig(step, "step"), "name"),
        "State": _state(step),
        "ExitCode": _code(members.dig(step, "exit_code")),
        "NodeList": ",".join(str(node) for node in members.all_of(step, "nodes", "list")),
        "Elapsed": _elapsed(step),
    }
    return Told(cells, document.quote(job, "id", name), _when(step, "end"), _when(step, "start"))


def _state(one: object) -> str:
    """The last word is a flag of the first (`COMPLETED`, `COMPLETING`)."""
    state = members.dig(one, "job_state") or members.dig(one, "state")
    return _words(members.dig(state, "current") if isinstance(state, dict) else state).partition(" ")[0]


def _words(value: object, between: str = " ") -> str:
    words = value if isinstance(value, list) else [value or ""]
    return between.join(str(word) for word in words)


def _code(value: object) -> str:
    """`1:0`: the status and the signal; a mere number is what `wait` gives."""
    if not isinstance(value, dict):
        text = _number(value)
        return f"{int(text) >> 8}:{int(text) & 0x7F}" if text else ""
    signal = members.dig(value, "signal", "id") or members.dig(value, "signal", "signal_id")
    return f"{_number(members.dig(value, 'return_code')) or 0}:{_number(signal) or 0}"


def _number(value: object) -> str:
    """A number as text; empty where it is none, not set, or without limit."""
    if isinstance(value, dict):
        return members.text(value, "number") if value.get("set", True) and not value.get("infinite") else ""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else ""


def _when(one: object, what: str) -> Instant | None:
    told = _number(members.dig(one, f"{what}_time") or members.dig(one, "time", what))
    return read_unix(told) if told not in ("", "0") else None


def _elapsed(one: object) -> str:
    seconds = int(_number(members.dig(one, "time", "elapsed")) or -1)
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}" if seconds >= 0 else ""
