"""All that keeps plain data from having a shape of `rulefile`: msgspec itself stops at the first."""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import PurePath
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Struct

from neuron_doctor.engine.regexes import regex
from neuron_doctor.engine.unlinked import Unlinked, near
from neuron_doctor.engine.yamlfile import Document, Path, Plain

_Type: TypeAlias = Any
T = TypeVar("T")
#: What may be the name of something in a file that cannot be read.
NAME = regex("[a-z][a-z0-9_-]*")
#: How values of rule files are called, by msgspec and by authors.
_NAMES = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "keys with values",
    "null": "nothing",
}
#: What other tools, and plain English, call a key or a value -> what it is called here.
_SYNONYMS = {
    "and": "all",
    "or": "any",
    "not": "none",
    "maxspan": "within",
    "timespan": "within",
    "timeframe": "within",
    "window": "within",
    "threshold": "at_least",
    "gte": "at_least",
    "pattern": "regex",
    "node": "host",
    "name": "title",
    "condition": "when",
}
_LEAST = regex(r"length >= (\d+)")
_QUOTED = regex("`([^`]+)`")


class Misfit(Struct, frozen=True):
    """One thing that is not as its shape wants it, at `path`: the key itself (`on_key`) or what stands behind it."""

    path: Path
    message: str
    hint: str
    check: str
    on_key: bool = False
    to_quote: bool = False


def converted(loader: Unlinked, document: Document, shape: type[T]) -> T | None:
    """What a document says, in this shape; None where it has another, which is noted."""
    try:
        return msgspec.convert(document.data, shape)
    except msgspec.ValidationError:
        for wrong in misfits(document.data, shape):
            where = document.at(*wrong.path) if wrong.on_key else document.value(*wrong.path)
            hint = wrong.hint
            if wrong.to_quote:  # as it is written: 1.10 was read as a number already
                hint = f"put it in quotes: '{document.written(*wrong.path)}'"
            loader.complain(where, wrong.message, hint, wrong.check)
        loader.unread.update(NAME.findall(document.text), [PurePath(document.path).stem])
        return None


def misfits(data: Plain, shape: _Type, here: Path = ()) -> Iterator[Misfit]:
    """Everything that is wrong with data that cannot be converted to this shape."""
    either = shape
    shape = _chosen(shape, data)
    inside = list(_inside(data, _bare(shape), here))
    yield from inside
    fault = "" if inside else _fault(data, shape)
    if fault:
        to_quote = "`str`" in fault and isinstance(data, bool | int | float)
        yield Misfit(
            here, *_in_words(fault, data, shape, here, either), "value", to_quote=to_quote and not _described(shape)
        )


def _inside(data: Plain, shape: _Type, here: Path) -> Iterator[Misfit]:
    """What is wrong with the parts."""
    inner = get_args(shape)
    if isinstance(shape, type) and issubclass(shape, Struct) and isinstance(data, dict):
        yield from _of_struct(data, shape, here)
    elif isinstance(data, dict) and _origin(shape) is dict:
        for key, value in data.items():
            yield from _of_key(key, inner[0], (*here, key))
            yield from misfits(value, inner[1], (*here, key))
    elif isinstance(data, list) and _origin(shape) is list:
        for i, item in enumerate(data):
            yield from misfits(item, inner[0], (*here, i))


def _of_struct(data: dict[str, Plain], shape: type[Struct], here: Path) -> Iterator[Misfit]:
    known = {field.encode_name: field for field in msgspec.structs.fields(shape)}
    unknown = [key for key in data if key not in known]
    meant = {_SYNONYMS[key] for key in unknown if key in _SYNONYMS}
    meant |= {name for key in unknown for name in difflib.get_close_matches(key, known, 1)}
    missing = [name for name, field in known.items() if field.required and name not in {*data, *meant}]
    only = missing.pop() if len(missing) == len(unknown) == 1 else ""
    above = {key: _above(key, data, known) for key in unknown}
    for key in unknown:
        if above[key]:
            said, hint = f"{key!r} stands at the wrong depth", f"indent it under {above[key]!r}"
            yield Misfit((*here, key), said, hint, "key", on_key=True)
            continue
        meant_by = _SYNONYMS.get(key, "")
        hint = f"did you mean {meant_by!r}?" if meant_by in known else ""
        hint = (
            hint
            or near(key, known.keys() - data.keys())
            or near(key, known)
            or (f"did you mean {only!r}?" if only else "")
        )
        hint = hint or f"known here: {', '.join(known)}"
        yield Misfit((*here, key), f"there is no key {key!r} here", hint, "key", on_key=True)
    if missing:
        what = ", ".join(map(repr, missing))
        plural = "keys are" if len(missing) > 1 else "key is"
        yield Misfit(here, f"the {plural} missing: {what}", "add " + _example(missing), "key", on_key=True)
    for key, value in data.items():
        if key in known and key not in above.values():
            yield from misfits(value, known[key].type, (*here, key))


def _above(key: str, data: dict[str, Plain], known: Mapping[str, msgspec.structs.FieldInfo]) -> str:
    """The key with nothing behind it under which a key that is unknown here would be known."""
    for name in known.keys() & data.keys():
        shapes = [shape for shape in (known[name].type, *get_args(known[name].type)) if isinstance(shape, type)]
        for shape in shapes if data[name] is None else ():
            if issubclass(shape, Struct) and key in shape.__struct_encode_fields__:
                return name
    return ""


def _origin(shape: _Type) -> Any:
    """As `typing` has it, whose type for it leaves out most of what it gives."""
    return get_origin(shape)


