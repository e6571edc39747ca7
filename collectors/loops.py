"""Loops on one line that ask hosts in turn: `for h in n{1..8}; do ssh $h uptime; done`, `for i in 1 2; do ssh n$i ..`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from neuron_doctor.collectors.command_lines import asked_by_ssh, pipelines
from neuron_doctor.engine.nodelists import nodes_of
from neuron_doctor.engine.regexes import regex

#: What stands in a body for what the loop goes through.
EACH = "each-host"
_LOOP = regex(
    r"for (?P<variable>\w{1,40}) in (?P<words>[^;\n]{1,2000}); ?do (?P<body>[^\n]{1,2000}); ?done(?: *(?:\||2?>|$)[^\n]*)?"
)
_WORD = regex(r"[\w.-]{1,253}")
#: `$(seq 1 8)` and `$(seq -w 08)`; `n{1..8}` and `n{1,2,7}`, of which one stands at the end of a word.
_SEQ = regex(r"(?:\$\(|`)seq (?P<wide>-w )?(?:(?P<first>\d{1,5}) )?(?P<last>\d{1,5})(?:\)|`)")
_BRACES = regex(
    r"(?P<before>[\w.-]{0,200})\{(?:(?P<first>\d{1,5})\.\.(?P<last>\d{1,5})|(?P<each>\d{1,5}(?:,\d{1,5}){1,400}))\}"
)
#: A list of nodes needs a name before its numbers.
_NAMED = "n"
#: No shell goes through more hosts on a line that somebody typed.
_MOST = 512


class Loop(Struct, frozen=True):
    """What a loop goes through, where it says so in words, and what it does with each (`EACH`)."""

    words: tuple[str, ...]
    body: str


def loop_of(command: str) -> Loop | None:
    """The loop that a line is; None for any other line."""
    loop = _LOOP.fullmatch(command)
    if loop is None:
        return None
    variable = loop["variable"]
    body = loop["body"].replace(f"${{{variable}}}", EACH).replace(f"${variable}", EACH)
    return Loop(_words(loop["words"].strip()), body)


def hosts_asked(command: str) -> Iterator[str]:
    """The hosts to which a loop logs in, one after another."""
    loop = loop_of(command)
    names = (
        (host.replace(EACH, word) for host in _logins(loop.body) if EACH in host for word in loop.words) if loop else ()
    )
    yield from dict.fromkeys(filter(_WORD.fullmatch, names))


def _logins(body: str) -> Iterator[str]:
    try:
        asked = [asked_by_ssh(pipeline.words) for pipeline in pipelines(body)]
    except ValueError:  # a quotation mark too many, or a command within a command
        return
    yield from (there[0] for there in asked if there)


def _words(listed: str) -> tuple[str, ...]:
    """The words, counted out; none where a shell has yet to find out what they are."""
    words: list[str] = []
    for word in _SEQ.sub(_as_braces, listed).split():
        counted = _counted(word)
        words += counted
        if not counted or len(words) > _MOST:
            return ()
    return tuple(words)


def _as_braces(seq: re.Match[str]) -> str:
    """`-w` writes all numbers as wide as the last one."""
    last = seq["last"]
    first = (seq["first"] or "1").zfill(len(last)) if seq["wide"] else int(seq["first"] or 1)
    return f"{{{first}..{last}}}"


def _counted(word: str) -> list[str]:
    braces = _BRACES.fullmatch(word)
    if braces is None:
        return [word] if _WORD.fullmatch(word) else []
    numbers = braces["each"] or f"{braces['first']}-{braces['last']}"
    return [name.removeprefix(_NAMED) for name in nodes_of(f"{_NAMED}{braces['before']}[{numbers}]")]
