"""The host that a source is named after, if it names that host itself: `kestrel3/jax.log` says `process 2 of 4 on kestrel3`.

A name of no known shape proves nothing in a path, and a word in a text is anything. Both together, where the text says it as
one says a host, leave no doubt. So for the parts of the path of a source its first 64 KiB are asked.

A mere word, without a number, leaves some (`memory/numa.log`: `host memory is full`; `running on inferentia`): unless it is the
value of a setting, it is only told as a `word`, which `known_hosts` holds against what others say of themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.hints import bare, has_shape_of_host
from neuron_doctor.collectors.no_host_words import NO_HOST_OF_LINES, may_name_a_host, words_of
from neuron_doctor.engine.facts import Fact, span_of
from neuron_doctor.engine.regexes import regex

#: What may be a host in a path: a word of some letters, or of letters and numbers.
_NAME = regex(r"(?=[\w-]{0,60}[a-z])[a-z](?:[\w-]{3,62}|[\w-]{0,2}\d)", re.ASCII | re.IGNORECASE)
_NUMBER = regex(r"\d")
#: What EC2 calls a kind of machine is no machine.
_INSTANCE_FAMILY = regex(r"(?:trn|inf)\d[a-z]{0,2}", re.IGNORECASE)
#: How a host is said: as a setting, or behind the word for it; behind what runs on it; behind a user.
_SAID = (
    r"(?i:\b(?:host|hostname|node|nodename|node_name|machine)(?:(?P<setting>[\"']?\s{0,2}[=:]\s{0,2}[\"']?)| )"
    r"|\b(?:rank|process|proc|task|worker)s?[ :#=]{1,2}\d[\w/ ,.:-]{0,30} (?:on|@|host|node) (?:host |node )?"
    r"|\b(?:running|runs|started|launched|launching) on (?:host |node )?"
    r"|(?<![\w@])[a-z_][\w-]{0,31}@)"
)

#: What may stand right before a name that is said (an empty one of the beginning is none).
_RIGHT_BEFORE = frozenset({b" ", b"=", b":", b"@", b"'", b'"', b"\t", b"\n", b"\r"})
#: So far before a name stands what says that it is a host's (bytes; more than `_SAID` can take).
_REACH = 160


def own_names(inp: Input) -> Iterator[Fact]:
    """An `identity` for each name in the path of a source that its beginning says of a host."""
    if inp.place.host or inp.place.container:
        return
    head = inp.head()
    for name in names_in(inp.path):
        if name.encode() in head and (said := _surest(name, head)):
            begin = head.rfind(b"\n", 0, said.start()) + 1
            end = head.find(b"\n", said.end())
            line = head[begin : end if end >= 0 else len(head)]
            span = span_of(inp.path, line.rstrip(b"\r"), begin, head.count(b"\n", 0, begin) + 1, 1)
            sure = said["setting"] is not None or _NUMBER.search(name)
            yield Fact("identity", {"hostname" if sure else "word": name}, inp.place, span, inp.source_id or inp.path)


def _surest(name: str, head: bytes) -> re.Match[bytes] | None:
    """Where the name is first said, as a setting if it is said so anywhere. Nothing but what stands right before it is looked at:
    most words of paths stand in a text many times."""
    said = list(_said(name, head))
    return next((one for one in said if one["setting"] is not None), said[0] if said else None)


def _said(name: str, head: bytes) -> Iterator[re.Match[bytes]]:
    word, saying, at, done = name.encode(), _saying(name), -1, 0
    while (at := head.find(word, at + 1)) >= 0:
        if head[at - 1 : at] in _RIGHT_BEFORE and (
            found := saying.search(head, max(at - _REACH, done), at + len(word) + 1)
        ):
            done = found.end()
            yield found


def is_called(path: str, word: str) -> bool:
    """Whether a part of the path may be a host of this name."""
    return word in names_in(path)


@lru_cache(maxsize=4096)
def names_in(path: str) -> tuple[str, ...]:
    """The parts of a path that may be names of hosts, and have no shape by which that is known anyway."""
    names = dict.fromkeys(bare(part) for part in path.replace("!", "/").split("/")[-8:])
    return tuple(name for name in names if _NAME.fullmatch(name) and not has_shape_of_host(name) and _may_be_host(name))


def _may_be_host(name: str) -> bool:
    of_programs = not _NUMBER.search(name) and words_of(name) <= NO_HOST_OF_LINES
    return may_name_a_host(name) and not of_programs and not _INSTANCE_FAMILY.fullmatch(name)


@lru_cache(maxsize=4096)
def _saying(name: str) -> re.Pattern[bytes]:
    return re.compile(rf"{_SAID}{re.escape(name)}(?![\w-])".encode(), re.ASCII)
