"""`kubectl describe pod` and `describe node`, and the Events section of any description by itself.

Source: kubectl describers (Kubernetes 1.24 to 1.33): `Key:  value` lines, nested by indentation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC

from msgspec import Struct, field
from msgspec.structs import replace

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.kube import (
    Container,
    Event,
    condition_fact,
    container_facts,
    ending,
    event_facts,
    is_queued,
    is_workload,
    mark_fact,
    node_fact,
    offers_of,
    place_in_cluster,
    queued_facts,
    speaks_of_health,
    workload_facts,
)
from neuron_doctor.collectors.kube_tables import age_of, repeats_of
from neuron_doctor.collectors.snapshot import Line, command_of, fact
from neuron_doctor.collectors.timestamps import dated
from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, Span
from neuron_doctor.engine.regexes import regex

_MEMBER = regex(r"(?P<indent> *)(?P<key>[A-Za-z][\w ./()-]{0,100}?):(?:\s+(?P<value>.*))?$")
_MARK = regex(r"(?P<key>[\w./-]{1,200})(?:=|: )(?P<value>.*?)(?::(?P<effect>NoSchedule|NoExecute|PreferNoSchedule))?$")
#: The node of a pod, with its address.
_HOME = regex(r"[\w.-]{1,253}/\d{1,3}(?:\.\d{1,3}){3}")
_GAP = regex(r"\s{2,}")
_EVENT = regex(r"\s*(?:Normal|Warning)\s{2,}\w")
_DATE = regex(r"[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} [\d:]{8} [+-]\d{4}")
_CONDITION = regex(
    r"\s+(?P<type>[\w./-]{1,80})\s+(?P<status>True|False|Unknown)\s+"
    rf"(?P<dates>(?:{_DATE.pattern}\s+){{0,2}})(?P<rest>.*)$"
)
#: The title of the conditions of a node, which alone have a heartbeat.
_HEARTBEATS = regex(r"\s+Type\s+Status\s+LastHeartbeatTime\s")
#: Where a pod, or a group of pods, says what it asks for, and the line that asks for Neuron devices or cores.
_ASKING = ("Init Containers", "Containers", "Spec")
_ASKS_NEURON = regex(r"\s+aws\.amazon\.com/neuron\w{0,20}:\s+\"?[1-9]")
_ASSIGNED = regex(r"Successfully assigned (?:[\w.-]{1,253}/)?(?P<pod>[\w.-]{1,253}) to (?P<node>[\w.-]{1,253})")

#: A line of a description: nested, or a member at the left margin.
MEMBER = regex(r"\s|[A-Z][A-Za-z0-9 .()-]{0,60}:(?:\s|$)")
EVENT_ROW = regex(rf"Events:\s*$|\s*(?:Type\s+Reason\s+Age\s+From\s+Message|----\s)|{_EVENT.pattern}")

#: A command that shows a part of one description, and what such a part must have to say something.
_ASKS_CUT = regex(
    r"(?:sudo\s+)?(?:kubectl|oc|k)\s+(?:(?:-n|--namespace)[ =]\S{1,63}\s+)?describe\s+(?P<kind>pods?|po|nodes?|no)(?:\s+|/)"
    r"(?P<name>[a-z\d][a-z\d.-]{0,252})(?:\s[^|]{0,200})?\|"
)
_TELLS = regex(rf"\s+Exit Code:\s+\d|{_EVENT.pattern}|{_CONDITION.pattern}")

#: How far names of containers and their members are indented.
_CONTAINER, _FIELD = 2, 4


class _Object(Struct):
    """One described object: the lines of each section at the left margin, and the value beside its title. What it is, and how it
    is called, may be known by the command alone."""

    sections: dict[str, list[Line]] = field(default_factory=dict)
    kind: str = ""
    name: str = ""

    def value(self, section: str) -> str:
        if section == "Name" and self.name:
            return self.name
        lines = self.sections.get(section)
        found = _MEMBER.match(lines[0].text) if lines else None
        return (found["value"] or "").strip() if found else ""


def parse_descriptions(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """The facts of all objects that are described among the lines."""
    for thing in _objects(lines):
        yield from _described(inp, thing)


def is_cut(command: str, lines: Sequence[str]) -> bool:
    """Whether this is what a filter left of the description of one pod or node: how a container ended, or rows of conditions or
    events."""
    return (
        _ASKS_CUT.match(command) is not None
        and any(_TELLS.match(line) for line in lines)
        and sum(1 for line in lines if MEMBER.match(line) or EVENT_ROW.match(line)) == len(lines)
    )


def parse_cut(inp: Input, command: Line, lines: Sequence[Line]) -> Iterator[Fact]:
    """The facts of such a rest, below its command."""
    asked = _ASKS_CUT.match(command_of(command.text) or "")
    if asked is None:
        return
    kind = "node" if asked["kind"].startswith("no") else "pod"
    thing = _Object({"Name": [command]}, kind, asked["name"])
    # what stands in front of the first title is of what was cut off above it
    section = "Containers" if kind == "pod" else "Conditions"
    for line in lines:
        member = _MEMBER.match(line.text)
        section = member["key"] if member and not member["indent"] else section
        thing.sections.setdefault(section, [command]).append(line)
    yield from _described(inp, thing)


def _described(inp: Input, thing: _Object) -> Iterator[Fact]:
    if (kind := _kind(thing)) == "pod":
        yield from _pod(inp, thing)
    elif kind == "node":
        yield from _node(inp, thing)
    elif is_workload(thing.value("Kind")):
        yield from _workload(inp, thing)
    elif is_queued(thing.value("Kind")) and (status := thing.sections.get("Status")):
        told = thing.value("Kind"), thing.value("Namespace"), thing.value("Name"), _conditions(status)
        yield from queued_facts(inp, _span(inp, status[0]), *told)
    yield from _events(inp, thing)


def _kind(thing: _Object) -> str:
    if thing.kind:
        return thing.kind
    if "Containers" in thing.sections or _HOME.fullmatch(thing.value("Node")):
        return "pod"
    if is_queued(kind := thing.value("Kind")):
        return kind.lower()
    beats = any(_HEARTBEATS.match(line.text) for line in thing.sections.get("Conditions", []))
    return "node" if (beats and thing.value("Name")) or thing.sections.keys() & {"Roles", "Capacity"} else ""


def _objects(lines: Sequence[Line]) -> Iterator[_Object]:
    thing, section = _Object(), "Events"
    for line in lines:
        member = _MEMBER.match(line.text)
        if member and not member["indent"]:
            section = member["key"]
            if section == "Name" and thing.sections:
                yield thing
                thing = _Object()
        thing.sections.setdefault(section, []).append(line)
    yield thing


def _span(inp: Input, line: Line) -> Span:
    return fact(inp, line, "pod", {}).span


# --- pods


def _pod(inp: Input, thing: _Object) -> Iterator[Fact]:
    base = Container(
        pod=thing.value("Name"),
        namespace=thing.value("Namespace"),
        phase=thing.value("Status").split(" ")[0],
        reason=thing.value("Reason"),
        node=_node_of(thing),
        ip=thing.value("IP"),
    )
    span = _span(inp, (thing.sections.get("Status") or thing.sections.get("Name") or thing.sections["Containers"])[0])
    found = False
    for section in ("Init Containers", "Containers"):
        for name, members in _containers(thing.sections.get(section, [])):
            found = True
            yield from _container(inp, replace(base, name=name), members, span)
    if not found:
        yield from container_facts(inp, base, span)


def _node_of(pod: _Object) -> str:
    node = pod.value("Node").split("/", 1)[0]
    return "" if node == "<none>" else node


_Members = dict[str, tuple[str, Line]]


def _containers(lines: Sequence[Line]) -> Iterator[tuple[str, _Members]]:
    """Each container with its members; those of a state are named `Last State/Exit Code`."""
    name, members, above = "", _Members(), ""
    for line in lines[1:]:
        member = _MEMBER.match(line.text)
        if member is None:
            continue
        indent, key, value = len(member["indent"]), member["key"], (member["value"] or "").strip()
        if indent <= _CONTAINER:
            if name:
                yield name, members
            name, members, above = key, {}, ""
        elif indent <= _FIELD:
            above = key
            members[key] = (value, line)
        else:
            members[f"{above}/{key}"] = (value, line)
    if name or members:
        yield name, members


def _container(inp: Input, base: Container, members: _Members, span: Span) -> Iterator[Fact]:
    state = next((s for s in ("State", "Last State") if members.get(s, ("",))[0] == "Terminated"), None)
    code, line = members.get(f"{state}/Exit Code", ("", None))
    restarts = members.get("Restart Count", ("0",))[0]
    container = replace(
        base,
        reason=members.get("State/Reason", ("",))[0] or base.reason,
        restarts=int(restarts) if restarts.isdigit() else 0,
        ready=members.get("Ready", ("",))[0] == "True",
    )
    if line is None or not code.isdigit():
        yield from container_facts(inp, container, span)
        return
    reason, finished = (members.get(f"{state}/{key}", ("",))[0] for key in ("Reason", "Finished"))
    signal = members.get(f"{state}/Signal", ("0",))[0]
    over = ending(int(code), reason, int(signal) if signal.isdigit() else 0, _instant(finished))
    yield from container_facts(inp, replace(container, ending=over), span, _span(inp, line))


def _instant(text: str) -> Instant | None:
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - it loads sockets and more, and few inputs have dates

    found = _DATE.search(text)
    try:
        when = parsedate_to_datetime(found[0]) if found else None
    except ValueError:
        return None
    return dated(when.replace(tzinfo=when.tzinfo or UTC), Clock.UTC) if when else None


# --- jobs


def _workload(inp: Input, thing: _Object) -> Iterator[Fact]:
    """How a job of an operator ended. Of a condition, `Status` stands before `Type`."""
    status, ends, lines = "", list[str](), thing.sections.get("Status", [])
    for line in lines:
        if member := _MEMBER.match(line.text):
            key, value = member["key"], (member["value"] or "").strip()
            status = value if key == "Status" else status
            if key == "Type" and status == "True":
                ends.append(value)
    if lines:
        told = thing.value("Kind"), thing.value("Namespace"), thing.value("Name"), ends
        yield from workload_facts(inp, _span(inp, lines[0]), *told)


def _conditions(lines: Sequence[Line]) -> Iterator[tuple[str, str, str]]:
    """Type, status and message of each condition, of which the members stand in the order of their names."""
    known: dict[str, str] = {}
    for line in lines:
        if member := _MEMBER.match(line.text):
            known[member["key"]] = (member["value"] or "").strip()
            if member["key"] == "Type":
                yield known["Type"], known.get("Status", ""), known.get("Message", "")
                known = {}


# --- nodes


def _node(inp: Input, thing: _Object) -> Iterator[Fact]:
    name = thing.value("Name")
    marks = [(m, line) for s in ("Labels", "Annotations", "Taints") for m, line in _marks(thing.sections.get(s, []))]
    labels = {m["key"]: m["value"] for m, _ in marks}
    status = "SchedulingDisabled" if thing.value("Unschedulable") == "true" else ""
    span = _span(inp, (thing.sections.get("Name") or thing.sections["Capacity"])[0])
    offers = _offers(thing.sections.get("Allocatable") or thing.sections.get("Capacity", []))
    yield from node_fact(inp, span, name, status, offers, labels, thing.value("ProviderID"))
    for mark, line in marks:
        if speaks_of_health(mark["key"]):
            yield mark_fact(inp, _span(inp, line), name, mark["key"], mark["value"], mark["effect"] or "")
    for line in thing.sections.get("Conditions", []):
        if found := _CONDITION.match(line.text):
            reason, _, message = found["rest"].strip().partition(" ")
            since = _DATE.findall(found["dates"])
            at = _instant(since[-1]) if since else None
            yield condition_fact(
                inp, _span(inp, line), name, found["type"], found["status"], reason, message.strip(), at
            )


def _marks(lines: Sequence[Line]) -> Iterator[tuple[re.Match[str], Line]]:
    for n, line in enumerate(lines):
        text = line.text.partition(":")[2] if n == 0 else line.text
        if found := _MARK.match(text.strip()):
            yield found, line


def _offers(lines: Sequence[Line]) -> Mapping[str, int]:
    found = (line.text.rpartition(":") for line in lines)
    return offers_of({key.strip(): value.strip() for key, _, value in found})


# --- events


def _events(inp: Input, thing: _Object) -> Iterator[Fact]:
    rows = [line for line in thing.sections.get("Events", []) if _EVENT.match(line.text)]
    found = next(((m, line) for line in rows if (m := _ASSIGNED.search(line.text))), None)
    about = _about(thing) or (f"pod/{found[0]['pod']}" if found else "")
    shown = (line for section in _ASKING for line in thing.sections.get(section, ()))
    neuron = bool(rows) and any(_ASKS_NEURON.match(line.text) for line in shown)
    yield from event_facts(inp, [_event(inp, line, about) for line in rows], _node_of(thing), neuron=neuron)
    if found:
        names = {"pod": found[0]["pod"], "hostname": found[0]["node"]}
        place = place_in_cluster(inp, Place(host=names["hostname"], container=names["pod"]))
        yield Fact("identity", names, place, _span(inp, found[1]), inp.source_id)


def _about(thing: _Object) -> str:
    name = thing.value("Name")
    return f"{_kind(thing)}/{name}" if name else ""


def _event(inp: Input, line: Line, about: str) -> Event:
    kind, reason, *rest = _GAP.split(line.text.strip(), 4)
    age = rest[0] if rest else ""
    message = rest[-1] if len(rest) > 1 else ""
    return Event(kind, reason, about, message, _span(inp, line), age_of(age), repeats_of(age))
