"""Every collector of ours passes the tests that plug-ins must pass; and each of these tests can fail."""

from __future__ import annotations

import json
import os
import re
import socket
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path

import pytest
from builtin_rules import engine, rulebook
from msgspec.structs import replace
from snapshot_inputs import SAMPLES, as_input

from neuron_doctor import collector_kit
from neuron_doctor.collector_kit import STRANGERS, Sample, faults_of, memory_faults
from neuron_doctor.collectors.base import HEAD, Collector, Input, UnreadableInput
from neuron_doctor.collectors.discover import discover
from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, span_of
from neuron_doctor.pipeline import collect_inputs

CORPUS = Path(__file__).parents[2] / "corpus"
#: Samples of the corpus are at most so large, and so many of each kind are taken: the smallest, the largest, one between.
LARGEST = 60_000
#: What no format tells, only the names of its files.
BY_NAME = {"file of a runtime core dump", "name of a machine", "names and addresses of machines"}

BATCH = json.dumps(
    {
        "jobs": [
            {
                "jobName": "sft",
                "jobId": "a1:3",
                "status": "SUCCEEDED",
                "attempts": [{"statusReason": "Host EC2 (x) terminated."}, {}],
            }
        ]
    },
    indent=4,
).encode()


def owner(data: bytes, name: str) -> Collector | None:
    return next((one for one in engine().collectors if one.sniff(data[:HEAD], name)), None)


