"""`neuron-ls`: the devices of a host and who uses them, from its JSON (`-j`) or its table.

Source: Neuron documentation, tools/neuron-sys-tools/neuron-ls (SDK 2.9 to 2.32); JSON members as in SDK 2.28 and later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from neuron_doctor.collectors.base import Collector, Input, UnreadableInput
from neuron_doctor.collectors.documents import JSON_LINE, DamagedDocument, Document, Element, document_of, elements
from neuron_doctor.collectors.instance_types import device_count
from neuron_doctor.collectors.masking import without_secrets
from neuron_doctor.collectors.snapshot import Line, fact, from_lines, has_form, opening
from neuron_doctor.engine.facts import Fact, Place, Value
from neuron_doctor.engine.regexes import regex

_HEADER = regex(r"\s*(instance-type|instance-id|logical-neuroncore-config):\s*(\S+)\s*$")
_RULE = regex(r"\s*\+-[-+]+\+\s*$")
_TITLE = regex(r"\s*\|\s*NEURON\s*\|")
_FORM = regex(
    r"\s*(?:(?:instance-type|instance-id|logical-neuroncore-config):\s|\+-[-+]+\+\s*$|\|.*\|\s*$"
    r"|Neuron Device Topology|Legend:|[*\u2190-\u25ff–][*\s\u2190-\u25ff–]*(?:$|[\[=]))"
)
_ARRAY = regex(r"^[ \t]*\[", re.MULTILINE)
_MEMORY = regex(r"(\d+)\s*([KMGT])i?B\b", re.IGNORECASE)
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def _sniff(head: bytes, name: str) -> bool:
    first = opening(head).strip()
    if first.startswith("["):
        named = first == "[]" and "neuron-ls" in name.replace("_", "-")
        listed = b'"neuron_device"' in head and b'"nc_count"' in head
        return named or (listed and has_form(head, JSON_LINE, 0.95))
    return (bool(_HEADER.match(first)) or bool(_RULE.match(first))) and b"NEURON" in head and has_form(head, _FORM, 0.9)


def parse(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """The facts of one run of neuron-ls, in either form."""
    yield from _identity(inp, lines)
    tabular = any(_TITLE.match(line.text) for line in lines)
    yield from (_from_table if tabular else _from_json)(inp, lines)


def _header(lines: Sequence[Line]) -> dict[str, tuple[str, Line]]:
    return {m[1]: (m[2], line) for line in lines if (m := _HEADER.match(line.text))}


def _identity(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    header = _header(lines)
    names = {"instance_type": header.get("instance-type"), "instance_id": header.get("instance-id")}
    said = {field: found[0] for field, found in names.items() if found}
    if said:
        line = next(found[1] for found in names.values() if found)
        yield fact(inp, line, "identity", said, Place(instance_id=said.get("instance_id")))


def _count(inp: Input, lines: Sequence[Line], line: Line, devices: set[int], cores: int) -> Fact:
    header = _header(lines)
    instance_type = header["instance-type"][0] if "instance-type" in header else ""
    instance_id = header["instance-id"][0] if "instance-id" in header else None
    data = device_count(len(devices), cores=cores, instance_type=instance_type, highest=max(devices, default=-1))
    return fact(inp, line, "device-count", data, Place(instance_id=instance_id))


# --- the table


class _Columns(Struct):
    """The columns of the table by title; a title stands on up to three rows (`CONNECTED` over `DEVICES`)."""

    titles: list[str] = field(default_factory=list)

    def add_title(self, cells: list[str]) -> None:
        above = self.titles or [""] * len(cells)
        self.titles = [f"{a} {b}".strip() for a, b in zip(above, cells, strict=False)]

    def row(self, cells: list[str]) -> dict[str, str]:
        return dict(zip(self.titles, cells, strict=False))


def _from_table(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    columns, device, cores, seen = _Columns(), None, 0, set[int]()
    lnc = _integer(_header(lines).get("logical-neuroncore-config", ("0",))[0])
    last = lines[0]
    for line in lines:
        if not line.text.lstrip().startswith("|"):
            continue
        cells = [cell.strip() for cell in line.text.strip().strip("|").split("|")]
        if not seen and not any(cell.isdigit() for cell in cells):
            columns.add_title(cells)
            continue
        row, last = columns.row(cells), line
        if row.get("NEURON DEVICE", "").isdigit():
            device = int(row["NEURON DEVICE"])
            seen.add(device)
            cores += _integer(row.get("NEURON CORES", ""))
            yield from _table_device(inp, line, device, row, lnc)
        if row.get("PID", "").isdigit():
            data = {
                "command": without_secrets(row.get("COMMAND", "")),
                "runtime_version": row.get("RUNTIME VERSION", ""),
            }
            yield fact(inp, line, "device-user", data, Place(device=device, pid=int(row["PID"])))
        elif device is None:
            inp.problem("a row of the table without a device", line.number)
    yield _count(inp, lines, last, seen, cores)


def _table_device(inp: Input, line: Line, device: int, row: dict[str, str], lnc: int) -> Iterator[Fact]:
    memory = _MEMORY.match(row.get("NEURON MEMORY", ""))
    data: dict[str, Value] = {
        "bdf": row.get("PCI BDF", ""),
        "cores": _integer(row.get("NEURON CORES", "")),
        "lnc": lnc,
        "memory_bytes": int(memory[1]) * _UNITS[memory[2].upper()] if memory else 0,
        "connected_to": tuple(int(n) for n in re.findall(r"\d+", row.get("CONNECTED DEVICES", ""))),
    }
    yield fact(inp, line, "device", data, Place(device=device))
    if data["bdf"]:
        yield fact(inp, line, "pci-device", {"bdf": data["bdf"], "kind": "neuron"}, Place(device=device))


def _integer(text: str) -> int:
    return int(text) if text.isdigit() else 0


# --- the JSON array


def _from_json(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    document = document_of(inp.path, lines)
    array = _ARRAY.search(document.text)
    if array is None:
        raise UnreadableInput("no device list: neither a JSON array nor a table of neuron-ls")
    devices, cores = set[int](), 0
    try:
        for element in elements(document.text, array.end()):
            if not isinstance(element.value, dict) or not isinstance(element.value.get("neuron_device"), int):
                inp.problem("an entry without a device number")
                continue
            devices.add(_number(element.value, "neuron_device"))
            cores += _number(element.value, "nc_count")
            yield from _json_device(inp, document, element, element.value)
    except DamagedDocument as damage:
        inp.problem(str(damage))
        return  # the number of devices is not known
    line = next(line for line in lines if "[" in line.text)
    yield _count(inp, lines, line, devices, cores)


def _json_device(inp: Input, document: Document, element: Element, entry: dict[str, object]) -> Iterator[Fact]:
    place = Place(device=_number(entry, "neuron_device")).over(inp.place)
    span = document.quote(element, "neuron_device")
    links = entry.get("connected_to")
    bdf = str(entry.get("bdf") or "")
    data: dict[str, Value] = {
        "bdf": bdf,
        "cores": _number(entry, "nc_count"),
        "lnc": _number(entry, "logical_neuroncore_config"),
        "memory_bytes": _number(entry, "memory_size"),
        "connected_to": tuple(n for n in links if isinstance(n, int)) if isinstance(links, list) else (),
    }
    yield Fact("device", data, place, span, inp.source_id)
    if bdf:
        address = document.quote(element, "bdf")
        yield Fact("pci-device", {"bdf": bdf, "kind": "neuron"}, place, address, inp.source_id)
    users = entry.get("neuron_processes")
    for user in users if isinstance(users, list) else ():
        if isinstance(user, dict) and isinstance(pid := user.get("pid"), int):
            told = {
                "command": without_secrets(str(user.get("command", ""))),
                "runtime_version": str(user.get("neuron_runtime_version", "")),
            }
            holder = document.quote(element, "pid", pid)
            yield Fact("device-user", told, Place(pid=pid).over(place), holder, inp.source_id)


def _number(entry: dict[str, object], key: str) -> int:
    value = entry.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


COLLECTORS = (Collector("neuron-ls", "neuron-ls", _sniff, from_lines(parse)),)
