"""kubectl: tables, descriptions, JSON and YAML give the same facts of pods, nodes and events."""

from __future__ import annotations

import json

import pytest
from cluster_captures import DESCRIBE_EVENTS, DESCRIBE_NODE, DESCRIBE_POD, EVENTS, NODES, POD_JSON, POD_YAML, PODS
from hypothesis import given
from hypothesis import strategies as st
from snapshot_inputs import as_input, by_kind, facts_of, one, read

from neuron_doctor.collectors.kube_tables import is_title
from neuron_doctor.collectors.kubectl import COLLECTORS
from neuron_doctor.engine.facts import Clock, Fact, Place


def events(text: str) -> list[tuple[object, ...]]:
    return [(f.data["object"], f.data["reason"], f.data["resolved"]) for f in by_kind(facts_of(text))["k8s-event"]]


def sniffs(text: str) -> bool:
    return COLLECTORS[0].sniff(text.encode(), "x.json")


def conditions(text: str) -> list[tuple[object, ...]]:
    found = by_kind(facts_of(text))["node-condition"]
    return [(f.data["type"], f.data["status"], f.data["healthy"]) for f in found]


def failure(fact: Fact) -> tuple[object, ...]:
    return tuple(fact.data[name] for name in ("launcher", "exitcode", "signal", "message"))


# --- tables


def test_a_wide_table_of_pods_gives_phase_restarts_and_node() -> None:
    running, killed, pending = facts_of(PODS)
    assert running.data["ready"] is True
    assert running.place.known() == {"host": "ip-10-0-1-7.ec2.internal", "container": "train-worker-0"}
    assert (killed.data["reason"], killed.data["restarts"], killed.data["namespace"]) == ("OOMKilled", 2, "default")
    assert (pending.data["phase"], pending.data["reason"], pending.data["node"]) == ("Pending", "", "")


def test_a_table_may_stand_below_its_command_and_a_date() -> None:
    typed = "$ date -u; kubectl -n training get pods -o wide\nWed Mar 18 02:31:44 UTC 2026\n"
    assert [f.data["name"] for f in facts_of(typed + PODS)] == [f.data["name"] for f in facts_of(PODS)]


def test_the_address_of_a_pod_is_told_by_all_forms() -> None:
    title = "NAME   READY   STATUS    RESTARTS   AGE   IP          NODE\n"
    wide = f"{title}w-0    1/1     Running   0          9h    10.24.20.3  n1\n"
    assert [f.data["ip"] for f in facts_of(wide)] == ["10.24.20.3"]
    assert one(facts_of(POD_JSON), "pod").data["ip"] == one(facts_of(POD_YAML), "pod").data["ip"]


def test_a_table_of_nodes_gives_their_status() -> None:
    assert [f.data["status"] for f in facts_of(NODES)] == ["Ready", "NotReady,SchedulingDisabled"]


def test_custom_columns_of_resources_give_what_nodes_offer() -> None:
    facts = facts_of(
        "NAME          NeuronDevice   NeuronCore\n"
        "ip-10-0-1-7   16             32\n"
        "ip-10-0-1-8   <none>         <none>\n"
    )
    assert [(f.data["neuron"], f.data["neuroncore"], f.data["efa"]) for f in facts] == [(16, 32, -1), (0, 0, -1)]


OWN_COLUMNS = """\
POD      NODE         PHASE       EXIT   IMAGE-ID
dlrm-0   edge-trn-a   Failed      143    registry.local/dlrm@sha256:9c0d
dlrm-1   edge-trn-b   Failed      1      registry.local/dlrm@sha256:41aa
dlrm-2   edge-trn-c   Running     <none> registry.local/dlrm@sha256:41aa
"""


@pytest.mark.parametrize("table", [OWN_COLUMNS, OWN_COLUMNS.replace("POD ", "NAME").replace("NODE     ", "NODENAME ")])
def test_columns_that_somebody_chose_give_the_nodes_and_ends_of_pods(table: str) -> None:
    facts = by_kind(facts_of(table))
    shown = [(f.data["name"], f.place.host, f.data["phase"], f.data["exit_code"]) for f in facts["pod"]]
    assert shown == [
        ("dlrm-0", "edge-trn-a", "Failed", 143),
        ("dlrm-1", "edge-trn-b", "Failed", 1),
        ("dlrm-2", "edge-trn-c", "Running", 0),
    ]
    assert [(f.place.host, f.data["exitcode"]) for f in facts["launcher-failure"]] == [
        ("edge-trn-a", 143),
        ("edge-trn-b", 1),
    ]


