"""The host that all others lost, and which says nothing."""

from __future__ import annotations

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place, Source, Span
from neuron_doctor.engine.lost_hosts import lost_hosts
from neuron_doctor.engine.topology import Topology

HOSTS = ("ip-10-0-0-1", "ip-10-0-0-2", "ip-10-0-0-3")
JOB = Topology(hosts=HOSTS, host_of={"10.9.9.9": "ip-10-0-0-3"})
LOGS = [Source(host, f"{host}/train.log", "log", records=9, place=Place(host=host)) for host in HOSTS]


def lost(host: int, rank: int, peer: str = "", what: str = "lost") -> Fact:
    data = {"what": what, "peer": peer} if peer else {"what": what}
    return Fact("hang-report", data, Place(host=HOSTS[host - 1], rank=rank), Span(f"rank{rank}"), f"rank{rank}")


def named(*facts: Fact, logs: list[Source] = LOGS, job: Topology = JOB) -> list[str | None]:
    return [found.place.host for found in lost_hosts(facts, logs, job)]


def test_the_silent_one_of_those_that_are_named_is_found() -> None:
    facts = [lost(1, 0, "10.0.0.3<4711>"), lost(2, 8, "ip-10-0-0-3<4712>"), lost(2, 9, "10.0.0.1<4713>")]
    assert named(*facts) == ["ip-10-0-0-3"]


def test_a_known_address_is_the_name_of_its_host() -> None:
    assert named(lost(1, 0, "10.9.9.9"), lost(1, 1, "[10.9.9.9]")) == ["ip-10-0-0-3"]


def test_one_witness_is_not_enough() -> None:
    assert named(lost(1, 0, "10.0.0.3"), lost(1, 0, "10.0.0.3")) == []


def test_one_that_lost_a_peer_itself_is_not_named() -> None:
    assert named(lost(1, 0, "10.0.0.3"), lost(2, 8, "10.0.0.3"), lost(3, 16)) == []


def test_another_host_that_is_named_and_not_heard_may_be_it() -> None:
    assert named(lost(1, 0, "10.0.0.3"), lost(2, 8, "10.0.0.3"), lost(2, 9, "10.0.0.4")) == []


def test_one_without_logs_is_not_silent() -> None:
    assert named(lost(1, 0, "10.0.0.3"), lost(2, 8, "10.0.0.3"), logs=LOGS[:2]) == []


def test_one_is_not_silent_if_logs_of_its_ranks_are_missing() -> None:
    facts = [lost(1, 0, "10.0.0.3"), lost(2, 2, "10.0.0.3")]
    logs = [
        Source(f"r{rank}", f"r{rank}", "log", records=9, place=Place(host=HOSTS[rank // 2], rank=rank))
        for rank in range(6)
    ]
    job = replace(JOB, world_size=6)
    assert named(*facts, logs=logs, job=job) == ["ip-10-0-0-3"]
    assert named(*facts, logs=logs[:5], job=job) == []
    assert named(*facts, logs=[*LOGS, *logs[:5]], job=job) == []
    assert named(*facts, logs=LOGS, job=job) == ["ip-10-0-0-3"]


def test_who_gives_up_waiting_is_lost_as_well() -> None:
    assert named(lost(1, 0, "10.0.0.3"), lost(2, 8, "10.0.0.3"), lost(1, 1, what="watchdog")) == []
