"""The rank that a fault of a host holds up: the one there that never came, where the fault names none."""

from __future__ import annotations

from pathlib import Path

from builders import CAUSES, hit, pack, rule, source
from msgspec.structs import replace

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Collection, Fact
from neuron_doctor.engine.grades import Role
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.verdict import Finding

FURTHER = """
  host-broke: {by: host, is: "a host broke"}
  collectives-rank-missing: {by: user, is: "a rank never came"}
"""
EXPLAINS = "survivable: false\nexplains:\n  - {causes: [collectives-rank-missing, stuck], relation: job, within: 1d, lead: 1d}\n"


def book(folder: Path) -> Rulebook:
    causes = CAUSES.replace("family:", "family:\n" + FURTHER)
    return pack(
        folder,
        rule("storage", "record: silent", cause="host-broke", at="job", patterns=("silent",), more=EXPLAINS),
        rule("device", "record: broke", cause="broken-device", at="device", patterns=("broke",), more=EXPLAINS),
        rule("missing", "record: absent", cause="collectives-rank-missing", at="rank", patterns=("absent",)),
        rule("waits", "record: waiting", cause="stuck", at="rank", patterns=("waiting",)),
        causes=causes,
    )


def root(rulebook: Rulebook, *facts: Fact) -> Finding:
    [one] = roots(rulebook, *facts)
    return one


def roots(rulebook: Rulebook, *facts: Fact) -> list[Finding]:
    homes = [hit("chat", host=f"h{rank // 4}", rank=rank, offset=900 + rank) for rank in range(16)]
    numbered = [replace(fact, span=replace(fact.span, offset=10 * at)) for at, fact in enumerate((*facts, *homes))]
    found = diagnose(rulebook, Collection((source("s"),), tuple(numbered)))
    return [finding for finding in found.findings if finding.role is Role.ROOT]


def test_the_rank_that_never_came_is_the_one_that_its_host_holds_up(tmp_path: Path) -> None:
    rules = book(tmp_path)
    found = root(rules, hit("silent", host="h2", pid=18221), hit("absent", rank=9), hit("waiting", rank=10))
    assert (found.rule, found.hosts, found.place.ranks) == ("storage", ("h2",), (9,))


def test_those_who_wait_are_not_held_up_by_the_host_that_they_are_on(tmp_path: Path) -> None:
    found = root(book(tmp_path), hit("silent", host="h2"), hit("waiting", rank=10))
    assert found.place.ranks == ()


def test_a_rank_of_another_host_is_not_blamed_on_this_one(tmp_path: Path) -> None:
    rules = book(tmp_path)
    assert root(rules, hit("silent", host="h2"), hit("absent", rank=3)).place.ranks == ()
    assert root(rules, hit("silent", host="h2"), hit("absent", rank=9), hit("absent", rank=3)).place.ranks == ()


def test_a_device_has_the_ranks_that_it_serves_and_no_others(tmp_path: Path) -> None:
    found = root(book(tmp_path), hit("broke", host="h2", device=3), hit("absent", rank=9))
    assert (found.rule, found.place.ranks) == ("device", ())


def killed_by_kernel(host: str, pid: int) -> Fact:
    return replace(hit("kill", host=host, pid=pid), kind="oom-kill", data={"victim_pid": pid, "victim": "python"})


def reported(rank: int, host: str, **data: int | bool | str) -> Fact:
    fact = hit("end", host=host, rank=rank, pid=200 + rank)
    return replace(fact, kind="launcher-failure", data={"launcher": "torchrun", **data})


def kill_book(folder: Path) -> Rulebook:
    more = "survivable: false\nexplains:\n  - {causes: [stuck], relation: same-host, within: 1d, lead: 1d}\n"
    return pack(
        folder,
        rule("memory", "record: oom-kill", cause="host-broke", more=more),
        rule("ended", "record: launcher-failure", cause="stuck"),
        causes=CAUSES.replace("family:", "family:\n" + FURTHER),
    )


def test_the_one_rank_that_was_killed_on_a_host_is_whom_its_kernel_killed(tmp_path: Path) -> None:
    rules = kill_book(tmp_path)
    for how in ({"signal": 9}, {"exitcode": -9}, {"exitcode": 137}):
        found = root(rules, killed_by_kernel("h2", 60871), reported(9, "h2", **how), reported(3, "h0", signal=15))
        assert (found.rule, found.place.ranks) == ("memory", (9,))


def test_of_two_ranks_or_two_kills_none_is_named(tmp_path: Path) -> None:
    rules = kill_book(tmp_path)
    two_ranks = (killed_by_kernel("h2", 60871), reported(9, "h2", signal=9), reported(10, "h2", signal=9))
    assert root(rules, *two_ranks).place.ranks == ()
    two_kills = (killed_by_kernel("h2", 60871), killed_by_kernel("h2", 60899), reported(9, "h2", signal=9))
    assert all(not r.place.ranks for r in roots(rules, *two_kills))


def test_who_ended_otherwise_or_was_ended_by_the_launcher_was_not_killed_by_the_kernel(tmp_path: Path) -> None:
    rules = kill_book(tmp_path)
    told = replace(reported(9, "h2", signal=9), data={"launcher": "torchrun", "signal": 9, "told": True})
    for other in (reported(9, "h2", exitcode=1), told):
        assert root(rules, killed_by_kernel("h2", 60871), other).place.ranks == ()


def test_a_helper_that_was_killed_beside_it_is_not_the_rank(tmp_path: Path) -> None:
    """A rank that was killed follows any root of its host; that of a helper does not claim to explain it."""
    rules = pack(
        tmp_path,
        rule("memory", "record: oom-kill", cause="host-broke", more="survivable: false\n"),
        rule("ended", "record: launcher-failure", cause="stuck", more="follows: [{relation: same-host, within: 1d}]\n"),
        causes=CAUSES.replace("family:", "family:\n" + FURTHER),
    )
    found = root(rules, killed_by_kernel("h2", 60871), reported(9, "h2", signal=9))
    assert (found.rule, found.place.ranks) == ("memory", ())
