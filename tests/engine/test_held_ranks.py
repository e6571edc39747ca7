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
    homes = [hit("chat", host=f"h{rank // 4}", rank=rank, offset=900 + rank) for rank in range(16)]
    numbered = [replace(fact, span=replace(fact.span, offset=10 * at)) for at, fact in enumerate((*facts, *homes))]
    found = diagnose(rulebook, Collection((source("s"),), tuple(numbered)))
    [one] = [finding for finding in found.findings if finding.role is Role.ROOT]
    return one


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
