"""What a rule says of its findings: what of a group they explain, what they follow, and that several of them convict nobody."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import hit, pack, rule
from msgspec.structs import replace
from test_decide import roles, run

from neuron_doctor.engine.grades import Role, Status
from neuron_doctor.engine.rulebook import Rulebook

JOB = "explains: [{causes: [stuck], relation: job, within: 1h}]\n"
OWN = "follows: [{relation: same-process, within: 1h, lead: 10s}]\n"


def book(folder: Path, follows: str = OWN, more: str = JOB) -> Rulebook:
    """A process that aborts, a device that breaks, ranks that wait, an execution that is open at the end."""
    named = "follows: [{relation: same-process, causes: [bug], within: 1h}]\n"
    return pack(
        folder,
        rule("aborts", "record: aborting", cause="bug", patterns=("aborting",), more=follows + more),
        rule("device-broke", "record: broke", cause="broken-device", at="device", patterns=("broke",)),
        rule("waits", "record: waiting", cause="stuck", patterns=("waiting",)),
        rule("open", "record: opened", cause="broken-device", patterns=("opened",), more=named),
    )


def test_what_is_of_one_group_is_explained_on_whatever_host(tmp_path: Path) -> None:
    more = "survivable: false\n" + JOB.replace("relation: job", "relation: same-group")
    rules = (
        rule("broke", "record: broke", cause="broken-device", at="record", patterns=("broke",), more=more),
        rule("waits", "record: waiting", cause="stuck", at="record", patterns=("waiting",)),
    )
    broke = hit("broke", host="h1", device=3, group="tp")
    for host, group, ties in (("h1", "tp", 1), ("h2", "tp", 1), ("h2", "dp", 0)):
        found = run(pack(tmp_path, *rules), broke, hit("waiting", host=host, rank=9, pid=7, group=group, offset=9))
        assert [edge.why for edge in found.edges] == ["same-group: broke held"] * ties


def test_what_follows_is_a_consequence_of_a_root_or_a_victim_of_its_own_process(tmp_path: Path) -> None:
    aborting = hit("aborting", host="a", rank=3)
    waiting = hit("waiting", host="a", rank=3, offset=1)
    assert roles(run(book(tmp_path), aborting, waiting)) == {"aborts": Role.CASCADE, "waits": Role.CASCADE}
    broke = hit("broke", host="a", rank=3, device=1, offset=2)
    found = run(book(tmp_path), aborting, waiting, broke)
    assert roles(found)["device-broke"] is Role.ROOT
    assert roles(found)["aborts"] is Role.CASCADE


def test_what_finds_nothing_to_follow_is_a_root_and_explains_the_others(tmp_path: Path) -> None:
    found = run(book(tmp_path), hit("aborting", host="a", rank=3), hit("waiting", host="a", rank=4, offset=1))
    assert roles(found) == {"aborts": Role.ROOT, "waits": Role.CASCADE}
    assert not found.unexplained


def test_a_failure_of_another_process_or_long_after_is_not_followed(tmp_path: Path) -> None:
    aborting = hit("aborting", host="a", rank=3, at=100)
    other = hit("waiting", host="b", rank=4, at=90, offset=1)
    late = hit("waiting", host="a", rank=3, at=200, offset=1)
    for failure in (other, late):
        assert roles(run(book(tmp_path), aborting, failure))["aborts"] is Role.ROOT


def test_a_process_that_nobody_knows_follows_only_where_the_rule_says_so(tmp_path: Path) -> None:
    facts = (hit("aborting", host="a"), hit("waiting", host="a", rank=4, offset=1))
    assert roles(run(book(tmp_path), *facts))["aborts"] is Role.ROOT
    unknown = "follows: [{relation: same-process, unknown: true}]\n"
    assert roles(run(book(tmp_path, unknown), *facts))["aborts"] is Role.CASCADE


def test_causes_can_be_named_and_left_out(tmp_path: Path) -> None:
    facts = (hit("aborting", host="a", rank=3), hit("waiting", host="a", rank=3, offset=1))
    but = "follows: [{relation: same-process, but: [stuck]}]\n"
    roots = "follows: [{relation: same-process, of: root}]\n"
    named = "follows: [{relation: same-process, causes: [broken-device]}]\n"
    for follows in (but, roots, named):
        assert roles(run(book(tmp_path, follows), *facts))["aborts"] is Role.ROOT


def test_what_could_follow_and_does_not_is_followed_by_those_that_name_its_cause(tmp_path: Path) -> None:
    facts = (hit("aborting", host="a", rank=3), hit("opened", host="a", rank=3, offset=1))
    assert roles(run(book(tmp_path), *facts)) == {"aborts": Role.ROOT, "open": Role.CASCADE}
    waiting = hit("waiting", host="a", rank=3, offset=2)
    assert roles(run(book(tmp_path), *facts, waiting)) == {
        "aborts": Role.CASCADE,
        "open": Role.ROOT,
        "waits": Role.CASCADE,
    }


def test_what_follows_explains_nothing_elsewhere(tmp_path: Path) -> None:
    facts = [hit(what, host="a", rank=r, offset=r) for r in range(2) for what in ("aborting", "waiting")]
    found = run(book(tmp_path), *facts)
    assert found.verdict.status is Status.VICTIMS_ONLY
    assert {edge.target for edge in found.edges} == {f.id for f in found.findings if f.rule == "waits"}


def test_what_follows_a_failure_of_its_host_may_be_of_another_rank_and_befalls_all_who_are_there(
    tmp_path: Path,
) -> None:
    follows = "follows: [{relation: same-host, causes: [broken-device]}]\n"
    own = "explains: [{causes: [stuck], relation: same-host}]\n"
    facts = (hit("broke", host="a", rank=3), hit("aborting", host="a", rank=4), hit("waiting", host="a", rank=5))
    facts = tuple(replace(fact, span=replace(fact.span, offset=n)) for n, fact in enumerate(facts))
    found = run(book(tmp_path, follows, own), *facts)
    assert roles(found) == {"device-broke": Role.ROOT, "aborts": Role.CASCADE, "waits": Role.CASCADE}
    elsewhere = (replace(facts[0], place=replace(facts[0].place, host="b")), *facts[1:])
    assert roles(run(book(tmp_path, follows, own), *elsewhere))["aborts"] is Role.ROOT


def test_several_findings_of_a_sole_rule_convict_nobody(tmp_path: Path) -> None:
    sole = book(tmp_path, more=f"sole: true\n{JOB}")
    one, two = hit("aborting", host="a", rank=3), hit("aborting", host="a", rank=4, offset=1)
    assert roles(run(sole, one)) == {"aborts": Role.ROOT}
    assert roles(run(sole, one, two)) == {"aborts": Role.CASCADE}
    assert run(sole, one, two).verdict.status is Status.VICTIMS_ONLY


def test_a_finding_elsewhere_is_one_of_another_place_for_sure(tmp_path: Path) -> None:
    rulebook = pack(
        tmp_path,
        rule("waits", "record: waiting", cause="stuck", patterns=("waiting",)),
        rule("gone", "{all: [{record: aborting}, {elsewhere: waits}]}", cause="bug", patterns=("aborting",)),
    )
    gone = hit("aborting", host="a", rank=3)
    assert "gone" in roles(run(rulebook, gone, hit("waiting", host="a", rank=4, offset=1)))
    assert "gone" in roles(run(rulebook, gone, hit("waiting", host="b", offset=1)))
    assert "gone" not in roles(run(rulebook, gone, hit("waiting", host="a", rank=3, offset=1)))
    assert "gone" not in roles(run(rulebook, gone, hit("waiting", host="a", offset=1)))


def test_a_finding_about_the_job_is_at_every_place(tmp_path: Path) -> None:
    rulebook = pack(
        tmp_path,
        rule("told", "record: waiting", cause="stuck", at="job", patterns=("waiting",)),
        rule("gone", "{all: [{record: aborting}, {finding: told}]}", cause="bug", patterns=("aborting",)),
    )
    assert "gone" in roles(run(rulebook, hit("aborting", host="a", rank=3), hit("waiting", host="b", rank=9, offset=1)))


@pytest.mark.parametrize(("what", "role"), [("E1", Role.ROOT), ("I1", Role.CASCADE), (None, Role.CASCADE)])
def test_what_has_a_reason_of_its_own_is_no_consequence(tmp_path: Path, what: str | None, role: Role) -> None:
    more = "explains:\n  - {causes: [bug], relation: same-host, within: 1h, unless: ['raising where what starts with \"E\"']}\n"
    found = run(
        pack(
            tmp_path,
            rule("broke", "record: broken", cause="broken-device", at="host", patterns=("broken",), more=more),
            rule("raised", "record: raising", cause="bug", patterns=("raising",)),
        ),
        hit("broken", host="a"),
        hit("raising", host="a", rank=1, data={"what": what} if what else {}, offset=3),
    )
    assert roles(found) == {"broke": Role.ROOT, "raised": role}
