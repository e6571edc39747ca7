"""A connection of which both ends tell bounds the difference of two clocks, from both sides."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neuron_doctor
from neuron_doctor.engine.connections import orders_of_connections
from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, Span
from neuron_doctor.engine.moments import Track
from neuron_doctor.engine.offsets import estimate

S = 10**9
SERVER, CLIENT = "a", "b"


def told(phase: str, at: float, host: str, *, end: tuple[str, int] | None = None, port: int | None = 29500) -> Fact:
    """What a host says of a connection, at `at` seconds of its own clock."""
    data: dict[str, object] = {"phase": phase}
    data |= {"port": port} if port is not None else {}
    data |= {"client": end[0], "client_port": end[1]} if end else {}
    span = Span(f"{host}.log", round(at), 10, 1, 1, phase, f"{phase}{at}")
    return Fact("connection", data, Place(host=host), span, f"{host}.log", Instant(round(at * S), Clock.UTC))  # type: ignore[arg-type]


def connection(times: tuple[float, float, float, float], skew: float, number: int = 40001) -> list[Fact]:
    """The server listens, the client tries, is connected, is accepted; the client's clock shows `skew` more."""
    listens, tries, connected, accepted = times
    end = (CLIENT, number)
    return [
        told("listens", listens, SERVER),
        told("tries", tries + skew, CLIENT),
        told("connected", connected + skew, CLIENT, end=end),
        told("accepted", accepted, SERVER, end=end),
    ]


@given(st.tuples(*[st.floats(0, 60)] * 4), st.integers(-900, 900))
def test_the_difference_lies_within_what_one_connection_bounds(lags: tuple[float, ...], skew: int) -> None:
    """The connection itself is at 1000 s: the server listened and the client tried before it, both tell of it after."""
    facts = connection((1000 - lags[0], 1000 - lags[1], 1000 + lags[2], 1000 + lags[3]), skew)
    found = estimate(orders_of_connections(facts))
    assert not found.contradictions
    low, high = found.between(Track(SERVER, Clock.UTC), Track(CLIENT, Clock.UTC))
    assert low is not None
    assert high is not None
    assert low <= -skew * S <= high


@pytest.mark.parametrize(
    "spoiled",
    [
        [told("connected", 1900, CLIENT, end=(CLIENT, 40001))],
        [told("accepted", 1900, SERVER, end=(CLIENT, 40001))],
    ],
    ids=["made twice", "accepted twice"],
)
def test_an_address_that_is_used_again_orders_nothing(spoiled: list[Fact]) -> None:
    facts = connection((990, 991, 1001, 1001), 0)
    assert list(orders_of_connections(facts))
    assert not list(orders_of_connections([*facts, *spoiled]))


def test_another_port_than_the_one_that_accepted_orders_nothing() -> None:
    *_, connected, _ = facts = connection((990, 991, 1001, 1001), 0)
    other = told("accepted", 1001, SERVER, end=(CLIENT, 40001), port=29400)
    assert not list(orders_of_connections([*facts[:2], connected, other]))


def test_what_other_hosts_tried_says_nothing_of_a_clients_clock() -> None:
    listens, _, connected, accepted = connection((990, 991, 1001, 1001), 0)
    tries = told("tries", 2000, "c")
    assert {order.first.host for order in orders_of_connections([listens, tries, connected, accepted])} == {SERVER}


def test_a_name_that_every_host_has_orders_nothing() -> None:
    listens, tries, *_ = connection((990, 991, 1001, 1001), 0)
    ends = [told("connected", 1001, CLIENT, end=("localhost", 1)), told("accepted", 1, SERVER, end=("localhost", 1))]
    assert not list(orders_of_connections([listens, tries, *ends]))


#: As torch 2.4 (its store on libuv, and not) and torch 2.0 write them; the client's clock is 300 s ahead.
STORES = {
    "sockets": (
        "[I1010 23:53:40.100000000 socket.cpp:570] [c10d] The server socket has started to listen on [::]:29500.\n"
        "[I1010 23:53:42.300000000 socket.cpp:290] [c10d - debug] The server socket on [::]:29500 has accepted a "
        "connection from [ip-10-0-0-2.ec2.internal]:46672.\n"
    ),
    "described": (
        "[I1010 23:53:40.100000000 socket.cpp:570] [c10d] The server socket has started to listen on [::]:29500.\n"
        "[I1010 23:53:42.300000000 socket.cpp:290] [c10d - debug] The server socket on SocketImpl(fd=3, addr=[::]:29500, "
        "remote=none) has accepted a connection from [ip-10-0-0-2.ec2.internal]:46672.\n"
    ),
    "libuv": (
        "[I1010 23:53:40.100000000 TCPStore.cpp:312] [c10d - debug] The server has started on port = 29500.\n"
        "[I1010 23:53:42.300000000 TCPStoreLibUvBackend.cpp:795] [c10d - trace] validate magic:1015412686 "
        "address:[ip-10-0-0-2.ec2.internal]:46672\n"
    ),
}


@pytest.mark.parametrize("store", sorted(STORES))
@pytest.mark.parametrize("made", ["[ip-10-0-0-2.ec2.internal]:46672", "SocketImpl(fd=69, addr={}, remote={})"])
def test_the_lines_of_the_store_give_the_offset_of_a_clock(store: str, made: str, tmp_path: Path) -> None:
    own, server = "[ip-10-0-0-2.ec2.internal]:46672", "[ip-10-0-0-1.ec2.internal]:29500"
    client = (
        "[I1010 23:58:41.200000000 socket.cpp:720] [c10d - debug] The client socket will attempt to connect to an IPv6 "
        "address of (ip-10-0-0-1, 29500).\n"
        f"[I1010 23:58:42.250000000 socket.cpp:880] [c10d] The client socket has connected to {server} on "
        f"{made.format(own, server)}.\n"
    )
    for host, text in (("ip-10-0-0-1", STORES[store]), ("ip-10-0-0-2", client)):
        (tmp_path / host).mkdir()
        (tmp_path / host / "train.log").write_text("2026-10-10 23:00:00,000 INFO starting\n" + text)
    [clock] = neuron_doctor.diagnose([str(tmp_path)], isolated=True).clocks
    assert clock.witnesses == ("connections",)
    assert clock.offset_s is not None
    assert clock.error_s is not None
    ahead = clock.offset_s if clock.host == "ip-10-0-0-2" else -clock.offset_s
    assert ahead == pytest.approx(300, abs=clock.error_s)
    assert clock.error_s < 5
