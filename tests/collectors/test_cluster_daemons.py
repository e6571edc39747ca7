"""The lists that ParallelCluster's daemon prints."""

from __future__ import annotations

import pytest

from neuron_doctor.collectors.cluster_daemons import instances_text

GIVEN = (
    "[\"('q-st-trn2-1', EC2Instance(id='i-0e44d1b9c0f7a2361', private_ip='10.5.1.76', hostname='ip-10-5-1-76', "
    "all_private_ips={'10.5.1.76'}))\", \"('q-st-trn2-2', EC2Instance(id='i-0777c3e9e1b2d5f40', private_ip='10.5.1.77'))\"]"
)


@pytest.mark.parametrize(
    ("said", "read"),
    [
        (GIVEN, "q-st-trn2-1=i-0e44d1b9c0f7a2361,q-st-trn2-2=i-0777c3e9e1b2d5f40"),
        ("['i-0aa21f6633de09b18', 'i-0aa21f6633de09b19']", "i-0aa21f6633de09b18,i-0aa21f6633de09b19"),
        ("[]", ""),
    ],
)
def test_instances_are_read_with_their_nodes(said: str, read: str) -> None:
    assert instances_text(said) == read
