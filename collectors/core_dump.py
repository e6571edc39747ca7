"""Core dumps of the Neuron runtime: what their file names and the arguments of `neuron-dump` say.

Source: Neuron documentation, neuron-runtime/explore/core-dump-deep-dive. The content of the hardware files is not
documented and not read; the `.log` tails beside them are runtime logs like any other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from neuron_doctor.collectors.base import Collector, Input, UnreadableInput
from neuron_doctor.collectors.snapshot import fact, head_lines, opening, output, read_lines
from neuron_doctor.engine.facts import NOWHERE, Fact, Place, Span, Value
from neuron_doctor.engine.regexes import regex

_INSTANCE = r"(?:(?P<instance>i-[0-9a-f]{8,17})-|(?P<other>[\w.-]{1,64})-)?"
_STATE_FILE = regex(
    rf"{_INSTANCE}nd(?P<device>\d{{1,4}})-(?:nc(?P<core>\d{{1,4}})|cc-core-(?P<cc>\d{{1,4}}))"
    r"-pid-(?P<pid>\d{1,10})-tid-(?P<tid>\d{1,10})-lid-(?P<lid>\d{1,18})$"
)
_DIRECTORY = regex(
    r"(?:^|[/!])(?:dt-)?(?P<when>\d{8}-\d{6}|\d{4}-\d\d-\d\d-\d\d-\d\d)-(?:cid-)?(?P<cluster>[0-9a-f]{16})(?=[/!]|$)"
)


def _state_file(path: str) -> re.Match[str] | None:
    return _STATE_FILE.match(re.split(r"[/!]", path)[-1])


def place_of_core_dump_path(path: str) -> Place:
    """What the name of a file in a core dump says of its place (instance, device, core, process), else NOWHERE."""
    found = _state_file(path)
    if found is None:
        return NOWHERE
    return Place(
        instance_id=found["instance"],
        pid=int(found["pid"]),
        device=int(found["device"]),
        core=int(found["core"]) if found["core"] else None,
    )


def core_dump_data(path: str) -> dict[str, Value] | None:
    """The fields of the `core-dump` fact that this path stands for, None for the path of anything else."""
    found = _state_file(path)
    if found is None:
        return None
    directories = list(_DIRECTORY.finditer(path))
    return {
        "part": "cc-core" if found["cc"] else "core",
        "cluster_id": directories[-1]["cluster"] if directories else "",
        "dumped_at": directories[-1]["when"] if directories else "",
        "tid": int(found["tid"]),
        "log_id": int(found["lid"]),
        "cc_core": int(found["cc"]) if found["cc"] else -1,
    }


def _is_state(_head: bytes, name: str) -> bool:
    return _STATE_FILE.match(name) is not None


def _collect_state(inp: Input) -> Iterator[Fact]:
    data = core_dump_data(inp.path) or core_dump_data(inp.name)
    if data is None:
        raise UnreadableInput("not named like a file of a core dump")
    inp.records = 1
    place = place_of_core_dump_path(inp.path).over(inp.place)
    yield Fact("core-dump", data, place, Span(inp.path), inp.source_id)
    if place.instance_id and place.host:
        names = {"instance_id": place.instance_id, "hostname": place.host}
        yield Fact("identity", names, place, Span(inp.path), inp.source_id)


# --- the arguments of neuron-dump

_FLAG = regex(r"(?<![\w-])--(?P<name>[a-z0-9][a-z0-9-]{1,40})(?:=|[ \t]+(?!--))(?P<value>\"[^\"\n]*\"|'[^'\n]*'|\S+)")
_NAMES: Mapping[str, str] = {
    "neff-name": "neff",
    "neff-uuid": "neff_uuid",
    "date-time": "date_time",
    "cluster-id": "cluster_id",
    "error-location": "api",
    "local-output-dir": "output_dir",
    "s3-output-prefix": "s3_prefix",
}
_NUMBERS: Mapping[str, str] = {"log-id": "log_id", "error-code": "code"}
_NEEDED = frozenset({"error-code", "log-id", "cluster-id", "error-location", "local-output-dir"})


def arguments_of(text: str) -> dict[str, str]:
    """The flags of neuron-dump in a command line, by name without dashes; empty where it is not such a line."""
    flags = {found["name"]: found["value"].strip("\"'") for found in _FLAG.finditer(text)}
    return flags if len(_NEEDED & flags.keys()) > 1 else {}


def arguments_data(flags: Mapping[str, str]) -> tuple[dict[str, Value], Place]:
    """The `core-dump-args` fields and the place of these flags. A code that is not a number is left out."""
    data: dict[str, Value] = {field: flags[name] for name, field in _NAMES.items() if name in flags}
    data |= {field: int(flags[name]) for name, field in _NUMBERS.items() if flags.get(name, "").isdigit()}
    pid, device, core = (flags.get(name, "") for name in ("pid", "device-id", "core-id"))
    return data, Place(
        instance_id=flags.get("instance-id") or None,
        pid=int(pid) if pid.isdigit() else None,
        device=int(device) if device.isdigit() else None,
        core=int(core) if core.isdigit() else None,
    )


def _is_arguments(head: bytes, _name: str) -> bool:
    written = head.lstrip()[:1] == b"{"
    if not written and (first := opening(head)) and not arguments_of(first):
        return False  # so it is for nearly every text
    if b"error-code" not in head and b"error_code" not in head:
        return False
    if written:
        return len(_recorded(head)) > 1
    texts = head_lines(head)
    return bool(texts) and all(arguments_of(text) for text in texts)


def _collect_arguments(inp: Input) -> Iterator[Fact]:
    lines = read_lines(inp)
    recorded = _recorded(b"".join(line.raw for line in lines))
    if recorded and lines:
        data, place = arguments_data(recorded)
        yield fact(inp, lines[0], "core-dump-args", data, place)
        return
    for line in output(lines):
        flags = arguments_of(line.text)
        if flags:
            data, place = arguments_data(flags)
            yield fact(inp, line, "core-dump-args", data, place)


def _recorded(data: bytes) -> dict[str, str]:
    """The flags that a wrapper of neuron-dump recorded as JSON: an object of flags, or one with the list `args`."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, dict):
        return {}
    if isinstance(args := value.get("args", value.get("argv")), list):
        return arguments_of(" ".join(str(arg) for arg in args))
    flags = {str(key).lstrip("-").replace("_", "-"): str(text) for key, text in value.items()}
    return flags if len(_NEEDED & flags.keys()) > 1 else {}


COLLECTORS = (
    Collector("core-dump", "file of a runtime core dump", _is_state, _collect_state),
    Collector("core-dump", "arguments of neuron-dump", _is_arguments, _collect_arguments),
)
