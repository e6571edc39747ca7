"""NDET: traces, console output and raw logs are told apart and from other traces; errors and what never ended are told."""

from __future__ import annotations

import json
from contextlib import suppress
from io import BufferedReader, BytesIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_doctor.collectors.base import HEAD, Collector, Input, UnreadableInput
from neuron_doctor.collectors.ndet import COLLECTORS, NDET_CONSOLE, NDET_RAW, NDET_TRACE
from neuron_doctor.engine.facts import Clock, Fact
from neuron_doctor.engine.kinds import KINDS

LOG = "/tmp/ndet_2024-02-03_04-05-06_{pid}_{instance}.txt - (GIDs: [{gids}])"
INSTANCES = ("i-0aaaabbbbccccddd0", "i-0aaaabbbbccccddd1")


def process(pid: int, gids: list[int]) -> dict[str, Any]:
    name = LOG.format(pid=1000 + pid, instance=INSTANCES[pid], gids=", ".join(map(str, gids)))
    return {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}}


def event(name: str, ts: float, ph: str = "X", pid: int = 0, tid: int = 0, **args: Any) -> dict[str, Any]:
    form: dict[str, Any] = {"name": name, "ph": ph, "pid": pid, "tid": tid, "ts": ts, "args": args}
    return form | ({"dur": 10.0} if ph == "X" else {})


def executions(count: int) -> list[dict[str, Any]]:
    """One core that executes a graph with collectives again and again."""
    names = (
        "nrt_execute",
        "sync_exec - step.neff",
        "cc_exec_barrier",
        "cc_barrier_recv (1->0)",
        "nc_exec",
        "cc_op_exec",
    )
    return [event(name, 100.0 * n + 10 * k, exec_id=n) for n in range(count) for k, name in enumerate(names)]


