"""The host on which a terminal was recorded (script(1), a pane of tmux, what was copied from a window): its prompts name it.

Shells show the name of their host before each command: Debian and Ubuntu `user@host:dir$ ` (and, as the title of the window,
`user@host: dir`), Red Hat and Amazon Linux `[user@host dir]$ `. A command names other hosts the same way (`scp x u@b:/tmp`),
so only the beginning of a line counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_doctor.collectors.base import HEAD, Input
from neuron_doctor.collectors.prefixes import cleaned
from neuron_doctor.engine.facts import Fact, span_of
from neuron_doctor.engine.regexes import regex

_USER_AND_HOST = r"[a-z_][\w.-]{0,31}@(?P<host>[A-Za-z][\w.-]{0,252})"
#: A prompt with the directory that every shell has: `~`, one below it, or an absolute one.
_PROMPTS = (
    regex(rf"(?:\([\w.-]{{1,40}}\) )?{_USER_AND_HOST}:[~/][^\s$#]{{0,200}}[$#](?:$| )"),
    regex(rf"(?:\([\w.-]{{1,40}}\) )?\[{_USER_AND_HOST} [^\s\]]{{1,200}}\][$#](?:$| )"),
)
#: What Docker calls a container that was given no name.
_CONTAINER = regex(r"[\da-f]{12}")


def prompted_hosts(inp: Input) -> Iterator[Fact]:
    """For each host that prompts in the first 64 KiB name: that it is one, and the variable which they show."""
    seen: set[str] = set()
    head, offset = inp.stream.peek(HEAD)[:HEAD], 0
    for number, raw in enumerate(head.split(b"\n") if b"@" in head else (), 1):
        if b"@" in raw and (host := _prompted(raw)) and host not in seen:
            seen.add(host)
            span = span_of(inp.path, raw.rstrip(b"\r"), offset, number, 1)
            for kind, data in (("identity", {"hostname": host}), ("env", {"name": "HOSTNAME", "value": host})):
                yield Fact(kind, data, inp.place, span, inp.source_id or inp.path)
        offset += len(raw) + 1


def _prompted(raw: bytes) -> str | None:
    """The host of the last prompt on a line, on which a terminal may have written several times."""
    texts = reversed(cleaned(raw.decode("utf-8", "replace")).split("\r"))
    found = (match["host"] for text in texts for prompt in _PROMPTS if (match := prompt.match(text)))
    return next((host for host in found if not _CONTAINER.fullmatch(host)), None)
