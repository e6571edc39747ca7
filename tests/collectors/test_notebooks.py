"""Notebooks: what their cells printed and how they failed is one text, whoever wrote the file; other JSON is left alone."""

from __future__ import annotations

import json
from io import BufferedReader, BytesIO
from pathlib import Path

import pytest

from neuron_doctor.collectors.discover import discover
from neuron_doctor.collectors.notebooks import is_notebook, members_of_notebook
from neuron_doctor.collectors.streams import Damaged

STREAM = {"name": "stderr", "output_type": "stream", "text": ["(W pid=7) step 1\n", "(W pid=7) step 2\n"]}
ERROR = {"ename": "KeyError", "evalue": "'x'", "output_type": "error", "traceback": ["Traceback", "KeyError: 'x'"]}
SHOWN = {"data": {"image/png": "aGk=", "text/plain": ["'done'"]}, "metadata": {}, "output_type": "display_data"}
CODE = {"cell_type": "code", "execution_count": 1, "outputs": [STREAM, SHOWN, ERROR], "source": ["raise KeyError"]}
PROSE = {"cell_type": "markdown", "metadata": {}, "source": ["RuntimeError: not said"]}
TEXT = "(W pid=7) step 1\n(W pid=7) step 2\n'done'\nTraceback\nKeyError: 'x'\n"


def outputs(text: str | bytes) -> str:
    raw = text.encode() if isinstance(text, str) else text
    [member] = members_of_notebook(BufferedReader(BytesIO(raw)))
    assert member.name == "outputs"
    return b"".join(member.chunks).decode()


@pytest.mark.parametrize("indent", [None, 1, 2])
@pytest.mark.parametrize(
    "notebook",
    [
        {"cells": [PROSE, CODE], "metadata": {}, "nbformat": 4, "nbformat_minor": 5},
        {"nbformat": 4, "nbformat_minor": 0, "metadata": {"colab": {}}, "cells": [CODE, PROSE]},
        {"metadata": {}, "nbformat": 3, "worksheets": [{"cells": [CODE, PROSE]}]},
    ],
)
def test_what_the_cells_showed_is_one_text_without_their_code(notebook: object, indent: int | None) -> None:
    text = json.dumps(notebook, indent=indent)
    assert is_notebook(text.encode())
    assert is_notebook(b"\xef\xbb\xbf" + text.encode())
    assert outputs(text) == TEXT
    assert outputs(b"\xef\xbb\xbf" + text.encode()) == TEXT


def test_texts_may_be_one_string_and_an_error_may_have_no_traceback() -> None:
    cells = [
        {"cell_type": "code", "outputs": [{"output_type": "stream", "text": "one\ntwo"}]},
        {"cell_type": "code", "outputs": [{"output_type": "pyerr", "ename": "OSError", "evalue": "gone"}]},
        {"cell_type": "code", "outputs": [{"output_type": "execute_result", "data": {"image/png": "x"}}, 3]},
        {"cell_type": "code", "outputs": None},
    ]
    assert outputs(json.dumps({"cells": cells})) == "one\ntwo\nOSError: gone\n"


@pytest.mark.parametrize(
    "text",
    [
        '{"cells": [1, 2]}',
        '{"metadata": {"name": "pod"}, "spec": {}}',
        '2026-01-01 {"cells": [{"cell_type": "code"}]}',
        '[{"cells": [{"cell_type": "code"}]}]',
    ],
)
def test_other_json_is_none(text: str) -> None:
    assert not is_notebook(text.encode())


def test_a_notebook_that_breaks_off_gives_the_lines_that_it_has() -> None:
    whole = json.dumps({"cells": [CODE], "metadata": {}}, indent=1)
    torn = whole[: whole.index("step 2") + 12]
    read = members_of_notebook(BufferedReader(BytesIO(torn.encode())))
    assert b"".join(next(read).chunks) == b"(W pid=7) step 1\n(W pid=7) step 2\n"
    with pytest.raises(Damaged, match="unreadable JSON"):
        next(read)


def test_a_notebook_on_disk_is_what_it_showed(tmp_path: Path) -> None:
    (tmp_path / "ft.ipynb").write_text(json.dumps({"cells": [CODE], "metadata": {}}))
    [inp] = discover([str(tmp_path)])
    assert inp.path.endswith("ft.ipynb!outputs")
    assert inp.stream.read().decode() == TEXT
