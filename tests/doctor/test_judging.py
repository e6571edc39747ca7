"""A verdict held against the simulator's truth: right, wrong, silent, unjust."""

from __future__ import annotations

from neuron_doctor.corpus.simulator.job import Host, Job
from neuron_doctor.corpus.simulator.truth import Fault, Knowable, Truth
from neuron_doctor.engine.facts import Place
from neuron_doctor.engine.grades import ActionKind, Role, Severity, Status
from neuron_doctor.engine.verdict import Action, Diagnosis, Finding, Proof, Verdict
from neuron_doctor.judging import judge

HBM = Fault("hw-hbm-ue", ranks=(5,), hosts=("b",), device=2, weaker=("hw-unhealthy-component",), node_action=True)
MISSING = Fault("collectives-rank-missing", ranks=(3,), hosts=("a",), weaker=("collectives-hang",))


def root(
    cause: str,
    *,
    host: str = "",
    ranks: tuple[int, ...] = (),
    device: int | None = None,
    action: ActionKind = ActionKind.COLLECT_MORE,
    confidence: float = 0.9,
) -> Finding:
    return Finding(
        id=f"{cause}-{host}-{ranks}",
        rule=cause,
        cause=cause,
        title=cause,
        severity=Severity.ERROR,
        role=Role.ROOT,
        confidence=confidence,
        count=1,
        place=Place(host=host or None, device=device, ranks=ranks),
        hosts=(host,) if host else (),
        first=None,
        last=None,
        evidence=(),
        proof=Proof("record", held=True),
        actions=(Action(action),),
    )


def verdict(*roots: Finding) -> Diagnosis:
    status = Status.ROOT_CAUSE if roots else Status.VICTIMS_ONLY
    return Diagnosis(
        verdict=Verdict(status, "", complete=True),
        sources=(),
        root_causes=tuple(r.id for r in roots),
        findings=roots,
        edges=(),
        not_evaluable=(),
        unexplained=(),
        rulebook_sha256="",
        rulebook_rules=0,
    )


def test_the_right_cause_at_the_right_place_is_right() -> None:
    judged = judge(Truth((HBM,), {0: Knowable.STATED}), verdict(root("hw-hbm-ue", host="b", device=2)))
    assert (judged.top, judged.exact, judged.blamed, judged.drained) == (True, True, False, False)
    assert judged.sure == ((0.9, True),)


def test_the_right_cause_on_another_host_blames_an_innocent() -> None:
    judged = judge(Truth((HBM,), {0: Knowable.STATED}), verdict(root("hw-hbm-ue", host="a", device=2)))
    assert (judged.top, judged.exact, judged.blamed) == (False, False, True)


def test_a_host_may_be_named_as_kubernetes_calls_its_node() -> None:
    host = Host("ip-10-1-2-3", "10.1.2.3", "i-0a", "trn1.32xlarge", "w-0", 16, 2, 0.0)
    job, name = Job("sft", 7, (host,), (), (), 0.0), host.name
    oom = Fault("host-oom", hosts=(name,))
    truth = Truth((oom,), {0: Knowable.STATED})
    assert judge(truth, verdict(root("host-oom", host=f"{name}.us-west-2.compute.internal")), job).exact
    assert not judge(truth, verdict(root("host-oom", host="ip-1-2-3-4.us-west-2.compute.internal")), job).exact


def test_the_right_host_and_another_device_is_wrong() -> None:
    judged = judge(Truth((HBM,), {0: Knowable.STATED}), verdict(root("hw-hbm-ue", host="b", device=7)))
    assert not judged.top


def test_a_weaker_cause_counts_only_where_the_fault_is_not_stated() -> None:
    said = verdict(root("hw-unhealthy-component", host="b", device=2))
    assert not judge(Truth((HBM,), {0: Knowable.STATED}), said).top
    assert judge(Truth((HBM,), {0: Knowable.INFERABLE}), said).top


def test_silence_is_right_where_nothing_can_be_known_and_a_miss_where_it_can() -> None:
    assert judge(Truth((MISSING,), {0: Knowable.HIDDEN}), verdict()).exact
    missed = judge(Truth((MISSING,), {0: Knowable.INFERABLE}), verdict())
    assert (missed.top, missed.exact, missed.silent) == (False, False, True)


def test_a_rank_beside_the_culprit_makes_the_verdict_wrong() -> None:
    judged = judge(Truth((MISSING,), {0: Knowable.INFERABLE}), verdict(root("collectives-rank-missing", ranks=(3, 4))))
    assert (judged.top, judged.blamed) == (False, True)


def test_a_cause_without_its_place_is_not_right() -> None:
    assert not judge(Truth((MISSING,), {0: Knowable.INFERABLE}), verdict(root("collectives-rank-missing"))).top


def test_a_second_root_that_nothing_justifies_spoils_the_set_and_not_the_first() -> None:
    said = verdict(root("hw-hbm-ue", host="b", device=2), root("host-oom", host="a"))
    judged = judge(Truth((HBM,), {0: Knowable.STATED}), said)
    assert (judged.top, judged.exact) == (True, False)


def test_of_two_faults_both_must_be_named() -> None:
    truth = Truth((HBM, MISSING), {0: Knowable.STATED, 1: Knowable.INFERABLE})
    one = root("hw-hbm-ue", host="b", device=2)
    assert not judge(truth, verdict(one)).exact
    assert judge(truth, verdict(one, root("collectives-rank-missing", ranks=(3,)))).exact


def test_a_node_action_on_a_host_without_such_a_fault_is_a_wrong_drain() -> None:
    truth = Truth((HBM, MISSING), {0: Knowable.STATED, 1: Knowable.STATED})
    assert not judge(truth, verdict(root("hw-hbm-ue", host="b", action=ActionKind.REPLACE_INSTANCE))).drained
    assert judge(truth, verdict(root("collectives-hang", host="a", action=ActionKind.REPLACE_INSTANCE))).drained


def test_any_root_in_a_healthy_job_is_wrong() -> None:
    assert judge(Truth((), healthy=True), verdict()).exact
    assert not judge(Truth((), healthy=True), verdict(root("host-oom", host="a"))).top
