"""JSON envelopes of Docker and journald are opened; damaged ones do no harm."""

import json

import pytest

from neuron_doctor.collectors.prefixes import Channel, Line, Record, has_header, peel, times_of
from neuron_doctor.collectors.timestamps import read_iso
from neuron_doctor.engine.facts import Clock, Instant

RUNTIME = "2024-Jun-26 00:32:47.943821 30294:32381 ERROR  TDRV:exec_wait     nd0:nc1:h_model.id1001: out of bound"
RUNTIME_TIME = Instant(1719361967_943_821_000, Clock.HOST_LOCAL, 1000)


def only(raw: str) -> Record:
    (record,) = peel(raw).records
    return record


def message(line: Line) -> str:
    return line.text[line.records[0].start : line.records[0].end]


def test_dockers_json_is_opened() -> None:
    raw = json.dumps({"log": RUNTIME + "\n", "stream": "stderr", "time": "2026-07-01T10:00:00.1Z"})
    line = peel(raw)
    assert (line.text, line.partial, message(line)) == (RUNTIME, False, message(peel(RUNTIME)))
    assert (line.records[0].instant, line.records[0].outer) == (RUNTIME_TIME, read_iso("2026-07-01T10:00:00.1Z"))
    assert has_header(raw)


@pytest.mark.parametrize(
    ("taken", "clock"),
    [
        ("2024-06-26T00:32:48.1Z", Clock.UTC),
        ("2024-06-26T00:33:40Z", Clock.UTC),
        ("2024-06-26T00:47:48.1Z", Clock.HOST_LOCAL),
        ("2024-06-25T15:32:48.1Z", Clock.HOST_LOCAL),
    ],
)
def test_a_program_shows_utc_where_its_time_is_that_at_which_a_driver_took_the_line(taken: str, clock: Clock) -> None:
    for raw in (json.dumps({"log": RUNTIME + "\n", "stream": "stderr", "time": taken}), f"{taken} stderr F {RUNTIME}"):
        assert only(raw).instant == Instant(RUNTIME_TIME.ns, clock, RUNTIME_TIME.uncertainty_ns)
        assert times_of(raw) == (only(raw).instant, only(raw).outer)


def test_a_piece_without_line_end_is_partial_and_a_short_record_is_none() -> None:
    long = "a" * 16 * 1024
    assert peel(f'{{"log":"{long}","stream":"stderr","time":"2026-07-01T10:00:00.1Z"}}').partial
    assert not peel(f'{{"log":"{long}\\n","stream":"stderr","time":"2026-07-01T10:00:00.1Z"}}').partial
    assert not peel('{"log":"abc","stream":"stderr","time":"2026-07-01T10:00:00.1Z"}').partial, "Docker cuts at 16 KiB"


@pytest.mark.parametrize("tag", ["_p", "logtag"])
def test_a_collector_of_cri_logs_says_what_is_a_piece(tag: str) -> None:
    for said, partial in (("P", True), ("F", False)):
        record = f'{{"time":"2026-07-01T10:00:00.1Z","stream":"stdout","{tag}":"{said}","log":"abc"}}'
        assert peel(record).partial is partial


def test_a_piece_of_cri_is_partial() -> None:
    assert peel("2026-07-01T10:00:00.1Z stderr P abc").partial
    assert not peel("2026-07-01T10:00:00.1Z stderr F abc").partial


@pytest.mark.parametrize("wrap", [str, lambda text: list(text.encode())])
def test_a_journal_entry_of_the_kernel_is_opened(wrap) -> None:  # type: ignore[no-untyped-def]
    entry = {
        "MESSAGE": wrap("nd3: reset request 1 failed"),
        "_HOSTNAME": "host-7",
        "_TRANSPORT": "kernel",
        "PRIORITY": "3",
        "__REALTIME_TIMESTAMP": "1719828000123456",
    }
    record = only(json.dumps(entry))
    assert (record.channel, record.level, record.place.known()) == (
        Channel.KERNEL,
        "ERROR",
        {"host": "host-7", "device": 3},
    )
    assert record.instant == record.outer == Instant(1719828000_123456_000, Clock.UTC, 1000)


def test_a_journal_entry_of_a_process_knows_its_process() -> None:
    entry = {"MESSAGE": "hello", "_HOSTNAME": "h", "_PID": "55", "CONTAINER_NAME": "c"}
    assert only(json.dumps(entry)).place.known() == {"host": "h", "container": "c", "pid": 55}


@pytest.mark.parametrize(
    "raw",
    [
        '{"log": 3}',
        '{"MESSAGE": null}',
        '{"MESSAGE": [300, "x", -1, true, 1e5]}',
        '{"log": "x"',
        '["log"]',
        '{"log":' + "[" * 100_000,
        '{"_PID": "x y", "MESSAGE": "z"}',
        '{"_PID": "123456789012345678901234567890", "MESSAGE": "z"}',
        '{"PRIORITY": "99", "__REALTIME_TIMESTAMP": "99999999999999999999999", "MESSAGE": "z"}',
    ],
)
def test_a_damaged_envelope_does_no_harm(raw: str) -> None:
    assert peel(raw).records


