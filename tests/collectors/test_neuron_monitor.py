"""neuron-monitor: reports however they were captured become counters, levels and identities; damage costs what it hit."""

from __future__ import annotations

import json
from io import BufferedReader, BytesIO
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_doctor.collectors.base import Input, UnreadableInput
from neuron_doctor.collectors.neuron_monitor import COLLECTOR
from neuron_doctor.engine.facts import Clock, Fact
from neuron_doctor.engine.kinds import KINDS

INSTANCE = "i-0aaaabbbbccccdddd"
ECC = ("mem_ecc_corrected", "mem_ecc_uncorrected", "sram_ecc_corrected", "sram_ecc_uncorrected")


def report(
    *,
    pid: int = 4711,
    tag: str = "",
    ecc: dict[int, dict[str, int]] | None = None,
    cores: dict[int, float] | None = None,
    completed: int = 100,
    errors: dict[str, int] | None = None,
    memory: int = 10,
    device_memory: dict[int, int] | None = None,
    instance_id: str = INSTANCE,
    devices: int = 16,
) -> dict[str, Any]:
    """A report of one process on a trn1.32xlarge, in the form of the guide for SDK 2.32."""
    used = {str(core): {"constants": size, "tensors": 0} for core, size in (device_memory or {}).items()}
    in_use = {str(core): {"neuroncore_utilization": share, "flops": 1} for core, share in (cores or {0: 50.0}).items()}
    process = {
        "neuroncore_counters": {"period": 5.0, "neuroncores_in_use": in_use, "error": ""},
        "execution_stats": {
            "period": 5.0,
            "error_summary": {"generic": 0, "numerical": 0, "transient": 0, "model": 0, "runtime": 0, "hardware": 0}
            | {name: count for name, count in (errors or {}).items() if name != "timed_out"},
            "execution_summary": {"completed": completed, "timed_out": (errors or {}).get("timed_out", 0)},
            "latency_stats": {"total_latency": None, "device_latency": None},
            "error": "",
        },
        "memory_used": {
            "period": 5.0,
            "neuron_runtime_used_bytes": {
                "host": 1000,
                "neuron_device": sum((device_memory or {}).values()),
                "usage_breakdown": {"host": {"tensors": 0}, "neuroncore_memory_usage": used},
            },
            "loaded_models": [],
            "error": "",
        },
        "neuron_runtime_vcpu_usage": {"period": 5.0, "vcpu_usage": {"user": 40.0, "system": 10.0}, "error": ""},
    }
    counters = [{"neuron_device_index": nd, **dict.fromkeys(ECC, 0), **seen} for nd, seen in (ecc or {0: {}}).items()]
    return {
        "neuron_runtime_data": [
            {"pid": pid, "address": "", "neuron_runtime_tag": tag or str(pid), "error": "", "report": process}
        ],
        "system_data": {
            "neuron_hw_counters": {"period": 5.0, "neuron_devices": counters, "error": ""},
            "memory_info": {"period": 5.0, "memory_total_bytes": 100, "memory_used_bytes": memory, "error": ""},
            "vcpu_usage": {"period": 5.0, "average_usage": {"user": 20, "idle": 75, "io_wait": 1}, "error": ""},
        },
        "instance_info": {"instance_id": instance_id, "instance_type": "trn1.32xlarge", "error": ""},
        "neuron_hardware_info": {
            "neuron_device_version": "v3",
            "neuroncore_version": "v2",
            "neuron_device_count": devices,
            "neuron_device_memory_size": 1000,
            "neuroncore_per_device_count": 2,
            "error": "",
        },
    }


def stream(*reports: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in reports)


def read(data: bytes) -> tuple[list[Fact], Input]:
    inp = Input("m.json", "m.json", BufferedReader(BytesIO(data)), source_id="source")  # type: ignore[arg-type]
    facts = list(COLLECTOR.collect(inp))
    for fact in facts:
        assert set(fact.data) <= set(KINDS[fact.kind].fields)
        span = fact.span
        assert data[span.offset : span.offset + span.length].decode("utf-8", "replace")[:2000] == span.text
        assert span.line == data.count(b"\n", 0, span.offset) + 1
        before = data[data.rfind(b"\n", 0, span.offset) + 1 : span.offset]
        assert span.column == len(before.decode("utf-8", "replace")) + 1
    return facts, inp


