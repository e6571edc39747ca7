"""Rows that `aws ... --query '...[].[InstanceId,SystemStatus.Status]'` prints, as text, as a table or as JSON: each with the
names of its cells, by the query.

Source: AWS CLI 1 and 2. Of a query that is no plain list of members the cells have no names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from neuron_doctor.collectors.command_lines import pipelines, tool_of
from neuron_doctor.collectors.documents import DamagedDocument, value_at
from neuron_doctor.collectors.snapshot import Line, command_of, has_more_commands, head_lines, opening, output
from neuron_doctor.engine.regexes import regex

_LIST = regex(r"\[(?P<list>[A-Za-z][^\[\]{}|`]{0,300}(?:\[\d\][^\[\]{}|`]{0,300}){0,8})\]\s*$")
_FRAME = regex(r"[\s|+=-]*$")
_INSTANCE = regex(r"i-[\da-f]{8,17}")
#: Objects as a whole, in JSON or in YAML, and rows of JSON that have objects or lists in them.
_WHOLE = regex(r"\s*(?:\{|- |\w{1,40}:\s)")
_NESTED = regex(r'"\s*:\s*[\[{]|["\dle]\s*,\s*[\[{]|[\]}]\s*,\s*["\dtfn-]')


class Row(Struct, frozen=True):
    """One row: the line on which it begins, its cells, by what they are where the query says so."""

    line: Line
    cells: Mapping[str, str]


def asked_of_aws(command: str, service: str, *calls: str) -> str | None:
    """The query of a command that makes one of these calls (empty where it has none); None for other commands."""
    try:
        words = [one.words for one in pipelines(command) if tool_of(one.words) == "aws"]
    except ValueError:
        return None
    if len(words) != 1 or service not in words[0] or not any(call in words[0] for call in calls):
        return None
    found = [after for word, after in zip(words[0], words[0][1:], strict=False) if word == "--query"]
    return next(iter([*found, *(word[8:] for word in words[0] if word.startswith("--query="))]), "")


def are_rows(head: bytes) -> bool:
    """Whether what stands below the first line may be rows, and nothing but them: no other command, no whole objects."""
    first = opening(head)
    if has_more_commands(head) or _WHOLE.match(first):
        return False
    return not first.lstrip().startswith("[") or _NESTED.search("\n".join(head_lines(head))) is None


def instance_of(row: Row) -> str:
    """The one instance that a row names; nothing where it names none, or several."""
    found = {cell for cell in row.cells.values() if _INSTANCE.fullmatch(cell)}
    return found.pop() if len(found) == 1 else ""


def rows_of(lines: Sequence[Line], query: str) -> Iterator[Row]:
    """The rows below a command."""
    shown = [line for line in output(lines) if command_of(line.text) is None]
    if shown and shown[0].text.lstrip().startswith("["):
        yield from _of_json(shown, query)
        return
    names = _names(query)
    for line in shown:
        if not _FRAME.match(line.text):
            cells = [cell.strip() for cell in line.text.strip(" |").replace("|", "\t").split("\t")]
            yield Row(line, _named(cells if len(cells) > 1 else line.text.split(), names))


def _of_json(lines: Sequence[Line], query: str) -> Iterator[Row]:
    text = "\n".join(line.text for line in lines)
    try:
        value = value_at(text, text.index("[")).value
    except DamagedDocument:
        return
    for one in _flat(value):
        cells = {str(key): str(cell) for key, cell in one.items()} if isinstance(one, dict) else {}
        cells = cells or _named([str(cell) for cell in one], _names(query))
        found = next((_INSTANCE.fullmatch(cell) for cell in cells.values() if _INSTANCE.fullmatch(cell)), None)
        if found:
            yield Row(next(line for line in lines if found[0] in line.text), cells)


def _flat(value: object, depth: int = 0) -> Iterator[list[object] | dict[str, object]]:
    """The rows in lists of lists: lists of nothing but what is no list, and objects."""
    if isinstance(value, dict) or (isinstance(value, list) and not any(isinstance(one, list | dict) for one in value)):
        yield value
    elif isinstance(value, list) and depth < 4:  # noqa: PLR2004 - no query nests deeper
        for one in value:
            yield from _flat(one, depth + 1)


def _names(query: str) -> list[str]:
    if (found := _LIST.search(query.strip())) is not None:
        return [name.strip() for name in found["list"].split(",")]
    return []


def _named(cells: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    if len(names) != len(cells) or len(set(names)) != len(names):
        names = [str(number) for number in range(len(cells))]
    return dict(zip(names, cells, strict=True))
