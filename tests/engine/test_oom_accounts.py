"""The lines of one kill told together: who, how much, and whose limit; each victim of each host by itself."""

from __future__ import annotations

from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.oom_accounts import with_accounts


def kill(pid: int, host: str = "a", **data: str | int) -> Fact:
    return Fact("oom-kill", {"victim_pid": pid, **data}, Place(host=host, pid=pid), Span("dmesg"), "dmesg")


def told(*facts: Fact) -> list[object]:
    return [fact.data.get("description") for fact in with_accounts(facts)]


def test_what_two_lines_say_is_told_in_both() -> None:
    limit = kill(7, scope="memcg", victim="python3", cgroup="/pod5")
    killed = kill(7, scope="memcg", victim="python3", anon_rss_kb=22130012)
    said = "python3 (process 7) held 21.1 GB of anonymous memory and was killed: the limit of its memory cgroup /pod5 was reached"
    assert told(limit, killed) == told(killed, limit) == [said, said]


def test_without_a_cgroup_it_was_the_whole_host() -> None:
    assert told(kill(7, scope="global", victim="java")) == [
        "java (process 7) was killed: the whole host was out of memory"
    ]
    assert told(kill(7, scope="memcg")) == [
        "a process (process 7) was killed: the limit of its memory cgroup was reached"
    ]


def test_the_victims_of_two_hosts_are_two() -> None:
    one, two = told(kill(7, "a", scope="global", anon_rss_kb=1 << 20), kill(7, "b", scope="global"))
    assert "held 1.0 GB" in str(one)
    assert "held" not in str(two)


def test_other_facts_stay_as_they_are() -> None:
    other = Fact("attach", {}, Place(), Span("dmesg"), "dmesg")
    assert list(with_accounts([other])) == [other]
