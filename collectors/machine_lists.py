"""Lists of machines: which instance, address and names are one machine's, as EC2, Systems Manager and people list them.

- JSON of `aws ec2 describe-instances` (API of 2016-11-15), `aws ssm describe-instance-information`, `aws sagemaker
  list-cluster-nodes`, or what `--query` makes of them: objects with an `InstanceId`.
- Rows with an instance each, no two of one: `--output text` and `--output table`, or a table with titles (`node,ip,instance`).
  Where it has no titles, names are what differs in its number alone from row to row (`kiwi-1`, `kiwi-2`).

A name or address that two machines of a list have is told of none of them. What such a list says besides is read as any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from neuron_doctor.collectors import members
from neuron_doctor.collectors.base import HEAD, Collector, Input
from neuron_doctor.collectors.beside_text import beside_text
from neuron_doctor.collectors.documents import DamagedDocument, document_of, elements
from neuron_doctor.collectors.hints import is_name_of_ec2
from neuron_doctor.collectors.hosts_file import ip_address_of, is_of_one_machine, may_be_a_name
from neuron_doctor.collectors.no_host_words import NO_HOST_OF_LINES, words_of
from neuron_doctor.collectors.snapshot import command_of, fact, head_lines, lines_of, output
from neuron_doctor.engine.facts import NOWHERE, Fact, Span, Value
from neuron_doctor.engine.hostnames import instance_in
from neuron_doctor.engine.proven import unique
from neuron_doctor.engine.regexes import regex

#: How the columns of a table are called, blanks, hyphens and underscores aside.
_BETWEEN_WORDS = regex(r"[\s_-]")
_INSTANCE_TITLES = frozenset({"instance", "instanceid", "ec2", "ec2instanceid"})
_NAME_TITLES = frozenset(
    {"node", "host", "hostname", "name", "nodename", "machine", "dns", "fqdn", "computername"}
    | {"privatedns", "privatednsname", "privatednshostname"}
)
_ADDRESS_TITLES = frozenset({"ip", "privateip", "address", "privateipaddress", "ipaddress"})
#: The members of the objects, and the lists in which they stand.
_INSTANCE_MEMBER = "InstanceId"
_NAME_MEMBERS = ("PrivateDnsName", "PrivateDnsHostname", "ComputerName", "Name")
_ADDRESS_MEMBERS = ("PrivateIpAddress", "PrivatePrimaryIp", "PrivateIp", "IPAddress")
_LISTS = regex(r'"(?:Instances|InstanceInformationList|ClusterNodeSummaries)"\s{0,8}:\s{0,8}\[')
_DOCUMENT = regex(
    r'\s{0,80}(?:\{\s{0,80}"(?:Reservations|Instances|InstanceInformationList|ClusterNodeSummaries)"\s{0,8}:|(?:\[\s{0,80}){1,3}\{)'
)
_TAGGED = ("Key", "Name", "Value")

#: Found sooner than the whole.
_BEGINS_AN_INSTANCE = b"i-"
_INSTANCE_BYTES = regex(rb"\bi-[\da-f]{8}")
_INSTANCE = regex(r"i-(?:[\da-f]{17}|[\da-f]{8,16})")
_HOST = regex(r"[A-Za-z][\w.-]{0,252}")
#: What EC2 itself numbers, which is no name: a zone, and all that has an id.
_NO_NAME = regex(
    r"[a-z\d-]{1,20}-az\d|(?:subnet|sg|ami|vpc|eni|vol|lt|cr|i)-[\da-f]{3,17}|(?:trn|inf|[cgmpr])\d\w{0,3}\.\w{1,12}"
)
_NUMBER = regex(r"\d+")
_DELIMITERS = tuple(map(regex, (r"\t", r"\|", r",", r";", r"\s{2,}")))
#: A line between the rows of a table, or its heading.
_FRAME = regex(r"[-+=|\s]*|[|\s]*[A-Z]\w{4,40}[|\s]*")


class _Machine(Struct, frozen=True):
    """One machine of a list, and where it stands there."""

    instance: str
    names: Sequence[str]
    address: str
    span: Span


class _Columns(Struct, frozen=True):
    """Where the rows of a table have what, the titles aside (`rows` are all others)."""

    delimiter: re.Pattern[str]
    rows: Sequence[int]
    instance: int
    names: Sequence[int]
    address: int = -1


def machine_lists_collector(text: Collector) -> Collector:
    """The collector of such lists, that reads all else in them as `text` does."""
    return beside_text(text, "lists of machines, as EC2 and people make them", _sniff, machine_facts)


def _sniff(head: bytes, _name: str) -> bool:
    if _BEGINS_AN_INSTANCE not in head or _INSTANCE_BYTES.search(head) is None:
        return False
    return _is_document(head) or _columns(head_lines(head)) is not None


def _is_document(data: bytes) -> bool:
    """Whether the first thing that is output is the beginning of such a document."""
    first = next((line for line in lines_of(data[:HEAD]) if line.text.strip() and command_of(line.text) is None), None)
    if first is None or not first.text.lstrip().startswith(("{", "[")):
        return False
    text = data[first.offset : HEAD].decode("utf-8", "replace")
    return _DOCUMENT.match(text) is not None and f'"{_INSTANCE_MEMBER}"' in text


def machine_facts(inp: Input, data: bytes) -> Iterator[Fact]:
    """An `identity` for each machine, and for each further name of it."""
    if _is_document(data):
        found = list(_of_document(inp, data))
    else:
        found = list(_of_table(inp, data))
        inp.kind = "hosts-file" if found else inp.kind
    of_name = unique((name.casefold(), one.instance) for one in found for name in one.names)
    of_address = unique((one.address, one.instance) for one in found)
    for one in found:
        names = [name for name in dict.fromkeys(one.names) if name.casefold() in of_name]
        address = one.address if one.address in of_address else ""
        for name, where in ((names[0] if names else "", address), *((name, "") for name in names[1:])):
            told = {"hostname": name, "address": where, "instance_id": one.instance}
            data_: dict[str, Value] = {key: value for key, value in told.items() if value}
            if len(data_) > 1:
                yield Fact("identity", {**data_, "listed": True}, NOWHERE, one.span, inp.source_id)


# --- documents


def _of_document(inp: Input, data: bytes) -> Iterator[_Machine]:
    document = document_of(inp.path, [line for line in lines_of(data) if command_of(line.text) is None])
    begins = [found.end() for found in _LISTS.finditer(document.text)] or [document.text.find("[") + 1]
    for begin in begins:
        try:
            for element in elements(document.text, begin):
                for one in _objects(element.value):
                    instance = members.text(one, _INSTANCE_MEMBER)
                    span = document.quote(element, _INSTANCE_MEMBER, instance)
                    yield _machine(instance, _names(one), [members.text(one, key) for key in _ADDRESS_MEMBERS], span)
        except DamagedDocument:
            return  # it is read as text


def _objects(value: object) -> Iterator[Mapping[str, object]]:
    """The objects of instances in lists of lists."""
    if isinstance(value, dict) and _INSTANCE.fullmatch(members.text(value, _INSTANCE_MEMBER)):
        yield value
    for one in value if isinstance(value, list) else ():
        yield from _objects(one)


def _names(one: Mapping[str, object]) -> Iterator[str]:
    yield from (members.text(one, key) for key in _NAME_MEMBERS)
    key, name, value = _TAGGED
    yield from (members.text(tag, value) for tag in members.listed(one, "Tags") if members.text(tag, key) == name)


def _machine(instance: str, names: Iterable[str], addresses: Iterable[str], span: Span) -> _Machine:
    own = [text for text in addresses if (address := ip_address_of(text)) and is_of_one_machine(address)]
    hosts = [name for name in names if _HOST.fullmatch(name) and may_be_a_name(name) and _is_of_one(name)]
    return _Machine(instance, hosts, own[0] if own else "", span)


def _is_of_one(name: str) -> bool:
    """Whether it is no id of EC2's, and no mere word for what runs on machines: people tag one so, and call logs so."""
    word = not _NUMBER.search(name) and words_of(name) <= NO_HOST_OF_LINES
    return not word and _NO_NAME.fullmatch(name) is None