def test_a_table_of_what_pods_use_is_none_of_pods_and_their_nodes() -> None:
    assert not is_title("POD      CPU   MEMORY")
    assert not is_title("POD      the rest of a sentence")


def test_a_failed_scheduling_is_over_once_the_same_pod_was_scheduled() -> None:
    assert events(EVENTS) == [
        ("pod/train-worker-0", "Scheduled", False),
        ("pod/train-worker-0", "FailedScheduling", True),
        ("pod/train-worker-2", "FailedScheduling", False),
    ]


def test_a_failed_scheduling_after_an_older_schedule_of_that_name_is_not_over() -> None:
    later = events(EVENTS.replace("12m         Warning", "2m          Warning"))
    assert later[1] == ("pod/train-worker-0", "FailedScheduling", False)


def test_several_tables_in_one_output_are_all_read() -> None:
    facts = by_kind(facts_of(PODS + "\n" + NODES))
    assert (len(facts["pod"]), len(facts["node"])) == (3, 2)


def test_a_table_that_was_re_spaced_is_still_read() -> None:
    narrow = "NAME     READY     STATUS      RESTARTS   AGE\na-long-name-of-a-pod  0/1  Error  3  2m\n"
    (fact,) = facts_of(narrow)
    assert (fact.data["name"], fact.data["phase"], fact.data["restarts"]) == ("a-long-name-of-a-pod", "Error", 3)


# --- descriptions


def test_the_events_of_a_description_by_themselves_are_about_the_pod_that_was_scheduled() -> None:
    assert events(DESCRIBE_EVENTS)[:2] == [
        ("pod/infer-0", "FailedScheduling", True),
        ("pod/infer-0", "Scheduled", False),
    ]
    repeats = [f.data["repeats"] for f in by_kind(facts_of(DESCRIBE_EVENTS))["k8s-event"]]
    assert repeats == [3, 1, 1]
    assert one(facts_of(DESCRIBE_EVENTS), "identity").data == {"pod": "infer-0", "hostname": "ip-10-0-9-9.ec2.internal"}


def test_a_failed_scheduling_without_a_schedule_is_not_over() -> None:
    alone = "".join(line + "\n" for line in DESCRIBE_EVENTS.splitlines()[:4])
    assert events(alone) == [("", "FailedScheduling", False)]


def test_a_described_pod_gives_each_container_and_how_it_ended() -> None:
    facts = by_kind(facts_of(DESCRIBE_POD))
    worker, sidecar = facts["pod"]
    assert {
        name: worker.data[name] for name in ("container", "reason", "exit_code", "signal", "restarts", "ready")
    } == {
        "container": "worker",
        "reason": "OOMKilled",
        "exit_code": 137,
        "signal": 9,
        "restarts": 2,
        "ready": False,
    }
    assert (sidecar.data["container"], sidecar.data["ready"], sidecar.data["exit_code"]) == ("sidecar", True, 0)
    (ended,) = facts["launcher-failure"]
    assert failure(ended) == ("kubernetes", 137, 9, "OOMKilled")
    assert ended.span.text.strip() == "Exit Code:    137"
    assert ended.instant is not None
    assert (ended.instant.clock, ended.instant.ns) == (Clock.UTC, 1_736_163_000 * 10**9)
    assert worker.place.known() == {"host": "ip-10-0-1-8.ec2.internal", "container": "train-worker-1"}


def test_no_quotation_shows_the_environment_of_a_container() -> None:
    for text in (DESCRIBE_POD, POD_JSON):
        assert "hf_" in text
        assert facts_of(text)
        assert all("hf_" not in fact.span.text for fact in facts_of(text))