def trace(*events: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({"traceEvents": list(events), **more}).encode()


def claimed(data: bytes, name: str = "trace.json") -> Collector | None:
    return next((collector for collector in COLLECTORS if collector.sniff(data[:HEAD], name)), None)


def read(data: bytes, name: str = "trace.json") -> tuple[list[Fact], Input]:
    collector = claimed(data, name)
    assert collector is not None
    return collected(collector, data, name)


def collected(collector: Collector, data: bytes, name: str = "trace.json") -> tuple[list[Fact], Input]:
    inp = Input(name, name, BufferedReader(BytesIO(data)), source_id="source")  # type: ignore[arg-type]
    facts = list(collector.collect(inp))
    for fact in facts:
        assert set(fact.data) <= set(KINDS[fact.kind].fields)
        span = fact.span
        assert data[span.offset : span.offset + span.length].decode("utf-8", "replace")[:2000] == span.text
        if span.line is not None and span.text:
            assert span.line == data.count(b"\n", 0, span.offset) + 1
            assert span.column == span.offset - data.rfind(b"\n", 0, span.offset)
    return facts, inp


def events(data: bytes, **wanted: Any) -> list[Fact]:
    facts = [fact for fact in read(data)[0] if fact.kind == "ndet-event"]
    return [fact for fact in facts if all(fact.data.get(name) == value for name, value in wanted.items())]


# --- the trace


def test_a_failed_execution_is_placed_by_its_log_and_its_group_id() -> None:
    data = trace(process(1, [32, 33]), event("nrt_execute", 5, pid=1, tid=7, gid=33, ret=1003), *executions(2))
    (fact,) = events(data, ret=1003)
    assert fact.data == {
        "event": "nrt_execute",
        "complete": True,
        "start_us": 5.0,
        "end_us": 15.0,
        "gid": 33,
        "ret": 1003,
    }
    place = fact.place
    assert (place.instance_id, place.pid, place.rank, place.core) == (INSTANCES[1], 1001, 33, 7)
    assert fact.instant is not None
    assert (fact.instant.clock, fact.instant.ns) == (Clock.MONOTONIC, 15_000)
    assert json.loads(fact.span.text)["args"]["ret"] == 1003


def test_an_error_event_needs_no_return_code() -> None:
    (fact,) = events(trace(*executions(3), event("numerical_error", 7, nd=2, nc=1, exec_id=4)), event="numerical_error")
    assert (fact.place.device, fact.data["exec_id"], fact.data["complete"]) == (2, 4, True)


def test_an_open_barrier_and_an_open_execution_never_ended() -> None:
    data = trace(*executions(3), event("nc_exec", 900, "B"), event("cc_exec_barrier", 910, "B", tid=1, exec_id=3))
    unended = events(data, complete=False)
    assert [(f.data["event"], f.place.core) for f in unended] == [("nc_exec", 0), ("cc_exec_barrier", 1)]
    assert all("end_us" not in f.data for f in unended)


def test_a_pair_of_begin_and_end_is_one_complete_event() -> None:
    inner, outer = event("nc_exec", 2, "B", exec_id=8), event("nrt_execute", 1, "B", gid=5)
    data = trace(outer, inner, {"ph": "E", "pid": 0, "tid": 0, "ts": 3}, event("", 4, "E", ret=5))
    (failed,) = events(data, ret=5)
    assert (failed.data["event"], failed.data["start_us"], failed.data["end_us"]) == ("nrt_execute", 1.0, 4.0)
    assert events(data, complete=False) == []
    assert events(data, event="nc_exec")[0].data["end_us"] == 3.0


def test_an_error_of_a_pair_survives_the_later_events_of_its_core() -> None:
    data = trace(event("nrt_execute", 1, "B", ret=6, gid=0), event("", 2, "E"), event("nrt_execute", 50))
    assert [f.data["start_us"] for f in events(data, event="nrt_execute")] == [1.0, 50.0]


def test_an_unknown_phase_never_ended_and_arrows_say_nothing() -> None:
    data = trace(*executions(1), event("nc_exec", 500, "?"), *(event("arrow", 1, ph) for ph in "stfC"))
    assert [f.data["event"] for f in events(data, complete=False)] == ["nc_exec"]
    assert events(data, event="arrow") == []


def test_only_the_last_complete_event_of_a_kind_is_told_for_each_core() -> None:
    data = trace(*executions(500), *(event("nc_exec", 7.0 * n, tid=3) for n in range(500)))
    facts = events(data)
    assert len(facts) == 7
    assert {f.data["start_us"] for f in facts if f.place.core == 3} == {499 * 7.0}
    assert {f.data.get("neff") for f in facts if f.data["event"] == "sync_exec"} == {"step.neff"}


def test_the_last_is_the_latest_even_if_the_trace_is_not_sorted() -> None:
    data = trace(*reversed(executions(500)))
    assert {f.data["exec_id"] for f in events(data)} == {499}


def test_a_barrier_message_names_who_is_waited_for() -> None:
    (fact,) = events(trace(*executions(1), event("cc_barrier_recv (9->4)", 900, "B", tid=2)), complete=False)
    assert (fact.data["event"], fact.data["peer"], fact.place.rank) == ("cc_barrier_recv", 9, 4)


def test_the_rank_of_a_core_is_what_its_other_events_name() -> None:
    data = trace(process(0, [0, 1]), event("nrt_execute", 1, tid=1, gid=1, ret=0), event("nc_exec", 2, "B", tid=1))
    assert [f.place.rank for f in events(data, complete=False)] == [1]


def test_a_process_with_one_rank_is_that_rank() -> None:
    data = trace(process(0, [17]), event("nc_exec", 2, "B"))
    assert [f.place.rank for f in events(data, complete=False)] == [17]


def test_a_process_names_its_instance_and_ranks() -> None:
    facts, _ = read(trace(process(0, [0, 1]), process(1, [2, 3]), *executions(1)))
    identities = [(f.place.instance_id, f.place.pid, f.place.ranks) for f in facts if f.kind == "identity"]
    assert identities == [(INSTANCES[0], 1000, (0, 1)), (INSTANCES[1], 1001, (2, 3))]


def test_a_storm_of_errors_is_counted() -> None:
    facts = events(trace(*(event("numerical_error", n, exec_id=n) for n in range(200))))
    assert [f.data["exec_id"] for f in facts] == [*range(64), 199]
    assert sum(f.repeats for f in facts) == 200 - 64


def test_a_bare_list_pretty_print_and_trailing_members_say_the_same() -> None:
    body = [process(0, [0]), *executions(400), event("numerical_error", 7)]
    forms = [
        trace(*body),
        trace(*body, otherData={"a": {"b": [1]}}, stackFrames={}),
        json.dumps({"displayTimeUnit": "ns", "traceEvents": body}, indent=2).encode(),
        json.dumps(body).encode(),
        json.dumps(body, indent=1).encode(),
        b"\xef\xbb\xbf" + json.dumps(body, separators=(",", ":")).encode(),
    ]
    told = [[(f.kind, dict(f.data), f.place) for f in read(form)[0]] for form in forms]
    assert "ndet-event" in {kind for kind, *_ in told[0]}
    assert all(facts == told[0] for facts in told)
    assert all(read(form)[1].problems == {} for form in forms)


def test_a_torn_trace_gives_what_it_had() -> None:
    data = trace(event("numerical_error", 7), *executions(2000))
    facts, inp = read(data[: len(data) // 2])
    assert "numerical_error" in {f.data["event"] for f in facts}
    assert ["cut off" in what for what in inp.problems] == [True]
    assert 5_900 < inp.records < 6_100


def test_a_damaged_event_costs_itself() -> None:
    data = trace(*executions(2000), event("numerical_error", 7))
    at = data.index(b'"ts"', len(data) // 2)
    facts, inp = read(data[:at] + b"\xff\x00" + data[at + 4 :])
    assert inp.records == 12_000
    assert [(p.what, p.line) for p in inp.problems.values()] == [("an event of the trace is not readable", 1)]
    assert "numerical_error" in {f.data["event"] for f in facts}


def test_values_of_other_types_are_taken_or_left() -> None:
    odd = event("nrt_execute", 1, ret="1004", gid=[1], nd="x")
    (fact,) = events(trace(odd | {"ts": "12.5", "tid": "3"}, event("nc_exec", 1)), ret=1004)
    assert (fact.data["start_us"], fact.place.core, fact.place.rank) == (12.5, 3, None)


def test_times_beyond_any_clock_have_no_instant() -> None:
    facts = events(trace(event("nc_exec", 1e300)))
    assert [f.instant for f in facts] == [None]


@pytest.mark.parametrize(
    "hostile",
    [
        b"[" * 300_000,
        b'[{"name":"nc_exec","ph":' * 20_000,
        b'{"traceEvents":[' + b"{}," * 50_000,
        b"[" + b'{"a":"},' * 50_000,
    ],
    ids=["nesting", "open objects", "empty events", "open strings"],
)
def test_hostile_traces_end_in_an_answer(hostile: bytes) -> None:
    inp = Input("t", "t", BufferedReader(BytesIO(hostile)))  # type: ignore[arg-type]
    facts: list[Fact] = []
    with suppress(UnreadableInput):
        facts = list(NDET_TRACE.collect(inp))
    assert facts == []
    assert inp.problems


@pytest.mark.parametrize("nothing", [b"", b"{}", b'{"traceEvents":[]}', b"[]", b"\0" * 100])
def test_a_trace_without_events_is_unreadable(nothing: bytes) -> None:
    with pytest.raises(UnreadableInput):
        collected(NDET_TRACE, nothing)


@settings(max_examples=60, deadline=None)
@given(st.integers(200, 12_000), st.binary(max_size=12), st.integers(0, 30))
def test_damage_anywhere_loses_neither_the_first_nor_the_count_of_problems(at: int, junk: bytes, gone: int) -> None:
    data = trace(event("numerical_error", 7), *executions(20), event("nc_exec", 9e6, "B"))
    facts, inp = collected(NDET_TRACE, data[:at] + junk + data[at + gone :])
    assert "numerical_error" in {f.data.get("event") for f in facts}
    assert inp.records >= 1


# --- the console


CONSOLE = "\n".join(
    [
        "(venv) [ec2-user@ip-10-0-0-1 ~]$ neuron-det --log-prefix ndet/ndet",
        "numerical_error (X) NC 3 @ 1176.5 - 1190.0: {'nd': 1, 'nc': 0, 'exec_id': 12}",
        "cc_barrier_recv (5->2) (B) NC 4 @ 2000.0 - nan: {'nd': 2, 'gid': 2}",
        "",
    ]
).encode()


def test_the_console_tells_the_same_kind_of_events() -> None:
    (error, stuck), _ = read(CONSOLE, "out.txt")
    assert error.data == {
        "event": "numerical_error",
        "complete": True,
        "start_us": 1176.5,
        "end_us": 1190.0,
        "exec_id": 12,
    }
    assert (error.place.core, error.place.device, error.span.line) == (3, 1, 2)
    assert (stuck.data["event"], stuck.data["complete"], stuck.data["peer"]) == ("cc_barrier_recv", False, 5)
    assert (stuck.place.rank, stuck.place.core) == (2, 4)
    assert "end_us" not in stuck.data


@pytest.mark.parametrize("tick", ["✓", "?", "\x1b[32m✓\x1b[0m"])
def test_no_error_is_a_statement_too(tick: str) -> None:
    facts, _ = read(f"no errors detected {tick}\n".encode(), "out.txt")
    assert [f.kind for f in facts] == ["ndet-clean"]


def test_arguments_are_never_evaluated() -> None:
    line = (
        b"numerical_error (X) NC 0 @ 1.0 - 2.0: {'nd': __import__('os').abort(), 'nc': 0, 'exec_id': "
        + b"9" * 5000
        + b"}\n"
    )
    (fact,), _ = read(line, "out.txt")
    assert (fact.place.device, "exec_id" in fact.data) == (None, False)


def test_a_cut_line_still_tells_its_event() -> None:
    (fact,), _ = read(b"numerical_error (X) NC 0 @ 1.0 - 2.0: {'nd': 3, 'nc'", "out.txt")
    assert fact.place.device == 3


def test_a_log_with_one_such_line_is_left_to_the_text_collector() -> None:
    log = b"".join(b"step %d loss 1.0\n" % n for n in range(100))
    assert claimed(log + CONSOLE, "train.log") is None
    assert claimed(b"fsck: no errors detected\n", "out.txt") is None


@pytest.mark.parametrize("form", ["ip-10-0-0-1 {}", "{}", "== ip-10-0-0-1 {} ==", "# /fsx/ndet/{}:", "loading {}"])
def test_events_below_the_name_of_a_log_are_of_its_process(form: str) -> None:
    lines = []
    for n in range(8):
        log = f"ndet_2024-02-03_04-05-06_{1000 + n}_{INSTANCES[n // 4]}.txt (GIDs: [{8 + n}])"
        lines += [form.format(log), f"nc_exec (B) NC {n} @ 1.0 - 2.0: {{'nd': {n // 2}, 'nc': {n % 2}, 'exec_id': 3}}"]
    facts, _ = read("\n".join(lines).encode(), "out.txt")
    assert [(f.place.rank, f.place.pid, f.place.core) for f in facts] == [(8 + n, 1000 + n, n) for n in range(8)]
    assert [f.place.instance_id for f in facts] == [INSTANCES[0]] * 4 + [INSTANCES[1]] * 4
    assert {f.place.host for f in facts} == ({"ip-10-0-0-1"} if "ip-10" in form else {None})


def test_a_log_of_several_ranks_names_none_of_them_and_a_list_of_logs_is_no_output() -> None:
    log = f"ndet_2024-02-03_04-05-06_1672_{INSTANCES[0]}.txt"
    (fact,), _ = read(f"{log} (GIDs: [0, 1])\nnc_exec (B) NC 1 @ 1.0 - 2.0: {{'nd': 0}}\n".encode(), "out.txt")
    assert (fact.place.rank, fact.place.pid) == (None, 1672)
    assert claimed(f"{log}\n{log}\n".encode(), "ls.txt") is None


# --- raw logs


RAW = "ndet_2024-02-03_04-05-06_1672_i-0aaaabbbbccccdddd.txt"


@pytest.mark.parametrize("content", [b"", b"\x01\x02\x00binary", b"1,2,3\n"])
def test_a_raw_log_is_named_and_says_how_it_is_read(content: bytes) -> None:
    (fact,), inp = read(content, RAW)
    assert fact.data == {"trace_pid": 1672, "started": "2024-02-03T04:05:06"}
    assert (fact.place.instance_id, fact.place.pid) == ("i-0aaaabbbbccccdddd", 1672)
    assert fact.instant is not None
    assert fact.instant.clock is Clock.HOST_LOCAL
    (what,) = inp.problems
    assert "neuron-det --log-prefix <dir>/ndet -o trace.json" in what
    assert "SDK 2.22" in what


def test_a_raw_log_of_an_impossible_date_has_no_instant() -> None:
    (fact,), _ = read(b"x", RAW.replace("02-03", "13-41"))
    assert fact.instant is None


def test_content_decides_before_the_name() -> None:
    assert claimed(trace(*executions(1)), RAW) is NDET_TRACE
    assert claimed(CONSOLE, RAW) is NDET_CONSOLE
    assert claimed(b"?", RAW) is NDET_RAW


# --- other traces


@pytest.mark.parametrize(
    "other",
    [
        {"schemaVersion": 1, "traceEvents": [event("aten::mm", 1), event("nccl:all_reduce", 2)]},
        {"traceEvents": [event("nc_exec_running", 1), event("nrt_execute", 2, gid=0), event("cc_exec_barrier", 3)]},
        {"traceEvents": [event("nrt_execute", 2)]},
        {"nc_exec": 1},
        [{"name": "nc_exec"}],
    ],
    ids=["PyTorch profiler", "Neuron Explorer", "undecided", "no events", "no phase"],
)
def test_traces_of_other_tools_are_not_taken(other: Any) -> None:
    assert claimed(json.dumps(other).encode()) is None


@pytest.mark.parametrize(
    "name", ["nc_exec", "cc_op_exec", "sync_exec - a.neff", "cc_barrier_recv (1->0)", "numerical_error"]
)
def test_one_event_that_only_ndet_has_is_enough(name: str) -> None:
    assert claimed(trace(event("load", 1), event(name, 2))) is NDET_TRACE
    assert claimed(trace(process(0, [0]), event("load", 1))) is NDET_TRACE
    assert claimed(trace(event("nrt_execute", 1, gid=0, ret=0))) is NDET_TRACE