def named(data: bytes, name: str, **place: int) -> Fact:
    facts = [f for f in read(data)[0] if f.data.get("name") == name]
    found = [f for f in facts if all(getattr(f.place, field) == value for field, value in place.items())]
    assert len(found) == 1, found
    return found[0]


def of_kind(data: bytes, kind: str) -> list[Fact]:
    return [fact for fact in read(data)[0] if fact.kind == kind]


# --- meaning


def test_an_ecc_counter_is_the_sum_of_its_increases_and_shows_the_first() -> None:
    data = stream(*(report(ecc={0: {}, 7: {"mem_ecc_uncorrected": n}}) for n in (2, 2, 3, 5, 5, 5)))
    fact = named(data, "mem_ecc_uncorrected", device=7)
    assert fact.kind == "counter"
    assert fact.data == {"name": "mem_ecc_uncorrected", "first": 2, "last": 5, "increase": 3, "samples": 6, "held": 3}
    assert fact.place.instance_id == INSTANCE
    assert (fact.span.line, json.loads(fact.span.text)) == (
        3,
        {"neuron_device_index": 7, **dict.fromkeys(ECC, 0), "mem_ecc_uncorrected": 3},
    )


def test_a_counter_that_falls_starts_anew() -> None:
    data = stream(*(report(ecc={0: {"mem_ecc_corrected": n}}) for n in (10, 12, 1, 4)))
    assert named(data, "mem_ecc_corrected").data["increase"] == 2 + 1 + 3


def test_an_old_total_in_a_single_report_is_no_increase() -> None:
    fact = named(stream(report(ecc={0: {"sram_ecc_uncorrected": 9}})), "sram_ecc_uncorrected")
    assert (fact.data["last"], fact.data["increase"]) == (9, 0)


def test_ecc_counters_are_stated_at_zero_because_they_were_watched() -> None:
    facts = of_kind(stream(report(ecc={nd: {} for nd in range(16)})), "counter")
    assert sum(f.data["name"] in ECC for f in facts) == 64


def test_counts_of_failed_executions_are_summed_and_left_out_at_zero() -> None:
    data = stream(report(), report(errors={"numerical": 2, "timed_out": 1}), report(errors={"numerical": 3}), report())
    fact = named(data, "error_numerical", pid=4711)
    assert fact.data == {"name": "error_numerical", "first": 0, "last": 0, "increase": 5, "samples": 4, "held": 1}
    assert fact.span.line == 2
    assert '"numerical": 2' in fact.span.text
    assert named(data, "timed_out").data["increase"] == 1
    names = {f.data["name"] for f in of_kind(data, "counter")}
    assert not names & {"error_hardware", "error_generic"}


def test_equal_counts_in_successive_periods_are_all_summed() -> None:
    data = stream(*(report(errors={"hardware": 2}) for _ in range(5)))
    assert named(data, "error_hardware").data["increase"] == 10


def test_the_prose_name_numeric_means_the_same() -> None:
    data = stream(report(errors={"numeric": 4})).replace(b'"numerical": 0, ', b"")
    assert named(data, "error_numerical").data["increase"] == 4


def test_a_core_that_went_to_zero_and_stayed_shows_for_how_many_samples() -> None:
    data = stream(*(report(cores={5: share}, completed=int(share)) for share in (90.0, 95.0, 0.0, 0.0, 0.0)))
    level = named(data, "neuroncore_utilization", core=5)
    assert level.place.device == 2
    expected = {
        "first": 90.0,
        "last": 0.0,
        "min": 0.0,
        "max": 95.0,
        "limit": 100.0,
        "samples": 5,
        "held": 3,
        "period_s": 5.0,
    }
    assert level.data == {"name": "neuroncore_utilization", **expected}
    assert level.span.line == 3
    completed = named(data, "completed", pid=4711)
    assert (completed.data["increase"], completed.data["last"], completed.data["held"]) == (185, 0, 3)


def test_the_period_is_known_where_no_process_runs_yet_in_the_first_report() -> None:
    level = named(stream(report() | {"neuron_runtime_data": []}, report()), "neuroncore_utilization", core=0)
    assert level.data["period_s"] == 5.0


def test_memory_is_compared_with_what_there_is() -> None:
    data = stream(report(memory=92, device_memory={0: 300, 1: 650, 2: 10}))
    host = named(data, "host_memory_used_bytes")
    assert (host.data["last"], host.data["limit"]) == (92.0, 100.0)
    assert named(data, "host_memory_used_percent").data["last"] == 92.0
    device = named(data, "device_memory_used_bytes", device=0)
    assert (device.data["last"], device.data["limit"]) == (950.0, 1000.0)
    assert named(data, "runtime_device_memory_bytes", pid=4711).data["limit"] == 16_000.0