def test_a_described_node_gives_what_it_offers_and_what_ails_it() -> None:
    facts = facts_of(DESCRIBE_NODE)
    node = one(facts, "node")
    assert {k: node.data[k] for k in ("status", "neuron", "neuroncore", "efa", "expected_neuron")} == {
        "status": "SchedulingDisabled",
        "neuron": 15,
        "neuroncore": 30,
        "efa": 8,
        "expected_neuron": 16,
    }
    assert node.place.instance_id == "i-0123456789abcdef0"
    assert conditions(DESCRIBE_NODE) == [
        ("sagemaker.amazonaws.com/node-health-status", "UnschedulablePendingReplacement", False),
        ("sagemaker.amazonaws.com/node-health-status", "Unschedulable", False),
        ("NeuronHealth", "True", False),
        ("Ready", "True", True),
    ]
    reasons = [f.data["reason"] for f in by_kind(facts)["node-condition"]]
    assert reasons == ["", "NoSchedule", "NeuronHasError_DMA_ERROR", "KubeletReady"]


def test_several_descriptions_in_one_output_are_all_read() -> None:
    facts = by_kind(facts_of(DESCRIBE_NODE + "\n\n" + DESCRIBE_POD))
    assert (len(facts["node"]), len(facts["pod"])) == (1, 2)


# --- objects


def test_json_gives_the_same_failure_as_the_description() -> None:
    ended = one(facts_of(POD_JSON), "launcher-failure")
    described = one(facts_of(DESCRIBE_POD), "launcher-failure")
    assert failure(ended) == failure(described)
    assert ended.instant == described.instant
    assert ended.place == described.place
    assert ended.span.text == '"exitCode": 137'


def test_a_node_in_json_gives_labels_taints_and_conditions() -> None:
    assert conditions(POD_JSON) == [
        ("sagemaker.amazonaws.com/deep-health-check-status", "Failed", False),
        ("sagemaker.amazonaws.com/fault-details", "[]", False),
        ("sagemaker.amazonaws.com/node-health-status", "Unschedulable", False),
        ("DiskPressure", "False", True),
    ]
    assert one(facts_of(POD_JSON), "node").data["neuron"] == 15


def test_events_in_json_are_ordered_by_their_times() -> None:
    assert events(POD_JSON) == [
        ("pod/train-worker-1", "FailedScheduling", True),
        ("pod/train-worker-1", "Scheduled", False),
    ]
    first, second = by_kind(facts_of(POD_JSON))["k8s-event"]
    assert first.data["repeats"] == 4
    assert first.instant is not None
    assert second.instant is not None
    assert first.instant < second.instant


def test_events_that_lost_their_kinds_are_read() -> None:
    event = {"reason": "Evicted", "involvedObject": {"kind": "Pod", "name": "w-1"}, "message": "Evicted pod: Drifted"}
    text = json.dumps({"kind": "List", "items": [event]}, indent=1)
    assert events(text) == [("pod/w-1", "Evicted", False)]


def test_a_list_of_other_things_is_not_taken_for_events() -> None:
    text = json.dumps({"kind": "List", "items": [{"reason": "Evicted", "message": "nobody"}]}, indent=1)
    assert not sniffs(text)


@pytest.mark.parametrize(("age", "over"), [("5m", True), ("2h", False), ("20m", False)])
def test_a_pod_that_was_killed_later_had_been_scheduled(age: str, *, over: bool) -> None:
    rows = ["20m Warning FailedScheduling pod/w-1 no node", f"{age} Normal Killing pod/w-1 Stopping container c"]
    text = (
        "LAST SEEN   TYPE   REASON   OBJECT   MESSAGE\n" + "\n".join("   ".join(r.split(" ", 4)) for r in rows) + "\n"
    )
    assert ("pod/w-1", "FailedScheduling", over) in events(text)


def test_compact_json_gives_the_same_data() -> None:
    compact = json.dumps(json.loads(POD_JSON), separators=(",", ":"))
    assert [f.data for f in facts_of(compact)] == [f.data for f in facts_of(POD_JSON)]


def test_a_single_object_is_read_too() -> None:
    pod = json.dumps(json.loads(POD_JSON)["items"][0], indent=4)
    assert one(facts_of(pod), "pod").data["exit_code"] == 137


