"""Output of kubectl, in any of its forms: tables, descriptions, JSON and YAML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import dropwhile

from neuron_doctor.collectors.base import HEAD, Collector, Input
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
from neuron_doctor.collectors.kube import Event, event_facts
from neuron_doctor.collectors.kube_describe import EVENT_ROW, MEMBER, is_cut, parse_cut, parse_descriptions
from neuron_doctor.collectors.kube_objects import event_of, is_event, object_facts
from neuron_doctor.collectors.kube_tables import ROW, is_bare_row, is_title, parse_tables
from neuron_doctor.collectors.snapshot import (
    Line,
    command_of,
    first_line,
    from_lines,
    has_form,
    head_lines,
    opening,
    output,
)
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.regexes import regex

#: The members that may stand before the items of a list.
_LIST = regex(
    r'\ufeff?\s*\{(?:\s*"(?:kind|apiVersion|metadata)"\s*:\s*(?:"[^"\n]{0,200}"|\{[^{}]{0,2000}\})\s*,){0,3}\s*"items"\s*:\s*\['
)
_JSON_HEAD = regex(rb'\s*\{\s*"(?:apiVersion|kind|items|metadata)"\s*:')
#: Whoever cuts a list down (`jq`) leaves out what all of its items have alike: an event is still one that says of whom it tells.
_JSON_LIST = regex(rb'\s*\{[^\[]{0,2000}"items"\s*:\s*\[')
_JSON_EVENT = regex(rb'"(?:involvedObject|regarding)"\s*:\s*\{')
#: So it is with a single event, of which such tools write one on a line, in any order of members.
_JSON_EVENT_LINE = regex(rb'\s*\{[^\n]{0,4000}?"(?:involvedObject|regarding)"\s*:\s*\{\s*"[^\n]{1,4000}\}\s*(?:\n|\Z)')
_REASON = regex(rb'"reason"\s*:\s*"[A-Z]')
#: So it is with a single object: who it is and how it is suffice.
_JSON_OBJECT = regex(rb'\s*\{\s*"kind"\s*:\s*"(?:Pod|Node)"\s*,\s*"metadata"\s*:\s*\{')
_YAML_FIRST = regex(r"(?:apiVersion: \S+|kind: [A-Z]\w+|items:|---)\s*$")
_YAML_KIND = regex(
    rb"^(?:- )?[ ]{0,2}kind: "
    rb"(?:Pod|Node|Event|List|PodList|NodeList|EventList|\w{0,40}Job|JobSet|Workflow|Workload|PodGroup)\s*$",
    re.MULTILINE,
)
_YAML_LINE = regex(r"\s|- |---|[a-z]\w{0,40}:(?:\s|$)")
_DESCRIBED = regex(r"Name:\s+\S")
#: What a description has below its name; of a pod that somebody cut down to what matters, the node with its address; of such a
#: node, the title of its conditions (those of pods and jobs have no heartbeat).
_DESCRIPTION = regex(
    rb"^(?:Namespace|Roles):\s|^Node:\s+[\w.-]{1,253}/\d{1,3}(?:\.\d{1,3}){3}\s*$|^\s+Type\s+Status\s+LastHeartbeatTime\s",
    re.MULTILINE,
)
#: What any part of a pod has that tells how a container ended; only what has it is looked at closely.
_OF_ENDED = (b'"exitCode"', b"exitCode:", b"terminated")
_EVENTS_FIRST = regex(r"Events:\s*$|\s*Type\s+Reason\s+Age\s+From\s+Message\s*$")


def _sniff(head: bytes, _name: str) -> bool:
    first = opening(head)
    if first.startswith("{"):
        start = head.find(b"{")
        named = _JSON_HEAD.match(head, start) is not None and b'"kind"' in head
        listed = _JSON_LIST.match(head, start) and _JSON_EVENT.search(head)
        cut_down = _JSON_OBJECT.match(head, start) and b'"status"' in head
        event = _JSON_EVENT_LINE.match(head, start)
        if event and _REASON.search(event[0]):
            return has_form(head, JSON_LINE, 0.95)
        told = b'"apiVersion"' in head or listed or cut_down
        return (bool(named and told) and has_form(head, JSON_LINE, 0.95)) or _is_fragment(head)
    if _YAML_FIRST.match(first):
        return _YAML_KIND.search(head) is not None and has_form(head, _YAML_LINE, 0.95)
    if _DESCRIBED.match(first):
        return _DESCRIPTION.search(head) is not None and has_form(head, MEMBER, 0.95)
    if _EVENTS_FIRST.match(first):
        return has_form(head, EVENT_ROW)
    rows = (is_title(first) or is_bare_row(first)) and has_form(head, ROW)
    command = command_of(first_line(head))
    return rows or (command is not None and is_cut(command, head_lines(head))) or _is_fragment(head)


def _is_fragment(head: bytes) -> bool:
    if not any(word in head for word in _OF_ENDED):
        return False
    from neuron_doctor.collectors.kube_fragments import is_fragment  # noqa: PLC0415 - loaded for the first that may be one

    return is_fragment(head)


def parse(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """The facts of one output of kubectl."""
    rows = output(lines)
    if not rows:
        return
    first = rows[0].text
    if is_cut(command_of(lines[0].text) or "", [row.text for row in rows]):
        yield from parse_cut(inp, lines[0], rows)
    elif _is_fragment("\n".join(line.text for line in lines).encode()[:HEAD]):
        from neuron_doctor.collectors.kube_fragments import parse_fragment  # noqa: PLC0415 - as above

        yield from parse_fragment(inp, lines, rows, document_of(inp.path, _unprompted(lines)))
    elif first.startswith("{"):
        yield from _from_objects(inp, document_of(inp.path, _unprompted(lines)), _json_objects)
    elif _YAML_FIRST.match(first):
        from neuron_doctor.collectors.kube_yaml import yaml_objects  # noqa: PLC0415 - loads a parser that few inputs need

        yield from _from_objects(inp, document_of(inp.path, _unprompted(lines)), yaml_objects)
    elif is_title(first) or is_bare_row(first):
        yield from parse_tables(inp, rows)
    else:
        yield from parse_descriptions(inp, rows)


_Read = Callable[[str], Iterator[Element | DamagedDocument]]


def _from_objects(inp: Input, document: Document, objects: _Read) -> Iterator[Fact]:
    events: list[Event] = []
    for element in objects(document.text):
        if isinstance(element, DamagedDocument):
            inp.problem(str(element))
        elif is_event(element.value):
            events.append(event_of(document, element))
        else:
            yield from object_facts(inp, document, element)
    yield from event_facts(inp, events)


def _json_objects(text: str) -> Iterator[Element | DamagedDocument]:
    """The items of a list, or the objects that stand one behind the other (`jq -c`)."""
    listed = _LIST.match(text)
    try:
        if listed is None:
            at = text.find("{")
            while at >= 0:
                yield (element := value_at(text, at))
                at = next_value(text, element.end, "{")
        else:
            yield from elements(text, listed.end())
    except DamagedDocument as damage:
        yield damage


def _unprompted(lines: Sequence[Line]) -> list[Line]:
    return list(dropwhile(lambda line: not line.text.strip() or command_of(line.text) is not None, lines))


COLLECTORS = (Collector("kubectl", "output of kubectl", _sniff, from_lines(parse)),)
