"""What EC2 says of how instances are, and of what it has scheduled for them: `aws ec2 describe-instance-status` as text, or as
what a `--query` left of it.

Source: AWS CLI 1 and 2, API 2016-11-15. Its JSON is read as text (node-lost-by-ec2, node-being-replaced).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.kube import condition_fact
from neuron_doctor.collectors.query_rows import Row, are_rows, asked_of_aws, instance_of, rows_of
from neuron_doctor.collectors.snapshot import (
    Line,
    command_of,
    first_line,
    from_lines,
    head_lines,
    opening,
    output,
    span_on,
)
from neuron_doctor.engine.facts import Fact, Place
from neuron_doctor.engine.regexes import regex

#: The kinds of condition that are told here.
SYSTEM_STATUS, SCHEDULED = "ec2-system-status", "ec2-event"
_CALL = ("ec2", "describe-instance-status")
_TEXT = regex(
    r"(?:INSTANCESTATUSES|INSTANCESTATE|INSTANCESTATUS|SYSTEMSTATUS|DETAILS|EVENTS|ATTACHEDEBSSTATUS|OPERATOR)\t[^\n]{0,400}$"
)
_INSTANCE = regex(r"i-[\da-f]{8,17}")
_CODE = regex(r"instance-(?:stop|reboot|retirement)|system-reboot")
#: A retirement is of hardware that is bad already; what else is scheduled counts only where the instance is impaired.
_RETIREMENT = "instance-retirement"
#: What is over begins so, and is listed for a week or two.
_OVER = regex(r"\[(?:Completed|Canceled)\]")
_IMPAIRED = "impaired"
_BOTH = 2


def _sniff(head: bytes, _name: str) -> bool:
    if b"INSTANCESTATUSES\t" not in head and b"describe-instance-status" not in head:
        return False
    if opening(head).startswith("INSTANCESTATUSES\t"):
        return all(map(_TEXT.match, head_lines(head)))
    query = _query(first_line(head))
    return bool(query) and are_rows(head) and _INSTANCE.search("\n".join(head_lines(head))) is not None


def _query(text: str) -> str | None:
    return asked_of_aws(command_of(text) or "", *_CALL)


def parse(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """A `node-condition` for each instance that is impaired, and for what is scheduled for one."""
    if query := _query(lines[0].text) if lines else "":
        for row in rows_of(lines[1:], query):
            yield from _of_row(inp, row)
        return
    shown = output(lines)
    instance, impaired = "", _impaired(shown)
    for line in shown:
        kind, *cells = line.text.split("\t")
        if kind == "INSTANCESTATUSES":
            instance = _named(cells)
        elif kind == "SYSTEMSTATUS" and _IMPAIRED in cells:
            yield _told(inp, line, instance, SYSTEM_STATUS, _IMPAIRED)
        elif kind == "EVENTS" and not any(map(_OVER.match, cells)):
            for code in filter(_CODE.fullmatch, cells):
                if code == _RETIREMENT or instance in impaired:
                    yield _told(inp, line, instance, SCHEDULED, code)


def _named(cells: Sequence[str]) -> str:
    return next((cell for cell in cells if _INSTANCE.fullmatch(cell)), "")


def _impaired(lines: Sequence[Line]) -> set[str]:
    """The instances that are impaired, or whose systems are: told below what is scheduled for them."""
    instance, impaired = "", set[str]()
    for line in lines:
        kind, *cells = line.text.split("\t")
        instance = _named(cells) if kind == "INSTANCESTATUSES" else instance
        if kind in ("INSTANCESTATUS", "SYSTEMSTATUS") and _IMPAIRED in cells:
            impaired.add(instance)
    return impaired


def _of_row(inp: Input, row: Row) -> Iterator[Fact]:
    instance = instance_of(row)
    if not instance or any(map(_OVER.match, row.cells.values())):
        return
    bad = [name for name, cell in row.cells.items() if cell == _IMPAIRED]
    for code in filter(_CODE.fullmatch, row.cells.values()):
        if bad or code == _RETIREMENT:
            yield _told(inp, row.line, instance, SCHEDULED, code)
    # where the names are unknown: the instance does not answer where its system does not, and both are told
    if any("sys" in name.lower() for name in bad) or (len(bad) == _BOTH and all(name.isdigit() for name in bad)):
        yield _told(inp, row.line, instance, SYSTEM_STATUS, _IMPAIRED)


def _told(inp: Input, line: Line, instance: str, type_: str, status: str) -> Fact:
    told = condition_fact(inp, span_on(inp, line), "", type_, status)
    place = Place(instance_id=instance or None, job=told.place.job, attempt=told.place.attempt)
    return Fact(told.kind, told.data, place, told.span, told.source)


COLLECTORS = (Collector("ec2", "what EC2 says of its instances", _sniff, from_lines(parse)),)
