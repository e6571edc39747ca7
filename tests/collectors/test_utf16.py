"""UTF-16 text is read as UTF-8; what only begins like it is left alone."""

from __future__ import annotations

from io import BufferedReader, BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.collectors.discover import discover
from neuron_doctor.collectors.utf16 import as_utf8, is_utf16

TEXT = "2026-03-14 02:11:41 Fehler: größer\r\n深度学习 🙂\r\n"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_log_of_powershell_is_read_as_utf8(tmp_path: Path, encoding: str) -> None:
    mark = "\ufeff".encode(encoding)
    (tmp_path / "rank_0.log").write_bytes(mark + TEXT.encode(encoding))
    [inp] = discover([str(tmp_path)])
    assert inp.stream.read().decode() == TEXT
    assert (inp.name, inp.place.rank) == ("rank_0.log", 0)


def test_bytes_that_only_begin_with_the_mark_are_not_text() -> None:
    assert not is_utf16(b"\xff\xfe\x00\x00a\x00\x00\x00")  # UTF-32
    assert not is_utf16(b"\xff\xfe\x00\xd8\x00\xd8")  # a surrogate without its other half
    assert not is_utf16("no mark".encode("utf-16-le"))


@given(st.binary(max_size=300))
def test_any_bytes_after_the_mark_give_utf8(data: bytes) -> None:
    out = b"".join(as_utf8(BufferedReader(BytesIO(b"\xff\xfe" + data))))  # type: ignore[arg-type]
    out.decode("utf-8")