def test_yaml_gives_the_pod_and_its_end() -> None:
    facts = facts_of(POD_YAML)
    assert failure(one(facts, "launcher-failure")) == ("kubernetes", 1, 0, "Error")
    assert one(facts, "pod").data["restarts"] == 3
    assert one(facts, "launcher-failure").span.text == "exitCode: 1"


def test_several_documents_of_yaml_are_all_read() -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {}\nstatus:\n  phase: Failed\n"
    facts = facts_of(pod.format("a") + "---\n" + pod.format("b"))
    assert [f.data["name"] for f in by_kind(facts)["pod"]] == ["a", "b"]


def test_what_kubectl_says_does_not_hold_for_the_host_where_it_ran() -> None:
    facts = facts_of(PODS, place=Place(host="head-node", job="8812"))
    assert {fact.place.host for fact in facts} == {"ip-10-0-1-7.ec2.internal", "ip-10-0-1-8.ec2.internal", None}
    assert {fact.place.job for fact in facts} == {"8812"}


# --- damage


def test_a_list_in_json_that_is_cut_off_keeps_what_is_whole() -> None:
    facts, inp = read(POD_JSON[: POD_JSON.index('"deep')] if '"deep' in POD_JSON else POD_JSON[: len(POD_JSON) // 2])
    assert len(by_kind(facts)["pod"]) == 1
    assert list(inp.problems) == ["unreadable JSON: JSONDecodeError"]


LOST = """LAST SEEN   TYPE      REASON         OBJECT        MESSAGE
96m         Normal    NodeNotReady   node/n7       Node n7 status is now: NodeNotReady
95m         Normal    DeletingNode   node/n7       Deleting node n7 because it does not exist in the cloud provider
85m         Normal    Scheduled      pod/tr-2      Successfully assigned train/tr-2 to n9
"""


@pytest.mark.parametrize(
    ("later", "resolved"),
    [
        ("12m         Normal    Completed      job/tr        Job completed\n", True),
        ("12m         Normal    Completed      job/other     Job completed\n", False),
        ("120m        Normal    Completed      job/tr        Job completed\n", False),
        ("12m  Normal  Completed  job/tr  Job completed\n11m  Normal  Pulled  pod/eval-0  is there\n", False),
        ("12m  Normal  Completed  job/tr  Job completed\n11m  Normal  Pulled  pod/tr-eval-0-x7k2p  is there\n", False),
        ("12m         Warning   BackoffLimitExceeded   job/tr   Job has reached the specified backoff limit\n", False),
    ],
)
def test_what_a_node_had_is_over_when_all_jobs_were_completed_afterwards(later: str, resolved: bool) -> None:
    assert {done for name, _, done in events(LOST + later) if name == "node/n7"} == {resolved}


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("  spec: &a [*a]\n", "YAML with aliases is not from kubectl"),
        ("  spec: " + "[" * 200 + "\n", "YAML is nested too deeply"),
        ("  spec: {\n", "unreadable YAML: ParserError"),
    ],
)
def test_hostile_yaml_is_a_problem_of_its_object_only(damage: str, problem: str) -> None:
    item = "- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: b\n" + damage
    text = POD_YAML.replace("kind: List", item + "kind: List")
    facts, inp = read(text)
    assert [f.data["name"] for f in by_kind(facts)["pod"]] == ["train-worker-1"]
    assert list(inp.problems) == [problem]


def test_a_tag_in_yaml_builds_nothing() -> None:
    text = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: !!python/object/apply:os.getcwd []\n"
    assert [f.data["name"] for f in facts_of(text)] == [""]


@pytest.mark.parametrize(
    "text",
    [
        '{"apiVersion": "v1", "kind": "Pod", "metadata": 1, "status": {"containerStatuses": [1, null, {"state": 7}]}}',
        '{"apiVersion": "v1", "kind": "Node", "metadata": {"labels": []}, "status": {"conditions": {}}}',
        '{"apiVersion": "v1", "items": [5, {"kind": "Event", "regarding": "x", "eventTime": "never"}], "kind": "List"}',
    ],
)
def test_objects_of_the_wrong_types_do_not_stop_the_reading(text: str) -> None:
    assert isinstance(facts_of(text), list)


