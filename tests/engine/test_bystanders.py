"""What the accounting says of other people's jobs is told apart from what it says of the one whose logs were collected."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import hit, pack, rule, source
from builtin_rules import rulebook
from msgspec.structs import replace

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Collection, Fact, Source
from neuron_doctor.engine.grades import Role
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

LOG, ACCOUNTING = source("log", job="9001", host="a"), source("sacct", kind="slurm")
RAISED = hit("raising", source="log", host="a", job="9001")


def role_of_row(
    tmp_path: Path, job: str, *others: Fact, host: str | None = "a", cause: str = "bug", sources: tuple[Source, ...]
) -> Role | None:
    rules = (
        rule("ended", "record: ended", cause=cause, patterns=("ended",)),
        rule("raised", "record: raising", at="rank", patterns=("raising",)),
    )
    facts = (hit("ended", source="sacct", job=job, host=host), *others)
    found = diagnose(pack(tmp_path, *rules), Collection(sources, facts))
    return next((finding.role for finding in found.findings if finding.rule == "ended"), None)


def own_row(job: str = "9001") -> Fact:
    return hit("x", source="sacct", offset=90, job=job)


@pytest.mark.parametrize(
    ("job", "role"), [("8990", Role.CONTEXT), ("9001", Role.ROOT), ("9001_3", Role.ROOT), ("9001+1", Role.ROOT)]
)
def test_a_job_that_nothing_else_tells_of_is_another(tmp_path: Path, job: str, role: Role) -> None:
    assert role_of_row(tmp_path, job, own_row(), sources=(LOG, ACCOUNTING)) is role


def test_nothing_is_known_of_others_where_the_accounting_lacks_the_job_of_the_logs(tmp_path: Path) -> None:
    assert role_of_row(tmp_path, "8990", RAISED, sources=(LOG, ACCOUNTING)) is Role.ROOT


def test_the_accounting_alone_is_all_there_is(tmp_path: Path) -> None:
    assert role_of_row(tmp_path, "8990", own_row(), sources=(ACCOUNTING,)) is Role.ROOT


@pytest.mark.parametrize(("host", "role"), [("a", Role.ROOT), ("b", Role.CONTEXT), (None, Role.CONTEXT)])
def test_what_broke_a_shared_host_counts_whoever_ran_there(tmp_path: Path, host: str | None, role: Role) -> None:
    sources = (LOG, ACCOUNTING)
    assert role_of_row(tmp_path, "8990", own_row(), host=host, cause="broken-device", sources=sources) is role


PODS = source("pods", kind="kubectl")


def listed(pod: str, host: str | None, offset: int = 200) -> Fact:
    return hit("x", source="pods", offset=offset, container=pod, host=host)


def roles_beside(tmp_path: Path, stranger: Fact, *others: Fact, log: Source) -> dict[str, Role]:
    """Of what a controller says of a pod or node, and of what the log of the job says itself."""
    rules = (
        rule("ended", "record: ended", cause="broken-device", at="host", patterns=("ended",)),
        rule("raised", "record: raising", at="rank", patterns=("raising",)),
    )
    found = diagnose(pack(tmp_path, *rules), Collection((log, PODS), (stranger, *others)))
    return {finding.rule: finding.role for finding in found.findings}


@pytest.mark.parametrize(("pod", "role"), [("grafana-7c9", Role.CONTEXT), ("sft-launcher-1", Role.ROOT)])
@pytest.mark.parametrize("name", ["x/sft-worker-0.previous.log", "sft-worker-0/app.log", "all.tar.gz!sft-worker-0"])
def test_a_pod_is_of_the_job_if_one_that_begins_alike_has_a_log(
    tmp_path: Path, pod: str, role: Role, name: str
) -> None:
    stranger = hit("ended", source="pods", container=pod, host="n9")
    assert roles_beside(tmp_path, stranger, listed("sft-worker-0", "n1"), log=source(name))["ended"] is role


@pytest.mark.parametrize(("at", "role"), [("process", Role.CONTEXT), ("host", Role.ROOT)])
def test_what_ended_a_process_of_another_pod_is_that_pods_even_beside_the_job(
    tmp_path: Path, at: str, role: Role
) -> None:
    """A monitor that is evicted for what it uses says nothing of the worker on its node; a full disk does."""
    rules = (
        rule("ended", "record: ended", cause="broken-device", at=at, patterns=("ended",)),
        rule("raised", "record: raising", at="rank", patterns=("raising",)),
    )
    stranger = hit("ended", source="pods", container="monitor-x7k2p", host="n1")
    facts = (stranger, listed("sft-worker-0", "n1"), hit("raising", source="sft-worker-0.log"))
    found = diagnose(pack(tmp_path, *rules), Collection((source("sft-worker-0.log"), PODS), facts))
    assert next(finding.role for finding in found.findings if finding.rule == "ended") is role


def test_of_pods_of_which_none_has_a_log_all_may_be_of_the_job(tmp_path: Path) -> None:
    stranger = hit("ended", source="pods", container="grafana-7c9", host="n9")
    assert roles_beside(tmp_path, stranger, listed("sft-worker-0", "n1"), log=source("y.log"))["ended"] is Role.ROOT


@pytest.mark.parametrize(
    ("node", "second", "role"), [("n9", "n2", Role.CONTEXT), ("n2", "n2", Role.ROOT), ("n9", None, Role.ROOT)]
)
def test_a_node_is_of_the_job_unless_all_its_pods_are_on_others(
    tmp_path: Path, node: str, second: str | None, role: Role
) -> None:
    pods = (listed("sft-0", "n1"), listed("sft-1", second, offset=300))
    away = hit("ended", source="pods", host=node)
    raised = hit("raising", source="sft-0.log", rank=0)
    assert roles_beside(tmp_path, away, raised, *pods, log=source("sft-0.log"))["ended"] is role


def test_a_node_without_pods_is_suspected_where_nothing_else_is(tmp_path: Path) -> None:
    pods = (listed("sft-0", "n1"), listed("sft-1", "n2", offset=300))
    away = hit("ended", source="pods", host="n9")
    assert roles_beside(tmp_path, away, *pods, log=source("sft-0.log"))["ended"] is Role.ROOT


@pytest.mark.parametrize(("node", "role"), [("zz-02", Role.ROOT), ("zz-31", Role.CONTEXT)])
def test_slurm_says_which_nodes_the_job_has(tmp_path: Path, node: str, role: Role) -> None:
    row = own_row()
    job = Fact("slurm-job", {"job_id": "9001", "nodes": "zz-[01-02]"}, row.place, row.span, "sacct")
    rules = (
        rule("ended", "record: ended", cause="broken-device", at="host", patterns=("ended",)),
        rule("raised", "record: raising", at="rank", patterns=("raising",)),
    )
    facts = (hit("ended", source="sacct", host=node), job, hit("raising", source="log", rank=0, job="9001"))
    found = diagnose(pack(tmp_path, *rules), Collection((source("log", job="9001"), ACCOUNTING), facts))
    assert {finding.rule: finding.role for finding in found.findings}["ended"] is role


@pytest.mark.parametrize(
    ("node", "listed_too", "role"),
    [("n9", True, Role.CONTEXT), ("n9", False, Role.ROOT), ("n2", True, Role.ROOT)],
)
def test_what_the_kernel_of_a_machine_says_on_which_the_job_has_nothing_is_of_others(
    tmp_path: Path, node: str, listed_too: bool, role: Role
) -> None:
    rules = (
        rule("ended", "record: ended", cause="broken-device", at="host", patterns=("ended",)),
        rule("raised", "record: raising", at="rank", patterns=("raising",)),
    )
    pods = [listed("sft-0", "n1"), listed("sft-1", "n2", offset=300)]
    pods += [listed("monitor-x7", node, offset=600)] if listed_too else []
    raised = hit("raising", source="sft-0.log", rank=0)
    broken = hit("ended", source="kern", host=node)
    sources = (source("sft-0.log"), source("kern", kind="kernel", host=node), PODS)

    def role_of(*facts: Fact) -> Role:
        found = diagnose(pack(tmp_path, *rules), Collection(sources, facts)).findings
        return next(finding.role for finding in found if finding.rule == "ended")

    assert role_of(broken, raised, *pods) is role
    assert role_of(broken, *pods) is Role.ROOT  # where nothing else is, it is suspected


@pytest.mark.parametrize(("node", "kept"), [("zz-02", {"gone"}), ("zz-31", {"ended", "gone"})])
@pytest.mark.parametrize("host", ["zz-01", None])
def test_what_is_told_of_the_job_gives_way_to_what_befell_a_node_of_it_and_of_no_other(
    tmp_path: Path, node: str, kept: set[str], host: str | None
) -> None:
    row = own_row()
    job = Fact("slurm-job", {"job_id": "9001", "nodes": "zz-[01-02]"}, row.place, row.span, "sacct")
    rules = (
        rule("ended", "record: ended", cause="broken-device", at="job", patterns=("ended",)),
        rule("gone", "record: gone", cause="broken-device", at="host", patterns=("gone",), more="supersedes: [ended]"),
    )
    told = hit("ended", source="log", host=host, job="9001")
    facts = (hit("gone", source="sacct", host=node), job, told)
    found = diagnose(pack(tmp_path, *rules), Collection((source("log", job="9001"), ACCOUNTING), facts)).findings
    assert {finding.rule for finding in found} == kept
    assert [finding.rule for finding in found if finding.role is Role.ROOT] == [min(kept)]


@pytest.mark.parametrize(
    ("broken", "machines", "restarts", "role"),
    [
        ("zz-31", ("zz-01", "zz-02", "zz-31"), 0, Role.CONTEXT),
        ("zz-02", ("zz-01", "zz-02"), 0, Role.ROOT),
        # Slurm may call the nodes of the job otherwise than these machines are called
        ("zz-31", ("zz-01", "zz-31"), 0, Role.ROOT),
        ("ip-10-0-0-31", ("ip-10-0-0-1", "ip-10-0-0-2", "ip-10-0-0-31"), 0, Role.ROOT),
        # it may have been of the job until that was queued anew
        ("zz-31", ("zz-01", "zz-02", "zz-31"), 1, Role.ROOT),
    ],
)
def test_a_machine_beside_all_nodes_of_the_job_is_none_of_them(
    tmp_path: Path, broken: str, machines: tuple[str, ...], restarts: int, role: Role
) -> None:
    row = own_row()
    told = {"job_id": "9001", "nodes": "zz-[01-02]", "restarts": restarts}
    job = Fact("slurm-job", told, row.place, row.span, "sacct")
    rules = (
        rule("ended", "record: ended", cause="broken-device", at="host", patterns=("ended",)),
        rule("raised", "record: raising", at="rank", patterns=("raising",)),
    )
    facts = (hit("ended", source=f"kern-{broken}", host=broken), job, hit("raising", source="log", rank=0, job="9001"))
    kernels = (source(f"kern-{name}", kind="kernel", host=name) for name in machines)
    found = diagnose(pack(tmp_path, *rules), Collection((source("log", job="9001"), ACCOUNTING, *kernels), facts))
    assert {finding.rule: finding.role for finding in found.findings}["ended"] is role


NODE_RULES = (
    rule("broken", "record: hw-err", cause="broken-device", at="host"),
    rule("raised", "record: raising", at="rank", patterns=("raising",)),
)


def hw_error(source: str, node: str | None, **place: object) -> Fact:
    """What an agent of a node, or the kernel's line in an export of logs, says of a device."""
    there = hit("x", source=source, host=node, **place)
    return Fact("hw-err", {"name": "HBM", "action": "", "serial": "", "raw": ""}, there.place, there.span, source)