def test_what_the_instance_has_counts_for_values_that_do_not_change() -> None:
    unknown = report(device_memory={0: 300})
    unknown["neuron_hardware_info"] = {"neuron_device_count": 0, "error": "driver is not running"}
    data = stream(unknown, report(device_memory={0: 300}), report(device_memory={0: 300}))
    level = named(data, "runtime_device_memory_bytes", pid=4711).data
    assert (level["limit"], level["samples"], level["held"]) == (16_000.0, 3, 3)


def test_device_memory_of_several_processes_adds_up() -> None:
    both = report(pid=1, device_memory={0: 300})
    both["neuron_runtime_data"] += report(pid=2, device_memory={1: 400})["neuron_runtime_data"]
    assert named(stream(both), "device_memory_used_bytes", device=0).data["last"] == 700.0


def test_physical_cores_stand_below_the_logical_one() -> None:
    trn2 = report()
    core = {"neuroncore_utilization": 50.0, "v3d": {"nc_v3": {"1": {"neuroncore_utilization": 12.5}}}}
    trn2["neuron_runtime_data"][0]["report"]["neuroncore_counters"]["neuroncores_in_use"] = {"3": core}
    fact = named(stream(trn2), "physical_neuroncore_utilization", core=3)
    assert (fact.data["physical_core"], fact.data["last"]) == (1, 12.5)


def test_missing_devices_stand_beside_the_expected_number() -> None:
    counts = of_kind(stream(report(), report(devices=15), report(devices=15)), "device-count")
    assert [(f.data["neuron"], f.data["expected_neuron"], f.data["cores"]) for f in counts] == [
        (16, 16, 32),
        (15, 16, 30),
    ]


def test_an_error_of_a_group_is_no_reading_of_zero() -> None:
    failed = report(devices=0)
    failed["neuron_hardware_info"]["error"] = "driver is not running"
    failed["system_data"]["neuron_hw_counters"]["error"] = "no such file"
    facts, _ = read(stream(failed, failed))
    errors = {f.data["group"]: (f.data["error"], f.repeats) for f in facts if f.kind == "monitor-error"}
    assert errors == {"neuron_hw_counters": ("no such file", 1), "neuron_hardware_info": ("driver is not running", 1)}
    assert not [f for f in facts if f.kind == "device-count" or f.data.get("name") in ECC]


def test_an_error_of_a_process_names_the_process() -> None:
    failed = report(pid=99)
    failed["neuron_runtime_data"][0]["error"] = "cannot connect"
    (error,) = of_kind(stream(failed), "monitor-error")
    assert (error.place.pid, error.data["group"]) == (99, "neuron_runtime_data")


def test_identity_versions_tag_and_pods() -> None:
    one = report(tag="trainer")
    pod = {"pod_name": "worker-3", "namespace": "ml", "container_name": ["main"]}
    one["neuron_k8s_info"] = {"period": 5, "neuroncores_k8s_info": {"0": pod}, "neurondevices_k8s_info": {"0": pod}}
    facts, _ = read(stream(one))
    identities = [f.data for f in facts if f.kind == "identity"]
    assert identities == [
        {"instance_id": INSTANCE, "instance_type": "trn1.32xlarge"},
        {"instance_id": INSTANCE, "pod": "ml/worker-3"},
    ]
    versions = {f.data["component"]: f.data["version"] for f in facts if f.kind == "version"}
    assert versions == {"neuron-device": "v3", "neuroncore": "v2"}
    assert next(f for f in facts if f.data.get("name") == "completed").data["tag"] == "trainer"


def test_reports_of_several_instances_in_one_stream_are_kept_apart() -> None:
    data = stream(*(report(instance_id=f"i-0000000{n % 2}", memory=n) for n in range(6)))
    levels = [f for f in of_kind(data, "level") if f.data["name"] == "host_memory_used_bytes"]
    assert [(f.place.instance_id, f.data["samples"]) for f in levels] == [("i-00000000", 3), ("i-00000001", 3)]


# --- forms


