"""Jupyter notebooks: what their cells printed and how they failed, as the text that the reader of the notebook sees.

Format: nbformat 4 (`cells` with `outputs`: `stream` with `text`, `error` with `ename`, `evalue` and `traceback`, `display_data`
and `execute_result` with `data`), and 3 (`worksheets`, which hold the cells; `pyout`, `pyerr`, the text beside them). Texts are
lists of lines or one string; Jupyter writes keys in the order of their names, Colab and VS Code in others. The code of the cells
is none of it: what stands in it was not said by anything that ran. All is one member, for all cells ran in one kernel, one after
the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BufferedReader

from neuron_doctor.collectors.streams import Damaged, Member
from neuron_doctor.engine.regexes import regex

#: Of a longer notebook the rest is not read (bytes); pictures make them long.
LIMIT = 64 * 1024 * 1024
_BEGINS = regex(rb'\s{0,400}\{\s{0,40}"(?:cells|metadata|nbformat|nbformat_minor|worksheets)"\s{0,8}:')
_CELL = regex(rb'"cell_type"\s{0,8}:\s{0,8}"(?:code|markdown|raw|heading)"')
#: A line of a list of strings, as stands in a notebook that breaks off.
_STRING_OF_LIST = regex(r'\s*("(?:[^"\\]|\\.)*")\s*,?\s*')
_SHOWN = "text/plain"


def is_notebook(head: bytes) -> bool:
    """Whether a file that begins so is a notebook."""
    head = head.removeprefix(b"\xef\xbb\xbf")
    return head.lstrip()[:1] == b"{" and _BEGINS.match(head) is not None and _CELL.search(head) is not None


def members_of_notebook(source: BufferedReader) -> Iterator[Member]:
    """The outputs. Of a notebook that breaks off, the strings that its lines hold; then Damaged is raised."""
    data = source.read(LIMIT + 1)
    text = data[:LIMIT].decode("utf-8-sig", "replace")
    damage = f"longer than {LIMIT} bytes: the rest was not read" if len(data) > LIMIT else ""
    try:
        lines = list(_outputs(json.loads(text)))
    except (ValueError, RecursionError) as error:
        damage = damage or f"unreadable JSON: {type(error).__name__}"
        lines = [
            json.loads(found[1], strict=False)
            for line in text.splitlines()
            if (found := _STRING_OF_LIST.fullmatch(line))
        ]
    content = "".join(lines).encode("utf-8", "replace")
    yield Member("outputs", len(content), iter((content,)))
    if damage:
        raise Damaged(damage)


def _outputs(notebook: object) -> Iterator[str]:
    """The text of each output, in the order of the cells, each with the end of its last line."""
    for sheet in [notebook, *_objects(notebook, "worksheets")]:
        for cell in _objects(sheet, "cells"):
            for output in _objects(cell, "outputs"):
                if text := _text_of(output):
                    yield text if text.endswith("\n") else f"{text}\n"


def _text_of(output: dict[str, object]) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        return _joined(output.get("traceback"), "\n") or f"{output.get('ename')}: {output.get('evalue')}"
    data = output.get("data")
    return _joined(output.get("text")) or (_joined(data.get(_SHOWN)) if isinstance(data, dict) else "")


def _joined(value: object, between: str = "") -> str:
    if isinstance(value, list):
        return between.join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _objects(value: object, name: str) -> list[dict[str, object]]:
    listed = value.get(name) if isinstance(value, dict) else None
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
