"""What a command printed on many hosts, in one file, a block for each: under a heading that names the host.

Formats: dshbak of pdsh 2.31 to 2.35 (16 dashes, the host, 16 dashes), `clush -b` of ClusterShell 1.8 and 1.9 (15 dashes; the
host, or a set of them with their number), `ansible -m command` (`host | CHANGED | rc=0 >>`), `pssh -i` of parallel-ssh 2.3
(`[1] 10:04:40 [SUCCESS] host`), `salt` of 2019.2 to 3007 (`host:`, and all below it indented by four blanks, which are taken
off). A block is a member, as of an archive: `dmesg-all.txt!nodes/rb-6/8` is what `rb-6` printed
from line 8 on. What several hosts printed alike is of none of them alone: `!rb-[5,7]/2`. So are the files of which `head` or
`tail` print the ends (`==> w1/train.log <==`): `tail.txt!w1/train.log`.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator
from io import BufferedReader

from msgspec import Struct

from neuron_doctor.collectors.shell_prompts import prompt_on
from neuron_doctor.collectors.streams import CHUNK, Member
from neuron_doctor.engine.regexes import regex

_NAME = rb"[A-Za-z\d][\w.-]{0,252}"
#: Between dashes stands a title as well: of a host, one with a number in it.
_NUMBERED = rb"(?=[^\n]{0,252}\d)" + _NAME
_SET = (
    rb"(?=[^\n]{0,252}\d)[\w.-]{1,200}"
    rb"(?:\[[\d,-]{1,2000}\][\w.-]{0,200}|(?:,[\w.\[\]-]{1,200}){1,200})(?: \(\d{1,5}\))?"
)
_HEADING = regex(
    rb"^(?:"
    rb"(?P<line>-{15,16})[ \t]*\r?\n(?:(?P<dashed>" + _NUMBERED + rb")|(?P<set>" + _SET + rb"))[ \t]*\r?\n(?P=line)"
    rb"|(?P<ansible>" + _NAME + rb") \| (?:CHANGED|SUCCESS|FAILED|UNREACHABLE!) (?:\| rc=-?\d{1,3} >>|=> \{)"
    rb"|==> (?P<file>[^\n]{1,1000}) <=="
    rb"|\[\d{1,5}\] \d\d:\d\d:\d\d \[(?:SUCCESS|FAILURE)\] (?P<pssh>" + _NAME + rb")[^\n]{0,200}"
    rb")[ \t]*\r?\n",
    re.MULTILINE,
)
#: Of `salt`; it counts only where the first heading is one, for a block of another shell may hold such lines.
_OF_SALT = regex(rb"^(?P<salt>" + _NUMBERED + rb"):[ \t]*\r?\n(?= {4})", re.MULTILINE)
_INDENT = regex(rb"^ {4}", re.MULTILINE)
#: No heading is longer (bytes).
_LONGEST = 4096
#: A longer line is handed on in pieces (bytes).
_LONGEST_LINE = 1 << 20


class _Reader(Struct):
    """What was read of the file and not handed on, the number of its first line, and what the headings look like."""

    source: BufferedReader
    heading: re.Pattern[bytes] = _HEADING
    data: bytes = b""
    line: int = 1

    def fill(self) -> bool:
        """Read on; False at the end."""
        more = self.source.read(CHUNK)
        self.data += more
        return bool(more)

    def take(self, size: int) -> bytes:
        """The next bytes, which are read now."""
        taken, self.data = self.data[:size], self.data[size:]
        self.line += taken.count(b"\n")
        return taken


def is_of_blocks(head: bytes) -> bool:
    """Whether a file that begins so is made of the blocks of hosts."""
    head = head.removeprefix(BOM_UTF8)
    above = _above(head[:_LONGEST])
    return any(shape.match(head, above) for shape in (_HEADING, _OF_SALT))


def _above(head: bytes) -> int:
    """Where blank lines end that may stand above the first heading, and the command itself."""
    begin = len(head) - len(head.lstrip())
    end = head.find(b"\n", begin) + 1
    line = head[begin:end].rstrip()
    if not end or not (line.startswith((b"+ ", b"# ")) or prompt_on(line)):
        return begin
    return len(head) - len(head[end:].lstrip())


def members_of_blocks(source: BufferedReader) -> Iterator[Member]:
    """The blocks. What a caller leaves of one is skipped."""
    reader = _Reader(source)
    while reader.fill() and len(reader.data) < _LONGEST:
        pass
    reader.data = reader.data.removeprefix(BOM_UTF8)
    reader.heading = _OF_SALT if _OF_SALT.match(reader.data, _above(reader.data[:_LONGEST])) else _HEADING
    heading = reader.heading.search(reader.data)
    times: Counter[bytes] = Counter()
    while heading is not None:
        reader.take(heading.end())
        times[heading[0]] += 1
        block = _block(reader)
        yield Member(_member(heading, reader.line, times[heading[0]]), -1, block)
        for _ in block:
            pass
        heading = reader.heading.match(reader.data)


def _member(heading: re.Match[bytes], line: int, times: int) -> str:
    if "salt" in heading.re.groupindex:
        return f"nodes/{heading['salt'].decode()}/{line}"
    if heading["file"]:
        return heading["file"].decode("utf-8", "surrogateescape").lstrip("/") + (f".{times}" if times > 1 else "")
    if several := heading["set"]:
        return f"{several.partition(b' ')[0].decode()}/{line}"
    name = heading["dashed"] or heading["ansible"] or heading["pssh"]
    return f"nodes/{name.decode()}/{line}"


def _block(reader: _Reader) -> Iterator[bytes]:
    """The block that begins here, as the host printed it."""
    indented = reader.heading is _OF_SALT
    return (_INDENT.sub(b"", part) if indented else part for part in _raw_block(reader))


def _raw_block(reader: _Reader) -> Iterator[bytes]:
    """The bytes up to the next heading, which is then the first thing in the reader, whole; or up to the end."""
    while True:
        following = reader.heading.search(reader.data)
        if following is not None:
            yield reader.take(following.start())
            return
        limit = max(len(reader.data) - _LONGEST, 0)  # behind it a heading may have begun
        if kept := reader.data.rfind(b"\n", 0, limit) + 1 or limit * (limit > _LONGEST_LINE):
            yield reader.take(kept)
        if not reader.fill():
            yield reader.take(len(reader.data))
            return