# --- tables


def _of_table(inp: Input, data: bytes) -> Iterator[_Machine]:
    lines = output(lines_of(data))
    columns = _columns([line.text for line in lines])
    if columns is None:
        return
    for number in columns.rows:
        cells = _cells(lines[number].text, columns.delimiter)
        addresses = cells[columns.address : columns.address + 1] if columns.address >= 0 else []
        span = fact(inp, lines[number], "identity", {}).span
        yield _machine(cells[columns.instance], [cells[at] for at in columns.names], addresses, span)


def _columns(lines: Sequence[str]) -> _Columns | None:
    """The columns of a table of machines; None where it is none."""
    rows = [number for number, line in enumerate(lines) if not _FRAME.fullmatch(line)]
    for delimiter in _DELIMITERS if rows else ():
        table = [_cells(lines[number], delimiter) for number in rows]
        titled = not any(map(_INSTANCE.fullmatch, table[0]))
        if found := _read(table[1:], table[0]) if titled else _guessed(table):
            return _Columns(delimiter, rows[1:] if titled else rows, *found)
    return None


def _cells(line: str, delimiter: re.Pattern[str]) -> list[str]:
    return [cell.strip(' \t"') for cell in delimiter.split(line.strip(" |"))]


def _instances(table: Sequence[Sequence[str]]) -> int | None:
    """The one column in which every row has an instance, and no two the same; the rows are of one width."""
    if not table or len({len(row) for row in table}) != 1:
        return None
    columns = [at for at in range(len(table[0])) if all(_INSTANCE.fullmatch(row[at]) for row in table)]
    return columns[0] if len(columns) == 1 and len({row[columns[0]] for row in table}) == len(table) else None


