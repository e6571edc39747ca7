"""Which lists tell what one machine is called, and which tables only look like one."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from snapshot_inputs import as_input, check

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.machine_lists import machine_facts, machine_lists_collector
from neuron_doctor.engine.facts import NOWHERE, Fact, Span

A, B = "i-0a91be7732c0d1141", "i-0b02f9a8ee1d79c02"


def as_text(inp: Input) -> Iterator[Fact]:
    """One fact, of all that is there."""
    yield Fact("log", {}, NOWHERE, Span(inp.path, text=inp.stream.read().decode()), "source")


READER = machine_lists_collector(Collector("log", "text", lambda _head, _name: True, as_text))


def told(text: str) -> list[dict[str, object]]:
    """What each fact says, where the list is known for one."""
    data = text.encode()
    if not READER.sniff(data, "x"):
        return []
    facts = list(machine_facts(as_input(data), data))
    for fact in facts:
        check(fact, data, "log")
        assert fact.place == NOWHERE
        assert fact.data["listed"] is True
    return [{key: value for key, value in fact.data.items() if key != "listed"} for fact in facts]


TABLE = f"""node,private_ip,instance_id,az
n-a1,10.9.3.40,{A},us-west-2d
n-a2,10.9.3.41,{B},us-west-2d
"""
BOTH = [
    {"hostname": "n-a1", "address": "10.9.3.40", "instance_id": A},
    {"hostname": "n-a2", "address": "10.9.3.41", "instance_id": B},
]


@pytest.mark.parametrize(
    "text", [TABLE, TABLE.replace(",", "\t"), TABLE.replace("node,private_ip", "Host Name,Private IP Address")]
)
def test_a_table_of_machines_tells_the_instance_and_the_address_of_each(text: str) -> None:
    assert told(text) == BOTH


@pytest.mark.parametrize(
    "text",
    [
        TABLE.partition("\n")[0] + "\n",
        TABLE.replace(B, "gone"),
        TABLE.replace(B, A),  # a log of machines, not a list of them
        f"time,instance_id,loss\n1,{A},2.0\n",
        f"node,instance_id\n10.9.3.40,{A}\n",
        f"lost {A}\n",
        f"2026-03-14 12:00:00  {A}  is gone\n2026-03-14 12:00:00  {B}  is gone\n",
        "",
    ],
)
def test_other_tables_are_none(text: str) -> None:
    assert told(text) == []


def test_a_list_with_messages_is_read_as_text_too() -> None:
    text = f"node,instance_id,message\nn-a1,{A},Host EC2 terminated\n"
    inp = as_input(text.encode())
    read, machine = READER.collect(inp)
    assert (read.span.text, machine.data["hostname"], inp.kind) == (text, "n-a1", "hosts-file")


def test_a_number_in_a_job_is_no_name_and_a_private_name_is_one() -> None:
    text = f"node,instance,private_dns\n0,{A},ip-172-31-12-40.ec2.internal\n1,{B},ip-172-31-12-41.ec2.internal\n"
    assert [one["hostname"] for one in told(text)] == ["ip-172-31-12-40.ec2.internal", "ip-172-31-12-41.ec2.internal"]


def instance(id_: str, number: int, name: str) -> dict[str, object]:
    return {
        "Architecture": "x86_64",
        "NetworkInterfaces": [{"PrivateDnsName": "ip-10-9-9-9.ec2.internal", "Groups": [{"GroupId": "sg-0a"}]}],
        "Tags": [{"Key": "team", "Value": "nlp"}, {"Key": "Name", "Value": name}],
        "InstanceId": id_,
        "PrivateDnsName": f"ip-10-9-3-{number}.ec2.internal",
        "PrivateIpAddress": f"10.9.3.{number}",
    }


def reservations(*instances: dict[str, object]) -> dict[str, object]:
    return {"Reservations": [{"Groups": [], "Instances": [one]} for one in instances]}


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_ec2_tells_names_and_address_of_an_instance(indent: int | None) -> None:
    text = json.dumps(reservations(instance(A, 40, "n-a1"), instance(B, 41, "n-a2")), indent=indent)
    for shown in (text, f"$ aws ec2 describe-instances --output json\n{text}\n"):
        assert told(shown)[:2] == [
            {"hostname": "ip-10-9-3-40.ec2.internal", "address": "10.9.3.40", "instance_id": A},
            {"hostname": "n-a1", "instance_id": A},
        ]
        assert len(told(shown)) == 4


def test_a_tag_that_two_instances_have_names_neither() -> None:
    text = json.dumps(reservations(instance(A, 40, "trn"), instance(B, 41, "trn")))
    assert "trn" not in {one.get("hostname") for one in told(text)}


@pytest.mark.parametrize("tag", ["train", "gpu-worker", "subnet-0c55e1aa", "my box", ""])
def test_a_tag_that_is_a_mere_word_or_an_id_names_none(tag: str) -> None:
    assert len(told(json.dumps(reservations(instance(A, 40, tag))))) == 1


def test_what_stands_before_a_cut_is_told() -> None:
    text = json.dumps(reservations(instance(A, 40, "n-a1"), instance(B, 41, "n-a2")))
    assert {one["instance_id"] for one in told(text[: text.index(B)])} == {A}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([[{"Name": "n-a1", "InstanceId": A, "PrivateIpAddress": "10.9.3.40"}]], indent=2),
        json.dumps({"InstanceInformationList": [{"InstanceId": A, "IPAddress": "10.9.3.40", "ComputerName": "n-a1"}]}),
        f"InstanceId            Name   PrivateIp    State\n{A}   n-a1   10.9.3.40    running\n",
        f"-----\n|  DescribeInstances  |\n+-----+----+\n| InstanceId | Name | PrivateIp |\n+----+\n| {A} | n-a1 | 10.9.3.40 |\n",
    ],
)
def test_so_does_what_a_query_leaves_of_it(text: str) -> None:
    assert told(text) == BOTH[:1]


@pytest.mark.parametrize("more", ["", "\tusw2-az1\tsubnet-0c55e1aa\t2025-06-02T07:11:40+00:00"])
def test_without_titles_names_are_what_differs_in_its_number_alone(more: str) -> None:
    rows = [f"n-a1\t{A}\t10.9.3.40{more}", f"n-a2\t{B}\t10.9.3.41{more.replace('az1', 'az2')}"]
    assert told("\n".join(rows)) == BOTH
    unnamed = [{key: one[key] for key in ("address", "instance_id")} for one in BOTH]
    assert told("\n".join(rows).replace("n-a1", "kestrel")) == unnamed


@pytest.mark.parametrize(
    "data",
    [
        b'{"Reservations": []}',
        b'{"Reservations": 7, "InstanceId": "i-0a91be7732c0d1141"',
        b'[{"InstanceId": 7, "x": "i-0a91be77"}]',
        b"\x00\x01i-0a91be77",
        f'{{"InstanceId": "{A}", "msg": "x"}}\n{{"InstanceId": "{A}", "msg": "y"}}\n'.encode(),
    ],
)
def test_other_documents_tell_nothing(data: bytes) -> None:
    assert list(machine_facts(as_input(data), data)) == []
