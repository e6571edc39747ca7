"""Processes that the kernel killed for memory when nobody used the devices of the host, long before the job did.

The log of a job often has no times, and its processes no numbers, so that nothing tells when it ran. The driver writes down
which process opens the devices and, whatever ended it, that it is gone. Of a job that made steps some process had them open;
who was killed hours after the last one was gone, or before the first one came, was no worker, and did not keep one from its
work. All of that is told by one kernel log of one host on one clock. What else a kernel says of such a time may last.

A log of a run without steps may be of another one, of a compilation say, which opens no device.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.last_words import OF_RUNS
from neuron_doctor.engine.match import Match

_OF_KILLS = frozenset({"oom-kill", "memory-table", "memory-holder"})
#: What is so long before the first process, or after the last one, has nothing to do with their start or end (ns).
_LONG = 3600 * 1_000_000_000

#: A source, and a host of which it tells.
_Log = tuple[str, str | None]


class IdleHosts(Struct, frozen=True):
    """What each kernel log says of processes that open the devices of each host and leave them, where a job made steps."""

    used: Mapping[_Log, tuple[Fact, ...]] = field(default_factory=dict)

    def hold(self, match: Match) -> bool:
        """Whether the match rests on kills alone, all of them while nobody used the devices."""
        kills = [fact for fact in match.facts if fact.kind in _OF_KILLS]
        return bool(self.used and kills) and len(kills) == len(match.facts) and all(map(self._was_idle, kills))

    def _was_idle(self, kill: Fact) -> bool:
        uses = self.used.get((kill.source, kill.place.host), ())
        if kill.instant is None or any(
            use.instant is None or use.instant.clock is not kill.instant.clock for use in uses
        ):
            return False
        then = kill.instant.ns
        before = [use for use in uses if _ns(use) <= then + _LONG]
        after = [use for use in uses if _ns(use) > then + _LONG]
        open_since = {use.place.pid for use in before if use.kind == "attach"}
        gone = {use.place.pid for use in before if use.kind == "detach"}
        opened = {use.place.pid for use in after if use.kind == "attach"}
        closed = {use.place.pid for use in after if use.kind == "detach"}
        nobody = all(_ns(use) < then - _LONG for use in before) and open_since <= gone
        return nobody and bool(opened) and closed <= opened


def _ns(fact: Fact) -> int:
    return fact.instant.ns if fact.instant else 0


def idle_hosts(facts: Iterable[Fact]) -> IdleHosts:
    """What these facts tell."""
    used: dict[_Log, list[Fact]] = defaultdict(list)
    runs, steps = set[str](), set[str]()
    for fact in facts:
        if fact.kind in ("attach", "detach"):
            used[fact.source, fact.place.host].append(fact)
        elif fact.kind in OF_RUNS:
            runs.add(fact.source)
        if fact.kind == "progress":
            steps.add(fact.source)
    return IdleHosts({log: tuple(uses) for log, uses in used.items()} if steps and runs <= steps else {})
