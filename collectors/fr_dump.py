"""Reads PyTorch flight-recorder dumps: pickle and JSON, every schema from torch 2.2 (a bare list) to 2.15 (version 2.10).

Schemas: `FlightRecorderDetail.hpp`, `NCCLUtils.hpp` and `TraceUtils.h` of torch 2.2.2 to 2.15.0, the JSON of torch's
`fr_trace_json` handlers and of torchcomms, and NVRx's JSON of the pickle's content. Nothing in a dump is trusted: a
value is used only after its type was looked at, and nothing of unknown type is hashed, compared, walked or formatted.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from neuron_doctor.collectors import safe_pickle
from neuron_doctor.collectors.base import UNREADABLE_JSON, Input, UnreadableInput
from neuron_doctor.collectors.flight_recorder import PICKLE
from neuron_doctor.collectors.fr_entries import Entry, backend_of, created_ns, fresh, integer, text
from neuron_doctor.collectors.fr_excerpt import excerpt_of
from neuron_doctor.collectors.fr_groups import (
    Entries,
    GroupHead,
    Status,
    abridged,
    complete,
    group_records,
    rows_by_group,
)
from neuron_doctor.collectors.hints import place_of_path, plain
from neuron_doctor.engine.facts import About, Clock, Fact, Instant, Span
from neuron_doctor.engine.recorder import GroupRecord, ranks_of, ranks_text
from neuron_doctor.engine.regexes import regex

#: A ring of two million entries dumps 330 MB; what is larger is none.
MAX_BYTES = 512 << 20
_USUAL_BYTES = 4 << 20
_MAX_GROUPS = 4096
#: Of all groups together, in characters of their lists: 40 groups of 100,000 ranks. The lists may be shared, so that a
#: small file can name many.
_MAX_MEMBERS = 1 << 25

_RANKS = regex(r"\[(?:\d{1,9}(?:, ?\d{1,9})*+)?\]", re.ASCII)
_NUMBER = regex(r"\d+", re.ASCII)
_MARKED = regex(r"(?<![A-Za-z\d])r(\d+)(?![A-Za-z\d])", re.ASCII)
_LONGEST_RANK = 6
#: How the key of the entries stands in a pickle: by torch's pickler, and by Python's.
_ENTRIES = regex(rb"(?:X\x07\0\0\0|\x8c\x07)entries")
#: What ends a dictionary of which some keys have their values, and a pickle.
_END = b"u."


def fact_of(inp: Input) -> Fact:
    """The `fr-rank` fact of a dump. Raises UnreadableInput."""
    with safe_pickle.without_cycle_collection():
        return _read(inp)


def _read(inp: Input) -> Fact:
    data = inp.stream.read(_USUAL_BYTES)  # asking for the most at once costs more than reading
    if len(data) == _USUAL_BYTES:
        data += inp.stream.read(MAX_BYTES + 1 - len(data))
    if len(data) > MAX_BYTES:
        raise UnreadableInput(f"the flight-recorder dump is larger than {MAX_BYTES >> 20} MiB")
    dialect = "pickle" if PICKLE.match(data) else "json"
    shortened = _shortened(data) if dialect == "pickle" else None
    if shortened is not None:
        return _fact(inp, data, dialect, *shortened)
    content = _pickled(inp, data) if dialect == "pickle" else _json(data)
    top: Entry = {"entries": content} if isinstance(content, list) else content if isinstance(content, dict) else {}
    if not any(key in top for key in ("entries", "pg_config", "pg_status")):
        raise UnreadableInput("it looks like a flight-recorder dump and holds neither entries nor process groups")
    entries = top.get("entries")
    return _fact(inp, data, dialect, top, complete(entries if isinstance(entries, list) else []))


def _shortened(data: bytes) -> tuple[Entry, Entries] | None:
    """The content with only those entries that may tell something; None where that cannot be had."""
    excerpt = excerpt_of(data)
    if excerpt is None or not excerpt.left:
        return None
    try:
        content = safe_pickle.load(excerpt.data)
    except safe_pickle.UnsafePickle:  # a string was cut out that is needed further on
        return None
    entries = abridged(content.get("entries"), excerpt.left) if isinstance(content, dict) else None
    return (content, entries) if isinstance(content, dict) and entries is not None else None


def _pickled(inp: Input, data: bytes) -> object:
    try:
        return safe_pickle.load(data)
    except safe_pickle.UnsafePickle as error:
        head = _before_the_entries(data) if isinstance(error, safe_pickle.TornPickle) else None
        if head is None:
            raise UnreadableInput(f"the flight-recorder dump could not be read: {error}") from error
        inp.problem(f"of the flight-recorder dump only what stands before its entries could be read: {error}")
        return head


def _before_the_entries(data: bytes) -> object:
    """The groups and their status, of a dump that was cut off while its entries were written: those that it still holds are
    older than what the rank did last. None where the status is not among it."""
    entries = _ENTRIES.search(data)
    try:
        head = safe_pickle.load(data[: entries.start()] + _END) if entries else None
    except safe_pickle.UnsafePickle:
        return None
    return head if isinstance(head, dict) and head.get("pg_status") else None


def _json(data: bytes) -> object:
    try:
        return msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except UNREADABLE_JSON as error:
        raise UnreadableInput("the flight-recorder dump could not be read: its JSON is damaged or cut off") from error


def _fact(inp: Input, data: bytes, dialect: str, top: Entry, entries: Entries) -> Fact:
    inp.records = entries.total
    groups = _groups(inp, top, entries)
    rank = _rank(inp, top, groups)
    rows = entries.rows
    ends = [entry for _, entry in (rows[0], rows[-1]) if isinstance(entry, dict)] if rows else []
    first, last = (created_ns(entry) for entry in (ends[0], ends[-1])) if ends else (0, 0)
    host = text(top.get("host_name")) or None
    return Fact(
        kind="fr-rank",
        data={
            "version": text(top.get("version")),
            "dialect": dialect,
            "entries": entries.total,
            "whole": _is_whole(entries),
            "issued": _issued(entries),
            "first_ns": first,
            "last_ns": last,
            "backend": _backend(ends),
            "fresh": fresh(entries.rows),
            "peers": _nameless_members(top.get("pg_config")),
            "groups": tuple(groups),
        },
        place=replace(inp.place, rank=rank, host=inp.place.host or host),
        span=Span(inp.path, 0, len(data), sha256=hashlib.sha256(data).hexdigest()),
        source=inp.source_id,
        instant=Instant(last, Clock.UTC) if last else None,
    )


def _backend(ends: list[Entry]) -> str:
    """The one backend whose operations the recorder holds, by its first and its last entry; "" where that is not told."""
    backends = {backend_of(entry) for entry in ends}
    return backends.pop() if len(backends) == 1 else ""


def _issued(entries: Entries) -> int:
    """How many operations the rank has issued since its recorder began (or was reset); 0 where that is not recorded."""
    last = entries.rows[-1][1] if entries.rows else None
    return integer(last.get("record_id"), -1) + 1 if isinstance(last, dict) else 0


def _is_whole(entries: Entries) -> bool:
    """Whether the ring has lost nothing: the records are numbered from 0 without a gap."""
    first, last = (entries.rows[0][1], entries.rows[-1][1]) if entries.rows else (None, None)
    if not isinstance(first, dict) or not isinstance(last, dict):
        return False
    if "record_id" not in first:
        return integer(first.get("seq_id"), -1) in {0, 1}
    return [integer(entry.get("record_id"), -1) for entry in (first, last)] == [0, entries.total - 1]


def _groups(inp: Input, top: Entry, entries: Entries) -> list[GroupRecord]:
    """The process groups, in the rank's own order of creation."""
    rows = rows_by_group(entries, inp)
    config, status = _config(top.get("pg_config")), _status(top.get("pg_status"))
    ids = _ids_of_names(config, status, {(name, desc): pg_id for pg_id, name, desc in rows})
    heads: dict[GroupHead, str] = {}
    for pg_id, name, desc in rows:
        by_id = config.get(f"#{pg_id}", ("", ""))[1] if not name else ""
        heads[GroupHead(pg_id, name, desc)] = config.get(name, ("", by_id))[1]
    for name, (desc, members) in config.items():
        head = GroupHead(ids.get(name, -1), "" if name.startswith("#") else name, desc)
        if members and not any(_same_group(head, known) for known in heads):
            heads[head] = members
    for pg_id in status.keys() - {
        head.pg_id for head in heads
    }:  # gloo records no point-to-point operations, but counts them
        heads[GroupHead(pg_id, "", "")] = ""
    if len(heads) > _MAX_GROUPS:
        raise UnreadableInput(f"the flight-recorder dump names more than {_MAX_GROUPS} process groups")
    ordered = sorted(heads, key=lambda head: (head.pg_id < 0, head.pg_id, head.name))
    return group_records([(head, heads[head], status.get(head.pg_id)) for head in ordered], rows)


