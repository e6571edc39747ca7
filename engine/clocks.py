"""Which clock gave each instant of a collection."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from neuron_doctor.engine.facts import Clock, Fact, Instant, Source
from neuron_doctor.engine.moments import Moment

#: These tell of hosts by the clock of their own controller.
_CONTROLLERS = frozenset({"kubectl", "slurm"})
#: These run on the host whose processes they report; other launchers report from afar.
_LOCAL_LAUNCHERS = frozenset({"torchrun", "torch-spawn"})

#: Lines of one boot stand in a log this much out of order at most.
_STRAY = 60 * 10**9


class Clocks(Struct, frozen=True):
    """`kernel`: the kernel logs; `home`: the host of each source whose place is known; `controllers`: the kind of each
    source that has a clock of no host; `boots`: where in a source of several boots each but the first one begins."""

    kernel: frozenset[str] = frozenset()
    home: Mapping[str, str] = field(default_factory=dict)
    controllers: Mapping[str, str] = field(default_factory=dict)
    boots: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def moment(self, fact: Fact) -> Moment | None:
        """When a fact was, by the clock that gave it."""
        if fact.instant is None:
            return None
        if fact.instant.clock is Clock.BOOT and fact.source in self.boots:
            boot = bisect_right(self.boots[fact.source], fact.span.offset)
            return Moment(fact.instant, fact.place.host, f"{fact.source} boot {boot}")
        afar = fact.kind == "launcher-failure" and fact.data.get("launcher") not in _LOCAL_LAUNCHERS
        return self._moment(fact.instant, self.home.get(fact.source) if afar else fact.place.host, fact.source)

    def beginning(self, source: Source) -> Moment | None:
        """When the first record of a source was."""
        return self._moment(source.first, source.place.host, source.id) if source.first else None

    def _moment(self, instant: Instant, host: str | None, source: str) -> Moment:
        if source in self.controllers:
            return Moment(instant, None, self.controllers[source])
        if instant.clock is Clock.MONOTONIC:
            return Moment(instant, host, source)
        kernel = instant.clock is Clock.HOST_LOCAL and source in self.kernel
        return Moment(instant, host, "kernel" if kernel else "")


def clocks_of(sources: Iterable[Source], facts: Iterable[Fact] = ()) -> Clocks:
    """The clocks that these sources have, of which these facts tell."""
    sources = tuple(sources)
    return Clocks(
        kernel=frozenset(source.id for source in sources if source.kind == "kernel"),
        home={source.id: source.place.host for source in sources if source.place.host},
        controllers={source.id: source.kind for source in sources if source.kind in _CONTROLLERS},
        boots=_boots(facts),
    )


def _boots(facts: Iterable[Fact]) -> dict[str, list[int]]:
    """Where the seconds since boot of a source begin anew."""
    shown: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for fact in facts:
        if fact.instant and fact.instant.clock is Clock.BOOT:
            shown[fact.source].append((fact.span.offset, fact.instant.ns))
    found: dict[str, list[int]] = defaultdict(list)
    for source, stamps in shown.items():
        latest = 0
        for offset, ns in sorted(stamps):
            if ns < latest - _STRAY:
                found[source].append(offset)
                latest = 0
            latest = max(latest, ns)
    return dict(found)
