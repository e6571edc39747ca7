"""Reads the entry points of installed packages, and finds the folders that they name, without importing any of them."""

from __future__ import annotations

import configparser
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder
from importlib.metadata import Distribution, distributions
from pathlib import Path

from neuron_doctor.engine.regexes import regex
from neuron_doctor.installed import Brought, Installed

RULES, COLLECTORS = "neuron_doctor.rules", "neuron_doctor.collectors"
_FOLDER = regex(r"\w+(?:\.\w+)*")
_OBJECT = regex(r"\w+(?:\.\w+)*:\w+")


class _Parser(configparser.ConfigParser):
    """Names keep their case."""

    def optionxform(self, optionstr: str) -> str:
        return optionstr


def resolved(places: Sequence[str]) -> Installed:
    """What the packages that are installed in these places bring. Of two of one name the first counts, as for Python."""
    found: dict[str, list[Brought]] = {RULES: [], COLLECTORS: []}
    seen: set[str] = set()
    for package in distributions(path=list(places)):
        name = package.metadata["Name"]
        if name is None or (known := name.replace("_", "-").lower()) in seen:
            continue
        seen.add(known)
        for group, entry, value in _entries(package):
            found[group].append(_brought(group, entry, value, package, places))
    rules, collectors = (sorted(found[group], key=lambda one: (one.name, one.package)) for group in (RULES, COLLECTORS))
    return Installed(tuple(rules), tuple(collectors))


def _entries(package: Distribution) -> Iterator[tuple[str, str, str]]:
    """Group, name and value of the entry points that are meant for this program."""
    text = package.read_text("entry_points.txt") or ""
    if "neuron_doctor." not in text:
        return
    parser = _Parser(delimiters=("=",), strict=False, interpolation=None, allow_no_value=True)
    try:
        parser.read_string(text)
    except configparser.Error:
        return  # what no installer writes
    for group in (RULES, COLLECTORS):
        for name, value in parser.items(group) if parser.has_section(group) else ():
            yield group, name, (value or "").partition("[")[0].strip()


def _brought(group: str, name: str, value: str, package: Distribution, places: Sequence[str]) -> Brought:
    def brought(target: str, fault: str = "") -> Brought:
        return Brought(name, package.metadata["Name"], package.version, target, fault)

    if group == COLLECTORS:
        return brought(value, "" if _OBJECT.fullmatch(value) else f"it names {value!r}, not module:attribute")
    if not _FOLDER.fullmatch(value):
        return brought(value, f"it names {value!r}, which is not the dotted name of a folder")
    folder = _folder(value, places)
    return brought(str(folder)) if folder else brought(value, f"it names {value!r}, and there is no such folder")


def _folder(dotted: str, places: Sequence[str]) -> Path | None:
    """The folder of this name below a package that is installed, also one that is installed for being edited."""
    top, *inner = dotted.split(".")
    spec = PathFinder.find_spec(top, list(places)) or next(_other_specs(top), None)
    folders = [Path(place, *inner) for place in (spec.submodule_search_locations or () if spec else ())]
    return next((folder for folder in folders if folder.is_dir()), None)


def _other_specs(top: str) -> Iterator[ModuleSpec]:
    """What the finders tell of a package that editable installs add; none of them looks into the current folder."""
    for finder in sys.meta_path:
        if finder not in (BuiltinImporter, FrozenImporter, PathFinder) and (spec := finder.find_spec(top, None)):
            yield spec