def _same_group(head: GroupHead, known: GroupHead) -> bool:
    return head.name == known.name if head.name else head.pg_id == known.pg_id


def _config(raw: object) -> dict[str, tuple[str, str]]:
    """Description and members by group name; a group that is known by its id only (torch 2.3) is named `#<id>`.

    gloo of torch 2.13 and 2.15 writes one nameless group, with the members of any or none: that one is no group's.
    """
    found: dict[str, tuple[str, str]] = {}
    left = _MAX_MEMBERS
    for key, value in raw.items() if isinstance(raw, dict) else ():
        ranks = value.get("ranks") if isinstance(value, dict) else value
        left -= len(ranks) if isinstance(ranks, str | list | tuple) else 0
        if left < 0:
            raise UnreadableInput(
                "the process groups of the flight-recorder dump have more members than any job has ranks"
            )
        if isinstance(value, dict):
            name = text(key) or text(value.get("name"))
            members, desc = _members(ranks), text(value.get("desc"))
        else:
            name, members, desc = f"#{integer(key, -1)}", _members(ranks), ""
        if name and name != "#-1":
            found[name] = (desc, members)
    return found


def _nameless_members(raw: object) -> str:
    """The ranks that a nameless group lists: they are of the job, if not of the groups that the entries name."""
    nameless = raw.get("") if isinstance(raw, dict) else None
    return _members(nameless.get("ranks")) if isinstance(nameless, dict) and not nameless.get("name") else ""


