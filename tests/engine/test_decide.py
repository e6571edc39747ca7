"""Roles, edges and the smallest set of roots, on small rulebooks."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import hit, pack, progress, rule, source
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from neuron_doctor.engine.decide import Graph
from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Clock, Collection, Fact, Source
from neuron_doctor.engine.grades import EdgeType, Role, Status
from neuron_doctor.engine.links import NEAR, Link
from neuron_doctor.engine.match import match_rules
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.topology import Topology
from neuron_doctor.engine.verdict import Diagnosis

EXPLAINS = """
survivable: false
explains:
  - {causes: [stuck], relation: job, within: 1h, edge: timed-out-waiting-for}
  - {causes: [bug], relation: same-process, within: 1h}
"""


def book(folder: Path) -> Rulebook:
    return pack(
        folder,
        rule("device-broke", "record: broke", cause="broken-device", at="device", patterns=("broke",), more=EXPLAINS),
        rule("waits", "record: waiting", cause="stuck", patterns=("waiting",)),
        rule("raised", "record: raising", cause="bug", at="rank", patterns=("raising",)),
        rule("chatter", "record: chat", cause="noise", patterns=("chat",)),
    )


def run(rulebook: Rulebook, *facts: Fact, sources: tuple[Source, ...] = ()) -> Diagnosis:
    return diagnose(rulebook, Collection(sources or (source("s"),), facts))


def roles(diagnosis: Diagnosis) -> dict[str, Role]:
    return {finding.rule: finding.role for finding in diagnosis.findings}


def test_local_evidence_explains_the_ranks_that_wait(tmp_path: Path) -> None:
    waiting = [hit("waiting", host=f"h{r % 4}", rank=r, pid=100 + r, offset=r) for r in range(64)]
    found = run(book(tmp_path), hit("broke", host="h1", device=3), *waiting)
    assert roles(found) == {"device-broke": Role.ROOT, "waits": Role.CASCADE}
    assert found.verdict.status is Status.ROOT_CAUSE
    [cascade] = [f for f in found.findings if f.role is Role.CASCADE]
    assert cascade.place.ranks == tuple(range(64))
    assert cascade.hosts == ("h0", "h1", "h2", "h3")
    assert found.findings[0].explains == (cascade.id,)
    assert found.edges[0].type == "timed-out-waiting-for"


def test_the_headline_names_the_ranks_and_counts_those_that_followed(tmp_path: Path) -> None:
    waits = rule("waits", "record: waiting", cause="stuck", patterns=("waiting",))
    at_rank = rule("raised", "record: raising", cause="bug", at="rank", patterns=("raising",), more=EXPLAINS)
    others = [hit("waiting", rank=r, pid=100 + r, offset=r) for r in range(1, 4)]
    found = run(pack(tmp_path, at_rank, waits), hit("raising", host="h1", rank=0), *others)
    assert found.verdict.headline == "raised held: host h1, rank 0; it stopped 3 other ranks"
    of_a_device = run(book(tmp_path / "book"), hit("broke", host="h1", device=3), *others)
    assert of_a_device.verdict.headline == "device-broke held: host h1, device 3; it stopped 3 ranks", (
        "one may be its own"
    )


@pytest.mark.parametrize(
    ("ranks", "words"), [((3,), "rank 3"), ((0, 1, 2, 7), "ranks 0-2,7"), ((0, 2, 4, 6), "4 ranks")]
)
def test_a_headline_names_ranks_unless_they_are_scattered(tmp_path: Path, ranks: tuple[int, ...], words: str) -> None:
    waits = rule("waits", "record: waiting", cause="stuck", patterns=("waiting",), more="role: victim\n")
    found = run(pack(tmp_path, waits), *(hit("waiting", rank=r, pid=100 + r, offset=r) for r in ranks))
    assert f"(waits held: {words});" in found.verdict.headline


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ({"host": "h1", "instance_id": "i-0a", "pid": 7}, ": host h1"),
        ({"instance_id": "i-0a", "device": 3}, ": instance i-0a, device 3"),
        ({"group": "dp", "pid": 7}, ": group dp"),
        ({"pid": 7}, ": pid 7"),
        ({}, ""),
    ],
)
def test_a_headline_says_as_much_of_the_place_as_is_known(tmp_path: Path, place: dict[str, object], words: str) -> None:
    raised = rule("raised", "record: raising", cause="bug", at="process", patterns=("raising",))
    assert run(pack(tmp_path, raised), hit("raising", **place)).verdict.headline == f"raised held{words}"


def test_an_action_names_ranks_as_people_write_them(tmp_path: Path) -> None:
    target = "the dumps of {missing_dumps}, the logs of {ranks}, {left_out}"
    raised = rule("raised", "record: raising", patterns=("raising",))
    raised = raised.replace("action: restart", f"action: collect-more, target: '{target}'")
    fact = hit("raising", ranks=(0, 1, 2, 5), data={"missing_dumps": (3, 4), "left_out": ()})
    [finding] = run(pack(tmp_path, raised), fact).findings
    assert finding.actions[0].target == "the dumps of 3-4, the logs of 0-2,5, <left-out>"


def test_hosts_without_a_kernel_log_are_named_beside_one_that_has_one(tmp_path: Path) -> None:
    broke = [hit("broke", host=f"h{n}", device=3, offset=n) for n in range(6)]
    log, kernel, unplaced = source("s"), source("k", kind="kernel", host="h0"), source("u", kind="kernel")
    assert run(book(tmp_path), *broke, sources=(log,)).missing == ()
    assert run(book(tmp_path), *broke[:1], sources=(log, unplaced)).missing == (), "it may be of that host"
    assert run(book(tmp_path), *broke, sources=(log, kernel)).missing == (
        "kernel log (dmesg) of 5 of 6 hosts: h1, h2, h3, h4 and 1 more",
    )


def test_victims_alone_are_no_root(tmp_path: Path) -> None:
    found = run(book(tmp_path), hit("waiting", host="a", pid=1), hit("waiting", host="b", pid=2, offset=1))
    assert found.root_causes == ()
    assert found.verdict.status is Status.VICTIMS_ONLY
    assert found.unexplained


def test_an_exception_of_the_same_process_is_a_consequence_of_its_device(tmp_path: Path) -> None:
    found = run(
        book(tmp_path), hit("broke", host="a", pid=7, device=3), hit("raising", host="a", pid=7, rank=2, offset=9)
    )
    assert roles(found)["raised"] is Role.CASCADE


def test_an_exception_of_another_process_is_a_root_of_its_own(tmp_path: Path) -> None:
    facts = (hit("broke", host="a", pid=7, rank=1, device=3), hit("raising", host="b", pid=8, rank=9, offset=9))
    assert len(run(book(tmp_path), *facts).root_causes) == 2


def test_two_broken_devices_are_two_roots(tmp_path: Path) -> None:
    found = run(book(tmp_path), hit("broke", host="a", device=3), hit("broke", host="a", device=5, offset=4))
    assert len(found.root_causes) == 2


@pytest.mark.parametrize(("broke", "role"), [(80_000, Role.CASCADE), (3_000, Role.ROOT)])
def test_how_things_are_may_have_been_said_long_before_what_comes_of_it(
    tmp_path: Path, broke: float, role: Role
) -> None:
    """A version that was printed yesterday counts from where something came of it, and what broke yesterday from there."""
    condition = "{all: [version, broke]}"
    rules = (
        rule("skew", condition, cause="broken-device", at="host", patterns=("broke",), more=EXPLAINS),
        rule("raised", "record: raising", cause="bug", patterns=("raising",)),
    )
    said = hit("x", at=100, host="a", rank=0)
    version = Fact("version", {"component": "c", "version": "1"}, said.place, said.span, "s", said.instant)
    failed = (
        hit("broke", at=broke, offset=50, host="a", rank=0),
        hit("raising", at=80_001, offset=90, host="a", rank=0),
    )
    assert roles(run(pack(tmp_path, *rules), version, *failed))["raised"] is role


def test_a_cause_long_after_its_effect_explains_nothing(tmp_path: Path) -> None:
    late = run(book(tmp_path), hit("waiting", host="a", at=0), hit("broke", host="a", device=1, at=3600, offset=1))
    assert roles(late)["waits"] is Role.CASCADE
    assert late.unexplained
    assert not late.edges


def test_clocks_of_two_hosts_deny_nothing(tmp_path: Path) -> None:
    found = run(book(tmp_path), hit("waiting", host="b", at=0), hit("broke", host="a", device=1, at=3600, offset=1))
    assert found.edges
    assert not found.unexplained


def test_an_error_that_the_rank_outlived_is_survived(tmp_path: Path) -> None:
    one = source("s", rank=2)
    found = run(book(tmp_path), hit("raising", rank=2, offset=5), progress(rank=2, offset=9), sources=(one,))
    assert roles(found) == {"raised": Role.SURVIVED}
    assert found.verdict.status is Status.HEALTHY


def test_a_broken_device_is_not_outlived(tmp_path: Path) -> None:
    one = source("s", rank=2)
    found = run(book(tmp_path), hit("broke", rank=2, device=1, offset=5), progress(rank=2, offset=9), sources=(one,))
    assert roles(found) == {"device-broke": Role.ROOT}


def test_progress_of_another_rank_proves_nothing(tmp_path: Path) -> None:
    found = run(book(tmp_path), hit("raising", rank=2, offset=5, at=0), progress(rank=3, offset=9, at=500))
    assert roles(found) == {"raised": Role.ROOT}


def test_noise_is_benign_and_nothing_is_healthy(tmp_path: Path) -> None:
    rulebook = book(tmp_path)
    assert run(rulebook, hit("chat")).verdict.status is Status.BENIGN
    assert run(rulebook).verdict.status is Status.HEALTHY


def test_a_specific_rule_takes_the_place_of_a_general_one(tmp_path: Path) -> None:
    rulebook = pack(
        tmp_path,
        rule("special", "record: p", cause="broken-device", patterns=("p",), more="supersedes: [general]"),
        rule("general", "record: q", patterns=("q",)),
    )
    assert set(roles(run(rulebook, hit("p", pid=1), hit("q", pid=1, offset=1)))) == {"special"}
    assert set(roles(run(rulebook, hit("p", pid=1, host="a"), hit("q", pid=2, host="b", offset=1)))) == {
        "special",
        "general",
    }


FACTS = st.lists(
    st.builds(
        hit,
        st.sampled_from(["broke", "waiting", "raising", "chat"]),
        at=st.one_of(st.none(), st.integers(0, 5000)),
        offset=st.integers(0, 10_000),
        host=st.sampled_from(["a", "b", None]),
        rank=st.sampled_from([0, 1, None]),
        pid=st.sampled_from([7, 8, None]),
        device=st.sampled_from([0, 1, None]),
    ),
    max_size=8,
    unique_by=lambda fact: fact.span.offset,
)


@settings(max_examples=150, deadline=None)
@given(FACTS, st.randoms())
def test_the_order_of_facts_changes_nothing(tmp_path_factory: object, facts: list[Fact], random: object) -> None:
    rulebook = book(tmp_path_factory.mktemp("pack"))  # type: ignore[attr-defined]
    shuffled = list(facts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert run(rulebook, *facts) == run(rulebook, *shuffled)


@settings(max_examples=150, deadline=None)
@given(FACTS)
def test_edges_between_findings_make_no_circle_and_no_root_has_a_cause(
    tmp_path_factory: object, facts: list[Fact]
) -> None:
    found = run(book(tmp_path_factory.mktemp("pack")), *facts)  # type: ignore[attr-defined]
    causes: dict[str, set[str]] = {}
    for edge in found.edges:
        causes.setdefault(edge.source, set()).add(edge.target)
    for root in found.root_causes:
        assert root not in causes
    for start, direct in causes.items():
        seen, stack = set(), list(direct)
        while stack:
            node = stack.pop()
            assert node != start
            if node not in seen:
                seen.add(node)
                stack.extend(causes.get(node, ()))


def test_a_victim_of_a_benign_cause_is_benign(tmp_path: Path) -> None:
    more = "explains: [{causes: [stuck], relation: job, within: 1h}]"
    rulebook = pack(
        tmp_path,
        rule("compiles", "record: compiling", cause="noise", patterns=("compiling",), more=more),
        rule("waits", "record: waiting", cause="stuck", patterns=("waiting",)),
    )
    found = run(rulebook, hit("compiling", rank=0), hit("waiting", rank=1, offset=1))
    assert roles(found) == {"compiles": Role.BENIGN, "waits": Role.BENIGN}
    assert found.verdict.status is Status.BENIGN


def test_an_error_on_the_boot_clock_does_not_swallow_an_exception_that_nothing_ties_to_it(tmp_path: Path) -> None:
    broke = hit("broke", host="a", device=3, at=1000, clock=Clock.BOOT, source="dmesg")
    raised = hit("raising", host="a", rank=0, at=1_700_000_000, source="rank0")
    found = run(book(tmp_path), broke, raised, sources=(source("dmesg", kind="kernel"), source("rank0")))
    assert roles(found) == {"device-broke": Role.ROOT, "raised": Role.ROOT}


@pytest.mark.parametrize(("pid", "role"), [(4242, Role.CASCADE), (4243, Role.ROOT)])
def test_a_process_that_the_kernel_names_ties_its_exception_to_the_error(tmp_path: Path, pid: int, role: Role) -> None:
    broke = hit("broke", device=3, pid=pid, at=1000, clock=Clock.BOOT, source="dmesg")
    raised = hit("raising", pid=4242, at=1_700_000_000, source="worker")
    wide = EXPLAINS.replace("same-process", "same-host")
    rules = (
        rule("device-broke", "record: broke", cause="broken-device", at="device", patterns=("broke",), more=wide),
        rule("raised", "record: raising", cause="bug", at="host", patterns=("raising",)),
    )
    found = run(pack(tmp_path, *rules), broke, raised, sources=(source("dmesg", kind="kernel"), source("worker")))
    assert roles(found) == {"device-broke": Role.ROOT, "raised": role}


def test_a_status_that_gives_no_reason_is_explained_by_the_only_error_on_the_boot_clock(tmp_path: Path) -> None:
    broke = hit("broke", host="a", device=3, at=1000, clock=Clock.BOOT, source="dmesg")
    failed = hit("raising", rank=0, at=1_700_000_000, source="rank0")
    rules = (
        rule("device-broke", "record: broke", cause="broken-device", at="device", patterns=("broke",), more=EXPLAINS),
        rule("raised", "record: raising", at="rank", patterns=("raising",), more="confidence: 0.5"),
    )
    found = run(pack(tmp_path, *rules), broke, failed, sources=(source("dmesg", kind="kernel"), source("rank0")))
    assert roles(found) == {"device-broke": Role.ROOT, "raised": Role.CASCADE}


def test_an_exception_in_the_file_of_the_error_is_its_consequence(tmp_path: Path) -> None:
    broke = hit("broke", host="a", device=3, at=1000, clock=Clock.BOOT)
    found = run(book(tmp_path), broke, hit("raising", host="a", rank=0, at=1_700_000_000, offset=50))
    assert roles(found) == {"device-broke": Role.ROOT, "raised": Role.CASCADE}


def test_an_attempt_that_was_followed_by_one_that_got_on_is_survived(tmp_path: Path) -> None:
    failed = hit("raising", host="a", attempt=0, source="first")
    found = run(book(tmp_path), failed, progress(host="a", attempt=1, source="second"))
    assert roles(found) == {"raised": Role.SURVIVED}


def test_the_last_attempt_is_not_survived(tmp_path: Path) -> None:
    failed = hit("raising", host="a", attempt=1, source="second")
    found = run(book(tmp_path), failed, progress(host="a", attempt=1, source="second", offset=0))
    assert roles(found) == {"raised": Role.ROOT}


def test_a_process_without_a_rank_that_goes_on_in_its_own_log_has_survived(tmp_path: Path) -> None:
    found = run(book(tmp_path), hit("raising", pid=1), progress(pid=1, offset=90))
    assert roles(found) == {"raised": Role.SURVIVED}


def test_progress_of_another_process_in_one_log_proves_nothing(tmp_path: Path) -> None:
    found = run(book(tmp_path), hit("raising", pid=1), progress(pid=2, offset=90))
    assert roles(found) == {"raised": Role.ROOT}


@pytest.mark.parametrize(("pid", "role"), [(9, Role.SURVIVED), (2, Role.ROOT)])
def test_what_a_start_meets_is_not_overcome_by_a_process_that_was_there_before(
    tmp_path: Path, pid: int, role: Role
) -> None:
    more = rule("busy", "record: busy", cause="bug", patterns=("busy",), more="survivable: anew\n")
    found = run(pack(tmp_path, more), hit("busy", pid=5, at=0), progress(pid=pid, offset=90, at=600))
    assert roles(found) == {"busy": role}


def test_a_rank_that_is_singled_out_stands_on_its_own_host_and_not_on_that_of_the_witnesses(tmp_path: Path) -> None:
    odd = rule(
        "odd-one-out",
        "over: {each: rank, quantifier: all-but-few, have: waiting}",
        at="job",
        patterns=("waiting",),
    )
    waiting = [hit("waiting", host=f"h{r}", rank=r, source=f"s{r}") for r in range(8) if r != 5]
    sources = tuple(source(f"s{r}", host=f"h{r}", rank=r) for r in range(8))
    found = run(pack(tmp_path, odd), *waiting, sources=sources)
    [root] = found.findings
    assert (root.place.ranks, root.place.host, root.hosts) == ((5,), "h5", ("h5",))


def test_a_backstop_keeps_only_the_records_that_nothing_else_knows(tmp_path: Path) -> None:
    rulebook = pack(
        tmp_path,
        rule("known", "record: specific", cause="broken-device", patterns=("specific",)),
        rule("unknown", "record: any-error", patterns=("any-error",), more="role: unclaimed"),
    )
    known, both, alone = hit("specific", offset=5), hit("any-error", offset=5), hit("any-error", offset=9)
    assert set(roles(run(rulebook, known, both))) == {"known"}
    found = run(rulebook, known, both, alone)
    [rest] = [f for f in found.findings if f.rule == "unknown"]
    assert [span.offset for span in rest.evidence] == [9]
    assert roles(run(rulebook, alone))["unknown"] is Role.CASCADE


def test_a_chain_of_thousands_of_links_is_followed_without_recursion(tmp_path: Path) -> None:
    links = [Link(n + 1, n, EdgeType.CAUSED_BY, "", sure=True, distance=NEAR) for n in range(5000)]
    [match], _ = match_rules(book(tmp_path), [hit("raising")], [source("s")], Topology())
    graph = Graph([match] * 5001, [Role.CASCADE] * 5001, links)
    assert graph.roots_of()[5000] == frozenset({0})


KILLED = "role: victim\nexplains:\n  - {causes: [stuck], relation: job, within: 1h}\n"


def test_the_headline_of_victims_names_the_one_that_was_waited_for(tmp_path: Path) -> None:
    killed = rule("killed", "record: killing", patterns=("killing",), more=KILLED + "confidence: 0.1\n")
    waits = rule("waits", "record: waiting", cause="stuck", patterns=("waiting",), more="confidence: 0.9\n")
    found = run(
        pack(tmp_path, killed, waits),
        hit("killing", host="b", rank=1),
        hit("waiting", host="a", rank=0, offset=3),
    )
    assert found.verdict.status is Status.VICTIMS_ONLY
    assert "killed held: host b" in found.verdict.headline


CAUSES_OF_ENDS = "family:\n  stuck: {by: peer, is: waits}\n  unknown-failure: {by: none, is: an end}\n"


def test_an_end_that_a_victim_explains_is_no_unknown_failure(tmp_path: Path) -> None:
    ended = rule("ended", "record: ending", cause="unknown-failure", patterns=("ending",), more="role: victim\n")
    hangs = "explains:\n  - {causes: [unknown-failure], relation: same-process, within: 1h}\n"
    waits = rule("waits", "record: waiting", cause="stuck", patterns=("waiting",), more=hangs)
    (tmp_path / "a").mkdir()
    book_ = pack(tmp_path / "a", ended, waits, causes=CAUSES_OF_ENDS)
    ending, waiting = hit("ending", pid=1, host="a"), hit("waiting", pid=1, host="a", offset=3)
    assert run(book_, ending).verdict.status is Status.UNKNOWN_FAILURE
    assert run(book_, ending, waiting).verdict.status is Status.VICTIMS_ONLY


def test_of_two_findings_that_explain_each_other_the_one_with_evidence_of_its_own_is_the_cause(tmp_path: Path) -> None:
    stuck = "explains: [{causes: [broken-device], relation: same-host, within: 1h}]"
    rulebook = pack(
        tmp_path,
        rule("a-waits", "record: waiting", cause="stuck", patterns=("waiting",), more=f"role: root\n{stuck}"),
        rule("device-broke", "record: broke", cause="broken-device", at="device", patterns=("broke",), more=EXPLAINS),
    )
    found = run(rulebook, hit("waiting", at=5, host="a", pid=1), hit("broke", at=5, host="a", device=3, offset=9))
    assert roles(found) == {"device-broke": Role.ROOT, "a-waits": Role.CASCADE}


def beside_a_kernel_error(folder: Path, *more: Fact, device: int | None = None) -> list[tuple[str, float]]:
    """The roots, best first, where a program raises and an undated kernel log has an error of a device."""
    sources = (source("dmesg", kind="kernel", host="a"), source("rank0", host="a", rank=0))
    raised = hit("raising", at=1_700_000_000, source="rank0", host="a", rank=0, pid=7000, device=device)
    broke = hit("broke", at=1000, clock=Clock.BOOT, source="dmesg", host="a", device=3, offset=1000)
    found = run(book(folder), raised, broke, *more, sources=sources)
    return [(f.rule, f.confidence) for f in found.findings if f.role is Role.ROOT]


def test_a_kernel_error_that_nothing_dates_stands_behind_the_exception_of_a_rank(tmp_path: Path) -> None:
    assert [rule for rule, _ in beside_a_kernel_error(tmp_path)] == ["raised", "device-broke"]
    assert beside_a_kernel_error(tmp_path)[1][1] <= 0.5


def test_an_error_of_the_very_device_of_the_failing_rank_explains_it(tmp_path: Path) -> None:
    found = beside_a_kernel_error(tmp_path, device=3)
    assert dict(found).get("device-broke", 0) > 0.5


def attached(at: float, pid: int = 7000) -> Fact:
    made = hit("x", at=at, clock=Clock.BOOT, source="dmesg", host="a", pid=pid, offset=round(at))
    return replace(made, kind="attach", data={"slot": 0})


def test_an_error_from_long_before_the_process_opened_its_device_is_no_root(tmp_path: Path) -> None:
    assert [rule for rule, _ in beside_a_kernel_error(tmp_path, attached(400_000))] == ["raised"]


def test_an_error_after_the_process_opened_its_device_is_of_this_run(tmp_path: Path) -> None:
    assert dict(beside_a_kernel_error(tmp_path, attached(900)))["device-broke"] > 0.5


def test_progress_by_the_log_of_the_rank_overcomes_an_error_in_the_kernel_log(tmp_path: Path) -> None:
    """The process opened its device when it said so; the error by the boot clock came an hour before its last step."""
    sources = (source("dmesg", kind="kernel", host="a"), source("rank0", host="a", rank=0))
    rulebook = pack(tmp_path, rule("shaken", "record: shaking", cause="bug", at="rank", patterns=("shaking",)))
    shaken = hit("shaking", at=1000, clock=Clock.BOOT, source="dmesg", host="a", rank=0)
    spoke = hit("x", at=1_700_000_000, source="rank0", host="a", rank=0, pid=7000)
    went_on = progress(at=1_700_003_600, offset=9, source="rank0", host="a", rank=0, pid=7000)
    dated = run(rulebook, shaken, attached(1000), spoke, went_on, sources=sources)
    undated = run(rulebook, shaken, spoke, went_on, sources=sources)
    assert [roles(found)["shaken"] for found in (dated, undated)] == [Role.SURVIVED, Role.ROOT]


def test_a_rank_is_one_whatever_names_its_host_has(tmp_path: Path) -> None:
    of_rank = "explains:\n  - {causes: [bug], relation: same-rank, within: 1h}\n"
    rules = pack(
        tmp_path,
        rule("died", "record: dying", cause="broken-device", patterns=("dying",), more=of_rank),
        rule("raised", "record: raising", cause="bug", at="rank", patterns=("raising",)),
    )
    found = run(rules, hit("dying", host="pod-1", rank=3), hit("raising", host="node-7", rank=3, offset=1))
    assert roles(found) == {"died": Role.ROOT, "raised": Role.CASCADE}
    apart = run(rules, hit("dying", host="pod-1", rank=3), hit("raising", host="node-7", rank=4, offset=1))
    assert roles(apart) == {"died": Role.ROOT, "raised": Role.ROOT}


def test_an_echo_at_an_unknown_place_is_explained_by_whichever_of_several_alike(tmp_path: Path) -> None:
    causes = [hit("broke", device=device, pid=100 + device, offset=device) for device in (1, 2)]
    echo = hit("raising", rank=3, offset=9)
    assert roles(run(book(tmp_path), *causes, echo))["raised"] is Role.CASCADE


def test_what_is_said_of_no_place_confirms_what_the_same_rule_found_at_one(tmp_path: Path) -> None:
    facts = (hit("broke", host="a", device=1), hit("broke", offset=1), hit("chat", host="b", offset=2))
    found = run(book(tmp_path), *facts)
    assert sorted(f.role for f in found.findings if f.cause == "broken-device") == [Role.CONFIRMATION, Role.ROOT]
    apart = run(book(tmp_path), hit("broke", host="a", device=1), hit("broke", host="b", device=1, offset=1))
    assert [f.role for f in apart.findings if f.cause == "broken-device"] == [Role.ROOT, Role.ROOT]
