"""Who was killed for host memory, how much it held, and whose limit that was: the two lines of the kernel told as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact

_KIND = "oom-kill"
_GB_KB = 1 << 20


def with_accounts(facts: Iterable[Fact]) -> Iterator[Fact]:
    """The facts; each `oom-kill` also says in words what all of them tell of that process on that host."""
    facts = tuple(facts)
    told: dict[tuple[str | None, object], list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.kind == _KIND:
            told[_victim(fact)].append(fact)
    for fact in facts:
        if fact.kind == _KIND:
            yield replace(fact, data={**fact.data, "description": _account(told[_victim(fact)])})
        else:
            yield fact


def _victim(fact: Fact) -> tuple[str | None, object]:
    return fact.place.host, fact.data.get("victim_pid")


def _account(kills: Iterable[Fact]) -> str:
    known = {name: value for kill in kills for name, value in sorted(kill.data.items())}
    held = known.get("anon_rss_kb")
    who = f"{known.get('victim', 'a process')} (process {known.get('victim_pid')})"
    held_words = f" held {held / _GB_KB:.1f} GB of anonymous memory and" if isinstance(held, int) else ""
    if known.get("scope") != "memcg":
        return f"{who}{held_words} was killed: the whole host was out of memory"
    cgroup = known.get("cgroup")
    return f"{who}{held_words} was killed: the limit of its memory cgroup{f' {cgroup}' if cgroup else ''} was reached"
