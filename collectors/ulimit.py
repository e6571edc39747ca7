"""Resource limits: `ulimit -a` of bash and zsh, and /proc/<pid>/limits (its soft limit)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.snapshot import Line, anonymous, fact, from_lines, has_form, head_lines, output
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.regexes import regex

#: What each source calls a limit, in lower case, and the name that facts use.
_NAMES = {
    "open files": "nofile",
    "file descriptors": "nofile",
    "max open files": "nofile",
    "max locked memory": "memlock",
    "locked-in-memory size": "memlock",
    "locked-in-memory size (kbytes)": "memlock",
    "stack size": "stack",
    "stack size (kbytes)": "stack",
    "max stack size": "stack",
    "max user processes": "nproc",
    "processes": "nproc",
    "max processes": "nproc",
}
_BYTES = frozenset({"memlock", "stack"})

_BASH = regex(
    r"(?P<name>[a-z][a-z -]{2,40}?) {2,}\((?P<unit>[\w -]{0,20}?),? ?-[a-zA-Z]\) (?P<value>unlimited|\d{1,20})\s*$"
)
_ZSH = regex(r"-[a-zA-Z]: (?P<name>[\w -]{3,40}?(?: \((?P<unit>\w{1,20})\))?) {1,}(?P<value>unlimited|\d{1,20})\s*$")
_PROC = regex(
    r"(?P<name>Max [a-z ]{3,30}?) {2,}(?P<value>unlimited|\d{1,20}) +(?:unlimited|\d{1,20})"
    r"(?: +(?P<unit>[a-z]{1,20}))?\s*$"
)
_PROC_TITLE = regex(r"Limit +Soft Limit +Hard Limit")
_FORMS = (_BASH, _ZSH, _PROC)
_ANY = regex("|".join(map(anonymous, (*_FORMS, _PROC_TITLE))))

_PER_UNIT = {"kbytes": 1024, "512 bytes": 512, "blocks": 512, "bytes": 1}


def _sniff(head: bytes, _name: str) -> bool:
    return has_form(head, _ANY) and len(head_lines(head)) > 1


def parse(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """The limits on open files, locked memory, stack and processes; memory in bytes, unlimited as -1."""
    for line in output(lines):
        found = next((match for form in _FORMS if (match := form.match(line.text))), None)
        name = _NAMES.get(found["name"].strip().lower()) if found else None
        if found and name:
            count = -1 if found["value"] == "unlimited" else int(found["value"])
            memory = name in _BYTES
            value = count * _PER_UNIT.get(found["unit"] or "", 1) if memory and count > 0 else count
            yield fact(inp, line, "limit", {"name": name, "value": value, "unit": "bytes" if memory else "count"})


COLLECTORS = (Collector("ulimit", "resource limits", _sniff, from_lines(parse)),)
