"""JSON in which who runs a job lists its attempts: which of them failed and were made good by a later one.

- AWS Batch, `aws batch describe-jobs`: `jobs[].attempts[]`, the last one last, beside the `status` of the job
  (API of 2016-08-10: JobDetail, AttemptDetail; the log of an attempt ends with the id of its task).
- AWS Step Functions, `aws stepfunctions get-execution-history`: `events[]`, each with the one before it (`previousEventId`). What
  failed in a state that was tried anew stands between its StateEntered and its TaskSucceeded.
- Argo Workflows 3, `status.nodes` of a Workflow (argo.py).

What the text says besides (reasons, messages) is read as any text; an `attempt` spans the characters that are about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.collectors import members
from neuron_doctor.collectors.argo import failed_pods
from neuron_doctor.collectors.base import HEAD, Collector, Input
from neuron_doctor.collectors.beside_text import beside_text
from neuron_doctor.collectors.documents import (
    DamagedDocument,
    Document,
    Element,
    document_of,
    elements,
    value_at,
)
from neuron_doctor.collectors.snapshot import command_of, lines_of
from neuron_doctor.engine.facts import Fact, Value
from neuron_doctor.engine.regexes import regex

_BATCH = regex(r'"jobs"\s{0,8}:\s{0,8}\[')
#: One of them, cut out (`jq '.jobs[0]'`).
_JOB = regex(r'\s{0,80}(?P<job>\{)\s{0,80}"job(?:Name|Id|Arn)"')
_ATTEMPTS = regex(r'"attempts"\s{0,8}:\s{0,8}\[')
_EVENTS = regex(r'"events"\s{0,8}:\s{0,8}\[')
_NODES = regex(r'"nodes"\s{0,8}:\s{0,8}\{')
_PROMPT = regex(rb"\A(?:[$+#][^\n]{1,2000}\n){1,4}")

_ENTERED, _SUCCEEDED = "StateEntered", ("TaskSucceeded", "LambdaFunctionSucceeded", "ActivitySucceeded")
_UNSUCCESSFUL = ("Failed", "TimedOut", "Aborted")


def attempts_collector(text: Collector) -> Collector:
    """The collector of such documents, that reads all else in them as `text` does."""
    return beside_text(text, "attempts of jobs and steps, as who runs them lists them", _sniff, attempt_facts)


def _sniff(head: bytes, _name: str) -> bool:
    return _reader_of(head) is not None


def _reader_of(data: bytes) -> _Reader | None:
    """What reads a document that begins so."""
    head = _PROMPT.sub(b"", data[:HEAD], count=1)
    return next(
        (read for words, read in _FORMATS if words[0].match(head) and all(word.search(head) for word in words[1:])),
        None,
    )


def attempt_facts(inp: Input, data: bytes) -> Iterator[Fact]:
    """An `attempt` for each of which the document says how it ended, or that it was made good."""
    read = _reader_of(data)
    if read is None:
        return
    lines = [line for line in lines_of(data) if command_of(line.text) is None]
    try:
        yield from read(inp, document_of(inp.path, lines))
    except DamagedDocument as damage:
        inp.problem(str(damage))


def _of_batch(inp: Input, document: Document) -> Iterator[Fact]:
    jobs, alone = _BATCH.search(document.text), _JOB.match(document.text)
    listed_jobs = elements(document.text, jobs.end()) if jobs else iter(())
    for job in [value_at(document.text, alone.start("job"))] if alone else listed_jobs:
        listed = _ATTEMPTS.search(document.text, job.start, job.end)
        attempts = list(elements(document.text, listed.end())) if listed else []
        good = members.text(job.value, "status") == "SUCCEEDED"
        for number, attempt in enumerate(attempts, 1):
            ended = good and number == len(attempts)
            stream = members.text(members.dig(attempt.value, "container"), "logStreamName").rpartition("/")[2]
            stream = stream or members.text(members.dig(attempt.value, "container"), "taskArn").rpartition("/")[2]
            unit = members.text(job.value, "jobId") or members.text(job.value, "jobName")
            data = _data(unit, number, stream, failed=not ended, made_good=good and not ended)
            yield _attempt(inp, document, attempt, data)


def _of_step_functions(inp: Input, document: Document) -> Iterator[Fact]:
    listed = _EVENTS.match(document.text, document.text.find('"events"'))
    found = list(elements(document.text, listed.end())) if listed else []
    events = {number: one for one in found if (number := members.number(one.value, "id"))}
    made_good = {id(one) for chain in map(events.get, _retried(events)) if (one := chain)}
    for one in found:
        if members.text(one.value, "type").endswith(_UNSUCCESSFUL) and id(one) in made_good:
            unit, number = members.text(one.value, "type"), members.number(one.value, "id")
            data = _data(unit, number, "", failed=True, made_good=True)
            yield _attempt(inp, document, one, data)


def _retried(events: Mapping[int, Element]) -> Iterator[int]:
    """What stands between the entry into a state and the success of its task."""
    for number, event in events.items():
        if members.text(event.value, "type") in _SUCCEEDED:
            seen = {number}
            at = members.number(event.value, "previousEventId")
            while at in events and at not in seen and not members.text(events[at].value, "type").endswith(_ENTERED):
                seen.add(at)
                yield at
                at = members.number(events[at].value, "previousEventId")


def _of_argo(inp: Input, document: Document) -> Iterator[Fact]:
    listed = _NODES.search(document.text)
    nodes = value_at(document.text, listed.end() - 1).value if listed else None
    for pod in failed_pods(nodes):
        at = max(document.text.find(f'"{pod.name}": {{'), document.text.find(f'"{pod.name}":{{'))
        if at >= 0:
            element = value_at(document.text, document.text.index("{", at))
            yield _attempt(inp, document, element, pod.data)


def _attempt(inp: Input, document: Document, element: Element, data: Mapping[str, Value]) -> Fact:
    span = replace(document.span(element.start, element.end), text="")  # it may hold anybody's parameters
    return Fact("attempt", data, inp.place, span, inp.source_id)


def _data(unit: str, number: int, stream: str, *, failed: bool, made_good: bool) -> dict[str, Value]:
    return {"unit": unit, "number": number, "stream": stream, "failed": failed, "made_good": made_good}


def _words(*words: bytes) -> Sequence[re.Pattern[bytes]]:
    return tuple(map(regex, words))


_Reader = Callable[[Input, Document], Iterator[Fact]]
#: What the documents have near their beginning, and what reads them.
_FORMATS: tuple[tuple[Sequence[re.Pattern[bytes]], _Reader], ...] = (
    (_words(rb'\A\s*\{\s*"jobs"\s*:\s*\[', rb'"(?:jobName|jobId|jobArn|attempts)"\s*:'), _of_batch),
    (
        _words(rb'\A\s*\{\s*"job(?:Name|Id|Arn)"\s*:', rb'"attempts"\s*:\s*\[', rb'"statusReason"\s*:'),
        _of_batch,
    ),
    (_words(rb'\A\s*\{\s*"events"\s*:\s*\[', rb'"previousEventId"\s*:'), _of_step_functions),
    (
        _words(rb"\A\s*\{", rb'"(?:templateName|templateScope|displayName)"\s*:', rb'"nodes"\s*:\s*\{'),
        _of_argo,
    ),
    (
        _words(rb"\A\s*\{", rb'"workflows\.argoproj\.io/(?:phase|completed)"\s*:', rb'"nodes"\s*:\s*\{'),
        _of_argo,
    ),
)
