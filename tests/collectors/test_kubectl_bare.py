"""Rows of pods and events that lost the title of their table, as `grep` and `--no-headers` leave them."""

from __future__ import annotations

import pytest
from snapshot_inputs import by_kind, facts_of

from neuron_doctor.collectors.kube_tables import is_bare_row
from neuron_doctor.collectors.kubectl import COLLECTORS

BARE = """\
# kubectl get po -A -o wide | grep -e bert -e canine
lang-a   bert-master-0     1/1   Running            0             22h    100.64.12.9    ip-100-64-12-9.ec2.internal
lang-b   canine-master-0   0/1   CrashLoopBackOff   6 (2m ago)    14m    100.64.12.9    ip-100-64-12-9.ec2.internal    <none>
lang-b   canine-worker-0   0/1   Pending            0             2d5h   <none>         <none>
"""


def test_rows_of_pods_that_lost_their_title_are_pods_all_the_same() -> None:
    found = by_kind(facts_of(BARE))["pod"]
    told = [(f.data["namespace"], f.data["name"], f.data["phase"], f.data["restarts"], f.place.host) for f in found]
    assert told == [
        ("lang-a", "bert-master-0", "Running", 0, "ip-100-64-12-9.ec2.internal"),
        ("lang-b", "canine-master-0", "CrashLoopBackOff", 6, "ip-100-64-12-9.ec2.internal"),
        ("lang-b", "canine-worker-0", "Pending", 0, None),
    ]
    bare = "bert-0   1/1   Running   0   22h\nbert-1   1/1   Running   1 (3h ago)   22h\n"
    assert [f.data["name"] for f in by_kind(facts_of(bare))["pod"]] == ["bert-0", "bert-1"]


@pytest.mark.parametrize(
    "text", ["epoch   1/10   Loss   0   22\n", "step 3   1/1   done   0   5s\n", "a   1/1   Running\n"]
)
def test_other_rows_with_a_ratio_are_no_pods(text: str) -> None:
    assert not is_bare_row(text.rstrip())


BARE_EVENTS = """\
4h2m                    Normal    Scheduled     pod/olmo-0     Successfully assigned ml/olmo-0 to ip-10-5-2-7.ec2.internal
4h2m (x3 over 4h5m)     Warning   FailedMount   pod/olmo-1     MountVolume.SetUp failed for volume "shm" : timed out
95m                     Warning   Evicted       pod/ship-9x2   The node was low on resource: ephemeral-storage.
"""


@pytest.mark.parametrize("namespace", ["", "train    "])
def test_rows_of_events_that_lost_their_title_are_events_all_the_same(namespace: str) -> None:
    found = facts_of("".join(namespace + row for row in BARE_EVENTS.splitlines(keepends=True)))
    told = [(f.data["object"], f.data["reason"], f.data["repeats"], f.place.host) for f in found]
    assert told == [
        ("pod/olmo-0", "Scheduled", 1, "ip-10-5-2-7.ec2.internal"),
        ("pod/olmo-1", "FailedMount", 3, None),
        ("pod/ship-9x2", "Evicted", 1, None),
    ]


TIMED = """\
{day}05:00:00{zone}  Normal   Scheduled   pod/olmo-1   Successfully assigned ml/olmo-1 to trn-pool-c-000007
{day}05:07:24{zone}  Warning  Evicted     pod/olmo-1   The node was low on resource: ephemeral-storage.
{day}05:30:02{zone}  Warning  FailedScheduling  pod/olmo-1   0/4 nodes are available: 4 Insufficient aws.amazon.com/neuron.
"""


@pytest.mark.parametrize(("day", "zone"), [("", ""), ("2026-07-03T", "Z"), ("2026-07-03 ", "+00:00")])
def test_rows_of_events_may_begin_with_a_time(day: str, zone: str) -> None:
    found = by_kind(facts_of(TIMED.format(day=day, zone=zone)))["k8s-event"]
    told = [(f.data["reason"], f.data["resolved"], f.place.container, f.place.host) for f in found]
    assert told == [
        ("Scheduled", False, "olmo-1", "trn-pool-c-000007"),
        ("Evicted", False, "olmo-1", None),
        ("FailedScheduling", False, "olmo-1", None),
    ]
    assert [f.instant.ns // 10**9 % 86400 if f.instant else None for f in found] == (
        [5 * 3600, 5 * 3600 + 444, 5 * 3600 + 1802] if day else [None] * 3
    )


