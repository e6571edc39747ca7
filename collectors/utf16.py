"""Text in UTF-16, as PowerShell writes it when output is redirected, told by its byte order mark and read as UTF-8.

Lines, columns and quotations are those of the file; offsets and lengths are those of the UTF-8 text.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from io import BufferedReader

from neuron_doctor.collectors.streams import CHUNK

_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_DECODER = codecs.getincrementaldecoder("utf-16")


def is_utf16(head: bytes) -> bool:
    """A byte order mark, and what follows it decodes (a half character at the end of `head` may)."""
    if not head.startswith(_MARKS) or head.startswith(codecs.BOM_UTF32_LE):
        return False
    try:
        return "\0" not in _DECODER().decode(head)
    except UnicodeDecodeError:
        return False


def as_utf8(stream: BufferedReader) -> Iterator[bytes]:
    """The chunks of the text in UTF-8; what is damaged becomes a replacement character."""
    decoder = _DECODER("replace")
    while data := stream.read(CHUNK):
        yield decoder.decode(data).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")