def test_a_described_pod_whose_name_was_cut_off_is_read() -> None:
    assert list(COLLECTORS[0].collect(as_input(DESCRIBE_POD[1:].encode())))


def test_a_list_whose_items_were_lost_is_read_without_any() -> None:
    damaged = POD_YAML[:22] + POD_YAML[23:]  # the first item begins on the line of `items:` no more
    assert not [fact for fact in COLLECTORS[0].collect(as_input(damaged.encode())) if isinstance(fact, Fact)]


@given(st.sampled_from([PODS, EVENTS, DESCRIBE_POD, DESCRIBE_NODE, POD_JSON, POD_YAML]), st.data())
def test_any_cut_or_splice_of_an_output_is_read_without_an_exception(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    list(COLLECTORS[0].collect(as_input((text[:start] + text[end:]).encode())))


def ends_of(text: str) -> set[tuple[str, str]]:
    return {(str(fact.data["name"]), str(fact.data["state"])) for fact in facts_of(text) if fact.kind == "workload"}


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("NAME   STATE      AGE\nqwen   Complete   52m\nbert   Suspended  1m\n", {("qwen", "complete")}),
        ("NAMESPACE   NAME      STATE       AGE\nml          gptneox   Succeeded   7h\n", {("gptneox", "complete")}),
        (
            "NAME   STATUS   COMPLETIONS   DURATION   AGE\nj      Failed   0/1           9m         9m\n",
            {("j", "failed")},
        ),
        ("NAME   TERMINALSTATE   RESTARTS   AGE\njs     Completed       1          2h\n", {("js", "complete")}),
        (
            "NAME   JOB STATUS   DEPLOYMENT STATUS   AGE\nr      SUCCEEDED    Complete            2h\n",
            {("r", "complete")},
        ),
        ("NAME                               STATE     AGE\npytorchjob.kubeflow.org/p-0        Running   9m\n", set()),
        ("NAME    READY   STATUS      RESTARTS   AGE\np-0-1   0/1     Completed   0          5m\n", set()),
    ],
)
def test_tables_of_jobs_tell_how_they_ended(text: str, ends: set[tuple[str, str]]) -> None:
    assert ends_of(text) == ends


CONDITIONS = """
status:
  completionTime: "2026-02-11T10:31:20Z"
  conditions:
  - message: PyTorchJob gptneox is restarting because 1 Worker replica(s) failed.
    status: "False"
    type: Restarting
  - message: it is over
    status: "{status}"
    type: {type}
"""


@pytest.mark.parametrize(
    ("kind", "type_", "status", "state"),
    [
        ("PyTorchJob", "Succeeded", "True", {"complete"}),
        ("Job", "Complete", "True", {"complete"}),
        ("JobSet", "Completed", "True", {"complete"}),
        ("MPIJob", "Failed", "True", {"failed"}),
        ("PyTorchJob", "Succeeded", "False", set()),
        ("PyTorchJob", "Running", "True", set()),
        ("Node", "Complete", "True", set()),
    ],
)
def test_the_conditions_of_a_job_tell_how_it_ended(kind: str, type_: str, status: str, state: set[str]) -> None:
    text = f"apiVersion: x/v1\nkind: {kind}\nmetadata:\n  name: gptneox\n" + CONDITIONS.format(
        status=status, type=type_
    )
    assert {end for _, end in ends_of(text)} == state
    described = f"Name:         gptneox\nNamespace:    ml\nAPI Version:  x/v1\nKind:         {kind}\n"
    described += f"Status:\n  Conditions:\n    Message:  m\n    Status:   {status}\n    Type:     {type_}\n"
    assert {end for _, end in ends_of(described)} == state


def test_the_word_of_its_operator_tells_it_too() -> None:
    ray = {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": "r"}, "status": {"jobStatus": "SUCCEEDED"}}
    volcano = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "v"}}
    volcano |= {"status": {"state": {"phase": "Completed"}}}
    assert ends_of(json.dumps(ray, indent=1)) == {("r", "complete")}
    assert ends_of(json.dumps(volcano, indent=1)) == {("v", "complete")}


