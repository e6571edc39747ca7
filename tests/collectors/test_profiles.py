"""Profiles: named with tool, part and place, never read; traces of NDET are left alone."""

from __future__ import annotations

import pytest
from snapshot_inputs import claimed_by, facts_of

DIRECTORY = "out/i-0123456789abcdef0_pid_4242"


@pytest.mark.parametrize(
    ("name", "tool", "part"),
    [
        ("model_nc_0.ntff", "neuron-profile", "ntff"),
        ("ntrace.pb", "neuron-explorer", "ntrace"),
        ("trace_info.pb", "neuron-explorer", "trace-info"),
        ("cpu_util.pb", "neuron-explorer", "cpu-utilization"),
    ],
)
def test_binary_profiles_are_known_by_their_names(name: str, tool: str, part: str) -> None:
    (fact,) = facts_of(b"\x0a\x12\x00binary", f"{DIRECTORY}/{name}")
    assert fact.data == {"tool": tool, "part": part}
    assert fact.place.known() == {"instance_id": "i-0123456789abcdef0", "pid": 4242}


def test_a_framework_trace_gives_its_rank() -> None:
    (fact,) = facts_of('{"traceEvents": []}', f"{DIRECTORY}/neuron_framework_trace_rank_7.json")
    assert fact.place.rank == 7


def test_a_trace_of_explorer_is_known_by_its_events() -> None:
    (fact,) = facts_of('{"traceEvents": [{"name": "nc_exec_running", "ts": 1}]}', "x/trace.json")
    assert fact.data == {"tool": "neuron-explorer", "part": "trace"}


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b'{"traceEvents": [{"name": "nc_exec", "ts": 1}, {"name": "cc_exec_barrier", "ts": 2}]}', "trace.json"),
        (b'ERROR could not find "nc_exec_running"\n', "train.log"),
        (b"not a trace\n", "neuron_framework_trace_rank_7.json"),
    ],
)
def test_other_files_are_not_profiles(data: bytes, name: str) -> None:
    assert claimed_by(data, name) == []
