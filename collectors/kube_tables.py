"""Tables of `kubectl get` (also `-o wide`, several resources in one output, and custom columns of Neuron resources).

Source: kubectl table printers (Kubernetes 1.24 to 1.33): columns are padded with at least three spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.kube import (
    Container,
    Event,
    container_facts,
    ending,
    event_facts,
    node_fact,
    workload_facts,
)
from neuron_doctor.collectors.kube_words import INSTANCE_TYPE
from neuron_doctor.collectors.snapshot import Line, fact
from neuron_doctor.collectors.timestamps import read_iso
from neuron_doctor.engine.facts import Fact, Span
from neuron_doctor.engine.regexes import regex

_GAP = regex(r" {2,}|\t+")
#: Titles of custom columns are the user's own; those that call a pod so are known where they show its node.
_TITLE = regex(
    r"(?:(?:NAMESPACE|NS) {2,})?(?:NAME {2,}[A-Z]|LAST SEEN {2,}[A-Z]|(?P<pod>POD(?:[ _]?NAME)?) {2,}[A-Z])[\w ().-]*$"
)
_SHOWS_NODE = regex(r"\bNODE(?:[ _]?NAME)?\b")
_OWN_TITLES = {
    "POD": "NAME", "PODNAME": "NAME", "POD NAME": "NAME", "POD_NAME": "NAME", "NODENAME": "NODE", "NODE NAME": "NODE",
    "NODE_NAME": "NODE", "NS": "NAMESPACE", "PHASE": "STATUS", "EXITCODE": "EXIT", "EXIT CODE": "EXIT", "EXIT_CODE": "EXIT",
}  # fmt: skip
_WORD = regex(r"\S+(?: \S+)*")
_AGE = regex(r"(\d{1,6})([ydhms])")
_CLOCK = regex(r"(\d\d):(\d\d):(\d\d)")
_SECONDS = {"y": 31_536_000, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
_CALM = frozenset(
    {"Running", "Completed", "Succeeded", "Pending", "ContainerCreating", "PodInitializing", "Terminating"}
)

#: The columns in which operators, Jobs (since Kubernetes 1.31), JobSets, RayJobs and Volcano show how a job stands.
_STATES = ("STATE", "STATUS", "TERMINALSTATE", "JOB STATUS")
#: Those that one kind of object alone has.
_KINDS = MappingProxyType({"TERMINALSTATE": "jobset", "JOB STATUS": "rayjob"})

#: A title or a row of one of the tables that are read here, or of another resource in a `kubectl get all`.
ROW = regex(
    r"(?:NAMESPACE {2,})?NAME {2,}(?:READY|STATUS|NODE|NAMESPACE|Neuron|TYPE|DESIRED|COMPLETIONS|DATA|STATE|TERMINALSTATE"
    r"|JOB STATUS|NEURON[\w-]{0,30} |INSTANCE[\w-]{0,10} {2,})"
    r"|(?:\S+\s{2,})?\S+\s{2,}(?:Complete|Completed|Succeeded|SUCCEEDED|Failed|FAILED|Created|Running|Restarting|Suspended)\s"
    r"|(?:NAMESPACE {2,})?LAST SEEN {2,}(?:[A-Z][A-Z ]{1,20} {2,}){0,5}TYPE {2,}REASON"
    r"|(?:\S+\s{2,})?\S+\s{2,}\d{1,4}/\d{1,4}\s+\S+\s{2,}\d"
    r"|\S+\s{2,}(?:Ready|NotReady|Unknown)[\w,]*\s"
    r"|(?:\S+\s{2,}){1,3}(?:Running|Pending|Succeeded|Completed|Failed|Error|CrashLoopBackOff|OOMKilled|Evicted)(?:\s|$)"
    r"|(?:\S+\s{2,})?POD(?:[ _]?NAME)? {2,}[A-Z]"
    r"|(?:\d{4}-\d\d-\d\d )?(?:\S+(?: \([^)\n]{1,60}\))?\s{2,}){1,7}(?:Normal|Warning)\s+\w+\s"
    r"|(?:\S+\s{2,})?(?:pod|service|deployment|daemonset|replicaset|statefulset|job|node)[\w.]{0,40}/\S+\s"
    r"|\S+\s{2,}(?:(?:ml\.)?[a-z]\w{1,9}(?:-\w{1,9})?\.\w{3,15}\s{2,})?(?:\d{1,4}|<none>)(?:\s{2,}\S{1,60}){0,6}\s*$"
)
#: What a node offers of a resource, in a column that somebody named. What of it is used or free is another thing, and `alloc` may
#: be what is allocated.
_OFFERED = regex(r"(?P<what>neuron(?:[ _-]?devices?)?|neuron[ _-]?cores?|efa)(?:[ _-]?(?:cap(?:acity)?|allocatable))?")
_OFFERS = {"neuron": "neuron", "neurondevice": "neuron", "neuroncore": "neuroncore", "efa": "efa"}
_TYPES = ("INSTANCE-TYPE", "INSTANCE_TYPE", "INSTANCETYPE", "INSTANCE", "TYPE")


#: A row of pods by itself, as `grep` and `--no-headers` leave it.
_BARE_POD = regex(
    r"(?:(?P<NAMESPACE>[a-z\d][a-z\d-]{0,62})\s{2,})?(?P<NAME>[a-z\d][a-z\d.-]{0,252})\s{2,}(?P<READY>\d{1,3}/\d{1,3})\s{2,}"
    r"(?P<STATUS>[A-Z][\w:/-]{1,40})\s{2,}(?P<RESTARTS>\d{1,6}(?: \([^()\n]{1,40} ago\))?)\s{2,}(?P<AGE>(?:\d{1,6}[ydhms]){1,2})"
    r"(?:\s{2,}(?P<IP>[\da-f.:]{3,45}|<none>)\s{2,}(?P<NODE>[\w.-]{1,253}|<none>)(?:\s{2,}.{0,300})?|\s+# (?P<NOTE>.{1,300}))?\s*"
)

#: When it was, in a column that somebody chose.
_TIME = r"(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
#: A row of events by itself; only the type and the kind of its object tell it from a line of any other table.
_BARE_EVENT = regex(
    r"(?:(?P<NAMESPACE>[a-z\d][a-z\d-]{0,62})\s{2,})?"
    r"(?P<SEEN>(?:\d{1,6}[ydhms]){1,2}(?: \(x\d{1,9} over (?:\d{1,6}[ydhms]){1,2}\))?|<unknown>|<invalid>"
    rf"|{_TIME})\s{{2,}}"
    r"(?P<TYPE>Normal|Warning)\s{2,}(?P<REASON>[A-Za-z]\w{0,127})\s{2,}(?P<OBJECT>[a-z][\w.]{0,80}/[^\s/]{1,253})\s{2,}(?P<MESSAGE>\S.*)"
)
_BARE = (_BARE_POD, _BARE_EVENT)


class _Row(Struct, frozen=True):
    line: Line
    cells: dict[str, str]


def is_title(text: str) -> bool:
    """Whether this line is the title of a table of kubectl."""
    title = _TITLE.match(text)
    return title is not None and (title["pod"] is None or _SHOWS_NODE.search(text) is not None)


def is_bare_row(text: str) -> bool:
    """Whether this line is a row of a table of pods or of events that has lost its title."""
    return any(row.fullmatch(text) for row in _BARE)


def parse_tables(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """The pods, nodes and events of all tables among the lines."""
    events: list[Event] = []
    timed = dict[int, float]()
    rows = list(_rows(lines))
    for row in rows:
        span = fact(inp, row.line, "k8s-event", {}).span
        cells = row.cells
        if {"TYPE", "REASON", "MESSAGE"} <= cells.keys():
            if (age := _time_of_day(_seen(cells))) is not None:
                timed[len(events)] = age
            events.append(_event(cells, span))
        elif {"READY", "STATUS", "RESTARTS"} <= cells.keys():
            yield from container_facts(inp, _pod(cells), span)
            if (
                cells["STATUS"] == "Evicted" and "NOTE" in cells
            ):  # the message of the pod, as who saved the row put it there
                events.append(Event("Warning", "Evicted", f"pod/{_bare(cells['NAME'])}", cells["NOTE"], span))
        elif {"NAME", "NODE"} <= cells.keys() and _shown(cells, "NODE"):
            yield from container_facts(inp, _own_columns(cells), span)
        elif states := [cells[title] for title in _STATES if title in cells and not {"READY", "ROLES"} & cells.keys()]:
            yield from _workload(inp, cells, states, span, alone=len(rows) == 1)
        elif {"STATUS", "ROLES"} <= cells.keys():
            yield from node_fact(inp, span, _bare(cells["NAME"]), cells["STATUS"], {})
        elif offers := _offers(cells):
            yield from node_fact(inp, span, _bare(cells["NAME"]), "", offers, _type(cells))
    if all(one >= other for one, other in pairwise(timed.values())):  # else they may be of several days
        events = [replace(event, age=timed.get(number, event.age)) for number, event in enumerate(events)]
    yield from event_facts(inp, events)


def _rows(lines: Sequence[Line]) -> Iterator[_Row]:
    titles: list[tuple[str, int]] = []
    for line in lines:
        if is_title(line.text):
            titles = [(found[0], found.start()) for found in _WORD.finditer(line.text)]
        elif titles:
            yield _Row(line, _cells(line.text, titles))
        elif bare := next(filter(None, (row.fullmatch(line.text) for row in _BARE)), None):
            yield _Row(line, {title: text for title, text in bare.groupdict().items() if text is not None})


def _cells(text: str, titles: Sequence[tuple[str, int]]) -> dict[str, str]:
    starts = [start for _, start in titles]
    if all(text[start - 1 : start] in {" ", ""} for start in starts[1:]):
        values = [text[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
    else:  # re-spaced by whoever pasted it
        values = _GAP.split(text.strip(), len(titles) - 1)
    return dict(zip([_OWN_TITLES.get(title, title) for title, _ in titles], values, strict=False))


def _bare(name: str) -> str:
    return name.rsplit("/", 1)[-1]


def _shown(cells: dict[str, str], title: str) -> str:
    value = cells.get(title, "")
    return "" if value in {"<none>", "<unknown>", "<unset>"} else value


def _pod(cells: dict[str, str]) -> Container:
    ready, _, wanted = cells["READY"].partition("/")
    restarts = re.match(r"\d{1,9}", cells["RESTARTS"])
    status = cells["STATUS"]
    return Container(
        pod=_bare(cells["NAME"]),
        namespace=cells.get("NAMESPACE", ""),
        phase=status,
        reason="" if status in _CALM else status,
        restarts=int(restarts[0]) if restarts else 0,
        ready=ready == wanted,
        node=_shown(cells, "NODE"),
        ip=_shown(cells, "IP"),
    )


def _own_columns(cells: dict[str, str]) -> Container:
    """A pod in a table of columns that somebody chose."""
    status, code = _shown(cells, "STATUS"), _shown(cells, "EXIT")
    return Container(
        pod=_bare(cells["NAME"]),
        namespace=cells.get("NAMESPACE", ""),
        phase=status,
        reason="" if status in _CALM else status,
        node=_shown(cells, "NODE"),
        ip=_shown(cells, "IP"),
        ending=ending(int(code)) if code.isdigit() else None,
    )


def _workload(inp: Input, cells: dict[str, str], states: Sequence[str], span: Span, *, alone: bool) -> Iterator[Fact]:
    own = next((kind for title, kind in _KINDS.items() if title in cells), "")
    kind = cells["NAME"].partition("/")[0].partition(".")[0] if "/" in cells["NAME"] else own
    yield from workload_facts(inp, span, kind, cells.get("NAMESPACE", ""), _bare(cells["NAME"]), states, alone=alone)


def _seen(cells: dict[str, str]) -> str:
    return cells.get("LAST SEEN", cells.get("SEEN", cells.get("AGE", "")))


def _time_of_day(text: str) -> float | None:
    """The seconds from a time alone to the end of its day, which order the events of one day as ages do."""
    clock = _CLOCK.match(text)
    if clock is None:
        return None
    return _SECONDS["d"] - sum(int(part) * _SECONDS[unit] for part, unit in zip(clock.groups(), "hms", strict=True))


def _event(cells: dict[str, str], span: Span) -> Event:
    seen, count = _seen(cells), cells.get("COUNT", "")
    return Event(
        type=cells["TYPE"],
        reason=cells["REASON"],
        object=cells.get("OBJECT", ""),
        message=cells["MESSAGE"],
        span=span,
        age=age_of(seen),
        instant=read_iso(seen),
        repeats=int(count) if count.isdigit() else repeats_of(seen),
    )


def age_of(text: str) -> float | None:
    """Seconds of an age such as `5m8s` or `12m (x3 over 40m)`; None where there is none."""
    parts = _AGE.findall(text.split("(", 1)[0])
    return float(sum(int(n) * _SECONDS[unit] for n, unit in parts)) if parts else None


def repeats_of(text: str) -> int:
    """How often the event was seen, from `5m8s (x3 over 10m)`."""
    found = re.search(r"\(x(\d{1,9}) over", text)
    return int(found[1]) if found else 1


def _offers(cells: dict[str, str]) -> dict[str, int]:
    found = ((_OFFERED.fullmatch(title.lower()), value) for title, value in cells.items())
    known = {_OFFERS[re.sub(r"[ _-]|s$", "", title["what"])]: value for title, value in found if title}
    return {name: int(value) if value.isdigit() else 0 for name, value in known.items()}


def _type(cells: dict[str, str]) -> dict[str, str]:
    """The label with the type of the instance, where a column shows it."""
    named = next((cells[title] for title in _TYPES if title in cells), "")
    return {INSTANCE_TYPE: named} if named else {}