def test_a_time_stamp_before_the_line_dates_the_increase() -> None:
    stamps = [f"2026-05-01T10:00:0{n}.5Z " for n in range(4)]
    lines = [stream(report(errors={"hardware": n % 2})) for n in range(4)]
    data = b"".join(stamp.encode() + line for stamp, line in zip(stamps, lines, strict=True))
    fact = named(data, "error_hardware")
    assert fact.instant is not None
    assert (fact.instant.clock, fact.instant.ns % 60_000_000_000) == (Clock.UTC, 1_500_000_000)
    assert fact.data["until_ns"] == fact.instant.ns + 2_000_000_000


def test_without_a_prefix_there_is_no_time() -> None:
    facts = read(stream(report()))[0]
    assert facts
    assert {fact.instant for fact in facts} == {None}


def test_journald_names_the_host_of_the_instance() -> None:
    data = b"Nov 20 23:00:00 ip-10-0-3-7 neuron-monitor[812]: " + stream(report())
    identity = of_kind(data, "identity")[0]
    assert identity.data["hostname"] == "ip-10-0-3-7"
    assert identity.instant is not None
    assert identity.instant.clock is Clock.YEARLESS


FORMS = {
    "lines": stream,
    "concatenated": lambda *reports: b"".join(json.dumps(one).encode() for one in reports),
    "pretty": lambda *reports: b"\n".join(json.dumps(one, indent=2).encode() for one in reports),
    "array": lambda *reports: json.dumps(reports).encode(),
    "pretty array": lambda *reports: json.dumps(reports, indent=4).encode(),
    "no indentation": lambda *reports: b"\n".join(json.dumps(one, indent=0).encode() for one in reports),
    "CloudWatch": lambda *reports: b"".join(b"1700000000123\t" + json.dumps(one).encode() + b"\n" for one in reports),
    "compose": lambda *reports: b"".join(b"monitor-1  | " + json.dumps(one).encode() + b"\n" for one in reports),
    "wrapped": lambda *reports: b"".join(json.dumps({"at": 1, "message": one}).encode() + b"\n" for one in reports),
    "CRLF": lambda *reports: stream(*reports).replace(b"\n", b"\r\n"),
    "BOM": lambda *reports: b"\xef\xbb\xbf" + stream(*reports),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_every_form_says_the_same(form: Any) -> None:
    data = form(*(report(ecc={3: {"mem_ecc_corrected": n}}, completed=n) for n in (1, 2, 4)))
    assert COLLECTOR.sniff(data[:65536], "x")
    facts, inp = read(data)
    values = {f.data["name"]: f.data for f in facts if f.kind == "counter"}
    assert (values["mem_ecc_corrected"]["increase"], values["completed"]["increase"]) == (3, 7)
    assert (inp.records, inp.problems) == (3, {})


def test_pretty_reports_behind_time_stamps_are_joined() -> None:
    lines = json.dumps(report(ecc={1: {"mem_ecc_corrected": 5}}), indent=2).split("\n")
    data = "".join(f"2026-05-01T10:00:00.123Z {line}\n" for line in lines).encode()
    inp = Input("m", "m", BufferedReader(BytesIO(data)))  # type: ignore[arg-type]
    facts = list(COLLECTOR.collect(inp))
    assert [f.data["last"] for f in facts if f.data.get("name") == "mem_ecc_corrected"] == [5]
    assert inp.problems == {}


# --- damage


def test_an_unfinished_report_gives_the_groups_that_it_has_and_a_located_problem() -> None:
    last = stream(report(errors={"hardware": 3}))
    data = stream(report()) + last[: last.index(b'"memory_used"')]
    facts, inp = read(data)
    assert [f.data["increase"] for f in facts if f.data.get("name") == "error_hardware"] == [3]
    (problem,) = inp.problems.values()
    assert (problem.line, "cut off" in problem.what) == (2, True)


def test_a_report_written_into_a_torn_one_is_read() -> None:
    whole = stream(report(ecc={0: {"mem_ecc_corrected": 6}}))
    _, inp = read(whole[:200] + whole)
    assert named(whole[:200] + whole, "mem_ecc_corrected").data["last"] == 6
    assert [problem.line for problem in inp.problems.values()] == [1]


def test_the_syntax_errors_of_the_guide_are_located_and_the_rest_is_read() -> None:
    pretty = json.dumps(report(ecc={4: {"mem_ecc_uncorrected": 2}}), indent=2)
    broken = pretty.replace('"neuron_runtime_tag":', '"neuron_runtime_tag",').encode()
    facts, inp = read(broken)
    (problem,) = inp.problems.values()
    assert problem.line == broken[: broken.index(b'"neuron_runtime_tag",')].count(b"\n") + 1
    assert [f.data["last"] for f in facts if f.data.get("name") == "mem_ecc_uncorrected"] == [2]
    assert [f.place.pid for f in facts if f.data.get("name") == "neuroncore_utilization"] == [4711]


def test_a_group_of_another_type_costs_only_itself() -> None:
    odd = report(ecc={0: {"mem_ecc_corrected": 1}})
    odd["system_data"]["memory_info"]["memory_used_bytes"] = "a lot"
    facts, inp = read(stream(odd))
    names = {f.data.get("name") for f in facts}
    assert "mem_ecc_corrected" in names
    assert "host_memory_used_bytes" not in names
    assert any("$.system_data.memory_info" in problem for problem in inp.problems)


def test_a_group_pasted_without_its_report_is_read() -> None:
    data = b'"neuron_hw_counters": ' + json.dumps(report()["system_data"]["neuron_hw_counters"]).encode() + b",\n"
    assert {f.data["name"] for f in read(data)[0]} == set(ECC)


@pytest.mark.parametrize("data", [b"", b"\0" * 5000, b"{" * 5000, b"[]\n", b'{"a": 1}\n', b"\xff\xfe{\n"])
def test_what_holds_no_report_is_unreadable(data: bytes) -> None:
    with pytest.raises(UnreadableInput):
        read(data)


def test_deep_nesting_and_huge_lines_do_no_harm() -> None:
    hostile = [b'{"system_data":' * 20_000, b'{"neuron_runtime_data":' + b"[" * 50_000, b'\\"' * 100_000]
    data = b"\n".join([stream(report(ecc={0: {"mem_ecc_corrected": 8}})), *hostile])
    assert named(data, "mem_ecc_corrected").data["last"] == 8


def test_series_of_processes_without_end_are_bounded() -> None:
    data = stream(*(report(pid=pid) for pid in range(3000)))
    inp = Input("m", "m", BufferedReader(BytesIO(data)))  # type: ignore[arg-type]
    assert sum(1 for _ in COLLECTOR.collect(inp)) < 40_000
    assert any("left out" in what for what in inp.problems)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 4000), st.binary(max_size=20), st.integers(0, 40))
