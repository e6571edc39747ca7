"""Who held the cores that another process was refused, where no neuron-ls lists it: the driver's own words, the kernel log
of opened and closed devices, or another process whose log goes on; what it was, by the process table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Instant

#: Ranks of one job open their devices within so long; who had opened one before that is none of it.
_TOGETHER = 120 * 10**9
_OPENED, _CLOSED = "attach", "detach"


def core_holders(facts: Iterable[Fact]) -> Iterator[Fact]:
    """A `core-holder` for each process that is known to have held devices of a host on which another was refused its cores.
    Where neuron-ls was asked it tells better."""
    by_host: dict[str | None, list[Fact]] = defaultdict(list)
    for fact in facts:
        by_host[fact.place.host].append(fact)
    if len(by_host.keys() - {None}) == 1:  # then what names no host is about it
        by_host = {None: [fact for told in by_host.values() for fact in told]}
    for _, told in sorted(by_host.items(), key=str):
        refused = [fact for fact in told if fact.data.get("refused") == "cores"]
        if refused and not any(fact.kind == "device-user" for fact in told):
            yield from _holders(refused, told)


def _holders(refused: Sequence[Fact], told: Sequence[Fact]) -> Iterator[Fact]:
    processes = {fact.place.pid: fact.data for fact in told if fact.kind == "process"}
    own = {fact.place.pid for fact in refused if fact.data.get("holder") is None}
    named = {int(str(fact.data["holder"])): fact for fact in refused if fact.data.get("holder") is not None}
    found = {pid: (fact, "the driver names it") for pid, fact in named.items()}
    found = found or {
        pid: (fact, "the kernel log shows no close") for pid, fact in _never_closed(refused, told).items()
    }
    found = found or {pid: (fact, "its own log goes on") for pid, fact in _going_on(refused, told).items()}
    for pid, (fact, why) in sorted(found.items()):
        if pid not in own:
            yield _holder(pid, fact, why, processes.get(pid, {}))


def _holder(pid: int, fact: Fact, why: str, process: Mapping[str, object]) -> Fact:
    command = str(process.get("command", ""))
    words = [f"({command})"] if command else []
    words += [f"started {process['started']}"] if "started" in process else []
    words += [f"running for {process['elapsed']}"] if "elapsed" in process else []
    described = f" {', '.join(words)}," if words else ""
    description = f"process {pid}{described} holds devices: {why}"
    place = replace(fact.place, pid=pid, rank=None, local_rank=None)
    told = {"command": command} if command else {}
    return replace(fact, kind="core-holder", data={**told, "description": description}, place=place, repeats=0)


def _never_closed(refused: Sequence[Fact], told: Iterable[Fact]) -> dict[int, Fact]:
    """By the kernel log: who opened a device long before those who came last, or before the refusal, and has not closed it."""
    lives: dict[str, dict[int, Fact]] = defaultdict(dict)
    latest: dict[str, Instant] = {}
    for fact in sorted(told, key=lambda fact: (fact.source, fact.span.offset, fact.kind, fact.place.pid or 0)):
        pid = fact.place.pid
        if fact.kind == _CLOSED and pid is not None:
            lives[fact.source].pop(pid, None)
        elif fact.kind == _OPENED and pid is not None and fact.instant is not None:
            if fact.source in latest and fact.instant.ns < latest[fact.source].ns:  # the host was booted anew
                lives[fact.source].clear()
            lives[fact.source].setdefault(pid, fact)
            latest[fact.source] = fact.instant
    return {
        pid: fact
        for source, opened in lives.items()
        for pid, fact in opened.items()
        if any(_is_long_before(fact, instant) for instant in (latest[source], *_times(refused)))
    }


def _going_on(refused: Sequence[Fact], told: Iterable[Fact]) -> dict[int, Fact]:
    """By other logs: the one process that wrote long before the refusal and goes on writing after it."""
    sources = {fact.source for fact in refused}
    spoke: dict[int, list[Fact]] = defaultdict(list)
    for fact in sorted(told, key=lambda fact: (fact.instant is None, fact.instant, fact.source, fact.span.offset)):
        pid, of_others = fact.place.pid, fact.kind in {_OPENED, _CLOSED, "process"}
        if pid is not None and fact.instant is not None and not of_others and fact.source not in sources:
            spoke[pid].append(fact)
    times = _times(refused)
    found = {
        pid: facts[0]
        for pid, facts in spoke.items()
        if any(
            _is_long_before(facts[0], at) and any(fact.instant and _is_after(fact.instant, at) for fact in facts)
            for at in times
        )
    }
    return found if len(found) == 1 else {}


def _times(facts: Iterable[Fact]) -> list[Instant]:
    return [fact.instant for fact in facts if fact.instant is not None]


def _is_long_before(fact: Fact, then: Instant) -> bool:
    at = fact.instant
    return at is not None and at.clock is then.clock and then.ns - at.ns >= _TOGETHER


def _is_after(at: Instant, then: Instant) -> bool:
    return at.clock is then.clock and at.ns > then.ns
