"""What AWS Health tells of instances: which is to be retired, stopped or rebooted, and which EC2 moved away from a host that
failed.

- Events of EventBridge (`"source": "aws.health"`), one or several, with `affectedEntities`.
- `aws health describe-affected-entities`: `entities[]`, whose `eventArn` has the code of the event in it.

What is closed, resolved or called off is over, and what is still to come has done nothing yet. Codes of other services, and of
instances that go on, are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from neuron_doctor.collectors import members
from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.documents import (
    JSON_LINE,
    DamagedDocument,
    Document,
    Element,
    document_of,
    elements,
    next_value,
    value_at,
)
from neuron_doctor.collectors.kube import condition_fact
from neuron_doctor.collectors.snapshot import Line, command_of, from_lines, has_form, opening
from neuron_doctor.collectors.timestamps import dated
from neuron_doctor.engine.facts import Clock, Fact, Instant, Place
from neuron_doctor.engine.regexes import regex

#: The kinds of condition that are told here: of what is to come, and of a host that failed.
SCHEDULED, RECOVERED = "health-scheduled", "health-recovery"
_CODES = regex(
    r"AWS_EC2_(?:(?P<scheduled>(?:PERSISTENT_)?INSTANCE_RETIREMENT_SCHEDULED|INSTANCE_STOP_SCHEDULED"
    r"|(?:INSTANCE|SYSTEM)_REBOOT_(?:FLEXIBLE_)?MAINTENANCE_SCHEDULED)|(?P<recovered>(?:SIMPLIFIED|INSTANCE)_AUTO_RECOVERY_\w{4,20}))"
)
_OVER = frozenset({"closed", "RESOLVED", "UNIMPAIRED"})
#: Entities of what is scheduled, before it begins; how far the event is their list does not tell.
_TO_COME = frozenset({"PENDING", "UNKNOWN"})
_OF_BRIDGE, _ENTITIES = regex(rb'"source"\s*:\s*"aws\.health"'), regex(r'\s*\{\s*"entities"\s*:\s*\[')
_INSTANCE = regex(r"i-[\da-f]{8,17}")


def _sniff(head: bytes, _name: str) -> bool:
    if b"AWS_EC2_" not in head or not opening(head).startswith("{"):
        return False
    told = _OF_BRIDGE.search(head) or (b'"entities"' in head and b'"entityValue"' in head)
    return told is not None and bool(told) and has_form(head, JSON_LINE, 0.95)


def parse(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """A `node-condition` for each instance of each event."""
    document = document_of(inp.path, [line for line in lines if command_of(line.text) is None])
    text = document.text
    try:
        if (listed := _ENTITIES.match(text)) is not None:
            for element in elements(text, listed.end()):
                yield from _of_entity(inp, document, element)
            return
        at = text.find("{")
        while at >= 0:
            yield from _of_event(inp, document, element := value_at(text, at))
            at = next_value(text, element.end, "{")
    except DamagedDocument as damage:
        inp.problem(str(damage))


def _of_entity(inp: Input, document: Document, element: Element) -> Iterator[Fact]:
    entity = element.value
    code, status = members.text(entity, "eventArn").split("/"), members.text(entity, "statusCode")
    if status in _OVER or len(code) <= 1:
        return
    known = _CODES.fullmatch(code[-2])
    if known and (known["recovered"] or status not in _TO_COME):
        yield from _told(inp, document, element, code[-2], [members.text(entity, "entityValue")], None)


def _of_event(inp: Input, document: Document, element: Element) -> Iterator[Fact]:
    detail = members.dig(element.value, "detail")
    if members.text(element.value, "source") != "aws.health" or members.text(detail, "statusCode") in _OVER:
        return
    if _is_to_come(element.value):
        return
    entities = members.listed(detail, "affectedEntities")
    open_ = [e for e in entities if members.text(e, "status") not in _OVER]
    names = [members.text(entity, "entityValue") for entity in open_]
    names = names or ([str(one) for one in members.listed(element.value, "resources")] if not entities else [])
    when = _instant(members.text(detail, "startTime"))
    yield from _told(inp, document, element, members.text(detail, "eventTypeCode"), names, when)


def _is_to_come(event: object) -> bool:
    """Whether an event tells of what begins later."""
    detail = members.dig(event, "detail")
    told, begins = _instant(members.text(event, "time")), _instant(members.text(detail, "startTime"))
    later = told is not None and begins is not None and begins.ns > told.ns
    return later or members.text(detail, "statusCode") == "upcoming"


def _told(
    inp: Input, document: Document, element: Element, code: str, names: Sequence[str], when: Instant | None
) -> Iterator[Fact]:
    known = _CODES.fullmatch(code)
    for instance in dict.fromkeys(name for name in names if known and _INSTANCE.fullmatch(name)):
        type_ = SCHEDULED if known and known["scheduled"] else RECOVERED
        span = document.quote(element, "entityValue", instance)
        told = condition_fact(inp, span, "", type_, code, instant=when if type_ == RECOVERED else None)
        place = Place(instance_id=instance, job=told.place.job, attempt=told.place.attempt)
        yield Fact(told.kind, told.data, place, told.span, told.source, told.instant)


def _instant(text: str) -> Instant | None:
    """`Tue, 26 May 2026 10:00:00 GMT`, or ISO 8601."""
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - few inputs have such dates

    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            when = read(text)
        except (ValueError, TypeError, IndexError):
            continue
        return dated(when if when.tzinfo else when.replace(tzinfo=UTC), Clock.UTC, 1_000_000_000)
    return None


COLLECTORS = (Collector("aws-health", "what AWS Health says of instances", _sniff, from_lines(parse)),)
