"""What AWS says of instances: the status of EC2 as text and by queries, events of AWS Health, nodes of HyperPod."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builtin_rules import rulebook
from cluster_captures import EC2_STATUS, HEALTH, HYPERPOD
from snapshot_inputs import by_kind, claimed_by, facts_of, one, read

from neuron_doctor.collectors.shown_tables import shown_tables
from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

BAD, GOOD = "i-0592464924bd45322", "i-0aaaaaaaaaaaaaaaa"
QUERY = "$ aws ec2 describe-instance-status --query 'InstanceStatuses[].{}'"
TABLE = f"""-----------------------------------------------------------------
|                    DescribeInstanceStatus                     |
+----------------------+-----------+-----------+----------------------+
|  {BAD} |  impaired |  impaired |  instance-retirement |
+----------------------+-----------+-----------+----------------------+
"""
LISTED = "[InstanceId,SystemStatus.Status,InstanceStatus.Status,Events[0].Code]"


def conditions(text: str) -> list[tuple[str | None, object, object]]:
    found = by_kind(facts_of(text, "shown.txt"))["node-condition"]
    return sorted((fact.place.instance_id, fact.data["type"], fact.data["status"]) for fact in found)


BOTH = [(BAD, "ec2-event", "instance-retirement"), (BAD, "ec2-system-status", "impaired")]


@pytest.mark.parametrize(
    "text",
    [
        EC2_STATUS,
        f"{QUERY.format(LISTED)} --output text\n{GOOD}\tok\tok\tNone\n{BAD}\timpaired\timpaired\tinstance-retirement\n",
        f"{QUERY.format(LISTED)} --output table\n{TABLE}",
        f"{QUERY.format(LISTED)}\n"
        + json.dumps([[GOOD, "ok", "ok", None], [BAD, "impaired", "impaired", "instance-retirement"]], indent=4)
        + "\n",
        QUERY.format("{Id:InstanceId,System:SystemStatus.Status,Event:Events[0].Code}")
        + f'\n[{{"Id": "{BAD}", "System": "impaired", "Event": "instance-retirement"}}]\n',
    ],
)
def test_who_is_impaired_and_to_be_retired(text: str) -> None:
    assert conditions(text) == BOTH


@pytest.mark.parametrize(
    "text",
    [
        f"{QUERY.format(LISTED)} --output text\n{GOOD}\tok\tok\tNone\n",
        f"{QUERY.format(LISTED)} --output text\n{BAD}\tok\timpaired\tNone\n",
        f"{QUERY.format('[InstanceId,Events[0].Description]')} --output text\n{BAD}\t[Completed] instance-retirement\n",
        EC2_STATUS.replace("The instance", "[Canceled] The instance").replace("impaired", "ok"),
    ],
)
def test_what_is_well_or_over_tells_nothing(text: str) -> None:
    assert conditions(text) == []


def test_an_event_of_health_and_its_entities() -> None:
    code = "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED"
    assert conditions(HEALTH) == [(BAD, "health-scheduled", code)]
    several = "".join(json.dumps(json.loads(HEALTH.replace(BAD, name))) + "\n" for name in (BAD, GOOD))
    assert [name for name, *_ in conditions(several)] == [BAD, GOOD]
    entity = {
        "entityValue": BAD,
        "eventArn": f"arn:aws:health:us-west-2::event/EC2/{code}/{code}_1",
        "statusCode": "IMPAIRED",
    }
    shown = "$ aws health describe-affected-entities --filter eventArns=x\n"
    assert conditions(shown + json.dumps({"entities": [entity]}, indent=2)) == [(BAD, "health-scheduled", code)]
    for status in ("RESOLVED", "PENDING"):
        assert conditions(json.dumps({"entities": [{**entity, "statusCode": status}]})) == []


@pytest.mark.parametrize(
    "change",
    [
        ("open", "closed"),
        ("open", "upcoming"),  # it has not begun: nothing of the job can have failed of it
        ("26 May 2026", "9 Jun 2026"),
        ("PENDING", "RESOLVED"),
        ("AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED", "AWS_EC2_OPERATIONAL_ISSUE"),
        ("AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED", "AWS_EC2_INSTANCE_NETWORK_MAINTENANCE_SCHEDULED"),
    ],
)
def test_an_event_that_is_over_or_of_no_instance(change: tuple[str, str]) -> None:
    assert conditions(HEALTH.replace(*change)) == []


def test_a_cut_event_is_a_problem() -> None:
    facts, inp = read(json.dumps(json.loads(HEALTH)) + "\n" + HEALTH[:-90], "shown.txt")
    assert len(facts) == 1
    assert inp.problems


def test_a_node_of_hyperpod_with_its_names() -> None:
    facts = facts_of(HYPERPOD, "node.json")
    failed = one(facts, "node-condition")
    assert (failed.place.host, failed.data["status"], failed.data["healthy"]) == ("ip-10-0-3-7", "Failure", False)
    assert one(facts, "identity").data["address"] == "10.0.3.7"
    assert conditions(HYPERPOD.replace("Failure", "Running")) == []


def test_rows_of_a_query_for_nodes() -> None:
    query = "$ aws sagemaker list-cluster-nodes --cluster-name c "
    query += "--query 'ClusterNodeSummaries[].[InstanceId,InstanceStatus.Status]'"
    assert conditions(f"{query} --output text\n{GOOD}\tRunning\n{BAD}\tFailure\n") == [
        (BAD, "hyperpod-instance", "Failure")
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"{EC2_STATUS}2026-05-26 10:00:00 INFO step 3\n",
        '{"level": "info", "source": "aws.health", "msg": "AWS_EC2_OPERATIONAL_ISSUE"}\nstep 3 loss 2.1\n',
        f"$ aws ec2 describe-instances --query 'Reservations[].Instances[].[InstanceId]' --output text\n{BAD}\n",
    ],
)
def test_what_is_no_such_output_is_left_to_others(text: str) -> None:
    assert claimed_by(text.encode()) == []


def test_between_other_commands_of_a_terminal() -> None:
    text = f"$ uptime\n 11:00 up 3 days\n$ aws health describe-affected-entities\n{json.dumps(json.loads(HEALTH))}\n$ date\n"
    assert [member.name for member in shown_tables(text.encode())] == ["aws.txt"]


UE = "2026-May-26 10:00:01.123456 30294:32381 ERROR  TDRV:exec_consume_tpb_status_notifications   [ND 3][NC 1] "
UE += "Uncorrectable HBM memory error is detected. Please terminate or stop/start this instance to recover from bad hardware.\n"
LOST = "2026-May-26 10:00:01.0101 3310:3477 [0] include/socket.h:541 CCOM WARN RX, connection closed by remote peer\n"


@pytest.mark.parametrize(("log", "cause"), [(UE, "hw-hbm-ue"), (LOST, "node-lost")])
@pytest.mark.parametrize("listing", [HEALTH, EC2_STATUS])
def test_an_instance_of_the_account_is_the_root_only_where_nothing_of_the_job_is(
    tmp_path: Path, log: str, cause: str, listing: str
) -> None:
    (tmp_path / "listing.txt").write_text(listing)
    (tmp_path / "ip-10-0-3-7.log").write_text(log)
    found = diagnose(rulebook(), collect(Request((str(tmp_path),)), rulebook()))
    assert {one.cause for one in found.findings if one.id in found.root_causes} == {cause}


HBM = "[40041.120334] neuron: NEURON_HW_ERR=HBM_UNCORRECTABLE_ERROR instance-id=i-0aa hostname=ip-10-0-3-7 nd-id=9 nc-id=0 "
HBM += "serial-num=00\n"
OF_NODES = "$ aws sagemaker list-cluster-nodes --cluster-name c --query "
OF_NODES += "'ClusterNodeSummaries[].[InstanceId,InstanceStatus.Status]'"


@pytest.mark.parametrize(
    "first",
    [
        f"{QUERY.format(LISTED)} --output text\n{GOOD} ok\n",
        f"{OF_NODES} --output text\n{GOOD}\tRunning\n",
        "$ kubectl get pods -o jsonpath='{range .items[*]}{..terminated.reason}{end}'\nsft-w-0\tCompleted\t0\n",
        "$ docker inspect -f '{{.State.ExitCode}}' sft-node0\n0\n",
    ],
)
def test_what_stands_below_the_next_command_is_not_lost(tmp_path: Path, first: str) -> None:
    text = f"{first}$ ssh ip-10-0-3-7 sudo dmesg | grep NEURON\n{HBM}"
    assert claimed_by(text.encode()) == []
    (tmp_path / "shown.txt").write_text(text)
    found = diagnose(rulebook(), collect(Request((str(tmp_path),)), rulebook()))
    assert {one.cause for one in found.findings if one.id in found.root_causes} == {"hw-hbm-ue"}


STATUS = {"InstanceId": BAD, "SystemStatus": {"Status": "impaired"}, "Events": [{"Code": "instance-retirement"}]}
NODE = {"InstanceId": BAD, "InstanceStatus": {"Status": "Failure"}}


@pytest.mark.parametrize(
    "text",
    [
        f"$ aws ec2 describe-instance-status --query 'InstanceStatuses[]'\n{json.dumps([STATUS], indent=4)}\n",
        f"$ aws ec2 describe-instance-status --query 'InstanceStatuses[?x]'\n{json.dumps([STATUS])}\n",
        f"$ aws ec2 describe-instance-status --query 'InstanceStatuses[0]'\n{json.dumps(STATUS)}\n",
        f"{QUERY.format('[InstanceId,Events[0]]')}\n{json.dumps([[BAD, STATUS['Events']]], indent=4)}\n",
        f"$ aws sagemaker list-cluster-nodes --query 'ClusterNodeSummaries[]'\n{json.dumps([NODE], indent=4)}\n",
        f"$ aws sagemaker list-cluster-nodes --query 'ClusterNodeSummaries[0]'\n{json.dumps(NODE)}\n",
    ],
)
def test_objects_as_a_whole_are_left_to_the_text(text: str) -> None:
    assert not {"ec2", "hyperpod"} & set(claimed_by(text.encode()))


def test_what_is_scheduled_for_later_counts_with_an_impairment_only() -> None:
    later = EC2_STATUS.replace("instance-retirement", "system-reboot")
    assert conditions(later.replace("impaired", "ok")) == []
    assert conditions(later) == [(BAD, "ec2-event", "system-reboot"), (BAD, "ec2-system-status", "impaired")]
    row = f"{QUERY.format(LISTED)} --output text\n{BAD}\tok\tok\tinstance-stop\n"
    assert conditions(row) == []
    assert conditions(row.replace("ok\tok", "ok\timpaired")) == [(BAD, "ec2-event", "instance-stop")]


def test_a_node_that_is_to_be_replaced_later_is_no_root(tmp_path: Path) -> None:
    (tmp_path / "listing.txt").write_text(HEALTH.replace('"open"', '"upcoming"'))
    found = diagnose(rulebook(), collect(Request((str(tmp_path),)), rulebook()))
    assert found.root_causes == ()


@pytest.mark.parametrize(("hosts", "roots"), [([GOOD, "i-0bbbbbbbbbbbbbbb2"], set()), ([GOOD, "trn-b"], {"node-lost"})])
def test_an_impaired_instance_is_none_of_a_job_of_which_all_instances_are_known(
    tmp_path: Path, hosts: list[str], roots: set[str]
) -> None:
    (tmp_path / "status.json").write_text(json.dumps({"InstanceStatuses": [STATUS]}, indent=1))
    for rank, host in enumerate(hosts):
        (tmp_path / host).mkdir()
        steps = "".join(
            f"2026-05-26 10:0{step}:00,000 INFO [rank{rank}] step {step}/500 loss=2.3\n" for step in range(9)
        )
        (tmp_path / host / f"rank{rank}.log").write_text(steps)
    found = diagnose(rulebook(), collect(Request((str(tmp_path),)), rulebook()))
    assert {one.cause for one in found.findings if one.id in found.root_causes} == roots
