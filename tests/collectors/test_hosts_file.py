"""A copy of /etc/hosts says which address and which names are one machine's."""

from __future__ import annotations

import pytest
from snapshot_inputs import by_kind, facts_of

from neuron_doctor.collectors.hosts_file import COLLECTORS
from neuron_doctor.engine.facts import NOWHERE, Place

TEXT = """127.0.0.1 localhost
# the cluster
10.67.132.110   tundra  tundra.lab
10.67.132.117 steppe # new
::1     ip6-localhost ip6-loopback
ff02::1 ip6-allnodes
"""


@pytest.mark.parametrize("path", ["hosts", "n7/etc/hosts", "etc_hosts.txt", "hosts.n7.txt"])
def test_each_name_of_a_machines_address_is_that_machines(path: str) -> None:
    told = by_kind(facts_of(TEXT, path, Place(host="n7")))["identity"]
    assert {(fact.data["hostname"], fact.data["address"]) for fact in told} == {
        ("tundra", "10.67.132.110"),
        ("tundra.lab", "10.67.132.110"),
        ("steppe", "10.67.132.117"),
    }
    assert {fact.place for fact in told} == {NOWHERE}, "it tells of others than the host on which it lies"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("notes.txt", TEXT),
        ("hosts", "n1\nn2\n"),
        ("hosts", "10.1.2.3 n1 is down\n[all]\nn2 ansible_host=10.1.2.4\n"),
        ("hosts", ""),
    ],
)
def test_other_lists_are_none(path: str, text: str) -> None:
    assert not COLLECTORS[0].sniff(text.encode(), path)


TABLE = """node,private_ip,instance_id,az
n-a1,10.9.3.40,i-0a91be7732c0d1141,us-west-2d
n-a2,10.9.3.41,i-0b02f9a8ee1d79c02,us-west-2d
"""
TITLED = TABLE.replace("node,private_ip", "Host Name,Private IP Address")


@pytest.mark.parametrize(
    "text", [TABLE, TABLE.replace(",", "\t"), TABLE.replace("node,private_ip", "Host Name,Private IP Address")]
)
def test_a_table_of_machines_tells_the_instance_and_the_address_of_each(text: str) -> None:
    told = by_kind(facts_of(text, "what-we-run.csv"))["identity"]
    assert [dict(fact.data) for fact in told] == [
        {"hostname": "n-a1", "address": "10.9.3.40", "instance_id": "i-0a91be7732c0d1141"},
        {"hostname": "n-a2", "address": "10.9.3.41", "instance_id": "i-0b02f9a8ee1d79c02"},
    ]


@pytest.mark.parametrize(
    "text",
    [
        TABLE.partition("\n")[0] + "\n",
        TABLE.replace("i-0b02f9a8ee1d79c02", "gone"),
        "time,instance_id,loss\n1,i-0a91be7732c0d1141,2.0\n",
        "node,instance_id\n10.9.3.40,i-0a91be7732c0d1141\n",
    ],
)
def test_other_tables_are_none(text: str) -> None:
    assert not COLLECTORS[0].sniff(text.encode(), "x.csv")