def test_envelopes_in_envelopes_end() -> None:
    raw = "hello\n"
    for _ in range(8):
        raw = json.dumps({"log": raw})
    assert len(peel(raw).records) == 1


def test_structured_logging_is_opened_with_its_traceback() -> None:
    entry = {
        "timestamp": "2026-03-14T02:11:42.000Z",
        "level": "error",
        "logger": "train",
        "rank": 3,
        "process": 4120,
        "msg": "unhandled",
        "exc_info": 'Traceback (most recent call last):\n  File "a.py", line 2, in f\n    g()\nValueError: bad shard',
    }
    line = peel(json.dumps(entry))
    assert line.text.splitlines()[0] == "unhandled"
    assert line.text.splitlines()[-1] == "ValueError: bad shard"
    [record] = line.records
    assert (record.level, record.place.known()) == ("ERROR", {"rank": 3, "pid": 4120})
    assert record.instant == read_iso("2026-03-14T02:11:42.000Z")


def test_a_traceback_that_the_message_holds_already_is_not_told_twice() -> None:
    raw = json.dumps({"level": "ERROR", "message": "x\nKeyError: 'a'", "exception": "KeyError: 'a'"})
    assert peel(raw).text == "x\nKeyError: 'a'"


@pytest.mark.parametrize("entry", [{"msg": "no level"}, {"level": "INFO"}, {"level": "INFO", "msg": {"nested": 1}}])
def test_other_objects_stay_as_they_are(entry: dict[str, object]) -> None:
    raw = json.dumps(entry)
    assert peel(raw).text == raw


def test_the_pod_and_the_node_that_fluent_bit_adds_are_known() -> None:
    told = {
        "pod_name": "train-1",
        "namespace_name": "ml",
        "container_name": "main",
        "host": "ip-10-0-1-13.ec2.internal",
    }
    entry = {"log": RUNTIME + "\n", "stream": "stderr", "kubernetes": told}
    place = only(json.dumps(entry)).place
    assert (place.container, place.host) == ("train-1/main", "ip-10-0-1-13.ec2.internal")
    for odd in (None, "x", {}, {"pod_name": 7, "host": None}):
        place = only(json.dumps({**entry, "kubernetes": odd})).place
        assert (place.container, place.host) == (None, None)


def test_what_a_logger_did_not_print_is_read_from_its_field() -> None:
    """The health agent of HyperPod prints the verb and puts the event into a field that ends with a colon and a space."""
    event = {"reason": "NeuronHasError_DMA_ERROR", "message": "2 errors"}
    said = {"level": "info", "ts": "2026-01-04T10:00:00Z", "msg": "NPD caught event: %v", "details: ": event}
    assert message(peel(json.dumps(said))) == f"NPD caught event: {json.dumps({'details: ': event})}"
    plain = {"level": "info", "msg": "all is well", "details": event}
    assert message(peel(json.dumps(plain))) == "all is well"


def test_what_an_event_of_structured_logging_says_in_its_fields_follows_its_name() -> None:
    entry = {"timestamp": "2026-03-14T02:11:42Z", "level": "info", "event": "train", "rank": 3, "step": 10, "loss": 5.4}
    assert peel(json.dumps(entry)).text == 'train {"event": "train", "step": 10, "loss": 5.4}'
    assert peel(json.dumps({"level": "info", "msg": "hello", "logger": "a.b"})).text == "hello"


def test_the_objects_that_a_controller_names_are_told_with_it() -> None:
    named = [{"Node": {"name": "n1"}, "capacity-type": "spot"}]
    entry = {"level": "INFO", "message": "disrupting node(s)", "pod-count": 1, "disrupted-nodes": named}
    assert peel(json.dumps(entry)).text.endswith(f'"pod-count": 1, "disrupted-nodes": {json.dumps(named)}}}')
    assert peel(json.dumps({**entry, "disrupted-nodes": named * 9})).text.endswith('"pod-count": 1}')
    assert peel(json.dumps({**entry, "disrupted-nodes": {"spec": "x"}})).text.endswith('"pod-count": 1}')


@pytest.mark.parametrize(
    "entry",
    [
        {"level": "error", "msg": "failed", "code": 1},  # what it failed of is for the message to say
        {"level": "info", "msg": "retrying", "error": "Connection refused by peer"},
        {"level": "info", "msg": "x" * 61, "step": 10},
        {"level": "info", "msg": "retrying", "exc_info": "Traceback ...", "step": 10},
    ],
)
def test_no_sentence_and_nothing_of_trouble_does(entry: dict[str, object]) -> None:
    assert "{" not in peel(json.dumps(entry)).text


NODE = "ip-10-0-1-13.ec2.internal"
POD_AT_NODE = {"container": "train-1/main", "host": NODE}