def _example(missing: list[str]) -> str:
    return "it" if len(missing) == 1 else "them"


def _of_key(key: str, shape: _Type, here: Path) -> Iterator[Misfit]:
    if fault := _fault(key, shape):
        yield Misfit(here, *_in_words(fault, key, shape, here), "value", on_key=True)


def _fault(data: Plain, shape: _Type) -> str:
    try:
        msgspec.convert(data, shape)
    except msgspec.ValidationError as error:
        return str(error).partition(" - at `")[0]
    return ""


def _in_words(fault: str, data: Plain, shape: _Type, here: Path, either: _Type = None) -> tuple[str, str]:
    """What msgspec says, as the author of a rule would put it, and what to write. `either` is the choice of shapes of which
    this is one."""
    key = next((str(part) for part in reversed(here) if isinstance(part, str)), "")
    wanted, choices = _described(shape), _choices(shape)
    if not key:
        first = [f"`{name}:`" for name in getattr(shape, "__struct_encode_fields__", ())[:2]]
        begin = f"the file begins with keys such as {' and '.join(first)}, without a dash" if first else ""
        if data is None:
            return "the file is empty", begin and f"remove it, or write into it: {begin}"
        return f"the file {_translated(fault)}", begin
    if choices:
        known = _SYNONYMS.get(str(data), "")
        hint = f"did you mean {known!r}?" if known in choices else near(str(data), choices)
        return f"{key}: there is no {data!r}", hint or f"one of: {', '.join(choices)}"
    if data is None:
        return f"{key}: nothing stands behind this key", "write a value, or leave the key out"
    if wanted:
        return f"{key}: {data!r} is not {wanted}", "write it as plain text" if isinstance(data, dict | list) else ""
    return f"{key} {_translated(fault)}", _remedy(fault, data, shape, either)


def _translated(fault: str) -> str:
    if least := _LEAST.search(fault):
        return "may not be empty" if least[1] == "1" else f"wants {least[1]} or more"
    said = fault.replace("Expected", "wants").replace("got", "not")
    return _QUOTED.sub(lambda types: " or ".join(_NAMES.get(name, name) for name in types[1].split(" | ")), said)


def _remedy(fault: str, data: Plain, shape: _Type, either: _Type) -> str:
    """What to write where data is of another type than its shape."""
    union = (_bare(shape), *get_args(_bare(shape)))
    wanted = fault.partition(", got")[0]
    keys = next((_keys(one) for one in union if isinstance(one, type) and issubclass(one, Struct)), "")
    if isinstance(data, str) and "`array`" in wanted:
        return f"put it in brackets: [{data}]"
    if isinstance(data, dict) and "`array`" in wanted:
        return "it is a list: begin each item with a dash"
    if isinstance(data, list) and "str | object" in wanted:
        return "begin it with a key such as `all:`, with the list under it"
    if "`object" in wanted:
        return f"it has the keys {keys}" if keys else _NO_DASH
    if isinstance(data, dict | list) and "`str`" in wanted:
        return "put it in quotes; text over several lines stands behind a `|`"
    is_name = isinstance(data, str) and NAME.fullmatch(data)
    return f"a parameter is written ${data}" if is_name and any(map(_is_reference, get_args(_bare(either)))) else ""


_NO_DASH = "write `key: value` below it, without dashes"


def _keys(shape: type[Struct]) -> str:
    """The keys of a shape, those first that must be there."""
    fields = sorted(msgspec.structs.fields(shape), key=lambda field: not field.required)
    return ", ".join(field.encode_name for field in fields)


def _bare(shape: _Type) -> _Type:
    """The list or mapping of an annotated shape; other annotations stay, for they say what is wanted."""
    if _origin(shape) is Annotated:
        inner = get_args(shape)[0]
        if isinstance(inner, types.UnionType) or _origin(inner) in (list, dict, Union):
            return inner
    return shape


def _chosen(shape: _Type, data: Plain) -> _Type:
    """Of several shapes the one that the author meant."""
    union = _bare(shape)
    if not (isinstance(union, types.UnionType) or _origin(union) is Union):
        return shape
    members = [member for member in get_args(union) if member is not types.NoneType]
    fitting = [member for member in members if not _fault(data, member)]
    if fitting or len(members) == 1:
        return (fitting or members)[0]
    structs = [member for member in members if isinstance(member, type) and issubclass(member, Struct)]
    if isinstance(data, dict) and structs:
        return structs[0]
    others = [member for member in members if member not in structs]
    references = [member for member in others if _is_reference(member)]
    if isinstance(data, str) and data.startswith("$") and references:
        return references[0]
    plain = [member for member in others if member not in references]
    return plain[0] if plain and (isinstance(data, str) or references) else shape


def _is_reference(shape: _Type) -> bool:
    """Whether it is what stands for a value of another type."""
    return any(isinstance(meta, Meta) and (meta.pattern or "").startswith(r"^\$") for meta in get_args(shape)[1:])


def _described(shape: _Type) -> str:
    metas: list[Meta] = (
        [meta for meta in get_args(shape)[1:] if isinstance(meta, Meta)] if _origin(shape) is Annotated else []
    )
    return next((meta.description for meta in metas if meta.description), "")


def _choices(shape: _Type) -> list[str]:
    if _origin(shape) is Literal:
        return list(map(str, get_args(shape)))
    if isinstance(shape, type) and issubclass(shape, Enum):
        return [str(member.value) for member in shape]
    return []