def samples() -> dict[str, tuple[Collector, list[Sample]]]:
    """The captures of the other tests and files of the corpus, by the collector that reads them."""
    found: dict[str, tuple[Collector, list[Sample]]] = {}

    def take(data: bytes, name: str) -> None:
        one = owner(data, name)
        if one and data:
            found.setdefault(one.title, (one, []))[1].append(Sample(data, name, one.title not in BY_NAME))

    by_kind: dict[str, list[tuple[bytes, str]]] = defaultdict(list)
    for inp in discover([str(CORPUS / "demo" / "input"), str(CORPUS / "incidents")]):
        data = inp.stream.read(LARGEST + 1)
        if 0 < len(data) <= LARGEST and (one := owner(data, inp.name)):
            by_kind[one.title].append((data, inp.name))
    for some in by_kind.values():
        some.sort(key=lambda pair: len(pair[0]))
        for pair in {0: some[0], len(some) // 2: some[len(some) // 2], len(some) - 1: some[-1]}.values():
            take(*pair)
    for texts in SAMPLES.values():
        for text in texts:
            take(text.encode(), "capture.txt")
    take(b"trn-7\n", "hostname")
    take(b"$ modinfo -F version neuron\n2.27.4.0\n", "capture.txt")
    take(b"10.0.7.1 trn-7\n10.0.7.2 trn-8\n", "hosts")
    take(BATCH, "describe-jobs.json")
    take(b"node,private_ip,instance_id\ntrn-7,10.0.7.1,i-0a91be7732c0d1141\n", "capture.txt")
    take(
        b'{"Reservations": [{"Instances": [{"InstanceId": "i-0a91be7732c0d1141", "PrivateIpAddress": "10.0.7.1"}]}]}',
        "a.json",
    )
    take(b"#!/bin/bash\nsrun train.py\n", "capture.txt")
    take(b':msg, contains, "NEURON_HW_ERR" /var/log/neuron.err\n', "capture.txt")
    take(b'<testsuite tests="1" failures="0" errors="0"><testcase name="a"/></testsuite>\n', "capture.txt")
    return found


OURS = samples()


@pytest.fixture(scope="module", autouse=True)
def _database_is_made() -> None:
    """The first text has the database of all patterns made and kept, which is no write of a collector's."""
    assert not list(collect_inputs([as_input(b"a line\n", "capture.txt")], engine()).facts)


def test_there_is_a_sample_for_every_collector_of_ours() -> None:
    without = {one.title for one in engine().collectors} - OURS.keys()
    # a profile and dumped tensors are known by their first bytes alone, and nothing in them is read
    assert without <= {one.title for one in engine().collectors if one.kind in ("profile", "input-dump", "ndet-raw")}


@pytest.mark.heavy
@pytest.mark.parametrize("title", sorted(OURS))
def test_a_collector_of_ours_keeps_its_promises(title: str) -> None:
    one, some = OURS[title]
    strangers = () if one.kind == "log" else STRANGERS
    assert faults_of(one, some, patterns=rulebook().patterns, strangers=strangers) == []


@pytest.mark.heavy
@pytest.mark.parametrize("kind", ["log", "neuron-monitor", "ndet-trace", "flight-recorder", "df"])
def test_the_memory_of_a_collector_of_ours_does_not_grow_with_its_input(kind: str) -> None:
    one, some = next(pair for pair in OURS.values() if pair[0].kind == kind)
    assert memory_faults(one, some[-1], (20 << 20, 40 << 20)) == []


# --- a collector of which every test has something to say ----------------------------------------------------------

TEXT = b"acme-bmc 1\n" + b"".join(b"%d host-%d hot %d\n" % (1_780_000_000 + n, n % 3, n % 4) for n in range(12))


def sniff(head: bytes, _name: str) -> bool:
    return head.startswith(b"acme-bmc 1\n")


def collect(inp: Input) -> Iterator[Fact]:
    offset, number = 0, 1
    for line in iter(lambda: inp.stream.readline(1 << 16), b""):
        fields = line.rstrip(b"\n").decode("utf-8", "replace").split(" ")
        if len(fields) == 4 and fields[0].isascii() and fields[0].isdigit() and len(fields[0]) == 10:
            if fields[3].isascii() and fields[3].isdigit() and len(fields[3]) < 4:
                span = span_of(inp.path, line.rstrip(b"\n"), offset, number, 1)
                place = Place(host=fields[1] or None, device=int(fields[3])).over(inp.place)
                instant = Instant(int(fields[0]) * 10**9, Clock.UTC)
                yield Fact("unhealthy-component", {"component": fields[2]}, place, span, inp.source_id, instant)
            else:
                inp.problem("a line that is damaged", number)
        offset += len(line)
        number += line.endswith(b"\n")  # of a long line only the last piece does


GOOD = Collector("acme-bmc", "event log of a BMC", sniff, collect)


def changed(change: Callable[[Fact, Input], Fact]) -> Callable[[Input], Iterator[Fact]]:
    return lambda inp: (change(fact, inp) for fact in collect(inp))


def raising(inp: Input) -> Iterator[Fact]:
    for fact in collect(inp):
        json.loads(fact.span.text)  # no line is JSON
        yield fact


def strict(inp: Input) -> Iterator[Fact]:
    """Whatever it was not made for is an error of Python's."""
    for line in inp.stream.read().decode("utf-8").splitlines()[1:]:
        int(line.split(" ")[3])
    return iter(())


def counting(inp: Input, counter: list[int] = []) -> Iterator[Fact]:  # noqa: B006 - that is what is wrong with it
    counter.append(0)
    return (replace(fact, repeats=len(counter)) for fact in collect(inp))


def writing(inp: Input) -> Iterator[Fact]:
    Path(os.environ["NEURON_DOCTOR_CACHE"], "kit").write_bytes(inp.stream.peek()[:10])
    return collect(inp)


def connecting(inp: Input) -> Iterator[Fact]:
    with socket.socket() as one:
        one.connect_ex(("127.0.0.1", 9))
    return collect(inp)


def whole(inp: Input) -> Iterator[Fact]:
    lines = inp.stream.read().splitlines()
    yield Fact(
        "unhealthy-component", {"component": str(len(lines))}, inp.place, span_of(inp.path, b"", 0), inp.source_id
    )


def test_a_good_collector_has_no_faults() -> None:
    assert faults_of(GOOD, [TEXT]) == []


def test_what_python_keeps_of_a_module_that_is_loaded_meanwhile_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loaded_late.py").write_text("MORE = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)

    def late(inp: Input) -> Iterator[Fact]:
        import_module("loaded_late")
        return collect(inp)

    assert faults_of(replace(GOOD, collect=late), [TEXT]) == []
    assert list((tmp_path / "__pycache__").glob("loaded_late.*.pyc"))


