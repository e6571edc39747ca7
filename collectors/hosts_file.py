"""/etc/hosts: which names and which address are one machine's (hosts(5)), of this one and of others.

10.67.132.117 steppe steppe.lab
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address

from msgspec.structs import replace

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.snapshot import Line, fact, from_lines, head_lines, output
from neuron_doctor.engine.facts import NOWHERE, Fact, Value
from neuron_doctor.engine.proven import unique
from neuron_doctor.engine.regexes import regex

Address = IPv4Address | IPv6Address

#: As the system calls it, and who copies it: `etc_hosts.txt`, `hosts.n7`.
_FILE = regex(r"(?:^|[/!])(?:etc[-_.])?hosts(?:\.[\w-]{1,40}){0,2}$")
_ENTRY = regex(
    r"\s{0,8}(?P<address>[\d.]{7,15}|[\da-fA-F:]{2,39})[ \t]{1,80}(?P<names>[A-Za-z\d][\w.-]*(?:[ \t]{1,80}[A-Za-z\d][\w.-]*)*)"
    r"\s*(?:#.*)?$"
)
_COMMENT = regex(r"\s*(?:#|$)")
#: Addresses of the bridge that Docker makes, which every machine has, and the names that Docker and glibc give to every machine.
_BRIDGE = IPv4Network("172.17.0.0/16")
_OF_ANYBODY = regex(
    r"ip6-\w{1,40}|localhost\d?(?:\.localdomain\d?)?|broadcasthost|[\w.-]{1,60}\.docker\.internal|[\da-f]{12}"
)


def _sniff(head: bytes, name: str) -> bool:
    lines = [line for line in head_lines(head) if not _COMMENT.match(line)] if _FILE.search(name) else []
    return bool(lines) and all(_ENTRY.match(line) for line in lines)


def parse(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """An `identity` for each name of an address that is one machine's alone."""
    entries = [(line, entry) for line in output(lines) if (entry := _ENTRY.match(line.text))]
    told = [
        (line, name, address)
        for line, entry in entries
        if (address := ip_address_of(entry["address"])) and is_of_one_machine(address)
        for name in entry["names"].split()
        if may_be_a_name(name)
    ]
    # a name that goes with two addresses (`head`) may be given to two machines
    alone = unique(((name, address.version), address) for _, name, address in told)
    for line, name, address in told:
        if (name, address.version) in alone:
            data: dict[str, Value] = {"hostname": name, "address": str(address), "listed": True}
            yield replace(fact(inp, line, "identity", data), place=NOWHERE)


def ip_address_of(text: str) -> Address | None:
    """The address that a text is, if it is one."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def may_be_a_name(name: str) -> bool:
    """Whether a name is not one that any machine has."""
    return _OF_ANYBODY.fullmatch(name) is None


def is_of_one_machine(address: Address) -> bool:
    """Whether an address is not one that any machine has."""
    anybody = address.is_loopback or address.is_multicast or address.is_link_local or address.is_unspecified
    return not (anybody or address.is_reserved or (isinstance(address, IPv4Address) and address in _BRIDGE))


COLLECTORS = (Collector("hosts-file", "names and addresses of machines", _sniff, from_lines(parse)),)
