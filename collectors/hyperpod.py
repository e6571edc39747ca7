"""How the nodes of a HyperPod cluster are: `aws sagemaker list-cluster-nodes`, `describe-cluster-node`, or what a
`--query` left of them.

Source: SageMaker API of 2017-07-24 (ClusterInstanceStatusDetails: Running, Failure, Pending, ShuttingDown, SystemUpdating,
DeepHealthCheckInProgress, NotFound). All but Failure is also what a cluster shows that grows, shrinks or is updated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neuron_doctor.collectors import members
from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.documents import (
    JSON_LINE,
    DamagedDocument,
    Document,
    Element,
    document_of,
    elements,
    value_at,
)
from neuron_doctor.collectors.kube import condition_fact
from neuron_doctor.collectors.query_rows import are_rows, asked_of_aws, instance_of, rows_of
from neuron_doctor.collectors.snapshot import (
    Line,
    command_of,
    first_line,
    from_lines,
    has_form,
    head_lines,
    opening,
    span_on,
)
from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.regexes import regex

#: The kind of condition that is told here.
INSTANCE = "hyperpod-instance"
_LISTED, _ALONE = regex(r'\s*\{\s*"ClusterNodeSummaries"\s*:\s*\['), regex(r'\s*\{\s*"NodeDetails"\s*:\s*(?=\{)')
_CALL = ("sagemaker", "list-cluster-nodes", "describe-cluster-node")
_STATUSES = frozenset(
    {"Running", "Failure", "Pending", "ShuttingDown", "SystemUpdating", "DeepHealthCheckInProgress", "NotFound"}
)


def _sniff(head: bytes, _name: str) -> bool:
    if b'"ClusterNodeSummaries"' in head or b'"NodeDetails"' in head:
        text = "\n".join(head_lines(head))
        return (_LISTED.match(text) or _ALONE.match(text)) is not None and has_form(head, JSON_LINE, 0.95)
    if b"cluster-node" not in head or not _query(first_line(head)) or not are_rows(head):
        return False
    return any(status in opening(head) for status in _STATUSES) or opening(head).startswith("[")


def _query(text: str) -> str | None:
    return asked_of_aws(command_of(text) or "", *_CALL)


def parse(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """A `node-condition` for each node that is not running, and an `identity` for each that tells its names."""
    if query := _query(lines[0].text) if lines else "":
        for row in rows_of(lines[1:], query):
            status = next((cell for cell in row.cells.values() if cell in _STATUSES), "")
            if status and (instance := instance_of(row)):
                yield from _told(inp, span_on(inp, row.line), instance, "", status, "")
        return
    document = document_of(inp.path, [line for line in lines if command_of(line.text) is None])
    try:
        if (listed := _LISTED.match(document.text)) is not None:
            for element in elements(document.text, listed.end()):
                yield from _of_node(inp, document, element)
        elif (alone := _ALONE.match(document.text)) is not None:
            yield from _of_node(inp, document, value_at(document.text, alone.end()))
    except DamagedDocument as damage:
        inp.problem(str(damage))


def _of_node(inp: Input, document: Document, element: Element) -> Iterator[Fact]:
    node, instance = element.value, members.text(element.value, "InstanceId")
    names = {
        "instance_id": instance,
        "hostname": members.text(node, "PrivateDnsHostname").partition(".")[0],
        "address": members.text(node, "PrivatePrimaryIp"),
    }
    span = document.quote(element, "InstanceId", instance)
    told = {key: value for key, value in names.items() if value}
    if instance and len(told) > 1:
        yield Fact("identity", {**told, "listed": True}, Place(), span, inp.source_id)
    status = members.dig(node, "InstanceStatus")
    message = members.text(status, "Message")
    yield from _told(inp, span, instance, names["hostname"], members.text(status, "Status"), message)


def _told(inp: Input, span: Span, instance: str, host: str, status: str, message: str) -> Iterator[Fact]:
    if instance and status in _STATUSES - {"Running"}:
        told = condition_fact(inp, span, host, INSTANCE, status, message=message)
        data = {**told.data, "healthy": status != "Failure"}
        place = Place(host=host or None, instance_id=instance, job=told.place.job, attempt=told.place.attempt)
        yield Fact(told.kind, data, place, told.span, told.source)


COLLECTORS = (Collector("hyperpod", "nodes of a HyperPod cluster", _sniff, from_lines(parse)),)