BAD: list[tuple[str, dict[str, object]]] = [
    ("sample 1 is not claimed", {"sniff": lambda head, name: False}),
    ("claimed by its name, and refused", {"sniff": lambda head, name: name == "capture"}),
    ("an input of another kind is claimed", {"sniff": lambda head, name: True}),
    ("is not clearly refused (it said None)", {"sniff": lambda head, name: sniff(head, name) or None}),
    ("(it raised UnicodeDecodeError", {"sniff": lambda head, name: head.decode().startswith("acme-bmc 1\n")}),
    ("it raised JSONDecodeError", {"collect": raising}),
    ("for a sample", {"collect": strict}),
    ("a fact is of no kind", {"collect": changed(lambda fact, inp: replace(fact, kind="acme-event"))}),
    ("a fact is of no kind", {"collect": changed(lambda fact, inp: replace(fact, data={"component": 7}))}),
    ("a fact is of no kind", {"collect": changed(lambda fact, inp: replace(fact, place=None))}),
    (
        "a fact is of no kind",
        {"collect": changed(lambda fact, inp: replace(fact, instant=Instant(0 - 10**20, Clock.UTC)))},
    ),
    ("not in the input", {"collect": changed(lambda fact, inp: replace(fact, span=replace(fact.span, path="x")))}),
    ("lies outside", {"collect": changed(lambda fact, inp: replace(fact, span=replace(fact.span, length=9999)))}),
    ("the digest", {"collect": changed(lambda fact, inp: replace(fact, span=replace(fact.span, length=3)))}),
    (
        "is said to stand in line",
        {"collect": changed(lambda fact, inp: replace(fact, span=replace(fact.span, line=1)))},
    ),
    ("two readings of one input differ", {"collect": counting}),
    ("others under another name", {"collect": changed(lambda fact, inp: replace(fact, data={"component": inp.name}))}),
    ("the host of a", {"collect": changed(lambda fact, inp: replace(fact, place=inp.place.over(fact.place)))}),
    ("a file is opened for writing", {"collect": writing}),
    ("socket.connect happens", {"collect": connecting}),
]


@pytest.mark.parametrize(("said", "bad"), BAD, ids=[f"{number}: {said}" for number, (said, _) in enumerate(BAD)])
def test_a_collector_that_breaks_a_promise_is_told_so(said: str, bad: dict[str, object]) -> None:
    faults = faults_of(replace(GOOD, **bad), [TEXT])
    assert any(said in fault for fault in faults), faults


def test_a_collector_that_takes_too_long_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector_kit, "SLOWEST", -1.0)
    faults = faults_of(GOOD, [TEXT])
    assert any(re.match(r"it took \d+ s for \d+ bytes that begin with", fault) for fault in faults)
    assert any(re.match(r"it took \d+ s for \d+ bytes \(a sample cut off", fault) for fault in faults)


def test_without_samples_nothing_can_be_said() -> None:
    assert faults_of(GOOD, []) == [
        "there is no sample: nothing can be said of a collector without an input of its kind"
    ]


def test_an_input_that_cannot_be_read_is_told_by_the_one_exception_for_it() -> None:
    def refusing(inp: Input) -> Iterable[Fact]:
        if not inp.stream.read().endswith(b"\n"):
            raise UnreadableInput("cut off")
        return ()

    assert faults_of(replace(GOOD, collect=refusing), [TEXT]) == []


def test_memory_that_grows_with_the_input_is_told() -> None:
    assert memory_faults(GOOD, Sample(TEXT), (1 << 18, 1 << 20)) == []
    [fault] = memory_faults(replace(GOOD, collect=whole), Sample(TEXT), (2 << 20, 12 << 20))
    assert fault.startswith("its memory grows with the input: ")
