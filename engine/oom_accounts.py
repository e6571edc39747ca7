"""Who was killed for host memory, how much it held, whose limit that was, who held most: the lines of the kernel told as one."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Value

_KIND, _ROW, _TITLE = "oom-kill", "memory-holder", "memory-table"
_GB_KB = 1 << 20
#: So many groups of processes are named.
_NAMED = 2
_Victim = tuple[str | None, object]


class _Group(Struct, frozen=True):
    """The processes of one name and user that the kernel lists: how many, and what they hold together."""

    command: str
    uid: int
    number: int
    held_kb: int


class _Table(Struct, frozen=True):
    """Those that hold most first; whether the table is there from its beginning on."""

    groups: Sequence[_Group]
    whole: bool


def with_accounts(facts: Iterable[Fact]) -> Iterator[Fact]:
    """The facts; each `oom-kill` also says in words what all of them tell of that process on that host, and of who held the
    memory."""
    facts = tuple(facts)
    kills = [fact for fact in facts if fact.kind == _KIND]
    told: dict[_Victim, list[Fact]] = defaultdict(list)
    for kill in kills:
        told[_victim(kill)].append(kill)
    tables = _tables(facts, kills) if kills else {}
    said = {victim: _account(of_victim, tables.get(victim)) for victim, of_victim in told.items()}
    for fact in facts:
        yield replace(fact, data={**fact.data, **said[_victim(fact)]}) if fact.kind == _KIND else fact


def _victim(fact: Fact) -> _Victim:
    return fact.place.host, fact.data.get("victim_pid")


def _tables(facts: Iterable[Fact], kills: Iterable[Fact]) -> dict[_Victim, _Table]:
    """For each victim the table above its end, by the first source that has one: the rows below the end of the victim before."""
    ends: dict[str, list[tuple[int, _Victim]]] = defaultdict(list)
    for kill in kills:
        ends[kill.source].append((kill.span.offset, _victim(kill)))
    for of_source in ends.values():
        of_source.sort(key=lambda end: end[0])
    lines: dict[tuple[str, _Victim], list[Fact]] = defaultdict(list)
    for fact in facts:
        of_source = ends.get(fact.source, []) if fact.kind in (_ROW, _TITLE) else []
        at = bisect_left(of_source, fact.span.offset, key=lambda end: end[0])
        if at < len(of_source):
            lines[fact.source, of_source[at][1]].append(fact)
    found: dict[_Victim, _Table] = {}
    for (_, victim), table in sorted(lines.items(), key=lambda item: item[0][0]):
        if groups := _groups(line for line in table if line.kind == _ROW):
            whole = min(table, key=lambda line: line.span.offset).kind == _TITLE
            found.setdefault(victim, _Table(groups, whole))
    return found


def _groups(table: Iterable[Fact]) -> Sequence[_Group]:
    """Those that hold most first."""
    held: dict[tuple[str, int], list[int]] = defaultdict(list)
    for row in table:
        held[str(row.data["command"]), _number(row, "uid")].append(_number(row, "held_kb"))
    groups = [_Group(command, uid, len(sizes), sum(sizes)) for (command, uid), sizes in held.items()]
    return sorted(groups, key=lambda group: (-group.held_kb, group.command, group.uid))


def _number(fact: Fact, name: str) -> int:
    value = fact.data.get(name)
    return value if isinstance(value, int) else 0


def _account(kills: Iterable[Fact], table: _Table | None) -> Mapping[str, Value]:
    known = {name: value for kill in kills for name, value in sorted(kill.data.items())}
    held = known.get("anon_rss_kb")
    who = f"{known.get('victim', 'a process')} (process {known.get('victim_pid')})"
    held_words = f" held {held / _GB_KB:.1f} GB of anonymous memory and" if isinstance(held, int) else ""
    if known.get("scope") != "memcg":
        said = f"{who}{held_words} was killed: the whole host was out of memory"
    else:
        cgroup = known.get("cgroup")
        limit = f"the limit of its memory cgroup{f' {cgroup}' if cgroup else ''} was reached"
        said = f"{who}{held_words} was killed: {limit}"
    if table is None:
        return {"description": said}
    told: dict[str, Value] = {"description": f"{said}; {_most(table.groups)}", "holder": table.groups[0].command}
    return told | {"foreign": _is_foreign(known, table.groups)} if table.whole else told


def _most(groups: Sequence[_Group]) -> str:
    """The two that held most."""
    return ", ".join(_told(group) for group in groups[:_NAMED])


def _told(group: _Group) -> str:
    who = f"{group.number} process{'es' if group.number > 1 else ''} {group.command} of user {group.uid}"
    return f"{who} held {group.held_kb / _GB_KB:.1f} GB"


def _is_foreign(known: Mapping[str, Value], groups: Sequence[_Group]) -> bool:
    """Whether the most is held by processes of another user, more than all of the victim's user hold together. Below the limit
    of a cgroup all are of one container."""
    uid = known.get("victim_uid")
    own = sum(group.held_kb for group in groups if group.uid == uid)
    foreign = groups[0].uid != uid and groups[0].held_kb > own
    return known.get("scope") != "memcg" and isinstance(uid, int) and foreign
