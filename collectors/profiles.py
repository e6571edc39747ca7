"""Output of Neuron Explorer and neuron-profile: recognised and named, not read; it is evidence of performance.

Source: Neuron documentation, tools/neuron-explorer (2026-06): `<instance-id>_pid_<pid>/` with trace_info.pb, ntrace.pb,
*.ntff, trace.json and neuron_framework_trace_rank_<N>.json.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.regexes import regex

_PARTS = (
    ("ntff", regex(r".+\.ntff")),
    ("ntrace", regex(r"ntrace\.pb")),
    ("trace-info", regex(r"trace_info\.pb")),
    ("cpu-utilization", regex(r"cpu_util\.pb")),
    ("host-memory", regex(r"host_mem\w{0,20}\.pb")),
    ("framework-trace", regex(r"neuron_framework_trace_rank_(?P<rank>\d{1,7})\.json")),
)
_DIRECTORY = regex(r"(?P<instance>i-[0-9a-f]{8,17})_pid_(?P<pid>\d{1,10})[/!]")

#: Events that only a trace of Neuron Explorer has; NDET, its predecessor, names them otherwise.
_EXPLORER = regex(
    rb'"(?:nc_exec_running|cc_running|timestamp_sync_point|trace_event_source|kbl_exec_wait|nrta_execute_schedule)"'
)


def _sniff(head: bytes, name: str) -> bool:
    part = _part(name)
    text = head.lstrip()[:1] in {b"{", b"["}
    if part is None:
        return text and _EXPLORER.search(head) is not None
    return text if part[0] == "framework-trace" else not text or not head


def _part(name: str) -> tuple[str, re.Match[str]] | None:
    return next(((part, found) for part, form in _PARTS if (found := form.fullmatch(name))), None)


def _collect(inp: Input) -> Iterator[Fact]:
    part = _part(inp.name)
    rank = part[1].groupdict().get("rank") if part else None
    where = _DIRECTORY.search(inp.path)
    place = Place(
        rank=int(rank) if rank else None,
        instance_id=where["instance"] if where else None,
        pid=int(where["pid"]) if where else None,
    )
    tool = "neuron-profile" if part and part[0] == "ntff" else "neuron-explorer"
    data = {"tool": tool, "part": part[0] if part else "trace"}
    yield Fact("profile", data, place.over(inp.place), Span(inp.path), inp.source_id)


COLLECTORS = (Collector("profile", "performance profile", _sniff, _collect),)