@pytest.mark.parametrize(
    ("status", "ends"),
    [
        ({"jobDeploymentStatus": "Failed", "jobStatus": "FAILED"}, {("r", "failed")}),
        ({"jobDeploymentStatus": "Complete", "jobStatus": "FAILED"}, {("r", "failed")}),
        ({"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"}, {("r", "complete")}),
        ({"jobDeploymentStatus": "Failed", "jobStatus": "RUNNING", "reason": "DeadlineExceeded"}, {("r", "failed")}),
        ({"jobDeploymentStatus": "Complete", "jobStatus": "STOPPED"}, set()),
        ({"jobDeploymentStatus": "Running", "jobStatus": "RUNNING"}, set()),
    ],
)
def test_of_a_job_of_ray_the_word_of_its_deployment_tells_of_failures_alone(
    status: dict[str, str], ends: set[tuple[str, str]]
) -> None:
    ray = {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": "r"}, "status": status}
    assert ends_of(json.dumps(ray, indent=1)) == ends


WAITS = (
    "couldn't assign flavors to pod set main: insufficient quota for aws.amazon.com/neuron in flavor trn2, "
    "request > maximum capacity (64 > 48)"
)


@pytest.mark.parametrize(
    ("kind", "type_", "status", "waits"),
    [
        ("Workload", "QuotaReserved", "False", True),
        ("Workload", "QuotaReserved", "True", False),
        ("Workload", "Finished", "False", False),
        ("PodGroup", "Unschedulable", "True", True),
        ("Job", "QuotaReserved", "False", False),
    ],
)
def test_what_stands_in_a_queue_says_what_it_waits_for(kind: str, type_: str, status: str, waits: bool) -> None:
    told = {"type": type_, "status": status, "reason": "Pending", "message": WAITS}
    thing = {
        "apiVersion": "x/v1",
        "kind": kind,
        "metadata": {"name": "a", "namespace": "t"},
        "status": {"conditions": [told]},
    }
    described = f"Name:         a\nNamespace:    t\nAPI Version:  x/v1\nKind:         {kind}\nStatus:\n  Conditions:\n"
    described += f"    Message:  {WAITS}\n    Reason:   Pending\n    Status:   {status}\n    Type:     {type_}\n"
    as_yaml = f"apiVersion: x/v1\nkind: {kind}\nmetadata:\n  name: a\n  namespace: t\nstatus:\n  conditions:\n"
    as_yaml += f'  - message: "{WAITS}"\n'
    as_yaml += f"    reason: Pending\n    status: '{status}'\n    type: {type_}\n"
    for text in (json.dumps(thing, indent=1), described, as_yaml):
        found = by_kind(facts_of(text))["queued"]
        expected = [{"object": kind, "namespace": "t", "name": "a", "message": WAITS}]
        assert [dict(fact.data) for fact in found] == (expected if waits else [])


def test_a_workload_that_was_admitted_waits_no_longer() -> None:
    row = "Warning  Pending   {}  kueue-admission  insufficient unused quota for aws.amazon.com/neuron in flavor x, 1 more needed"
    admitted = "Normal   Admitted  2m  kueue-admission  Admitted by ClusterQueue cq, wait time since reservation was 0s"
    for age, over in (("9m", True), ("1m", False)):
        listed = events(f"Events:\n  {row.format(age)}\n  {admitted}\n")
        assert [resolved for _, reason, resolved in listed if reason == "Pending"] == [over]


NODE = (
    '{"kind": "Node", "metadata": {"name": "n7"}, "status": {"conditions": [{"type": "AcceleratedHardwareReady", '
    '"status": "False", "reason": "NeuronHBMUncorrectableError"}]}}'
)


def test_an_object_that_was_cut_down_to_who_it_is_and_how_it_is_needs_no_version() -> None:
    assert sniffs(NODE)
    assert conditions(NODE) == [("AcceleratedHardwareReady", "False", False)]
    assert not sniffs(NODE.replace("Node", "Cat"))
    assert not sniffs('{"kind": "Node", "metadata": {"name": "n7"}}')
