"""How containers ended, in what somebody cut out of a pod: `kubectl get pod w-3 -o json | jq '...[0].lastState'`,
`-o jsonpath='{.status...terminated}'`, `jq -c '.items[] | {name: .metadata.name, state: ...}'`, `-o yaml | grep -A6 terminated`,
and rows of names, reasons and codes that a template made.

Source: Kubernetes API v1 (PodStatus, ContainerStatus, ContainerState). A fragment is made a pod again and read as one
(kube_objects). Whose it is says the command above it, or a name beside it; otherwise that stays unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from neuron_doctor.collectors import members
from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.command_lines import pipelines, tool_of
from neuron_doctor.collectors.documents import JSON_LINE, DamagedDocument, Document, Element, next_value, value_at
from neuron_doctor.collectors.kube import Container, container_facts, ending
from neuron_doctor.collectors.kube_objects import object_facts
from neuron_doctor.collectors.pod_sections import asked_pods
from neuron_doctor.collectors.snapshot import (
    Line,
    command_of,
    first_line,
    has_form,
    has_more_commands,
    head_lines,
    opening,
    span_on,
)
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.regexes import regex

#: A container that ended, in the words of the API, and nothing of an object as a whole.
_ENDED = regex(rb'"exitCode"\s*:\s*"?\d')
_OF_STATE = regex(rb'"(?:reason|finishedAt|startedAt|containerID)"\s*:\s*"')
_TERMINATED, _FLAT = regex(rb'"terminated"\s*:\s*\{'), regex(rb"\s*\{[^{}\[\]]{0,4000}\}")
_WHOLE = regex(rb'\s*\{\s*"(?:apiVersion|items|kind|metadata|tasks|jobs)"\s*:')
#: Lines of a state in YAML, whatever was left of them.
_YAML_LINE = regex(r"\s*(?:- )?(?P<key>[a-zA-Z]{2,40}):(?:\s+(?P<value>\S.{0,400}?))?\s*$|--\s*$")
_YAML_WHOLE = regex(r"(?:apiVersion|kind|items|metadata|Name):")
_YAML_ENDED, _YAML_OF_STATE = (
    regex(r"\s*exitCode:\s+\d"),
    regex(r"\s*(?:reason: [A-Z]|finishedAt: |lastState:|terminated:)"),
)
_STATE_KEYS = frozenset({"containerID", "exitCode", "finishedAt", "message", "reason", "signal", "startedAt"})
#: A row that a template made: a pod, and how it ended; what else it shows stands in any order.
_ROW = regex(
    r"(?:pod/)?(?P<pod>[a-z\d][a-z\d.-]{0,252})[\t :,=|]{1,8}(?P<rest>(?:[^\n]{0,200}[\t :,=|])?"
    r"(?P<reason>OOMKilled|Error|Completed|ContainerCannotRun|StartError|ContainerStatusUnknown|DeadlineExceeded)\b[^\n]{0,200})$"
)
_CODE = regex(r"(?:^|[\t :,=|])(?P<code>\d{1,3})(?=$|[\t ,|])")
_NODE = regex(r"(?:^|[\t :,=|])(?P<node>(?:ip-\d|i-[\da-f]{8}|hyperpod-i-)[\w.-]{1,252})(?=$|[\t ,|])")
#: What makes the `name` of a part of a pod the pod's; otherwise it is that of a container.
_NAMES_POD = regex(r"(?<![\w.])\"?name\"?\s{0,4}:\s{0,4}\(?\s{0,4}(?:\.metadata\.name|\$)")
_BARE_NAME = regex(rb'"name"\s*:\s*"')
_OF_OTHERS = regex(rb'"(?:pod|podName|pod_name|image|imageID|restartCount)"\s*:')
_POD_KEYS, _NODE_KEYS = ("pod", "podName", "pod_name"), ("node", "nodeName", "node_name", "host")
#: Nobody nests what he cuts out deeper.
_DEEPEST = 4


class _Asked(Struct, frozen=True):
    """The one pod for which a command asked, if it named one, and its namespace."""

    pod: str = ""
    namespace: str = ""
    #: Whether what a fragment calls `name` may be that of a pod: as a command says, or where there is none.
    named: bool = True


def is_fragment(head: bytes) -> bool:
    """Whether this tells how containers ended, in a part of what Kubernetes has of their pods. Of several commands each is read
    by itself."""
    return _is_part(head) and not has_more_commands(head)


def _is_part(head: bytes) -> bool:
    first = opening(head)
    if first.startswith(("{", "[")):
        start = head.find(first[:1].encode())
        if _WHOLE.match(head, start) or not (_ENDED.search(head, start) and _OF_STATE.search(head, start)):
            return False
        told = (_is_asked(head) or _is_state(head[start:])) and not _is_of_containers(head)
        return told and has_form(head, JSON_LINE, 0.95)
    if _YAML_LINE.match(first) and not _YAML_WHOLE.match(first):
        lines = head_lines(head)
        told = any(map(_YAML_ENDED.match, lines)) and any(map(_YAML_OF_STATE.match, lines))
        return told and has_form(head, _YAML_LINE, 0.95)
    return _ROW.match(first) is not None and "terminated" in first_line(head) and _is_asked(head)


def _is_asked(head: bytes) -> bool:
    """Whether the command above asks for pods."""
    return _asked(command_of(first_line(head)) or "") is not None


def _is_of_containers(head: bytes) -> bool:
    """Whether only containers are named, and of which pods they are is unknown."""
    asked = _asked(command_of(first_line(head)) or "") or _Asked()
    if asked.pod or asked.named:
        return False
    return _BARE_NAME.search(head) is not None and _OF_OTHERS.search(head) is None


def _is_state(text: bytes) -> bool:
    """Whether no command is needed to know whose words these are: other tools tell of codes and reasons, too."""
    if _TERMINATED.search(text):
        return True
    flat = _FLAT.match(text)
    return flat is not None and b'"finishedAt"' in flat[0] and b'"exitCode"' in flat[0]


def _asked(command: str) -> _Asked | None:
    """Of which pod a command shows something; None where it does not ask for pods."""
    try:
        words = [pipeline.words for pipeline in pipelines(command) if tool_of(pipeline.words) in ("kubectl", "oc", "k")]
    except ValueError:
        return None
    found = [asked for one in words if (asked := asked_pods(one)) is not None]
    return _Asked(*found[0], _NAMES_POD.search(command) is not None) if len(found) == 1 else None


def parse_fragment(inp: Input, lines: Sequence[Line], rows: Sequence[Line], document: Document) -> Iterator[Fact]:
    """The facts of one such output: its `lines` with the command, those that are output, and these as a document."""
    asked = _asked(command_of(lines[0].text) or "") or _Asked()
    first = rows[0].text
    if first.startswith(("{", "[")):
        yield from _of_json(inp, document, asked)
    elif _ROW.match(first):
        yield from _of_rows(inp, rows, asked)
    else:
        yield from _of_yaml(inp, rows, asked)


# --- JSON


def _of_json(inp: Input, document: Document, asked: _Asked) -> Iterator[Fact]:
    text = document.text
    at = min((found for found in map(text.find, "{[") if found >= 0), default=-1)
    try:
        while at >= 0:
            element = value_at(text, at)
            for pod in _pods(element.value, asked):
                yield from object_facts(inp, document, Element(pod, element.start, element.end))
            at = max(next_value(text, element.end, "{"), next_value(text, element.end, "["))
    except DamagedDocument as damage:
        inp.problem(str(damage))


def _pods(value: object, asked: _Asked, depth: int = 0) -> Iterator[dict[str, object]]:
    """The pods of a fragment, as far as it shows them."""
    if isinstance(value, list) and depth < _DEEPEST:
        if value and all(map(_is_status, value)) and not any(_pod_named(one, asked) for one in value):
            yield _pod({"containerStatuses": value}, asked)
            return
        for one in value:
            yield from _pods(one, asked, depth + 1)
    if not isinstance(value, dict):
        return
    pod, namespace = _pod_named(value, asked) or asked.pod, members.text(value, "namespace") or asked.namespace
    about = _Asked(pod, namespace, asked.named)
    node = next((members.text(value, key) for key in _NODE_KEYS if members.text(value, key)), "")
    if members.listed(value, "containerStatuses") or members.listed(value, "initContainerStatuses"):
        yield _pod(value, about, node)
    elif (status := _status(value)) is not None:
        yield _pod({"phase": members.text(value, "phase"), "containerStatuses": [status]}, about, node)
    elif depth < _DEEPEST:
        for one in value.values():
            yield from _pods(one, about, depth + 1)


def _pod(status: Mapping[str, object], asked: _Asked, node: str = "") -> dict[str, object]:
    names = {"name": asked.pod, "namespace": asked.namespace}
    return {"kind": "Pod", "metadata": names, "spec": {"nodeName": node}, "status": status}


def _pod_named(value: object, asked: _Asked) -> str:
    """The pod that an object names: under one of these keys, or as its `name` where it is none of a container. What is in a
    pod that is known is no other pod."""
    found = next((members.text(value, key) for key in _POD_KEYS if members.text(value, key)), "")
    of_container = asked.pod or not asked.named or _is_of_container(value)
    return found or ("" if of_container else members.text(value, "name"))


def _is_of_container(value: object) -> bool:
    return isinstance(value, dict) and ("image" in value or "imageID" in value or "restartCount" in value)


def _is_status(value: object) -> bool:
    return isinstance(value, dict) and _status(value) is not None


def _status(value: Mapping[str, object]) -> dict[str, object] | None:
    """The status of a container that a fragment is, or of which it is the state."""
    if _is_ending(value):
        return {"state": {"terminated": value}, **_name_of(value)}
    if _is_ending(value.get("terminated")):
        return {"state": {"terminated": value["terminated"]}, **_name_of(value)}
    states = [value.get(key) for key in ("state", "lastState", "last_state", "last")]
    ended = next((found for state in states if (found := _ending_in(state)) is not None), None)
    if ended is None:
        return None
    now = value.get("state") if isinstance(value.get("state"), dict) else {}
    kept = {key: value[key] for key in ("ready", "restartCount") if key in value}
    return {"state": now or {}, "lastState": {"terminated": ended}, **_name_of(value), **kept}


def _name_of(value: Mapping[str, object]) -> dict[str, object]:
    return {"name": members.text(value, "name")} if _is_of_container(value) else {}


def _ending_in(state: object) -> object | None:
    """How a container ended, by a state or by what stands in one."""
    ended = members.dig(state, "terminated")
    return next((one for one in (ended, state) if _is_ending(one)), None)


def _is_ending(value: object) -> bool:
    return isinstance(value, dict) and "exitCode" in value and bool(_STATE_KEYS & value.keys() - {"exitCode"})


# --- YAML


def _of_yaml(inp: Input, rows: Sequence[Line], asked: _Asked) -> Iterator[Fact]:
    """Each run of members of a state is one; a member that comes again begins the next."""
    run: dict[str, tuple[str, Line]] = {}
    for line in rows:
        member = _YAML_LINE.match(line.text)
        key = member["key"] if member and member["key"] else ""
        if (key not in _STATE_KEYS or key in run) and run:
            yield from _of_run(inp, run, asked)
            run = {}
        if member and key in _STATE_KEYS and member["value"]:
            run[key] = (member["value"].strip("\"'"), line)
    yield from _of_run(inp, run, asked)


def _of_run(inp: Input, run: Mapping[str, tuple[str, Line]], asked: _Asked) -> Iterator[Fact]:
    code = run.get("exitCode", ("", None))[0]
    if not code.isdigit() or len(run) == 1:
        return
    state = {key: value for key, (value, _) in run.items()}
    line = run["exitCode"][1]
    document = Document(inp.path, "", (0,), (line.offset,), line.number)
    pod = _pod({"containerStatuses": [{"state": {"terminated": state}}]}, asked)
    for fact in object_facts(inp, document, Element(pod, 0, 0)):
        yield _on(inp, fact, line)


def _on(inp: Input, fact: Fact, line: Line) -> Fact:
    return Fact(fact.kind, fact.data, fact.place, span_on(inp, line), fact.source, fact.instant)


# --- rows


def _of_rows(inp: Input, rows: Sequence[Line], asked: _Asked) -> Iterator[Fact]:
    for line in rows:
        row = _ROW.match(line.text.strip())
        if row is None:
            continue
        code, node = _CODE.search(row["rest"]), _NODE.search(row["rest"])
        end = ending(int(code["code"]), row["reason"]) if code else None
        reason = "" if row["reason"] == "Completed" else row["reason"]
        container = Container(row["pod"], asked.namespace, reason=reason, node=node["node"] if node else "", ending=end)
        yield from container_facts(inp, container, span_on(inp, line))
