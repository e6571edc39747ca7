"""What CloudWatch Logs hands out in JSON: the events of many log streams in one file, each stream a member, as of an archive.

Formats: `aws logs filter-log-events` (`events` with `logStreamName`, `timestamp` in ms, `message`) and `get-log-events`, which
asks for one stream and does not name it; the bare list that `--query events` leaves of them, or the events one after the other
(`jq -c '.events[]'`); what a subscription delivers, objects one after the other (`messageType: DATA_MESSAGE`, `logStream`,
`logEvents`). A message stands behind its time, in UTC, in `events.json!streams/algo-2-1756267201`.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF8, getincrementaldecoder
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BufferedReader
from typing import cast

from msgspec import Struct, field

from neuron_doctor.collectors.log_streams import member_of_stream
from neuron_doctor.collectors.streams import CHUNK, Damaged, Member
from neuron_doctor.engine.regexes import regex

_BEGINS = regex(rb'\s{0,400}(?:\{\s{0,40}"events"\s{0,8}:\s{0,8}\[|\[)?\s{0,40}\{')
_EVENT = regex(rb'"timestamp"\s{0,8}:\s{0,8}1\d{12}\b')
#: Each event names its stream where they stand one after the other (`jq -c '.events[]'`).
_STREAM = regex(rb'"logStreamName"\s{0,8}:\s{0,8}"')
_TEXT, _BATCH = regex(rb'"message"\s{0,8}:\s{0,8}"'), regex(rb'"messageType"\s{0,8}:\s{0,8}"DATA_MESSAGE"')
#: Before the first event, and between two.
_BEFORE_FIRST, _BETWEEN = regex(r"\s*(?:\{\s*\"events\"\s*:\s*)?\[?"), regex(r"[\s,]*")
#: Streams are kept apart for so many characters of messages at a time; no event, and no batch, is longer than the second number.
_WINDOW, _LONGEST = 64 * 1024 * 1024, 16 * 1024 * 1024
#: In so much of the text the first event begins.
_BEGINNING = 4096
_LAST_MS = 4_102_444_800_000


def is_of_events(head: bytes) -> bool:
    """Whether a file that begins so is made of log events."""
    head = head.removeprefix(BOM_UTF8)
    return bool(
        head.lstrip()[:1] in (b"{", b"[")
        and (found := _BEGINS.match(head))
        and _EVENT.search(head)
        and _TEXT.search(head)
        and (b"[" in found[0] or _BATCH.search(head, found.end() - 1) or _STREAM.search(head, found.end() - 1))
    )


def members_of_events(source: BufferedReader) -> Iterator[Member]:
    """The streams, in the order of their first events. A file that is too long for that has each of them several times; what is
    read when the text turns out to be damaged is handed on before Damaged is raised."""
    window = _Window()
    try:
        for stream, text in _lines(source):
            if window.size + len(text) > _WINDOW:
                yield from window.members()
            window.size += len(text)
            window.texts[stream].append(text)
    except Damaged:
        yield from window.members()
        raise
    yield from window.members()


class _Window(Struct):
    """The lines of each stream, so far."""

    size: int = 0
    number: int = 0
    texts: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def members(self) -> Iterator[Member]:
        """The streams of this window, which is then the next one."""
        self.number += 1
        texts, self.texts, self.size = self.texts, defaultdict(list), 0
        for stream, lines in texts.items():
            content = "".join(lines).encode("utf-8", "replace")
            yield Member(
                member_of_stream(stream) + (f".{self.number}" if self.number > 1 else ""),
                len(content),
                iter((content,)),
            )


def _lines(source: BufferedReader) -> Iterator[tuple[str, str]]:
    """Each message as lines, with its stream."""
    for element in _elements(source):
        of_batch = element.get("logEvents")
        events = of_batch if isinstance(of_batch, list) else [element]
        for event in events:
            if isinstance(event, dict) and isinstance(message := event.get("message"), str):
                stream = element.get("logStreamName") or element.get("logStream") or ""
                yield str(stream), f"{_stamp(event.get('timestamp'))}{message.rstrip()}\n"


def _stamp(value: object) -> str:
    if not isinstance(value, int) or not 0 < value < _LAST_MS:
        return ""
    when = datetime.fromtimestamp(value // 1000, UTC)
    return f"{when:%Y-%m-%dT%H:%M:%S}.{value % 1000:03}Z "


def _elements(source: BufferedReader) -> Iterator[dict[str, object]]:
    """The objects of the list, or those that stand one after the other."""
    decode, scan = getincrementaldecoder("utf-8")("replace").decode, json.JSONDecoder().raw_decode
    text, at, ended = "", 0, False
    begun, asked = False, max(CHUNK, _BEGINNING)
    while True:
        more = source.read(asked)
        ended = not more
        text, at = text[at:] + decode(more, ended), 0
        if not begun:
            text, begun = text.removeprefix("\ufeff"), True
            at = found.end() if (found := _BEFORE_FIRST.match(text)) else 0
        asked = CHUNK
        while (at := _after_blanks(text, at)) < len(text):
            if text[at] != "{":
                return  # the end of the list, and what the tool says of it
            try:
                value, at = scan(text, at)
            except (ValueError, RecursionError) as error:
                if ended or len(text) - at > _LONGEST:
                    raise Damaged(f"unreadable JSON: {type(error).__name__}") from error
                asked = max(CHUNK, len(text) - at)  # twice as much as is there, so that the time is linear
                break
            yield cast("dict[str, object]", value)
        if ended:
            return


def _after_blanks(text: str, at: int) -> int:
    blank = _BETWEEN.match(text, at)
    return blank.end() if blank else at
