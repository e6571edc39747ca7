"""neuron-monitor: reports like the one before are read by column, and the facts are those of reading each for itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BufferedReader, BytesIO
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_doctor.collectors import monitor_stream, monitor_usual
from neuron_doctor.collectors.base import Input, UnreadableInput
from neuron_doctor.collectors.monitor_usual import Usual
from neuron_doctor.collectors.neuron_monitor import COLLECTOR


@pytest.fixture(autouse=True, scope="module")
def at_once() -> Iterator[None]:
    """A type is made of the first report, as in the midst of a long stream."""
    with patch.object(monitor_usual, "_FIRST", 0):
        yield


ECC = ("mem_ecc_corrected", "mem_ecc_uncorrected", "sram_ecc_corrected", "sram_ecc_uncorrected")
_NAMES = """ecc error failed cores pid tag instance group_error total pod no_hardware no_memory no_latency odd_pid odd_size
odd_used twice no_processes no_instance devices indented"""
#: What a drawn step changes, by name.
CHANGES = st.dictionaries(st.sampled_from(_NAMES.split()), st.integers(0, 2), max_size=2)
VALUES = st.lists(st.one_of(st.integers(0, 3), st.sampled_from([0.0, 1.5, 2.25])), min_size=12, max_size=12)


def _process(pid: object, values: list[float], cores: range, has: dict[str, int]) -> dict[str, Any]:
    core: dict[str, Any] = {"neuroncore_utilization": values[0], "flops": 1}
    if has.get("cores") == 2:
        core["v3d"] = {"nc_v3": {"0": {"neuroncore_utilization": values[1]}, "1": {"neuroncore_utilization": 1}}}
    size: object = "many" if "odd_size" in has else int(values[2])
    latency = None if "no_latency" in has else {"p50": values[3], "p99": values[4]}
    report: dict[str, Any] = {
        "neuroncore_counters": {
            "period": values[5],
            "neuroncores_in_use": {str(index): core for index in cores},
            "error": "lost" if has.get("group_error") == 1 else "",
        },
        "execution_stats": {
            "period": values[5],
            "error_summary": {"generic": has.get("failed", 0), "numerical": 0},
            "execution_summary": {"completed": int(values[6]), "timed_out": has.get("failed", 0)},
            "latency_stats": {"total_latency": latency},
            "error": "",
        },
        "memory_used": {
            "neuron_runtime_used_bytes": {
                "host": values[7],
                "neuron_device": 5 if has.get("odd_size") != 1 else None,
                "usage_breakdown": {
                    "neuroncore_memory_usage": {
                        str(index): {"constants": 3, "tensors": size if has.get("odd_size") != 2 else None}
                        for index in cores
                    }
                },
            },
            "error": "",
        },
        "neuron_runtime_vcpu_usage": {"vcpu_usage": {"user": values[8], "system": 0.25}, "error": ""},
    }
    if "no_memory" in has:
        del report["memory_used"]
    return {"pid": pid, "neuron_runtime_tag": f"t{has.get('tag')}", "error": "", "report": report}


def _report(values: list[float], has: dict[str, int]) -> dict[str, Any]:
    first = 40 + has.get("pid", 0)
    processes = [
        _process(str(first) if "odd_pid" in has else first, values, range(2), has),
        _process(first + ("twice" not in has), values[::-1], range(2, 3 + has.get("cores", 1)), has),
    ]
    counters = [{"neuron_device_index": n, **dict.fromkeys(ECC, has.get("ecc", 0) * n)} for n in range(2)]
    report: dict[str, Any] = {
        "neuron_runtime_data": [] if "no_processes" in has else processes,
        "system_data": {
            "neuron_hw_counters": {"neuron_devices": counters, "error": ["", "", "gone"][has.get("group_error", 0)]},
            "memory_info": {
                "memory_total_bytes": 100 + has.get("total", 0),
                "memory_used_bytes": "much" if "odd_used" in has else values[9],
                "swap_total_bytes": has.get("total", 0),
                "swap_used_bytes": 1,
                "error": "",
            },
            "vcpu_usage": {"average_usage": {"idle": values[10], "io_wait": values[11]}, "error": ""},
        },
        "instance_info": {"instance_id": f"i-{has.get('instance', 0)}", "instance_type": "trn1.32xlarge", "error": ""},
        "neuron_hardware_info": {
            "neuron_device_count": 16 - has.get("devices", 0),
            "neuron_device_memory_size": 1000,
            "neuroncore_per_device_count": 2,
            "error": ["", "no driver", ""][has.get("error", 0)],
        },
    }
    if "pod" in has:
        report["neuron_k8s_info"] = {"neuroncores_k8s_info": {"0": {"pod_name": f"p{has['pod']}"}}}
    for name, member in (("no_hardware", "neuron_hardware_info"), ("no_instance", "instance_info")):
        if name in has:
            del report[member]
    return report


#: A run of reports that differ in their values only, and what comes after it.
RUNS = st.tuples(
    CHANGES,
    st.lists(VALUES, min_size=1, max_size=6),
    st.sampled_from([b"", b"", b"", b"text\n", b"torn", b"{}\n", b"stamp", b"same", b"[\n"]),
)


def _line(values: list[float], has: dict[str, int]) -> bytes:
    return json.dumps(_report(values, has), indent=2 if "indented" in has else None).encode() + b"\n"


def _stream(runs: list[tuple[dict[str, int], list[list[float]], bytes]]) -> bytes:
    parts: list[bytes] = []
    for has, reports, after in runs:
        lines = [_line(values, has) for values in reports]
        parts += lines
        if after == b"torn":
            parts.append(lines[-1][: len(lines[-1]) // 2])
        elif after == b"stamp":
            parts.append(b"2026-05-01T10:00:00Z " + lines[-1])
        elif after == b"same":
            parts += [lines[-1]] * 3
        else:
            parts.append(after)
    return b"".join(parts)


def _told(data: bytes) -> tuple[str, int, object]:
    inp = Input("m.json", "m.json", BufferedReader(BytesIO(data)), source_id="source")  # type: ignore[arg-type]
    try:
        facts: list[object] = list(COLLECTOR.collect(inp))
    except UnreadableInput as error:
        facts = [str(error)]
    return repr(facts), inp.records, inp.problems


@pytest.mark.heavy
@settings(max_examples=150, deadline=None)
@given(st.lists(RUNS, max_size=6), st.booleans(), st.sampled_from([1, 9000, 1 << 20]), st.sampled_from([700, 1 << 18]))
def test_by_column_says_what_each_report_says(
    runs: list[tuple[dict[str, int], list[list[float]], bytes]], eager: bool, batch: int, chunk: int
) -> None:
    data = _stream(runs)
    patience = 1 if eager else 4096
    with (
        patch.object(monitor_usual, "_BATCH", batch),
        patch.object(monitor_usual, "_MAX_WAIT", patience),
        patch.object(monitor_stream, "_CHUNK", chunk),
    ):
        by_column = _told(data)
        with patch.object(Usual, "takes", lambda _self, _line: False):
            assert by_column == _told(data)


@pytest.mark.heavy
@settings(max_examples=60, deadline=None)
@given(st.lists(RUNS, max_size=6), st.sampled_from([7, 700, 1 << 18]), st.sampled_from([b"\n", b"\r\n"]))
def test_an_indented_report_says_what_its_lines_say(
    runs: list[tuple[dict[str, int], list[list[float]], bytes]], chunk: int, end: bytes
) -> None:
    data = _stream([({**has, "indented": 1}, reports, after) for has, reports, after in runs]).replace(b"\n", end)
    with patch.object(monitor_stream, "_CHUNK", chunk):
        at_once = _told(data)
        with patch.object(monitor_stream, "_OPENINGS", ()):
            assert at_once == _told(data)


@pytest.mark.parametrize(("first", "expected"), [(0, 49), (32, 18)])
@pytest.mark.parametrize("has", [{}, {"indented": 1}])
def test_a_steady_stream_is_read_by_column(first: int, expected: int, has: dict[str, int]) -> None:
    data = b"".join(_line([n % 7 / 2] * 12, has) for n in range(50))
    taken: list[bool] = []
    takes = Usual.takes

    def counting(usual: Usual, line: bytes) -> bool:
        taken.append(takes(usual, line))
        return taken[-1]

    with patch.object(Usual, "takes", counting), patch.object(monitor_usual, "_FIRST", first):
        _told(data)
    assert (sum(taken), len(taken)) == (expected, 50)


@pytest.mark.parametrize(
    ("what", "instead"),
    [
        (b'"pid": 40', b'"pid": 9223372036854775808'),
        (b'{"0": {"neuroncore', b'{"\\"\\n0": {"neuroncore'),
        (b'"memory_total_bytes": 100', b'"memory_total_bytes": %d' % 2**70),
        (b'"constants": 3', b",".join(b'"c%d": 1' % n for n in range(2000))),
    ],
)
def test_reports_for_which_no_type_can_be_made_are_read_all_the_same(what: bytes, instead: bytes) -> None:
    data = b"".join(_line([n % 7 / 2] * 12, {}) for n in range(4)).replace(what, instead)
    by_column = _told(data)
    with patch.object(Usual, "takes", lambda _self, _line: False):
        assert by_column == _told(data)


@pytest.mark.parametrize("size", [3, 10, 64])
def test_lines_are_cut_as_readline_cuts_them(size: int) -> None:
    data = b"a\n\n" + b"x" * 25 + b"\n" + b"y" * 10 + b"\nlast"
    with patch.object(monitor_stream, "MAX_REPORT", 10), patch.object(monitor_stream, "_CHUNK", size):
        lines = list(monitor_stream._pieces(BufferedReader(BytesIO(data))))  # type: ignore[arg-type]
    stream, expected, number, offset = BytesIO(data), [], 1, 0
    while line := stream.readline(10):
        expected.append((number, offset, line))
        number, offset = number + line.endswith(b"\n"), offset + len(line)
    assert lines == expected


@pytest.mark.parametrize("data", [b"{\n" * 40_000, b"{\n" * 40_000 + b"\n}" + b"x" * 80_000])
def test_an_indented_document_that_never_ends_is_searched_for_once(data: bytes) -> None:
    looked = 0

    class Counting(bytes):
        def find(self, what: bytes, start: int, end: int) -> int:  # type: ignore[override]
            nonlocal looked
            at = super().find(what, start, end)
            looked += (at if at >= 0 else min(end, len(self))) - start
            return at

    cut, last = monitor_stream._Cut(Counting(data)), True
    while end := cut.end(last=last):
        cut.start = end
    assert looked < 8 * len(data)
