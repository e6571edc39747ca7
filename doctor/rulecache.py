"""The compiled rulebook, kept between runs: known by the content of all its files, read back without running anything.

It is stored as a pickle that may name the classes of a rulebook and nothing else.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Sequence
from enum import Enum
from functools import cache
from io import BytesIO
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

import neuron_doctor.engine
from neuron_doctor.__about__ import VERSION
from neuron_doctor.engine import conditions, expressions, grades, rulefile, sitefile
from neuron_doctor.engine.digests import sha256
from neuron_doctor.engine.errors import Location
from neuron_doctor.engine.packfiles import PackFile
from neuron_doctor.engine.parameters import Parameter
from neuron_doctor.engine.patterns import Pattern, PatternSet
from neuron_doctor.engine.rulebook import Cause, Explains, Follows, Pack, Rule, Rulebook
from neuron_doctor.engine.site import Gone, Silence, Site
from neuron_doctor.keep import Keep

_SORT, _STAMPS = "rules", "stamps"
_CLASSES: Sequence[type] = (
    Cause,
    Explains,
    Follows,
    Rule,
    Rulebook,
    Pack,
    Parameter,
    Pattern,
    PatternSet,
    Location,
    grades.ActionKind,
    grades.Complaint,
    grades.EdgeType,
    grades.Severity,
    rulefile.ActionDoc,
    rulefile.AlternativeDoc,
    sitefile.SiteActionDoc,
    Gone,
    Silence,
    Site,
    expressions.Junction,
    expressions.RecordQuery,
    expressions.Test,
    expressions.Version,
    conditions.Absent,
    conditions.Combination,
    conditions.Count,
    conditions.FindingRef,
    conditions.Measure,
    conditions.Over,
    conditions.Record,
    conditions.Sequence,
)
_ALLOWED = {(cls.__module__, cls.__qualname__): cls for cls in _CLASSES}
#: What reading a pickle of other classes, or of nothing, may raise.
_UNREADABLE = (pickle.UnpicklingError, AttributeError, EOFError, IndexError, KeyError, TypeError, ValueError)


def recalled(stamp: str, keep: Keep) -> Rulebook | None:
    """The rulebook of the files that this stamp stands for; None where it is not known."""
    key = keep.get(_STAMPS, stamp) if stamp else None
    kept = keep.get(_SORT, key.decode("ascii")) if key else None
    return _read(kept) if kept else None


def compiled(files: Sequence[PackFile], keep: Keep, site: PackFile | None = None, stamp: str = "") -> Rulebook:
    """The rulebook of these files and this site file, without the examples of its rules, and without what the site file says of
    rules that are gone; from now on recalled by the `stamp` that they had before they were read. Raises RulebookError; what is
    wrong is never kept."""
    key = _key([*files, site] if site else files)
    kept = keep.get(_SORT, key)
    rulebook = _read(kept) if kept else None
    if rulebook is None:
        from neuron_doctor.engine.rule_loader import compile_rulebook  # noqa: PLC0415 - YAML and lark: only where needed

        rulebook = compile_rulebook(files, VERSION, site, forgiving=True)
        rulebook = replace(rulebook, rules=tuple(replace(rule, examples=None) for rule in rulebook.rules))
        keep.put(_SORT, key, _written(rulebook))
    if stamp:
        keep.put(_STAMPS, stamp, key.encode("ascii"))
    return rulebook


def _key(files: Sequence[PackFile]) -> str:
    """Everything that a compiled rulebook depends on: the files under their names, this program, and Python."""
    known = sha256(f"{VERSION} {sys.version_info[:2]} {code_digest()}".encode())
    for file in files:
        said = f"\0{file.shown}\0{file.root}\0{file.pack}\0{file.only_terms}\0{file.fault}\0{len(file.content)}\0"
        known.update(said.encode("utf-8", "surrogateescape"))
        known.update(file.content)
    return known.hexdigest()


@cache
def code_digest() -> str:
    """Of the engine as it stands: in a checkout it changes without a new version."""
    known = sha256()
    for path in code_paths():
        with open(path, "rb", buffering=0) as file:
            known.update(file.read())
    return known.hexdigest()


def code_paths() -> list[str]:
    """The files of the engine that shape a rulebook."""
    engine = os.path.dirname(neuron_doctor.engine.__file__ or "")
    return [os.path.join(engine, name) for name in _SHAPE_IT]


_SHAPE_IT = (
    "condition_loader.py",
    "conditions.py",
    "durations.py",
    "errors.py",
    "exampledirs.py",
    "expression_tree.py",
    "expressions.py",
    "facts.py",
    "grades.py",
    "kinds.py",
    "loosening.py",
    "manifest.py",
    "matcher.py",
    "packfiles.py",
    "parameters.py",
    "patterns.py",
    "query_parser.py",
    "record.lark",
    "rule_loader.py",
    "rulebook.py",
    "rulefile.py",
    "shapes.py",
    "site.py",
    "site_loader.py",
    "sitefile.py",
    "unlinked.py",
    "ways.py",
    "yamlfaults.py",
    "yamlfile.py",
)


class _Writer(pickle.Pickler):
    """Writes members of enums as calls of their class, which Python 3.11.2 does not: it calls `getattr`."""

    def reducer_override(self, obj: Any) -> Any:
        """How a value is made again, where that is not left to Python."""
        return (type(obj), (obj.value,)) if isinstance(obj, Enum) else NotImplemented


def _written(rulebook: Rulebook) -> bytes:
    content = BytesIO()
    _Writer(content, protocol=5).dump(replace(rulebook, causes=dict(rulebook.causes)))
    return content.getvalue()


class _Reader(pickle.Unpickler):
    """Makes the values of a rulebook and refuses everything else that a pickle could name."""

    def find_class(self, module: str, name: str) -> Any:
        """The class, if it is one of ours."""
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a rulebook") from None


def _read(data: bytes) -> Rulebook | None:
    try:
        read = _Reader(BytesIO(data)).load()
    except _UNREADABLE:
        return None
    return replace(read, causes=MappingProxyType(read.causes)) if isinstance(read, Rulebook) else None
