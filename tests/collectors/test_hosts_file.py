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


def test_what_every_machine_has_names_none() -> None:
    text = """127.0.1.1 steppe
172.17.0.2 3f2a9c0d1e4b
172.17.0.1 bridge
fe00::0 ip6-localnet
ff02::2 ip6-allrouters
10.0.0.9 host.docker.internal gateway
10.0.0.10 ip6-allnodes
"""
    assert {fact.data["hostname"] for fact in facts_of(text, "hosts")} == {"gateway"}


def test_a_name_that_two_addresses_have_is_of_neither() -> None:
    text = "10.0.0.1 n1 head\n10.0.0.2 n2 head\nfd00::2 n2\n"
    assert {(f.data["hostname"], f.data["address"]) for f in facts_of(text, "hosts")} == {
        ("n1", "10.0.0.1"),
        ("n2", "10.0.0.2"),
        ("n2", "fd00::2"),
    }
