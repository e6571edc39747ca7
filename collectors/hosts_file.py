"""/etc/hosts: which names and which address are one machine's (hosts(5)), of this one and of others.

10.67.132.117 steppe steppe.lab
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import ip_address

from msgspec.structs import replace

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.snapshot import Line, fact, from_lines, head_lines, opening, output
from neuron_doctor.engine.facts import NOWHERE, Fact
from neuron_doctor.engine.regexes import regex

#: As the system calls it, and who copies it: `etc_hosts.txt`, `hosts.n7`.
_FILE = regex(r"(?:^|[/!])(?:etc[-_.])?hosts(?:\.[\w-]{1,40}){0,2}$")
_ENTRY = regex(
    r"\s{0,8}(?P<address>[\d.]{7,15}|[\da-fA-F:]{2,39})[ \t]{1,80}(?P<names>[A-Za-z\d][\w.-]*(?:[ \t]{1,80}[A-Za-z\d][\w.-]*)*)"
    r"\s*(?:#.*)?$"
)
_COMMENT = regex(r"\s*(?:#|$)")


#: How the columns of such a table are called, and what stands in that of the instances.
_NAMED = frozenset({"node", "host", "hostname", "name", "nodename", "node_name", "host_name", "machine"})
_INSTANCE_NAMED = frozenset({"instance", "instance_id", "instanceid", "ec2", "ec2_instance_id", "instance-id"})
_ADDRESS_NAMED = frozenset(
    {"ip", "private_ip", "privateip", "address", "private_ip_address", "ip_address", "privateipaddress"}
)
_INSTANCE = regex(r"i-[\da-f]{8,17}")
_HOST = regex(r"[A-Za-z][\w.-]{0,252}")
_DELIMITERS = (",", "\t", ";")


def _sniff(head: bytes, name: str) -> bool:
    titled = next(_titles(opening(head)), None) is not None
    return _is_hosts_file(head, name) or (titled and _columns(head_lines(head)) is not None)


def _columns(lines: Sequence[str]) -> tuple[str, dict[str, int]] | None:
    """The delimiter of a table of machines, and where it has what; None where it is none."""
    for delimiter, found in _titles(lines[0]) if len(lines) > 1 else ():
        if all(_is_row(line.split(delimiter), found) for line in lines[1:]):
            return delimiter, found
    return None


def _titles(first: str) -> Iterator[tuple[str, dict[str, int]]]:
    """The delimiters by which a line is the titles of such a table, each with where it has what."""
    for delimiter in _DELIMITERS:
        titles = [title.strip(' "').lower().replace(" ", "_") for title in first.split(delimiter)]
        found = {
            what: next((n for n, title in enumerate(titles) if title in names), -1)
            for what, names in (("hostname", _NAMED), ("instance_id", _INSTANCE_NAMED), ("address", _ADDRESS_NAMED))
        }
        if min(found["hostname"], found["instance_id"]) >= 0:
            yield delimiter, found


def _is_row(row: Sequence[str], columns: dict[str, int]) -> bool:
    told = {what: row[at].strip(' "') for what, at in columns.items() if 0 <= at < len(row)}
    return bool(_INSTANCE.fullmatch(told.get("instance_id", "")) and _HOST.fullmatch(told.get("hostname", "")))


def _is_hosts_file(head: bytes, name: str) -> bool:
    lines = [line for line in head_lines(head) if not _COMMENT.match(line)] if _FILE.search(name) else []
    return bool(lines) and all(_ENTRY.match(line) for line in lines)


def parse(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """An `identity` for each name of an address that is one machine's alone, or for each row."""
    rows = output(lines)
    if (table := _columns([line.text for line in rows])) is not None:
        delimiter, columns = table
        for line in rows[1:]:
            cells = [cell.strip(' "') for cell in line.text.split(delimiter)]
            names = {what: cells[at] for what, at in columns.items() if 0 <= at < len(cells) and cells[at]}
            yield replace(fact(inp, line, "identity", names), place=NOWHERE)
        return
    for line in rows:
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
