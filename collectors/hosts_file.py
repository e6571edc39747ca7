"""/etc/hosts: which names and which address are one machine's (hosts(5)), of this one and of others.

10.67.132.117 steppe steppe.lab
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import ip_address

from msgspec.structs import replace

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.snapshot import Line, fact, from_lines, head_lines, output
from neuron_doctor.engine.facts import NOWHERE, Fact
from neuron_doctor.engine.regexes import regex

#: As the system calls it, and who copies it: `etc_hosts.txt`, `hosts.n7`.
_FILE = regex(r"(?:^|[/!])(?:etc[-_.])?hosts(?:\.[\w-]{1,40}){0,2}$")
_ENTRY = regex(
    r"\s{0,8}(?P<address>[\d.]{7,15}|[\da-fA-F:]{2,39})[ \t]{1,80}(?P<names>[A-Za-z\d][\w.-]*(?:[ \t]{1,80}[A-Za-z\d][\w.-]*)*)"
    r"\s*(?:#.*)?$"
)
_COMMENT = regex(r"\s*(?:#|$)")


def _sniff(head: bytes, name: str) -> bool:
    lines = [line for line in head_lines(head) if not _COMMENT.match(line)] if _FILE.search(name) else []
    return bool(lines) and all(_ENTRY.match(line) for line in lines)


def parse(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """An `identity` for each name of an address that is one machine's alone."""
    for line in output(lines):
        entry = _ENTRY.match(line.text)
        if entry is None or not _is_of_one_machine(entry["address"]):
            continue
        for name in entry["names"].split():
            told = fact(inp, line, "identity", {"hostname": name, "address": entry["address"]})
            yield replace(told, place=NOWHERE)


def _is_of_one_machine(address: str) -> bool:
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return not (found.is_loopback or found.is_multicast or found.is_link_local or found.is_unspecified)


COLLECTORS = (Collector("hosts-file", "names and addresses of machines", _sniff, from_lines(parse)),)
