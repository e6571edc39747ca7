"""How full the file systems of a host are: the tables of `df`, `df -h`, `df -i` and `df -T`.

Format: df(1) of GNU coreutils 8.30 to 9.4. `-P` and `-k` change only the title of a column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.snapshot import Line, fact, from_lines, has_form, opening, output
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.regexes import regex

_TITLE = regex(r"Filesystem\s+(?:Type\s+)?(?:Size|Inodes|\S{1,8}-blocks)\s+I?Used\s.*\bMounted on\s*$")
_INODES = regex(r"Filesystem\s+(?:Type\s+)?Inodes\s")
_ROW = regex(r"\S.*?\s(?P<used>\d{1,3})%\s+(?P<mount>/\S*)\s*$")
_FORM = regex(rf"{_TITLE.pattern}|\S.*?\s(?:\d{{1,3}}%|-)\s+/\S*\s*$")
#: Images that are mounted read-only (snaps) are always full.
_IMAGE = regex(r"/dev/loop\d|squashfs|/snap/")


def _sniff(head: bytes, _name: str) -> bool:
    return _TITLE.match(opening(head)) is not None and has_form(head, _FORM)


def parse(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """A `file-system` fact for each mounted one that can be written to."""
    what = "space"
    for line in output(lines):
        if _TITLE.match(line.text):
            what = "inodes" if _INODES.match(line.text) else "space"
        elif (row := _ROW.match(line.text)) and not _IMAGE.search(line.text):
            yield fact(inp, line, "file-system", {"mount": row["mount"], "used": int(row["used"]), "what": what})


COLLECTORS = (Collector("df", "file systems of a host", _sniff, from_lines(parse)),)