def test_of_times_alone_that_are_not_in_order_nobody_knows_which_was_first() -> None:
    for namespace in ("", "ml    "):
        rows = [namespace + row for row in TIMED.format(day="", zone="").splitlines(keepends=True)]
        assert [f.data["resolved"] for f in facts_of("".join(rows))] == [False, False, False]
        assert [f.data["resolved"] for f in facts_of("".join(rows[::-1]))] == [True, False, False]


LOST = """\
41m   Warning  NodeNotReady  pod/moe-1     Node is not ready
{age}   Normal   NodeNotReady  node/ip-10-0-4-71   Node ip-10-0-4-71 status is now: NodeNotReady
"""


@pytest.mark.parametrize(
    ("rows", "node"),
    [
        (LOST.format(age="41m"), "ip-10-0-4-71"),
        (LOST.format(age="52m"), None),  # another time
        (LOST.format(age="41m") + "41m   Normal   NodeNotReady  node/ip-10-0-4-88   Node is NodeNotReady\n", None),
    ],
)
def test_a_pod_that_lost_its_node_was_on_the_one_that_was_lost_just_then(rows: str, node: str | None) -> None:
    [pod] = [f for f in by_kind(facts_of(rows))["k8s-event"] if str(f.data["object"]).startswith("pod/")]
    assert (pod.place.host, pod.place.container) == (node, "moe-1")


def test_events_may_have_further_columns_before_their_type() -> None:
    rows = [
        ("LAST SEEN", "FIRST SEEN", "TYPE", "REASON", "OBJECT", "SOURCE", "MESSAGE"),
        ("24m", "24m", "Warning", "SpotInterrupted", "node/ip-10-4-87-2", "karpenter", "Node event: interrupted"),
        (
            "21m (x2 over 22m)",
            "22m",
            "Normal",
            "NodeNotReady",
            "node/ip-10-4-87-2",
            "controller",
            "Node is NodeNotReady",
        ),
    ]
    found = by_kind(facts_of("".join("".join(f"{cell:<22}" for cell in row).rstrip() + "\n" for row in rows)))[
        "k8s-event"
    ]
    assert [(f.data["reason"], f.data["repeats"]) for f in found] == [("SpotInterrupted", 1), ("NodeNotReady", 2)]


@pytest.mark.parametrize(
    "text",
    ["4h2m  Warning  the disk  is full", "3m  INFO  Started  pod/a  it runs", "12:01  Warning  Evicted  pod/a  full"],
)
def test_other_rows_that_begin_with_an_age_are_no_events(text: str) -> None:
    assert not is_bare_row(text)


@pytest.mark.parametrize(("age", "over"), [("4h1m", True), ("4h9m", False)])
def test_a_volume_was_mounted_in_the_end_where_a_container_was_asked_how_it_is(age: str, over: bool) -> None:
    asked = f"{age}    Warning   Unhealthy   pod/olmo-1   Startup probe failed: connection refused\n"
    [mount] = [fact for fact in facts_of(BARE_EVENTS + asked) if fact.data["reason"] == "FailedMount"]
    assert mount.data["resolved"] is over


@pytest.mark.parametrize(("killed", "over"), [("4h1m", True), ("4h3m", False), ("4h9m", False)])
def test_a_volume_was_mounted_where_a_container_ran_that_was_stopped_later(killed: str, over: bool) -> None:
    mount = '4h3m    Warning   FailedMount   pod/moe-2   MountVolume.SetUp failed for volume "token" : timed out\n'
    stop = f"{killed}    Normal   Killing   pod/moe-2   Stopping container worker\n"
    [told] = [
        f for f in facts_of(mount + stop + BARE_EVENTS) if f.place.container == "moe-2" and f.data["type"] == "Warning"
    ]
    assert told.data["resolved"] is over


CUT = """\
Name: qwen-decode-7d9bf-kx2n
Node: {}
State:       Waiting
  Reason:    CrashLoopBackOff
Restart Count: 6
"""


