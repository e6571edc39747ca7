"""Flight-recorder dumps as JSON: torch's own dialect, and that of collectors that rewrite a pickle as JSON."""

import json
from collections.abc import Iterable, Mapping

from neuron_doctor.corpus.simulator.write_recorder_ring import Record
from neuron_doctor.corpus.simulator.write_recorder_schema import Fields, Version, entry

_DISCOVERED = ("time_discovered_started_ns", "time_discovered_completed_ns")
_HEALTHY = {part: {"status": True, "output": f"{part.upper()} health check passed"} for part in ("gpu", "nic")}


def torch_dialect(top: Fields, records: Iterable[Record], version: Version) -> bytes:
    """`_dump_fr_trace_json`: sorted keys, no stacks, 0 for unknown times, status numbers as strings, no empty entries."""
    fields: Fields = {key: _as_strings(value) if key == "pg_status" else value for key, value in top.items()}
    entries = [_zero_for_unknown(entry(record, version, stacks=False)) for record in records]
    if entries:
        fields["entries"] = entries
    fields["nccl_comm_state"] = {}
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def collector_dialect(top: Fields, records: Iterable[Record], version: Version, *, stacks: bool) -> bytes:
    """The pickle's content as indented JSON, with the results of the health checks that the collector ran."""
    entries = [_plain_frames(entry(record, version, stacks=stacks)) for record in records]
    return json.dumps({**top, "entries": entries, "health_check_results": _HEALTHY}, indent=4).encode()


def _zero_for_unknown(fields: Fields) -> Fields:
    return {key: 0 if key in _DISCOVERED and value is None else value for key, value in fields.items()}


def _as_strings(status: object) -> object:
    if isinstance(status, Mapping):
        return {key: _as_strings(value) for key, value in status.items()}
    return str(status)


def _plain_frames(fields: Fields) -> Fields:
    frames = fields.get("frames")
    if not isinstance(frames, tuple):
        return fields
    return {**fields, "frames": [{"name": at.function, "filename": at.file, "line": at.line} for at in frames]}
