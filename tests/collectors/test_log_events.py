"""Log events of CloudWatch in JSON: each stream is a member with its own lines and times; other JSON is left alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import BufferedReader, BytesIO
from pathlib import Path

import pytest

from neuron_doctor.collectors import log_events
from neuron_doctor.collectors.discover import discover
from neuron_doctor.collectors.log_events import is_of_events, members_of_events
from neuron_doctor.collectors.streams import Damaged

EVENTS = (
    {"logStreamName": "job/algo-1-1786430100", "timestamp": 1786431368000, "message": "step 1"},
    {"logStreamName": "job/algo-2-1786430200", "timestamp": 1786431368002, "message": "Traceback\n  File x\n"},
    {"logStreamName": "job/algo-1-1786430100", "timestamp": 1786431369000, "message": "step 2"},
)
TWO = {
    "streams/job/algo-1-1786430100": "2026-08-11T06:56:08.000Z step 1\n2026-08-11T06:56:09.000Z step 2\n",
    "streams/job/algo-2-1786430200": "2026-08-11T06:56:08.002Z Traceback\n  File x\n",
}


def members(text: str | bytes) -> dict[str, str]:
    raw = text.encode() if isinstance(text, str) else text
    return {m.name: b"".join(m.chunks).decode() for m in members_of_events(BufferedReader(BytesIO(raw)))}


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize(
    "document", [{"events": EVENTS, "searchedLogStreams": []}, {"events": EVENTS, "nextToken": "x"}, EVENTS]
)
def test_each_stream_has_its_lines_behind_their_times(document: object, indent: int | None) -> None:
    text = json.dumps(document, indent=indent)
    assert is_of_events(text.encode())
    assert is_of_events(b"\xef\xbb\xbf" + text.encode())
    assert members(text) == TWO
    assert members(b"\xef\xbb\xbf" + text.encode()) == TWO


def test_what_a_subscription_delivers_is_one_object_after_the_other() -> None:
    def batch(stream: str, *events: object) -> str:
        return json.dumps({"messageType": "DATA_MESSAGE", "owner": "1", "logStream": stream, "logEvents": events})

    told = [{"id": "1", **{name: event[name] for name in ("timestamp", "message")}} for event in EVENTS]
    text = batch("job/algo-1-1786430100", told[0]) + batch("job/algo-2-1786430200", told[1])
    text += "\n" + batch("job/algo-1-1786430100", told[2])
    assert is_of_events(text.encode())
    assert members(text) == TWO


def test_a_single_stream_is_not_named_and_one_of_a_container_is_named_after_its_node_and_file() -> None:
    [event, *_] = EVENTS
    unnamed = {name: value for name, value in event.items() if name != "logStreamName"}
    assert list(members(json.dumps({"events": [unnamed]}))) == ["events"]
    file = f"trainer-0_default_train-{'0a' * 32}.log"
    stream = f"ip-10-0-3-7.ec2.internal-application.var.log.containers.{file}"
    assert list(members(json.dumps({"events": [{**event, "logStreamName": stream}]}))) == [
        f"nodes/ip-10-0-3-7.ec2.internal/{file}"
    ]


@pytest.mark.parametrize(
    ("stream", "member"),
    [
        ("ip-10-0-3-7.ec2.internal-host.dmesg", "nodes/ip-10-0-3-7.ec2.internal/host.dmesg"),
        ("ip-10-0-3-7.ec2.internal-dataplane.tail.host", "nodes/ip-10-0-3-7.ec2.internal/dataplane.tail.host"),
        ("heron7-dataplane.systemd.kubelet.service", "nodes/heron7/dataplane.systemd.kubelet.service"),
        (
            f"ip-10-0-3-7.ec2.internal-dataplane.tail.var.log.containers.cni-x_kube-system_cni-{'0a' * 32}.log",
            f"nodes/ip-10-0-3-7.ec2.internal/cni-x_kube-system_cni-{'0a' * 32}.log",
        ),
        (
            f"from-fluent-bit-kube.var.log.containers.w-0_ns_torch-{'0a' * 32}.log",
            f"streams/w-0_ns_torch-{'0a' * 32}.log",
        ),
        ("ghost.dmesg", "pods/ghost.dmesg"),
    ],
)
def test_a_tag_of_fluent_bit_is_no_part_of_the_node_behind_whose_name_it_stands(stream: str, member: str) -> None:
    assert list(members(json.dumps({"events": [{**EVENTS[0], "logStreamName": stream}]}))) == [member]


@pytest.mark.parametrize(
    "text",
    [
        '{"events": []}',
        '{"items": [{"timestamp": 1786431368000, "message": "x"}]}',
        '{"timestamp": 1786431368000, "message": "x"}\n{"timestamp": 1786431368001, "message": "y"}\n',
        '{"events": [{"lastTimestamp": "2026-08-11T06:56:08Z", "message": "Pulled image"}]}',
        '[12.5] {"timestamp": 1786431368000, "message": "x"}',
        "2026-08-11 step 1\n",
    ],
)
def test_other_json_and_logs_are_no_events(text: str) -> None:
    assert not is_of_events(text.encode())


def test_what_is_cut_off_is_read_up_to_there_and_said_to_be_damaged() -> None:
    text = json.dumps({"events": EVENTS}, indent=1)
    found: dict[str, str] = {}
    cut = members_of_events(BufferedReader(BytesIO(text[:-60].encode())))
    with pytest.raises(Damaged):
        found.update((member.name, b"".join(member.chunks).decode()) for member in cut)
    assert found["streams/job/algo-2-1786430200"] == TWO["streams/job/algo-2-1786430200"]


def test_small_pieces_and_small_windows_change_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [{**event, "message": f"é{number} {event['message']}"} for number in range(99) for event in EVENTS]
    text = json.dumps({"events": events}, ensure_ascii=False)
    whole = members(text)
    monkeypatch.setattr(log_events, "CHUNK", 3)
    assert members(text) == whole
    monkeypatch.setattr(log_events, "_WINDOW", 40)
    parts = members(text)
    assert len(parts) > len(whole)
    assert "".join(text for name, text in parts.items() if "algo-1" in name) == whole["streams/job/algo-1-1786430100"]


def test_the_streams_are_inputs_of_their_hosts(tmp_path: Path) -> None:
    (tmp_path / "filter.json").write_text(json.dumps({"events": EVENTS}, indent=2))
    inputs: Sequence[tuple[str, str | None]] = [(inp.path, inp.place.host) for inp in discover([str(tmp_path)])]
    assert [(path.rpartition("!")[2], host) for path, host in inputs] == [
        ("streams/job/algo-1-1786430100", "algo-1"),
        ("streams/job/algo-2-1786430200", "algo-2"),
    ]