def test_damage_anywhere_never_stops_the_reading(at: int, junk: bytes, gone: int) -> None:
    data = stream(report(), report(memory=50), report())
    damaged = data[:at] + junk + data[at + gone :]
    facts, _ = read(damaged)
    assert {"identity", "counter", "level"} <= {fact.kind for fact in facts}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=20))
def test_sums_do_not_depend_on_which_samples_repeat(counts: list[int]) -> None:
    data = stream(*(report(completed=count, ecc={0: {"mem_ecc_corrected": count}}) for count in counts))
    completed = named(data, "completed")
    assert (completed.data["increase"], completed.data["samples"]) == (sum(counts), len(counts))
    ups = sum(b - a if b >= a else b for a, b in pairwise(counts))
    assert named(data, "mem_ecc_corrected").data["increase"] == ups


# --- recognition


@pytest.mark.parametrize(
    "other",
    [
        b'{"period": "1s", "neuron_runtimes": [{"tag_filter": ".*", "metrics": [{"type": "memory_used"}]}]}',
        b'print(report["system_data"]["neuron_hw_counters"], report["memory_used"])\n',
        b'[{"neuron_device": 0, "nc_count": 2, "memory_size": 34359738368}]',
        b'{"traceEvents": [{"name": "nc_exec", "ph": "X"}]}',
        b"",
    ],
)
def test_other_json_and_programs_are_not_taken_for_reports(other: bytes) -> None:
    assert not COLLECTOR.sniff(other, "neuron-monitor.json")


def test_a_log_that_quotes_a_report_is_a_log() -> None:
    report = b'{"neuron_runtime_data": [], "system_data": {"memory_info": {}, "vcpu_usage": {}}, "instance_info": {}}\n'
    noise = b"2025-07-02 18:59:18,244 INFO train: step=100 loss=2.3\n"
    assert COLLECTOR.sniff(report * 3, "monitor.log")
    assert COLLECTOR.sniff(noise + report * 3, "monitor.log")
    assert not COLLECTOR.sniff(noise * 5 + report + noise * 5, "train.log")
