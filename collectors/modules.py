"""The kernel modules of a host: `lsmod` (or /proc/modules) for what is loaded, `modinfo` for what is installed.

`modinfo` reads the file on disk: after an update without reload it names a driver that does not run (Neuron
troubleshooting guide), so its version is that of component `driver-installed`. That of the loaded one stands in
/sys/module/neuron/version.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.snapshot import (
    Line,
    command_of,
    fact,
    first_line,
    from_lines,
    has_form,
    head_lines,
    opening,
    output,
)
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.regexes import regex

_TITLE = regex(r"Module\s+Size\s+Used by\b")
_ROW = regex(
    r"(?P<name>\w[\w-]{0,80})\s+(?P<size>\d{1,12})\s+(?P<users>-?\d{1,6})(?:\s+[\w,\-\[\]]+)?(?:\s+(?:Live|Loading|Unloading)\s.*)?\s*$"
)
_LSMOD = regex(rf"{_TITLE.pattern}|{_ROW.pattern}")
_SHOWN = frozenset({"neuron", "efa", "ib_uverbs"})

#: A listing with a title and at least this many modules is taken for a whole one, not for a filtered one.
_WHOLE = 5

#: `lsmod | grep neuron` that prints nothing: the module is not loaded.
_ASKED = regex(r"(?:sudo\s+)?lsmod\s*\|\s*grep\b[^|]*\bneuron\b[^|]*$")

_MODINFO = regex(r"[a-z][\w-]{0,40}:(?:\s|$)|\s")
_FILENAME = regex(r"filename:\s+(\S+)")
_VERSION = regex(r"version:\s+(\S+)")
_COMPONENTS = {"neuron": "driver-installed", "efa": "efa-driver-installed"}
#: What asks for one version: of a module as it is installed, or as it is loaded.
_ASKS_INSTALLED = regex(
    r"(?:sudo\s+)?(?:/\S{1,40}/)?modinfo\s+(?:(?:-F\s*|--field[= ])version\s+(?P<asked>neuron|efa)"
    r"|(?P<searched>neuron|efa)\s*\|\s*grep\b[^|]*\bversion\b[^|]*)"
)
_ASKS_LOADED = regex(r"(?:sudo\s+)?cat\s+/sys/module/(?P<loaded>neuron|efa)/version")
_BARE_VERSION = regex(r"(?:version:\s+)?(?P<version>\d{1,4}(?:\.[\w-]{1,30}){1,5})\s*$")
_LOADED = {"neuron": "driver-loaded", "efa": "efa-driver-loaded"}


def _is_lsmod(head: bytes, _name: str) -> bool:
    if _TITLE.match(opening(head)):
        return has_form(head, _LSMOD) or len(head_lines(head)) == 1
    return has_form(head, _ROW, 1.0) and any(text.startswith(("neuron ", "efa ")) for text in head_lines(head))


def _is_modinfo(head: bytes, _name: str) -> bool:
    return bool(_FILENAME.match(opening(head))) and has_form(head, _MODINFO, 0.95)


def parse_lsmod(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """The modules of interest that a listing shows, and `module-absent` where a whole one does not show the driver."""
    rows = [(row, line) for line in output(lines) if (row := _ROW.match(line.text))]
    for row, line in rows:
        if row["name"] in _SHOWN:
            yield fact(
                inp, line, "module", {"name": row["name"], "size": int(row["size"]), "used_by": int(row["users"])}
            )
    missing = _absence(lines, {row["name"] for row, _ in rows})
    if missing is not None:
        yield fact(inp, missing, "module-absent", {"name": "neuron"})


def _absence(lines: Sequence[Line], names: set[str]) -> Line | None:
    if "neuron" in names:
        return None
    title = next((line for line in lines if _TITLE.match(line.text)), None)
    if title is not None and len(names) >= _WHOLE:
        return title
    asked = next((line for line in lines if _ASKED.match(command_of(line.text) or "")), None)
    return asked if not output(lines) else None


def parse_modinfo(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """The version of each module of interest as it is installed on disk."""
    component: str | None = None
    for line in output(lines):
        if named := _FILENAME.match(line.text):
            module = named[1].rsplit("/", 1)[-1].split(".ko", 1)[0]
            component = _COMPONENTS.get(module)
        elif component and (version := _VERSION.match(line.text)):
            yield fact(inp, line, "version", {"component": component, "version": version[1]})


def _asked(command: str) -> str | None:
    """The component whose version alone a command asks for."""
    if installed := _ASKS_INSTALLED.fullmatch(command):
        return _COMPONENTS[installed["asked"] or installed["searched"]]
    loaded = _ASKS_LOADED.fullmatch(command)
    return _LOADED[loaded["loaded"]] if loaded else None


def _is_version(head: bytes, _name: str) -> bool:
    command = command_of(first_line(head))
    return command is not None and _asked(command) is not None and len(head_lines(head)) == 1


def parse_version(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """The version that one command asked for, where its output is that alone."""
    component, said = _asked(command_of(lines[0].text) or ""), output(lines)
    version = _BARE_VERSION.match(said[0].text) if len(said) == 1 else None
    if component and version:
        yield fact(inp, said[0], "version", {"component": component, "version": version["version"]})


COLLECTORS = (
    Collector("lsmod", "loaded kernel modules", _is_lsmod, from_lines(parse_lsmod)),
    Collector("modinfo", "installed kernel module", _is_modinfo, from_lines(parse_modinfo)),
    Collector("modinfo", "version of a kernel module", _is_version, from_lines(parse_version)),
)
