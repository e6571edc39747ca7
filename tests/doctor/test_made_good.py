"""Attempts that failed and were made good by a later one are no failure; attempts after which nothing was good still are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from folders import filled

import neuron_doctor

GONE = "Host EC2 (instance i-0777777777777777a) terminated."
DONE = "Essential container in task exited"
RAISED = 'Traceback (most recent call last):\n  File "/srv/sft.py", line 9, in main\n    cfg["lr"]\nKeyError: \'lr\'\n'
BROKEN = (
    "2026-May-07 16:30:38.060900 41:41 ERROR TDRV:exec_request_process_errors (FATAL-RT-UNDEFINED-STATE) [ND 3] "
    "Uncorrectable HBM memory error is detected. Execution results may be invalid.\n"
)


def roots(folder: Path, files: Mapping[str, str]) -> set[str]:
    """The causes of the roots of a folder with these files."""
    report = neuron_doctor.diagnose([str(filled(folder, files))])
    found = {finding.id: finding.cause for finding in report.findings}
    return {found[root] for root in report.root_causes}


# --- AWS Batch -------------------------------------------------------------------------------------------------------


def attempt(stream: str, reason: str, code: int | None = None) -> dict[str, object]:
    container: dict[str, object] = {"logStreamName": f"sweep/default/{stream}"}
    container |= {} if code is None else {"exitCode": code}
    return {"container": container, "startedAt": 1778170825000, "statusReason": reason}


def batch(status: str, *attempts: dict[str, object], **more: object) -> str:
    job = {"jobName": "sweep", "jobId": "a1:3", "status": status, "attempts": attempts, **more}
    return json.dumps({"jobs": [job]}, indent=4)


A, B = "5deb8a724054ba136df92f72ad6a8d3b", "5572e55eb40ba8506dcd3615a673df3f"


def test_a_host_that_went_away_in_an_attempt_of_batch_is_no_failure_of_a_job_that_succeeded(tmp_path: Path) -> None:
    told = batch("SUCCEEDED", attempt(A, GONE), attempt(B, DONE, 0))
    assert roots(tmp_path, {"describe-jobs.json": told}) == set()


@pytest.mark.parametrize(
    "told",
    [
        batch("FAILED", attempt(A, GONE), attempt(B, GONE)),
        batch("FAILED", attempt(A, GONE)),
        batch("RUNNING", attempt(A, GONE)),
        batch("FAILED", attempt(A, DONE, 1), attempt(B, GONE), statusReason=GONE),
    ],
)
def test_it_is_where_no_later_attempt_is_known_to_have_succeeded(tmp_path: Path, told: str) -> None:
    assert roots(tmp_path, {"describe-jobs.json": told}) == {"node-lost"}


def test_a_job_cut_out_of_the_answer_is_read_alike(tmp_path: Path) -> None:
    one = json.loads(batch("SUCCEEDED", attempt(A, GONE), attempt(B, DONE, 0)))["jobs"][0]
    assert roots(tmp_path, {"job.json": json.dumps({**one, "statusReason": DONE}, indent=2)}) == set()
    assert roots(tmp_path, {"job.json": json.dumps({**one, "status": "FAILED"}, indent=2)}) == {"node-lost"}


@pytest.mark.parametrize(("failed", "good", "found"), [(A, B, set()), (B, A, {"application-exception"})])
def test_the_log_of_an_attempt_goes_with_it(tmp_path: Path, failed: str, good: str, found: set[str]) -> None:
    told = batch("SUCCEEDED", attempt(failed, DONE, 1), attempt(good, DONE, 0))
    assert roots(tmp_path, {"describe-jobs.json": told, f"sweep_default_{A}.log": RAISED}) == found


def test_an_attempt_that_failed_alike_in_the_end_is_told_with_its_log(tmp_path: Path) -> None:
    told = batch("FAILED", attempt(A, DONE, 1), attempt(B, DONE, 1))
    files = {"describe-jobs.json": told, f"sweep_default_{A}.log": RAISED, f"sweep_default_{B}.log": RAISED}
    assert roots(tmp_path, files) == {"application-exception"}


def test_a_broken_device_is_told_of_an_attempt_that_was_made_good(tmp_path: Path) -> None:
    told = batch("SUCCEEDED", attempt(A, DONE, 1), attempt(B, DONE, 0))
    assert roots(tmp_path, {f"sweep_default_{A}.log": BROKEN}) == {"hw-hbm-ue"}
    assert roots(tmp_path, {"describe-jobs.json": told}) == {"hw-hbm-ue"}


# --- AWS Step Functions ----------------------------------------------------------------------------------------------


def history(*types: str | tuple[str, Mapping[str, object]]) -> str:
    events = []
    for number, one in enumerate(types, 1):
        kind, details = one if isinstance(one, tuple) else (one, {})
        events.append(
            {"timestamp": "2026-03-02T10:00:00Z", "type": kind, "id": number, "previousEventId": number - 1, **details}
        )
    return json.dumps({"events": events}, indent=4)


LOST = (
    "TaskFailed",
    {"taskFailedEventDetails": {"error": "States.TaskFailed", "cause": f'{{"StatusReason":"{GONE}"}}'}},
)


@pytest.mark.parametrize(
    ("events", "found"),
    [
        (("TaskStateEntered", "TaskScheduled", LOST, "TaskScheduled", "TaskSucceeded", "TaskStateExited"), set()),
        (("TaskStateEntered", "TaskScheduled", LOST, "TaskScheduled", LOST, "ExecutionFailed"), {"node-lost"}),
        # caught: a state that tells somebody has succeeded, the step has not
        (
            ("TaskStateEntered", "TaskScheduled", LOST, "TaskStateEntered", "TaskSucceeded", "ExecutionSucceeded"),
            {"node-lost"},
        ),
    ],
)
def test_a_task_of_step_functions_that_was_tried_anew_and_succeeded_is_no_failure(
    tmp_path: Path, events: Sequence[str | tuple[str, Mapping[str, object]]], found: set[str]
) -> None:
    assert roots(tmp_path, {"history.json": history(*events)}) == found


# --- Argo Workflows --------------------------------------------------------------------------------------------------


def workflow(retry: str, *phases: str, whole: bool = True) -> str:
    names = [f"sft-9xk2p-77{number:08}" for number in range(len(phases))]
    nodes: dict[str, object] = {
        "sft-9xk2p-3301": {"type": "Retry", "displayName": "train", "phase": retry, "children": names}
    }
    nodes |= {
        name: {
            "id": name,
            "type": "Pod",
            "templateName": "train",
            "phase": phase,
            "message": "main: Error (exit code 1)",
        }
        for name, phase in zip(names, phases, strict=True)
    }
    head = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow"} if whole else {}
    status = {"phase": retry, "nodes": nodes}
    return json.dumps({**head, "metadata": {"name": "sft-9xk2p"}, "status": status}, indent=4)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("log", ["sft-9xk2p-train-7700000000.log", "logs/sft-9xk2p-7700000000/main.log", "lines"])
def test_a_pod_of_a_step_of_argo_that_was_tried_anew_and_succeeded_is_no_failure(
    tmp_path: Path, log: str, *, whole: bool
) -> None:
    lines = "".join(f"sft-9xk2p-train-7700000000: {line}\n" for line in RAISED.splitlines())
    files = {"all.log": lines} if log == "lines" else {log: RAISED}
    assert roots(tmp_path, {"wf.json": workflow("Succeeded", "Failed", "Succeeded", whole=whole), **files}) == set()
    assert roots(tmp_path, {"wf.json": workflow("Failed", "Failed", "Failed", whole=whole)}) == {
        "application-exception"
    }


# --- Airflow ---------------------------------------------------------------------------------------------------------

SUCCESS = (
    "[2026-03-02T10:00:00.000+0000] {taskinstance.py:1138} INFO - Marking task as SUCCESS. dag_id=sft, task_id=train\n"
)
AGAIN = "[2026-03-02T09:00:00.000+0000] {taskinstance.py:1138} INFO - Marking task as UP_FOR_RETRY. dag_id=sft, task_id=train\n"


@pytest.mark.parametrize(
    ("second", "third", "found"),
    [
        (RAISED + AGAIN, SUCCESS, set()),
        (SUCCESS, RAISED + AGAIN, {"application-exception"}),
        (RAISED + AGAIN, RAISED + AGAIN, {"application-exception"}),
    ],
)
def test_an_attempt_of_a_task_of_airflow_is_over_when_the_last_one_succeeded(
    tmp_path: Path, second: str, third: str, found: set[str]
) -> None:
    task = "logs/dag_id=sft/run_id=scheduled__2026-03-02/task_id=train"
    files = {f"{task}/attempt=1.log": RAISED + AGAIN, f"{task}/attempt=2.log": second, f"{task}/attempt=10.log": third}
    assert roots(tmp_path, files) == found


def test_another_task_that_succeeded_makes_nothing_good(tmp_path: Path) -> None:
    run = "logs/dag_id=sft/run_id=scheduled__2026-03-02"
    files = {f"{run}/task_id=train/attempt=1.log": RAISED + AGAIN, f"{run}/task_id=report/attempt=2.log": SUCCESS}
    assert roots(tmp_path, files) == {"application-exception"}


def test_a_later_task_in_the_same_log_makes_no_failed_one_good(tmp_path: Path) -> None:
    failed = SUCCESS.replace("SUCCESS", "FAILED")
    mailed = SUCCESS.replace("task_id=train", "task_id=notify_failure")
    assert roots(tmp_path, {"airflow.log": RAISED + failed + mailed}) == {"application-exception"}


# --- containers that were started anew ---------------------------------------------------------------------------------

POD = "chat-predictor-6b9f77d4c8-hp5x7"
BUSY = (
    "2026-Feb-11 22:04:18.402113    88:88    ERROR   NRT:nrt_allocate_neuron_cores                NeuronCore(s) not available - "
    "Requested:nc0-nc7 Available:0\n"
    "RuntimeError: The PyTorch Neuron Runtime could not be initialized. Neuron Driver issues are logged\n"
)
AGAIN_BUSY = BUSY.replace("22:04:18", "22:24:18")
UP = "(APIServer pid=1) INFO:     Application startup complete.\n"
ANSWER = '(APIServer pid=1) INFO:     10.0.86.198:59983 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
TITLE = "NAME                              READY   STATUS             RESTARTS      AGE   IP              NODE\n"


def table(ready: str, status: str, restarts: str = "1 (23m ago)", name: str = POD) -> str:
    return (
        TITLE + f"{name}   {ready}     {status}   {restarts}   24m   192.168.88.31   ip-192-168-71-204.ec2.internal\n"
    )


def log(flags: str, text: str, pod: str = POD) -> str:
    return f"$ kubectl -n inference logs {pod} -c kserve-container{flags}\n{text}"


WORKS, BACK_OFF = table("1/1", "Running"), table("0/1", "CrashLoopBackOff", "7 (1m ago)")


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"pods.txt": WORKS, "a.txt": log(" --previous", BUSY), "b.txt": log("", UP + ANSWER)}, set()),
        ({"a.txt": log(" -p", BUSY), "b.txt": log(" --tail=500", UP + ANSWER)}, set()),
        ({"session.txt": log(" --previous", BUSY) + log("", UP + ANSWER)}, set()),
        ({"session.txt": log("", UP + ANSWER) + log(" --previous", BUSY)}, set()),
        ({"pods.txt": WORKS, f"{POD}.log": UP + ANSWER, f"{POD}_previous.log": BUSY}, set()),
        # the only pod does not work
        ({"pods.txt": BACK_OFF, "a.txt": log(" --previous", BUSY), "b.txt": log("", UP + ANSWER)}, {"core-in-use"}),
        ({"pods.txt": BACK_OFF, f"{POD}.log": UP + ANSWER, f"{POD}_previous.log": BUSY}, {"core-in-use"}),
        # it has answered nobody since
        ({"pods.txt": WORKS, "a.txt": log(" --previous", BUSY), "b.txt": log("", UP)}, {"core-in-use"}),
        # it had worked, and then failed
        (
            {"pods.txt": WORKS, "a.txt": log(" --previous", ANSWER + BUSY), "b.txt": log("", UP + ANSWER)},
            {"core-in-use"},
        ),
        # it fails again
        (
            {"pods.txt": WORKS, "a.txt": log(" --previous", BUSY), "b.txt": log("", UP + ANSWER + AGAIN_BUSY)},
            {"core-in-use"},
        ),
        # another pod answers
        ({"a.txt": log(" --previous", BUSY), "b.txt": log("", UP + ANSWER, f"{POD}-b")}, {"core-in-use"}),
        # the log of the last start is the one that fails
        ({"a.txt": log("", BUSY), "b.txt": log(" --previous", UP + ANSWER)}, {"core-in-use"}),
    ],
)
def test_a_container_that_came_up_at_its_second_start_has_not_failed(
    tmp_path: Path, files: Mapping[str, str], found: set[str]
) -> None:
    assert roots(tmp_path, files) == found


BATCHES = "".join(
    f"2026-02-11 22:{minute}:19,402 INFO embedder.worker batch of 13 embedded in 58.9 ms\n" for minute in (30, 31, 32)
)


@pytest.mark.parametrize("container", ["", "_kserve-container", "-c"])
def test_the_logs_of_earlier_starts_may_be_numbered(tmp_path: Path, container: str) -> None:
    first, second, now = (f"{POD}{container}{number}.log" for number in (".restart0", ".restart1", ""))
    assert roots(tmp_path, {"pods.txt": WORKS, first: BUSY, second: AGAIN_BUSY, now: BATCHES}) == set()


@pytest.mark.parametrize(
    "files",
    [
        {"pods.txt": WORKS, f"{POD}.restart0.log": BUSY, f"{POD}.restart1.log": AGAIN_BUSY, f"{POD}.log": UP},
        {"pods.txt": BACK_OFF, f"{POD}.restart0.log": BUSY, f"{POD}.log": AGAIN_BUSY},
        {"pods.txt": WORKS, f"{POD}.restart0.log": BATCHES, f"{POD}.restart1.log": BUSY.replace(" 22:", " 23:")},
    ],
)
def test_numbered_starts_none_of_which_worked_after_one_that_failed_make_nothing_good(
    tmp_path: Path, files: Mapping[str, str]
) -> None:
    assert roots(tmp_path, files) == {"core-in-use"}


def test_how_the_first_start_ended_is_told_by_kubernetes_too(tmp_path: Path) -> None:
    last = {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": "2026-02-11T22:04:20Z"}}
    state = {"name": "kserve-container", "ready": True, "restartCount": 1, "state": {"running": {}}, "lastState": last}
    status = {"phase": "Running", "containerStatuses": [state]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": POD}, "spec": {"nodeName": "n1"}, "status": status}
    files = {"pod.json": json.dumps(pod, indent=2), "a.txt": log(" --previous", BUSY), "b.txt": log("", UP + ANSWER)}
    assert roots(tmp_path, files) == set()
    state["ready"] = False
    assert roots(tmp_path, {"pod.json": json.dumps(pod, indent=2)}) == {"core-in-use"}


EVICTED = (
    "Warning   Evicted   pod/{pod}   The node was low on resource: memory. Threshold quantity: 100Mi, available: 20Mi."
)
UNPLACED = "Warning   FailedScheduling   pod/{pod}   0/4 nodes are available: 4 Insufficient aws.amazon.com/neuron."


@pytest.mark.parametrize(("event", "found"), [(EVICTED, {"host-oom"}), (UNPLACED, set())])
def test_what_ends_a_pod_that_came_up_is_no_failed_start_of_it(tmp_path: Path, event: str, found: set[str]) -> None:
    events = f"LAST SEEN   TYPE   REASON   OBJECT   MESSAGE\n2m    {event.format(pod=POD)}\n"
    files = {"a.txt": log(" --previous", BUSY), "b.txt": log("", UP + ANSWER), "events.txt": events}
    assert roots(tmp_path, files) == found


@pytest.mark.parametrize(("finished", "found"), [("22:04:20", set()), ("22:44:20", {"host-oom"})])
def test_nor_is_the_end_of_a_later_start_that_got_on(tmp_path: Path, finished: str, found: set[str]) -> None:
    last = {"terminated": {"exitCode": 137, "reason": "OOMKilled", "finishedAt": f"2026-02-11T{finished}Z"}}
    state = {"name": "kserve-container", "ready": True, "restartCount": 2, "state": {"running": {}}, "lastState": last}
    status = {"phase": "Running", "containerStatuses": [state]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": POD}, "spec": {"nodeName": "n1"}, "status": status}
    step = "2026-02-11T22:24:18Z INFO step 10 loss 2.5\n"
    files = {"pod.json": json.dumps(pod, indent=2), "a.txt": log(" --previous", BUSY), "b.txt": log("", UP + step)}
    assert roots(tmp_path, files) == found


# --- pods whose work others did ----------------------------------------------------------------------------------------

STEPS = "2026-02-11 22:24:18 step 10 loss 2.5\n2026-02-11 22:44:18 step 20 loss 2.4\nTraining complete\n"


def pods(**phases: str) -> str:
    rows = "".join(f"{name.replace('_', '-')}   0/1   {phase}   0   3h\n" for name, phase in phases.items())
    return "NAME          READY   STATUS      RESTARTS   AGE\n" + rows


def jobs(state: str = "Complete", name: str = "train", prefix: str = "") -> str:
    return (
        f"NAME      STATUS     COMPLETIONS   DURATION   AGE\n{prefix}{name}     {state}   1/1           40m        3h\n"
    )


EVENTS = (
    "LAST SEEN   TYPE     REASON      OBJECT      MESSAGE\n2m          Normal   Completed   job/train   Job completed\n"
)


@pytest.mark.parametrize(
    ("kubectl", "found"),
    [
        ([pods(train_x7k2p="Error", train_p2k7x="Completed"), jobs()], set()),
        ([pods(train_x7k2p="Error", train_p2k7x="Completed"), jobs(prefix="job.batch/")], set()),
        ([pods(train_x7k2p="Error", train_p2k7x="Completed"), EVENTS], set()),
        # the Job has failed, is of others, or is not shown
        ([pods(train_x7k2p="Error", train_p2k7x="Completed"), jobs("Failed")], {"core-in-use"}),
        ([pods(train_x7k2p="Error", train_p2k7x="Completed"), jobs(name="other")], {"core-in-use"}),
        ([pods(train_x7k2p="Error", train_p2k7x="Completed")], {"core-in-use"}),
        # no pod of it has succeeded
        ([pods(train_x7k2p="Error", train_p2k7x="Error"), jobs("Failed")], {"core-in-use"}),
        ([pods(train_x7k2p="Error", train_p2k7x="Running"), jobs("Running")], {"core-in-use"}),
        # a part of the job, not another attempt
        ([pods(train_x7k2p="Error", train_eval_p2k7x="Completed"), jobs(name="train-eval")], {"core-in-use"}),
    ],
)
def test_a_pod_of_a_job_that_is_complete_was_replaced(tmp_path: Path, kubectl: Sequence[str], found: set[str]) -> None:
    files = {f"kubectl_{number}.txt": text for number, text in enumerate(kubectl)}
    logs = {"train-x7k2p.log": BUSY, "train-p2k7x.log": STEPS}
    assert roots(tmp_path, files | logs) == found


@pytest.mark.parametrize(
    ("phases", "found"),
    [
        ({"f6e3a1b2c3d4e5f6-n0-0": "Error", "f6e3a1b2c3d4e5f6-n0-1": "Completed"}, set()),
        ({"f6e3a1b2c3d4e5f6-n0-0": "Error", "f6e3a1b2c3d4e5f6-n0-1": "Error"}, {"core-in-use"}),
        ({"f6e3a1b2c3d4e5f6-n0-0": "Error", "f6e3a1b2c3d4e5f6-n1-1": "Completed"}, {"core-in-use"}),  # another step
        (
            {"f6e3a1b2c3d4e5f6-n0-0": "Error", "a6e3a1b2c3d4e5f6-n0-1": "Completed"},
            {"core-in-use"},
        ),  # another execution
        ({"train-worker-0": "Error", "train-worker-1": "Completed"}, {"core-in-use"}),  # another worker
    ],
)
def test_a_pod_of_flyte_is_an_attempt_of_its_step(tmp_path: Path, phases: Mapping[str, str], found: set[str]) -> None:
    first, second = phases
    files = {"pods.txt": pods(**phases), f"{first}.log": BUSY, f"{second}.log": STEPS}
    assert roots(tmp_path, files) == found


# --- SageMaker -------------------------------------------------------------------------------------------------------

TAKEN = "2025-Aug-14 10:11:25.0093 400:600 [0] include/socket.h:613 CCOM WARN RX, connection closed by remote peer\n"
WELL = "2025-08-14 12:10:49,122 sagemaker-training-toolkit INFO     Reporting training SUCCESS\n"
STEPS = "".join(f"{{'loss': 2.{9 - n}, 'learning_rate': 0.0003, 'epoch': 0.{n}}}\n" for n in range(1, 9))


def of_sagemaker(*logs: tuple[int, int, str]) -> dict[str, str]:
    """The logs of nodes, with the second in which each was begun."""
    return {f"streams/distil-3_algo-{node}-{second}.log": text for node, second, text in logs}


def test_what_broke_off_before_sagemaker_started_a_job_anew_is_no_failure_if_all_its_nodes_ended_well(
    tmp_path: Path,
) -> None:
    first = ((1, 1755161530, STEPS + RAISED), (2, 1755161531, STEPS + TAKEN))
    anew = ((1, 1755166812, STEPS + WELL), (2, 1755166812, STEPS + WELL))
    assert roots(tmp_path, of_sagemaker(*first, *anew)) == set()


@pytest.mark.parametrize(
    "anew",
    [
        ((1, 1755166812, STEPS + WELL), (2, 1755166812, STEPS)),  # one node may still run
        ((1, 1755166812, STEPS + WELL),),  # the second node was not started anew, as far as one sees
        ((1, 1755151530, STEPS + WELL), (2, 1755151531, STEPS + WELL)),  # it had ended well before
    ],
)
def test_it_is_one_if_the_last_log_of_a_node_does_not_say_so(
    tmp_path: Path, anew: tuple[tuple[int, int, str], ...]
) -> None:
    first = ((1, 1755161530, STEPS + RAISED), (2, 1755161531, STEPS + TAKEN))
    assert roots(tmp_path, of_sagemaker(*first, *anew)) == {"application-exception"}


def test_a_device_that_broke_before_is_one_all_the_same(tmp_path: Path) -> None:
    first = ((1, 1755161530, STEPS + BROKEN), (2, 1755161531, STEPS + TAKEN))
    anew = ((1, 1755166812, STEPS + WELL), (2, 1755166812, STEPS + WELL))
    assert roots(tmp_path, of_sagemaker(*first, *anew)) == {"hw-hbm-ue"}
