"""On which host a file system was full, where the record that says so names its path and no host: on the only one whose list of
file systems shows it full.

`No space left on device: '/local/stage/x'` in the log of a whole job is of any host. With `df` of several hosts, of which one
alone shows `/local` full, it is of that one. So is a record without a path, if one of these hosts alone has anything full.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.match import Match

_CAUSE, _KIND = "disk-full", "file-system"
_FULL = 100


def at_full_disks(matches: Sequence[Match], facts: Iterable[Fact]) -> Sequence[Match]:
    """The matches; those of full file systems that have no host at the host whose file system that is."""
    if not any(_may_move(match) for match in matches):
        return matches
    listed = [fact for fact in facts if fact.kind == _KIND and fact.place.host]
    return [_moved(match, listed) if _may_move(match) else match for match in matches]


def _may_move(match: Match) -> bool:
    return match.rule.cause.id == _CAUSE and not match.hosts and match.place.container is None


def _moved(match: Match, listed: Sequence[Fact]) -> Match:
    paths = {str(path) for fact in match.facts if (path := fact.data.get("path"))}
    hosts = {_host(path, listed) for path in paths} if paths else {_only_one(listed)}
    host = hosts.pop() if len(hosts) == 1 else None
    return replace(match, place=replace(match.place, host=host), hosts=(host,)) if host else match


def _only_one(listed: Sequence[Fact]) -> str | None:
    """The one host of several that has full file systems, of which others have one that is not full there."""
    full = {(fact.place.host, str(fact.data["mount"])) for fact in listed if fact.data["used"] == _FULL}
    hosts = {host for host, _ in full}
    shown = any(_host(mount, listed) is not None for _, mount in full) if len(hosts) == 1 else False
    return hosts.pop() if shown else None


def _host(path: str, listed: Sequence[Fact]) -> str | None:
    """The one host on which the file system of a path is full, where others are known on which it is not."""
    below = [fact for fact in listed if _holds(str(fact.data["mount"]), path)]
    mount = max((str(fact.data["mount"]) for fact in below), key=len, default="/")
    there = [fact for fact in below if fact.data["mount"] == mount and mount != "/"]
    full = {fact.place.host for fact in there if fact.data["used"] == _FULL}
    others = {fact.place.host for fact in there} - full
    return full.pop() if len(full) == 1 and others else None


def _holds(mount: str, path: str) -> bool:
    return path == mount or path.startswith(f"{mount.rstrip('/')}/")
