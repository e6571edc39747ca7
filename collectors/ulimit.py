"""Resource limits: `ulimit -a` of bash and zsh, and /proc/<pid>/limits (its soft limit); one of them below the command that asks
for it (`ulimit -l`, `grep locked /proc/<pid>/limits`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.snapshot import (
    Line,
    anonymous,
    command_of,
    fact,
    first_line,
    from_lines,
    has_form,
    head_lines,
    output,
)
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
#: What asks for one limit, and the name and unit of that; what shows some of those of a process.
_ASKS = regex(r"ulimit\s+-[HS]{0,2}(?P<letter>[lnsu])")
_OF_LETTER = {"l": ("memlock", "kbytes"), "n": ("nofile", ""), "s": ("stack", "kbytes"), "u": ("nproc", "")}
_OF_A_PROCESS = regex(r".{0,80}/proc/(?:\d{1,8}|self|\$\S{1,40})/limits\b")
_VALUE = regex(r"(?P<value>unlimited|\d{1,20})\s*$")


def _sniff(head: bytes, _name: str) -> bool:
    asked = command_of(first_line(head)) or ""
    if _ASKS.fullmatch(asked):
        said = head_lines(head)
        return len(said) == 1 and _VALUE.match(said[0]) is not None
    return has_form(head, _ANY) and (len(head_lines(head)) > 1 or _OF_A_PROCESS.match(asked) is not None)


def parse(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """The limits on open files, locked memory, stack and processes; memory in bytes, unlimited as -1."""
    asked = _ASKS.fullmatch(command_of(lines[0].text) or "") if lines else None
    for line in output(lines):
        found = next((match for form in _FORMS if (match := form.match(line.text))), None)
        name, unit = (_NAMES.get(found["name"].strip().lower()), found["unit"] or "") if found else (None, "")
        if asked and (found := _VALUE.match(line.text)):
            name, unit = _OF_LETTER[asked["letter"]]
        if found and name:
            count = -1 if found["value"] == "unlimited" else int(found["value"])
            memory = name in _BYTES
            value = count * _PER_UNIT.get(unit, 1) if memory and count > 0 else count
            yield fact(inp, line, "limit", {"name": name, "value": value, "unit": "bytes" if memory else "count"})


COLLECTORS = (Collector("ulimit", "resource limits", _sniff, from_lines(parse)),)