def role_of_broken(tmp_path: Path, *facts: Fact, logs: tuple[Source, ...]) -> Role:
    pods = (listed("sft-0", "n1"), listed("sft-1", "n2", offset=300), listed("rl-7", "n9", offset=400))
    raised = hit("raising", source="sft-0.log", rank=0)
    collected = Collection((source("sft-0.log"), PODS, *logs), (raised, *pods, *facts))
    found = diagnose(pack(tmp_path, *NODE_RULES), collected).findings
    return next(finding.role for finding in found if finding.rule == "broken")


@pytest.mark.parametrize(("node", "role"), [("n9", Role.CONTEXT), ("n2", Role.ROOT), ("n7", Role.ROOT)])
def test_what_the_agent_of_a_node_says_counts_where_the_job_is_or_nothing_is_known_of_the_node(
    tmp_path: Path, node: str, role: Role
) -> None:
    """n7 is a name that no controller knows: it may be another name of a node of the job."""
    assert role_of_broken(tmp_path, hw_error("agent.log", node), logs=(source("agent.log", host=node),)) is role


@pytest.mark.parametrize(("node", "role"), [("n9", Role.CONTEXT), ("n2", Role.ROOT)])
def test_an_export_with_lines_of_pods_and_of_agents_tells_of_both(tmp_path: Path, node: str, role: Role) -> None:
    step = hit("raising", source="export", offset=900, rank=1, container="sft-1")
    assert role_of_broken(tmp_path, hw_error("export", node), step, logs=(source("export"),)) is role


