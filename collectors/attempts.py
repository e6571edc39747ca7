"""JSON in which who runs a job lists its attempts: which of them failed and were made good by a later one.

- AWS Batch, `aws batch describe-jobs`: `jobs[].attempts[]`, the last one last, beside the `status` of the job
  (API of 2016-08-10: JobDetail, AttemptDetail; the log of an attempt ends with the id of its task).
- AWS Step Functions, `aws stepfunctions get-execution-history`: `events[]`, each with the one before it (`previousEventId`). What
  failed in a state that was tried anew stands between its StateEntered and its TaskSucceeded.
- Argo Workflows 3, `status.nodes` of a Workflow: a node of type Retry has its attempts as children, and what they consist of
  below them. Ids of nodes, and names of their pods, end with the same number.

What the text says besides (reasons, messages) is read as any text; an `attempt` spans the characters that are about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import BufferedReader, BytesIO

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.collectors.base import HEAD, Collector, Input
from neuron_doctor.collectors.documents import (
    DamagedDocument,
    Document,
    Element,
    document_of,
    elements,
    value_at,
)
from neuron_doctor.collectors.snapshot import command_of, lines_of, read_bytes
from neuron_doctor.engine.facts import Fact, Value
from neuron_doctor.engine.regexes import regex

_BATCH = regex(r'"jobs"\s{0,8}:\s{0,8}\[')
#: One of them, cut out (`jq '.jobs[0]'`).
_JOB = regex(r'\s{0,80}(?P<job>\{)\s{0,80}"job(?:Name|Id|Arn)"')
_ATTEMPTS = regex(r'"attempts"\s{0,8}:\s{0,8}\[')
_EVENTS = regex(r'"events"\s{0,8}:\s{0,8}\[')
_NODES = regex(r'"nodes"\s{0,8}:\s{0,8}\{')
#: What one of these documents has near its beginning.
_HEADS = tuple(
    tuple(map(regex, words))
    for words in (
        (rb'\A\s*\{\s*"jobs"\s*:\s*\[', rb'"(?:jobName|jobId|jobArn|attempts)"\s*:'),
        (rb'\A\s*\{\s*"job(?:Name|Id|Arn)"\s*:', rb'"attempts"\s*:\s*\[', rb'"statusReason"\s*:'),
        (rb'\A\s*\{\s*"events"\s*:\s*\[', rb'"previousEventId"\s*:'),
        (rb"\A\s*\{", rb'"(?:templateName|templateScope|displayName)"\s*:', rb'"nodes"\s*:\s*\{'),
        (rb"\A\s*\{", rb'"workflows\.argoproj\.io/(?:phase|completed)"\s*:', rb'"nodes"\s*:\s*\{'),
    )
)
_PROMPT = regex(rb"\A(?:[$+#][^\n]{1,2000}\n){1,4}")

_FAILED = frozenset({"Failed", "Error"})
_ENTERED, _SUCCEEDED = "StateEntered", ("TaskSucceeded", "LambdaFunctionSucceeded", "ActivitySucceeded")
_UNSUCCESSFUL = ("Failed", "TimedOut", "Aborted")


def attempts_collector(text: Collector) -> Collector:
    """The collector of such documents, that reads all else in them as `text` does."""

    def collect(inp: Input) -> Iterator[Fact]:
        data = read_bytes(inp)
        whole = inp.stream
        inp.stream = BufferedReader(BytesIO(data))
        try:
            yield from text.collect(inp)
        finally:
            inp.stream = whole  # what was not read of it still counts
        yield from attempt_facts(inp, data)

    return Collector(text.kind, "attempts of jobs and steps, as who runs them lists them", _sniff, collect)


def _sniff(head: bytes, _name: str) -> bool:
    head = _PROMPT.sub(b"", head[:HEAD], count=1)
    return any(words[0].match(head) and all(word.search(head) for word in words[1:]) for words in _HEADS)


def attempt_facts(inp: Input, data: bytes) -> Iterator[Fact]:
    """An `attempt` for each of which the document says how it ended, or that it was made good."""
    lines = [line for line in lines_of(data) if command_of(line.text) is None]
    document = document_of(inp.path, lines)
    try:
        yield from _of_batch(inp, document)
        yield from _of_step_functions(inp, document)
        yield from _of_argo(inp, document)
    except DamagedDocument as damage:
        inp.problem(str(damage))


def _of_batch(inp: Input, document: Document) -> Iterator[Fact]:
    jobs, alone = _BATCH.search(document.text), _JOB.match(document.text)
    listed_jobs = elements(document.text, jobs.end()) if jobs else iter(())
    for job in [value_at(document.text, alone.start("job"))] if alone else listed_jobs:
        listed = _ATTEMPTS.search(document.text, job.start, job.end)
        attempts = list(elements(document.text, listed.end())) if listed else []
        good = _text(job.value, "status") == "SUCCEEDED"
        for number, attempt in enumerate(attempts, 1):
            ended = good and number == len(attempts)
            stream = _text(_dig(attempt.value, "container"), "logStreamName").rpartition("/")[2]
            stream = stream or _text(_dig(attempt.value, "container"), "taskArn").rpartition("/")[2]
            unit = _text(job.value, "jobId") or _text(job.value, "jobName")
            data = _data(unit, number, stream, failed=not ended, made_good=good and not ended)
            yield _attempt(inp, document, attempt, data)


def _of_step_functions(inp: Input, document: Document) -> Iterator[Fact]:
    listed = _EVENTS.match(document.text, document.text.find('"events"'))
    found = list(elements(document.text, listed.end())) if listed else []
    events = {number: one for one in found if (number := _number(one.value, "id"))}
    made_good = {id(one) for chain in map(events.get, _retried(events)) if (one := chain)}
    for one in found:
        if _text(one.value, "type").endswith(_UNSUCCESSFUL) and id(one) in made_good:
            data = _data(_text(one.value, "type"), _number(one.value, "id"), "", failed=True, made_good=True)
            yield _attempt(inp, document, one, data)


def _retried(events: Mapping[int, Element]) -> Iterator[int]:
    """What stands between the entry into a state and the success of its task."""
    for number, event in events.items():
        if _text(event.value, "type") in _SUCCEEDED:
            seen = {number}
            at = _number(event.value, "previousEventId")
            while at in events and at not in seen and not _text(events[at].value, "type").endswith(_ENTERED):
                seen.add(at)
                yield at
                at = _number(events[at].value, "previousEventId")


def _of_argo(inp: Input, document: Document) -> Iterator[Fact]:
    listed = _NODES.search(document.text)
    nodes = value_at(document.text, listed.end() - 1).value if listed else None
    for pod in failed_pods(nodes):
        at = max(document.text.find(f'"{pod.name}": {{'), document.text.find(f'"{pod.name}":{{'))
        if at >= 0:
            element = value_at(document.text, document.text.index("{", at))
            yield _attempt(inp, document, element, pod.data)


class FailedPod(Struct, frozen=True):
    """A pod of an attempt of a step of Argo: the node that it is, the step, the number of the attempt."""

    name: str
    unit: str
    number: int
    made_good: bool

    @property
    def stream(self) -> str:
        """What its node, its pod and its log have in common."""
        return self.name.rpartition("-")[2]

    @property
    def data(self) -> dict[str, Value]:
        """The fields of its fact."""
        return _data(self.unit, self.number, self.stream, failed=True, made_good=self.made_good)


def failed_pods(nodes: object) -> Iterator[FailedPod]:
    """The pods that failed, by the `status.nodes` of a Workflow, in attempts of steps that may be tried anew."""
    if not isinstance(nodes, dict):
        return
    for name, node in nodes.items():
        if _text(node, "type") == "Retry":
            good = _text(node, "phase") == "Succeeded"
            for number, child in enumerate(_children(node), 1):
                yield from (FailedPod(pod, name, number, good) for pod in _failed_below(nodes, child))


def _failed_below(nodes: Mapping[str, object], first: str) -> Iterator[str]:
    left, seen = [first], set[str]()
    while left:
        name = left.pop()
        node = nodes.get(name)
        if name not in seen and _text(node, "phase") in _FAILED:
            left += _children(node)
            if _text(node, "type") == "Pod":
                yield name
        seen.add(name)


def _attempt(inp: Input, document: Document, element: Element, data: Mapping[str, Value]) -> Fact:
    span = replace(document.span(element.start, element.end), text="")  # it may hold anybody's parameters
    return Fact("attempt", data, inp.place, span, inp.source_id)


def _data(unit: str, number: int, stream: str, *, failed: bool, made_good: bool) -> dict[str, Value]:
    return {"unit": unit, "number": number, "stream": stream, "failed": failed, "made_good": made_good}


def _children(node: object) -> Sequence[str]:
    found = _dig(node, "children")
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def _dig(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, dict) else None


def _text(value: object, key: str) -> str:
    found = _dig(value, key)
    return found if isinstance(found, str) else ""


def _number(value: object, key: str) -> int:
    found = _dig(value, key)
    return found if isinstance(found, int) else 0
