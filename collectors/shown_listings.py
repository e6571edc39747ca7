"""Listings of `neuron-ls` in what a terminal or a script showed, its table or its JSON, wherever in the text they stand.

A file that is nothing but one is read by `neuron_ls`. Who asks for help pastes it between other output, and a prolog writes its
own lines around it; it says the same there.
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_doctor.collectors.base import HEAD, Input, UnreadableInput
from neuron_doctor.collectors.neuron_ls import parse
from neuron_doctor.collectors.snapshot import lines_of
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.regexes import regex

#: What each form has in it, found sooner than the form.
_TITLE, _MEMBER = b"| NEURON ", b'"neuron_device"'
#: The lines of a table from its head on, with what neuron-ls prints above it.
_TABLE = regex(
    rb"(?m)^(?:[ \t]*(?:instance-type|instance-id|logical-neuroncore-config):[^\n]{0,200}\n){0,3}"
    rb"[ \t]*\+-[-+]+\+[ \t]*\r?\n(?=[ \t]*\|[ \t]*NEURON[ \t]*\|)(?:[ \t]*[|+][^\n]*(?:\n|\Z))+"
)
#: An array of devices, each line of it as pretty or as dense as it is written.
_ARRAY = regex(
    rb"(?m)^([ \t]*)\[(?=\s*\{[^\[\]{}]{0,200}\"neuron_device\")"
    rb"(?:[ \t]*\r?\n(?:[^\n]*\n)*?\1\][ \t]*\r?$|\{(?:[^\n]*\n)*?[^\n]*\}[ \t]*\][ \t]*\r?$)"
)


def shown_listings(inp: Input) -> Iterator[Fact]:
    """The facts of the listings in the first 64 KiB; one that may go on behind them is left out, for its count would be wrong."""
    head = inp.head()
    found = [match.span() for match in _TABLE.finditer(head)] if _TITLE in head else []
    if _MEMBER in head:
        found += [match.span() for match in _ARRAY.finditer(head)]
    if not found:
        return
    lines = list(lines_of(head))
    for begin, end in sorted(found):
        if end < HEAD:
            try:
                yield from parse(inp, [line for line in lines if begin <= line.offset < end])
            except UnreadableInput as error:
                inp.problem(str(error))