def test_a_node_on_which_a_program_of_the_logs_ran_is_of_the_job_whatever_the_table_of_pods_shows(
    tmp_path: Path,
) -> None:
    """Pods may have been listed after the one that was there had gone."""
    ran = hit("raising", source="other.log", rank=5, host="n9")
    logs = (source("agent.log", host="n9"), source("other.log", host="n9"))
    assert role_of_broken(tmp_path, hw_error("agent.log", "n9"), ran, logs=logs) is Role.ROOT


def test_what_a_process_of_the_job_says_itself_of_its_device_is_its_own(tmp_path: Path) -> None:
    told = hw_error("y.log", "n9", pid=7)
    assert role_of_broken(tmp_path, told, logs=(source("y.log"),)) is Role.ROOT


def test_the_pod_of_an_agent_whose_log_was_collected_is_none_of_the_job(tmp_path: Path) -> None:
    agent = source("node-agent-x7.log")
    shown = listed("node-agent-x7", "n9", offset=500)
    assert role_of_broken(tmp_path, shown, hw_error("node-agent-x7.log", "n9"), logs=(agent,)) is Role.CONTEXT


@pytest.mark.parametrize(("about", "role"), [("jobset/sft", Role.CONTEXT), ("pod/sft-2", Role.ROOT)])
def test_what_makes_pods_has_no_node_and_a_pod_whose_node_is_not_known_may_be_on_any(
    tmp_path: Path, about: str, role: Role
) -> None:
    told = listed(about.partition("/")[2], None, offset=700)
    data = {"type": "Warning", "reason": "Failed", "object": about, "message": "", "repeats": 1, "resolved": False}
    event = Fact("k8s-event", data, told.place, told.span, "pods")
    assert role_of_broken(tmp_path, event, hw_error("agent.log", "n9"), logs=(source("agent.log"),)) is role


