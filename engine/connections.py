"""Orders between the clocks of two hosts from connections of which both ends tell: a client tries before the server
accepts, and a server listens before the client is connected."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from neuron_doctor.engine.facts import Fact, Value
from neuron_doctor.engine.moments import moment_of
from neuron_doctor.engine.orders import Order

#: A server writes that it listens so soon after it does.
_WRITING = 1_000_000_000

#: The first part of names and addresses that every host has.
_OWN = frozenset({"localhost", "ip6-localhost", "127", "::1", "0"})

#: The job and its attempt, and the client's own name and port.
_End = tuple[str, int, Value, Value]
#: What is done, in which source, on which host, for which port.
_Before = tuple[str, str, str | None, Value]


def orders_of_connections(facts: Iterable[Fact]) -> Iterator[Order]:
    """All orders of this kind. Ports are used again, and what a name means depends on who resolves it: an address from
    which more than one connection was made, or accepted, orders nothing."""
    made: dict[_End, list[Fact]] = defaultdict(list)
    accepted: dict[_End, list[Fact]] = defaultdict(list)
    before: dict[_Before, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.kind == "connection" and fact.place.host is not None and fact.instant is not None:
            phase, data = str(fact.data["phase"]), fact.data
            end = fact.place.job or "", fact.place.attempt or 0, data.get("client"), data.get("client_port")
            if phase == "connected":
                made[end].append(fact)
            elif phase == "accepted":
                accepted[end].append(fact)
            else:
                before[phase, fact.source, fact.place.host, data["port"]].append(fact)
    for end in sorted(made.keys() & accepted.keys(), key=repr):
        if len(made[end]) == len(accepted[end]) == 1 and str(end[2]).partition(".")[0] not in _OWN:
            [client], [server] = made[end], accepted[end]
            port = client.data["port"]
            if client.place.host != server.place.host and server.data.get("port", port) == port:
                tries = before["tries", client.source, client.place.host, port]
                yield from _order(tries, server, 0)
                listens = before["listens", server.source, server.place.host, port]
                yield from _order(listens, client, _WRITING)


def _order(earlier: Iterable[Fact], then: Fact, slack_ns: int) -> Iterator[Order]:
    """The first of `earlier`, by each clock, came before `then`: it is of this connection, or of one before it."""
    at = moment_of(then)
    moments = sorted((moment for fact in earlier if (moment := moment_of(fact))), key=lambda moment: moment.instant)
    for track, first in {moment.track: moment for moment in reversed(moments)}.items():
        if at is not None:
            unsure = first.instant.uncertainty_ns + at.instant.uncertainty_ns
            yield Order(track, first.instant.ns, at.track, at.instant.ns, slack_ns + unsure, "connections")