@pytest.mark.parametrize(
    "entry",
    [
        {"message": RUNTIME, "nodeName": NODE, "namespace": "ml", "podName": "train-1", "containerName": "main"},
        {
            "file": "/var/log/pods/x",
            "kubernetes": {"container_name": "main", "pod_name": "train-1", "pod_node_name": NODE},
            "message": RUNTIME,
            "source_type": "kubernetes_logs",
            "stream": "stderr",
            "timestamp": "2026-07-01T10:00:00.1Z",
        },
        {
            "@timestamp": "2026-07-01T10:00:00.100Z",
            "message": RUNTIME,
            "ecs": {"version": "8.0.0"},
            "kubernetes": {"pod": {"name": "train-1"}, "container": {"name": "main"}, "node": {"name": NODE}},
        },
        {
            "labels": {"namespace": "ml", "pod": "train-1", "container": "main", "node_name": NODE},
            "line": RUNTIME,
            "timestamp": "2026-07-01T10:00:00.100Z",
        },
        {
            "date": 1782900000.1,
            "log": RUNTIME,
            "kubernetes": {"pod_name": "train-1", "container_name": "main", "host": NODE},
        },
    ],
)
def test_where_a_record_is_from_is_known_in_the_words_of_each_collector(entry: dict[str, object]) -> None:
    record = only(json.dumps(entry))
    assert {name: record.place.known().get(name) for name in POD_AT_NODE} == POD_AT_NODE
    assert record.component == "TDRV"
    assert "podName" in entry or (record.outer and record.outer.ns == 1_782_900_000_100_000_000)


@pytest.mark.parametrize("unit", ["kernel", "kubelet.service"])
def test_what_loki_labels_as_of_the_kernel_is_the_kernels(unit: str) -> None:
    entry = {
        "labels": {"job": "systemd-journal", "unit": unit, "host": NODE},
        "line": "nvme nvme1: controller is down; will reset",
        "timestamp": "2026-07-01T10:00:00.100Z",
    }
    assert (only(json.dumps(entry)).channel is Channel.KERNEL) is (unit == "kernel")


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        (
            {"@timestamp": "2026-07-01 10:00:00.100", "@message": "hello", "@logStream": "algo-1-17"},
            {"container": "algo-1-17"},
        ),
        (
            {"version": "1.1", "host": "w3", "short_message": "hello", "timestamp": 1782900000.1, "level": 6},
            {"host": "w3"},
        ),
        (
            {
                "_id": "A1",
                "date": "2026-07-01T10:00:00.100Z",
                "host": "i-0a",
                "service": "train",
                "status": "info",
                "message": "hello",
            },
            {"host": "i-0a"},
        ),
    ],
)
def test_records_of_stores_of_logs_are_opened(entry: dict[str, object], place: dict[str, str]) -> None:
    line = peel(json.dumps(entry))
    assert message(line) == "hello"
    assert line.records[0].outer == Instant(1_782_900_000_100_000_000, Clock.UTC, line.records[0].outer.uncertainty_ns)
    known = line.records[0].place.known()
    assert {name: known.get(name) for name in place} == place


@pytest.mark.parametrize(
    "entry", [{"line": "x", "file": "a.py"}, {"line": "x", "labels": ["a"]}, {"short_message": "x"}, {"@message": 3}]
)
def test_what_only_resembles_them_is_not(entry: dict[str, object]) -> None:
    raw = json.dumps(entry)
    assert peel(raw).text == raw


def test_the_error_file_of_a_worker_is_read_as_the_traceback_that_it_holds() -> None:
    stack = "Traceback (most recent call last):\n  File \"t.py\", line 2, in f\n    x['y']\nKeyError: 'y'\n"
    told = {"message": "KeyError: 'y'", "extraInfo": {"py_callstack": stack, "timestamp": "1778076151"}}
    record = only(json.dumps({"message": told}))
    assert peel(json.dumps({"message": told})).text.endswith("x['y']\nKeyError: 'y'")
    assert record.instant == Instant(1778076151 * 10**9, Clock.UTC, 10**9)
    bare = {"message": {"message": "ValueError: no", "extraInfo": {"timestamp": "x"}}}
    assert (peel(json.dumps(bare)).text, only(json.dumps(bare)).instant) == ("ValueError: no", None)


@pytest.mark.parametrize("raw", ['{"message": {"extraInfo": 3}}', '{"message": {"message": "a"}, "x": "extraInfo"}'])
def test_other_objects_in_a_message_are_no_error_file(raw: str) -> None:
    assert peel(raw).text == raw


def test_an_event_of_cloudwatch_is_its_message_at_its_time_in_utc() -> None:
    raw = json.dumps({"timestamp": 1736959340123, "message": RUNTIME, "ingestionTime": 1736959341000})
    assert (peel(raw).text, only(raw).instant) == (RUNTIME, RUNTIME_TIME)
    assert only(raw).outer == Instant(1736959340_123_000_000, Clock.UTC, 10**6)
