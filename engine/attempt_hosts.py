"""On which hosts each attempt of a job ran: those of which its processes are, and those that Slurm lists for it. A job that was
started anew may have been moved, and what nobody runs on any more nobody has reset.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.nodelists import nodes_of


class AttemptHosts(Struct, frozen=True):
    """By attempt, the hosts that its processes name, and those that the accounting of Slurm lists; which attempts got on."""

    seen: Mapping[int, frozenset[str]] = field(default_factory=dict)
    listed: Mapping[int, frozenset[str]] = field(default_factory=dict)
    got_on: frozenset[int] = frozenset()

    def may_go_on(self, host: str | None, attempt: int) -> bool:
        """Whether a host of an attempt (where it is not known, one of those of the attempt) may be one of a later attempt that
        got on: it is not where the hosts of these are known, and it is none of them. A list speaks of a host only if it calls
        hosts by such names."""
        own = self.listed.get(attempt, frozenset())
        seen, listed = self._later(self.seen, attempt), self._later(self.listed, attempt)
        if host is None:
            return not (own and listed) or not own.isdisjoint(listed)
        known = seen | listed if host in own else seen
        return not known or host in seen | listed

    def _later(self, hosts: Mapping[int, frozenset[str]], attempt: int) -> frozenset[str]:
        return frozenset().union(*(hosts.get(later, ()) for later in self.got_on if later > attempt))


def attempt_hosts(facts: Iterable[Fact]) -> AttemptHosts:
    """What these facts tell of it."""
    seen, listed = defaultdict[int, set[str]](set), defaultdict[int, set[str]](set)
    got_on = set[int]()
    for fact in facts:
        place = fact.place
        if place.attempt is None:
            continue
        if fact.kind == "slurm-job":
            listed[place.attempt].update(nodes_of(str(fact.data.get("nodes") or "")))
        elif place.host and (fact.kind == "progress" or place.rank is not None or place.pid is not None):
            seen[place.attempt].add(place.host)
        if fact.kind == "progress":
            got_on.add(place.attempt)
    return AttemptHosts(
        {attempt: frozenset(hosts) for attempt, hosts in seen.items()},
        {attempt: frozenset(hosts) for attempt, hosts in listed.items()},
        frozenset(got_on),
    )
