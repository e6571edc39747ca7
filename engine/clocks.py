"""Which clock gave each instant of a collection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from neuron_doctor.engine.facts import Clock, Fact, Instant, Source
from neuron_doctor.engine.moments import Moment

#: These tell of hosts by the clock of their own controller.
_CONTROLLERS = frozenset({"kubectl", "slurm"})
#: These run on the host whose processes they report; other launchers report from afar.
_LOCAL_LAUNCHERS = frozenset({"torchrun", "torch-spawn"})


class Clocks(Struct, frozen=True):
    """`kernel`: the kernel logs; `home`: the host of each source whose place is known; `controllers`: the kind of each
    source that has a clock of no host."""

    kernel: frozenset[str] = frozenset()
    home: Mapping[str, str] = field(default_factory=dict)
    controllers: Mapping[str, str] = field(default_factory=dict)

    def moment(self, fact: Fact) -> Moment | None:
        """When a fact was, by the clock that gave it."""
        if fact.instant is None:
            return None
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


def clocks_of(sources: Iterable[Source]) -> Clocks:
    """The clocks that these sources have."""
    sources = tuple(sources)
    return Clocks(
        kernel=frozenset(source.id for source in sources if source.kind == "kernel"),
        home={source.id: source.place.host for source in sources if source.place.host},
        controllers={source.id: source.kind for source in sources if source.kind in _CONTROLLERS},
    )