def _members(ranks: object) -> str:
    """The ranks of a list, or of the text of one (`"[0, 1]"`), as `ranks_text` writes them."""
    if isinstance(ranks, str):
        return _listed(ranks)
    if isinstance(ranks, list | tuple):
        return ranks_text(rank for rank in (integer(value, -1) for value in ranks) if rank >= 0)
    return ""


@lru_cache(maxsize=1024)
def _listed(text_of_ranks: str) -> str:
    """All dumps of a job tell the same lists."""
    if not _RANKS.fullmatch(text_of_ranks):
        return ""
    return ranks_text(int(rank) for rank in text_of_ranks[1:-1].split(",") if rank)


def _status(raw: object) -> dict[int, Status]:
    """Last enqueued, started, completed by the rank's own number of the group."""
    found: dict[int, Status] = {}
    for key, value in raw.items() if isinstance(raw, dict) else ():
        pg_id = integer(key, -1)
        if pg_id >= 0 and isinstance(value, dict):
            numbers = [
                integer(value.get(f"last_{what}_collective"), -1) for what in ("enqueued", "started", "completed")
            ]
            found[pg_id] = Status(*numbers)
    return found


def _ids_of_names(
    config: dict[str, tuple[str, str]], status: dict[int, Status], seen: dict[tuple[str, str], int]
) -> dict[str, int]:
    """The rank's own number of each group: as its entries say; else both in order of creation, if the entries agree."""
    ids = {name: pg_id for (name, _), pg_id in seen.items()}
    numbered = {f"#{pg_id}": pg_id for pg_id in status} | {name: int(name[1:]) for name in config if name[0] == "#"}
    names = [name for name in config if name.isascii() and name.isdigit()]
    if len(names) == len(config) == len(status):
        in_order = dict(zip(sorted(names, key=int), sorted(status), strict=True))
        if all(in_order.get(name, pg_id) == pg_id for name, pg_id in ids.items()):
            return in_order | ids
    return numbered | ids


def _rank(inp: Input, top: Entry, groups: list[GroupRecord]) -> int | None:
    """The rank: what the path hints at if the content allows it, else what the content says or leaves as the only one."""
    possible = _possible_ranks(groups) or _possible_ranks([group for group in groups if _is_used(group)])
    stated = integer(top.get("rank", top.get("global_rank")), -1)
    hints = [rank for rank in (inp.place.rank, stated, _only_number(inp)) if rank is not None and rank >= 0]
    for rank in hints:
        if possible is None or rank in possible:
            return rank
    if possible is not None and len(possible) == 1:
        return next(iter(possible))
    if hints:
        inp.problem("the rank in the file's name is in none of its process groups")
    else:
        inp.problem("nothing tells which rank wrote this dump", about=About.RANK)
    return None


def _is_used(group: GroupRecord) -> bool:
    """Whether the rank had anything to do with a group: a configuration may list those of all ranks."""
    return group.last_record() >= 0 or bool(group.pairs) or (group.enqueued is not None and group.enqueued >= 0)


def _only_number(inp: Input) -> int | None:
    """The one number in the file's name, or the one behind an `r`, whatever stands around it: that of a rank, as the content
    is a rank's. Not where the name says whose it is: a host's (`node3.pkl`), a local rank."""
    name = re.split(r"[/!]", inp.path)[-1]
    said = place_of_path(name)
    if said.host is not None or said.local_rank is not None:
        return None
    numbers = _MARKED.findall(plain(name)) or _NUMBER.findall(plain(name))
    return int(numbers[0]) if len(numbers) == 1 and len(numbers[0]) <= _LONGEST_RANK else None


def _possible_ranks(groups: list[GroupRecord]) -> set[int] | None:
    """The ranks that are members of all groups and stand at this end of all point-to-point operations; None: any."""
    possible: set[int] | None = None
    for group in groups:
        members = ranks_of(group.members)
        if not members:
            continue
        ends = {pair.source if pair.kind == "send" else pair.target for pair in group.pairs}
        here = {members[end] for end in ends if 0 <= end < len(members)} if len(ends) == 1 else set()
        possible = (set(members) if possible is None else possible & set(members)) & (here or set(members))
    return possible
