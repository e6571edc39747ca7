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


def line(kind: str, offset: int, **data: str | int) -> Fact:
    return Fact(kind, data, Place(host="a"), Span("dmesg", offset), "dmesg")


def killed(offset: int = 900, pid: int = 7, **data: str | int) -> Fact:
    said = {"victim_pid": pid, "victim": "python3", "victim_uid": 1002, "scope": "global", **data}
    return Fact("oom-kill", said, Place(host="a", pid=pid), Span("dmesg", offset), "dmesg")


def holder(offset: int, command: str, uid: int, gb: int) -> Fact:
    return line("memory-holder", offset, command=command, uid=uid, held_kb=gb << 20)


TITLE = line("memory-table", 10)


def foreign(*facts: Fact) -> object:
    return next(f.data.get("foreign") for f in with_accounts(facts) if f.kind == "oom-kill")


def test_the_table_says_who_held_most() -> None:
    table = [holder(20, "python3", 1002, 12), holder(30, "shard", 1017, 10), holder(40, "shard", 1017, 11)]
    [said] = [fact.data for fact in with_accounts([TITLE, *table, killed()]) if fact.kind == "oom-kill"]
    assert said["holder"] == "shard"
    assert said["foreign"] is True
    assert str(said["description"]).endswith(
        "; 2 processes shard of user 1017 held 21.0 GB, 1 process python3 of user 1002 held 12.0 GB"
    )


def test_memory_is_held_by_others_only_where_they_held_more_than_all_of_the_victims_user() -> None:
    shard, own = holder(20, "shard", 1017, 20), holder(30, "python3", 1002, 12)
    assert foreign(TITLE, shard, own, killed()) is True
    assert foreign(TITLE, shard, own, holder(40, "loader", 1002, 12), killed()) is False
    assert foreign(TITLE, holder(20, "shard", 1002, 20), own, killed()) is False, "of the same user it may be the job's"
    assert foreign(TITLE, shard, own, killed(scope="memcg")) is False, "a cgroup has its own limit"
    assert foreign(shard, own, killed()) is None, "the beginning of the table is missing"


def test_each_kill_has_the_table_above_it() -> None:
    first, second = killed(offset=100, pid=7), killed(offset=200, pid=8)
    facts = [
        TITLE,
        holder(20, "shard", 1017, 20),
        first,
        line("memory-table", 110),
        holder(120, "python3", 1002, 9),
        second,
    ]
    said = {
        f.data["victim_pid"]: (f.data["holder"], f.data["foreign"])
        for f in with_accounts(facts)
        if f.kind == "oom-kill"
    }
    assert said == {7: ("shard", True), 8: ("python3", False)}