def test_a_described_pod_that_was_cut_down_to_its_node_is_on_that_node() -> None:
    [pod] = by_kind(facts_of(CUT.format("ip-192-168-20-8.us-west-2.compute.internal/192.168.20.8")))["pod"]
    assert (pod.data["name"], pod.place.host) == (
        "qwen-decode-7d9bf-kx2n",
        "ip-192-168-20-8.us-west-2.compute.internal",
    )


@pytest.mark.parametrize("node", ["ip-192-168-20-8", "<none>", "v22.1.0/x64"])
def test_other_members_of_these_names_are_no_pod(node: str) -> None:
    assert not COLLECTORS[0].sniff(CUT.format(node).encode(), "describe.txt")


ONE_EVENT_A_LINE = """\
{"lastTimestamp": "2026-02-03T09:00:01Z", "type": "Normal", "reason": "Preempted", "involvedObject": {"kind": "Workload", "name": "job-ft-0c1d2"}, "message": "Preempted to accommodate a workload"}
{"lastTimestamp": "2026-02-03T09:00:02Z", "type": "Normal", "reason": "Killing", "involvedObject": {"kind": "Pod", "name": "ft-0"}, "message": "Stopping container a"}
"""  # noqa: E501 - lines as `jq -c` writes them


def test_events_that_were_cut_down_one_on_a_line_are_events() -> None:
    assert COLLECTORS[0].sniff(ONE_EVENT_A_LINE.encode(), "events.json")
    found = by_kind(facts_of(ONE_EVENT_A_LINE))["k8s-event"]
    assert [(f.data["reason"], f.data["object"]) for f in found] == [
        ("Preempted", "workload/job-ft-0c1d2"),
        ("Killing", "pod/ft-0"),
    ]
    assert [f.span.line for f in found] == [1, 2]


@pytest.mark.parametrize("cut", ["involvedObject", "reason"])
def test_records_of_a_log_that_tell_of_no_object_are_no_events(cut: str) -> None:
    assert not COLLECTORS[0].sniff(ONE_EVENT_A_LINE.replace(cut, "other").encode(), "events.json")


def test_what_somebody_noted_behind_the_row_of_an_evicted_pod_is_its_message() -> None:
    rows = (
        "lab   bert-0          1/1   Running   0   50m\n"
        "lab   warm-up-9x2kq   0/1   Evicted   0   40h    # The node was low on resource: ephemeral-storage\n"
    )
    found = by_kind(facts_of(rows))
    assert [f.data["phase"] for f in found["pod"]] == ["Running", "Evicted"]
    [event] = found["k8s-event"]
    assert (event.data["reason"], event.data["object"]) == ("Evicted", "pod/warm-up-9x2kq")
    assert event.data["message"] == "The node was low on resource: ephemeral-storage"
    assert "k8s-event" not in by_kind(facts_of(rows.replace("Evicted", "Running")))


WORKLOAD = """\
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
metadata:
  name: job-ft-0c1d2
  namespace: lab
status:
  conditions:
  - lastTransitionTime: "2026-02-03T09:00:01Z"
    message: Preempted to accommodate a workload due to prioritization in the ClusterQueue
    reason: InClusterQueue
    status: "True"
    type: Preempted
  - lastTransitionTime: "2026-02-03T09:00:00Z"
    message: The workload is admitted
    reason: Admitted
    status: "False"
    type: Admitted
"""


@pytest.mark.parametrize(
    ("turned", "told"), [(False, [("Preempted", False)]), (True, [("Preempted", True), ("Admitted", False)])]
)
def test_a_workload_says_that_it_had_to_make_room_until_it_has_its_turn_again(
    *, turned: bool, told: list[tuple[str, bool]]
) -> None:
    again = 'T09:00:00Z"\n    message: The workload is admitted\n    reason: Admitted\n    status: "False"'
    text = (
        WORKLOAD.replace(again, again.replace("09:00:00", "09:40:00").replace("False", "True")) if turned else WORKLOAD
    )
    found = by_kind(facts_of(text)).get("k8s-event", [])
    assert [(fact.data["reason"], fact.data["resolved"]) for fact in found] == told
    assert {fact.data["object"] for fact in found} == {"workload/job-ft-0c1d2"}
