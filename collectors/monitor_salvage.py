"""What can still be read of a neuron-monitor document that is cut off, damaged, or pasted with elisions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from operator import itemgetter

from neuron_doctor.collectors.base import UNREADABLE_JSON
from neuron_doctor.collectors.monitor_groups import GROUPS, OF_PROCESS, OF_SYSTEM, WHOLE
from neuron_doctor.collectors.monitor_model import EMPTY, Report, decode
from neuron_doctor.engine.regexes import regex

#: No group stands deeper; a limit keeps the work linear in hostile nesting.
_DEEPEST = 8

#: A string (up to the end of its line where it is not closed) or a bracket.
_TOKEN = regex(rb'"(?:[^"\\\n]|\\[^\n])*"?|[{}\[\]]')
_PID = regex(rb'"pid"\s*:\s*(\d{1,10})\b')
_CLOSES = {b"}": b"{", b"]": b"["}


def salvage(text: bytes) -> Report:
    """The groups of a document that are readable by themselves; EMPTY where there are none."""
    whole: dict[bytes, bytes] = {}
    of_process, of_system = list[bytes](), list[bytes]()
    pids = [(0, b"null"), *((found.end(), b"%d" % int(found[1])) for found in _PID.finditer(text))]
    for name, start, end in _readable(text):
        member = b'"%s":%s' % (name, text[start:end])
        if name in WHOLE:
            whole[name] = member
        elif name in OF_SYSTEM:
            of_system.append(member)
        else:
            pid = pids[bisect_right(pids, start, key=itemgetter(0)) - 1][1]
            of_process.append(b'{"pid":%s,"report":{%s}}' % (pid, member))
    if of_process:
        whole.setdefault(b"neuron_runtime_data", b'"neuron_runtime_data":[%s]' % b",".join(of_process))
    if of_system:
        whole.setdefault(b"system_data", b'"system_data":{%s}' % b",".join(of_system))
    return decode(b"{%s}" % b",".join(whole.values())) if whole else EMPTY


def _readable(text: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Name, start and end of each outermost group that decodes, in the order of the text."""
    done = 0
    for start, end, name in sorted(_groups(text)):
        if start >= done and _decodes(name, text[start:end]):
            done = end
            yield name, start, end


def _decodes(name: bytes, value: bytes) -> bool:
    form = b'{"%s":%s}'
    if name in OF_PROCESS:
        form = b'{"neuron_runtime_data":[{"report":{"%s":%s}}]}'
    elif name in OF_SYSTEM:
        form = b'{"system_data":{"%s":%s}}'
    with suppress(*UNREADABLE_JSON):
        decode(form % (name, value))
        return True
    return False


def _groups(text: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Start, end and name of each bracketed value that a group's name stands before."""
    name, after = b"", 0
    opened: list[tuple[bytes, int, bytes]] = []
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in (b"{", b"["):
            named = name in GROUPS and text[after : token.start()].strip() == b":"
            opened.append((mark, token.start(), name if named else b""))
        elif mark in _CLOSES:
            if opened and opened[-1][0] == _CLOSES[mark]:
                _, start, group = opened.pop()
                if group and len(opened) < _DEEPEST:
                    yield start, token.end(), group
        else:
            name, after = mark.strip(b'"'), token.end()