@pytest.mark.parametrize(("job", "found"), [("nightly-eval", Role.CONTEXT), ("sft", Role.CASCADE)])
def test_a_failed_job_of_whose_pods_nothing_was_collected_is_of_others(tmp_path: Path, job: str, found: Role) -> None:
    failed = 'record: workload where state == "failed"'
    rules = (rule("job-failed", failed, at="job", more="role: victim\n"), rule("raised", "record: x", patterns=("x",)))
    data = {"object": "Job", "namespace": "ml", "name": job, "state": "failed"}
    stranger = replace(hit("y", source="pods"), kind="workload", data=data)
    logs = Collection((source("sft-worker-0.log"), PODS), (stranger, listed("sft-worker-0", "n1")))
    roles = {finding.rule: finding.role for finding in diagnose(pack(tmp_path, *rules), logs).findings}
    assert roles["job-failed"] is found


def spec(name: str, source: str = "pods") -> Fact:
    data = {"object": "Job", "namespace": "ml", "name": name}
    return replace(hit("y", source=source, offset=len(name)), kind="job-spec", data=data)


@pytest.mark.parametrize(
    ("told", "role"),
    [
        ((spec("sft"),), Role.ROOT),
        ((spec("eval"),), Role.CONTEXT),
        ((spec("sft"), spec("eval")), Role.CONTEXT),  # a list of whatever runs in a namespace
        ((), Role.CONTEXT),
    ],
)
def test_the_pods_of_a_job_whose_object_was_collected_are_of_the_job_though_they_wait_and_have_no_logs(
    tmp_path: Path, told: tuple[Fact, ...], role: Role
) -> None:
    rules = (rule("waits", "record: waiting", cause="bug", patterns=("waiting",)),)
    waiting = hit("waiting", source="pods", offset=600, container="sft-worker-0")
    facts = (listed("notebook-a-0", "n1"), waiting, *told)
    found = diagnose(pack(tmp_path, *rules), Collection((source("notebook-a-0.log"), PODS), facts))
    assert [finding.role for finding in found.findings] == [role]


LOST = """\
LAST SEEN   TYPE      REASON          OBJECT                  MESSAGE
{job}         Normal    MPIJobCreated   mpijob/moe              MPIJob ml/moe is created.
{pod}         Normal    Scheduled       pod/moe-worker-0        Successfully assigned ml/moe-worker-0 to ip-10-0-0-1
24m         Warning   BackOff         pod/moe-launcher-x7k2p  Back-off restarting failed container
40m         Normal    NodeNotReady    node/ip-10-0-0-9        Node ip-10-0-0-9 status is now: NodeNotReady
"""
WORKER = "2025-05-12 18:20:00 step 1 loss 2.1\nRuntimeError: no such shard\n"


MOVED = "40m         Warning   NodeNotReady    pod/moe-worker-0        Node is not ready\n"


@pytest.mark.parametrize(
    ("job", "pod", "more", "lost"),
    [("24m", "24m", "", False), ("50m", "24m", "", True), ("50m", "50m", "", True), ("24m", "24m", MOVED, True)],
)
def test_a_node_lost_before_the_job_was_made_is_none_of_it(
    tmp_path: Path, job: str, pod: str, more: str, lost: bool
) -> None:
    (tmp_path / "events.txt").write_text(LOST.format(job=job, pod=pod) + more)
    for name in ("moe-worker-0", "moe-launcher-x7k2p"):
        (tmp_path / f"{name}.log").write_text(WORKER)
    found = diagnose(rulebook(), collect(Request((str(tmp_path),)), rulebook()))
    assert ("node-lost" in {f.cause for f in found.findings if f.role is Role.ROOT}) is lost
