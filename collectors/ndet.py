"""NDET, the runtime's distributed event tracing (SDK 2.16 to 2.21): how its three kinds of files are told apart.

neuron-det reads the raw logs `ndet_<date>_<time>_<pid>_<instance-id>.txt` of every process, whose format is not public,
prints what it found and writes a Chrome trace. Source: NDET guide; the names of logs are from its pictures.
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_doctor.collectors import ndet_console
from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.timestamps import read_iso
from neuron_doctor.engine.facts import Fact, Place, Span, Value
from neuron_doctor.engine.regexes import regex

_RAW_NAME = regex(
    r"ndet_(?P<date>\d{4}-\d\d-\d\d)_(?P<hour>\d\d)-(?P<minute>\d\d)-(?P<second>\d\d)_(?P<pid>\d{1,10})"
    r"_(?P<instance>i-[0-9a-f]{8,17})\.txt(?:\.(?:gz|xz|bz2|zst))?"
)

#: Only NDET names events, or the processes of a trace, like this.
_NDET = regex(
    rb'"name"\s*:\s*"(?:nc_exec|cc_op_exec|numerical_error|sync_exec - [^"]*|cc_barrier_recv \(\d+->\d+\))"|\(GIDs: \[[\d, ]*\]\)'
)
#: NDET or Neuron Explorer, which later used the same names.
_SHARED = regex(rb'"name"\s*:\s*"(?:nrt_execute|cc_exec_barrier)"')
_SHARED_ARGS = regex(rb'"gid"\s*:')
_EXPLORER = regex(rb'"(?:nc_exec_running|cc_running|timestamp_sync_point|trace_event_source)"')
_PHASE = regex(rb'"ph"\s*:')

_HOW_TO_READ = (
    "a raw NDET log has no public format: convert the logs with `neuron-det --log-prefix <dir>/ndet -o trace.json` and "
    "give the trace (NDET and neuron-det were removed in SDK 2.22; use the tools of the SDK that wrote the logs)"
)


def _is_trace(head: bytes, _name: str) -> bool:
    if head.lstrip(b" \t\r\n\xef\xbb\xbf")[:1] not in (b"{", b"[") or not _PHASE.search(head) or _EXPLORER.search(head):
        return False
    return bool(_NDET.search(head) or (_SHARED.search(head) and _SHARED_ARGS.search(head)))


def _is_raw(head: bytes, name: str) -> bool:
    if _RAW_NAME.fullmatch(name) is None:
        return False
    return not _is_trace(head, name) and not ndet_console.sniff(head, name)


def _collect_trace(inp: Input) -> Iterator[Fact]:
    from neuron_doctor.collectors import ndet_trace  # noqa: PLC0415 - loaded for the first trace: few inputs are one

    return ndet_trace.collect(inp)


def _collect_raw(inp: Input) -> Iterator[Fact]:
    """One fact that the log is there, and a problem that says what to do with it."""
    found = _RAW_NAME.fullmatch(inp.name)
    if found is None:
        return
    inp.problem(_HOW_TO_READ)
    started = f"{found['date']}T{found['hour']}:{found['minute']}:{found['second']}"
    place = Place(instance_id=found["instance"], pid=int(found["pid"]))
    data: dict[str, Value] = {"trace_pid": int(found["pid"]), "started": started}
    yield Fact("ndet-raw", data, place.over(inp.place), Span(inp.path), inp.source_id, read_iso(started))


NDET_TRACE = Collector("ndet-trace", "Chrome trace of neuron-det", _is_trace, _collect_trace)
NDET_CONSOLE = Collector("ndet-console", "output of neuron-det", ndet_console.sniff, ndet_console.collect)
NDET_RAW = Collector("ndet-raw", "raw NDET log", _is_raw, _collect_raw)

COLLECTORS = (NDET_TRACE, NDET_CONSOLE, NDET_RAW)
