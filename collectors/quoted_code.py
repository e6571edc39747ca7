"""Source code and diffs between the fences of Markdown: they quote the messages that they would print, and nothing happened.

People tag what they paste as they like (a log as `bash`, a traceback as `python`), so a tag alone says nothing: at least one line
has to begin as source code does, and none with a time or a traceback. Then what is indented in there, or begins so, too, is
code; an exception at the margin below it is what it printed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from neuron_doctor.collectors.blocks import Block
from neuron_doctor.engine.regexes import regex

_FENCE = b"```"
#: How a text in Markdown is called. In the output of a program a fence may be what a model said, and the rest is output.
_MARKDOWN = (".md", ".markdown", ".mdx")
#: A quotation, with how it is tagged; one that does not end goes on to the end. All of it may be quoted once more.
_QUOTATION = regex(
    rb"^[> ]{0,8}```(?P<tag>[\w+-]{0,20})[ \t\r]*\n(?P<text>.*?)(?:^[> ]{0,8}```|\Z)", re.MULTILINE | re.DOTALL
)
#: How lines of source code begin that nothing else begins with.
_SOURCE = regex(
    rb"^(?:> ){0,3}(?:import \w[\w.]*(?: as \w+)?[ \t\r]*$|from [\w.]+ import |(?:async )?def \w+\(|class \w+[(:]"
    rb"|if __name__ ==|#include |#! ?/|diff --git |@@ -\d|[+-]{3} [ab]/|package \w+[ \t\r;]*$|func \w*\(|fn \w+\("
    rb"|(?:el)?if .{1,300}(?:; then|:)[ \t\r]*$|fi[ \t\r]*$|done[ \t\r]*$|try:|except\b.{0,100}:)",
    re.MULTILINE,
)
#: What happened has a time, a traceback, or a place that only the runtime and the driver fill in.
_HAPPENED = regex(
    rb"\d\d:\d\d:\d\d|^[> ]{0,8}Traceback \(most recent call last\):|\[ {0,11}\d{1,9}\.\d{6}\]|\[ND \d|=i-[0-9a-f]{8}",
    re.MULTILINE,
)
#: Tags of patches, every line of which is quoted.
_PATCHES = frozenset({b"diff", b"patch"})
_OF_CODE = regex(
    rb"(?:> ){0,3}(?:[ \t]|[+#@}\]]|//|-{1,3}[ \t\w]|[\w.]{1,80}(?:\(| ?[+|]?= ?)"
    rb"|(?:import|from|def|class|async|if|elif|else|for|while|try|except|with|return|raise|assert|echo|grep|export|case)\b)"
)


def quoted_code(block: Block, name: str) -> Sequence[tuple[int, int]]:
    """The bounds in the block's data of what is code between fences. Only in an input of one block: no issue is longer, and the
    log of a server that writes Markdown is."""
    if not name.endswith(_MARKDOWN) or block.base or not block.last or _FENCE not in block.data:
        return ()
    return [quotation.span("text") for quotation in _QUOTATION.finditer(block.data) if _is_code(quotation)]


def _is_code(quotation: re.Match[bytes]) -> bool:
    text = quotation["text"]
    if _HAPPENED.search(text):
        return False
    return quotation["tag"].lower() in _PATCHES or _SOURCE.search(text) is not None


def is_line_of_code(block: Block, code: Sequence[tuple[int, int]], begin: int) -> bool:
    """Whether the line that begins at this index stands in such a place and is code itself."""
    inside = any(first <= begin < end for first, end in code)
    return inside and _OF_CODE.match(block.data, begin) is not None
