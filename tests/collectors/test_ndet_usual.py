"""NDET traces: blocks in which nothing is remarkable are decoded in brief, and the facts are those of the plain way."""

from __future__ import annotations

import json
from io import BufferedReader, BytesIO
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_doctor.collectors import chrome_trace
from neuron_doctor.collectors.base import Input, UnreadableInput
from neuron_doctor.collectors.chrome_trace import Brief
from neuron_doctor.collectors.ndet import NDET_TRACE
from neuron_doctor.collectors.ndet_usual import Usual, latest

_SMALL_BLOCK = 600


def _event(name: str, ts: object, ph: str, tid: object, args: object) -> dict[str, Any]:
    return {"ph": ph, "name": name, "pid": 0, "tid": tid, "ts": ts, "dur": 1.5, "args": args}


ARGS = st.sampled_from(
    [{}, None, {"ret": 0}, {"ret": 0, "gid": 3}, {"gid": 4, "exec_id": 9}, {"ret": "0"}, {"ret": 1003}, {"ret": [1]}]
)
USUAL = st.builds(
    _event,
    st.sampled_from(["nc_exec", "cc_op_exec", "sync_exec - a.neff", "sync_exec - b.neff"]),
    st.integers(0, 12),
    st.just("X"),
    st.integers(0, 1),
    st.sampled_from([{"ret": 0}, {"gid": 3}, {}]),
)
ANY = st.builds(
    _event,
    st.sampled_from(["nc_exec", "numerical_error", "cc_barrier_recv (1->0)", "\u00e9\n"]),
    st.one_of(st.integers(0, 12), st.just("7.5")),
    st.sampled_from(["X", "X", "B", "E", "i", "M", "", "?"]),
    st.sampled_from([0, 1, "0", None]),
    ARGS,
)
TRACES = st.lists(st.one_of(USUAL, USUAL, USUAL, USUAL, ANY), max_size=120)


def _told(data: bytes) -> tuple[list[object], object, object]:
    inp = Input("t.json", "t.json", BufferedReader(BytesIO(data)), source_id="source")  # type: ignore[arg-type]
    try:
        facts: list[object] = list(NDET_TRACE.collect(inp))
    except UnreadableInput as error:
        facts = [str(error)]
    return facts, inp.records, inp.problems


@settings(max_examples=300, deadline=None)
@given(TRACES, st.booleans(), st.sampled_from([None, 0, 1]), st.integers(0, 20_000), st.binary(max_size=4))
def test_the_brief_way_tells_what_the_plain_way_tells(
    events: list[dict[str, Any]], ordered: bool, indent: int | None, at: int, junk: bytes
) -> None:
    if ordered:
        events = sorted(events, key=lambda event: float(event["ts"]))
    data = json.dumps({"traceEvents": events}, indent=indent).encode()
    data = data[:at] + junk + data[at:]
    with patch.object(chrome_trace, "BLOCK", _SMALL_BLOCK):
        brief = _told(data)
        with patch.object(Usual, "decode", lambda _self, _text: None):
            plain = _told(data)
    assert brief == plain


def test_a_trace_without_anything_remarkable_is_read_in_brief() -> None:
    events = [_event("nc_exec", n, "X", 0, {"ret": 0}) for n in range(1000)]
    events[700] = _event("nc_exec", 700, "B", 0, {})
    counted: list[int] = []
    decode = Usual.decode

    def counting(usual: Usual, text: bytes) -> Any:
        found = decode(usual, text)
        counted.append(len(found or ()))
        return found

    with patch.object(chrome_trace, "BLOCK", _SMALL_BLOCK), patch.object(Usual, "decode", counting):
        facts, records, _ = _told(json.dumps(events).encode())
    assert records == 1000
    assert sum(counted) > 950
    assert len(facts) == 2


BRIEF = st.builds(
    lambda name, ts, tid: Brief(name=name, ts=ts, tid=tid),
    st.sampled_from("ab"),
    st.integers(0, 4),
    st.sampled_from([0, "0"]),
)


@given(st.lists(BRIEF, max_size=12), st.booleans())
def test_the_latest_events_are_the_last_of_the_latest(events: list[Brief], ordered: bool) -> None:
    if ordered:
        events.sort(key=lambda event: event.ts)
    alike: dict[object, list[tuple[float, int]]] = {}
    for index, event in enumerate(events):
        alike.setdefault((event.tid, event.name), []).append((event.ts, index))
    assert latest(events) == [max(times)[1] for times in alike.values()]