def _read(table: Sequence[Sequence[str]], titles: Sequence[str]) -> tuple[int, Sequence[int], int] | None:
    """Where a table with titles has what."""
    at = _instances(table)
    called = [_BETWEEN_WORDS.sub("", title.lower()) for title in titles]
    if at is None or len(called) != len(table[0]) or called[at] not in _INSTANCE_TITLES:
        return None
    names = [n for n, title in enumerate(called) if title in _NAME_TITLES]
    address = next((n for n, title in enumerate(called) if title in _ADDRESS_TITLES), -1)
    return (at, names, address) if names or address >= 0 else None


def _guessed(table: Sequence[Sequence[str]]) -> tuple[int, Sequence[int], int] | None:
    """Where a table without titles has what, by what stands in its columns."""
    at = _instances(table)
    columns = [[row[n] for row in table] for n in range(len(table[0]))] if at is not None else []
    names = [n for n, cells in enumerate(columns) if n != at and (_are_numbered(cells) or all(map(_is_of_ec2, cells)))]
    address = next((n for n, cells in enumerate(columns) if all(map(_is_private, cells))), -1)
    return (at, names, address) if at is not None and (names or address >= 0) else None


def _is_of_ec2(cell: str) -> bool:
    return is_name_of_ec2(cell) or instance_in(cell) is not None


def _is_private(cell: str) -> bool:
    address = ip_address_of(cell)
    return address is not None and address.is_private and is_of_one_machine(address)


def _are_numbered(cells: Sequence[str]) -> bool:
    """Whether the cells are names that differ in their number alone."""
    named = all(_HOST.fullmatch(cell) and not _NO_NAME.fullmatch(cell) for cell in cells)
    return named and len(set(cells)) == len(cells) > 1 and len({_NUMBER.sub("#", cell) for cell in cells}) == 1
