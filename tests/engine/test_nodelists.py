"""Lists of nodes as PBS writes them; those of Slurm and LSF are tested where files are placed by them."""

from __future__ import annotations

import pytest

from neuron_doctor.engine.nodelists import nodes_of


@pytest.mark.parametrize(
    ("listed", "nodes"),
    [
        ("n01/0*192+n02/0*192", ["n01", "n02"]),
        ("n1/0+n1/1+n2/0", ["n1", "n2"]),
        ("n1/0*2", ["n1"]),
        ("n1/0*2+...", []),
        ("/home/n1", []),
    ],
)
def test_hosts_of_pbs_with_their_slots(listed: str, nodes: list[str]) -> None:
    assert nodes_of(listed) == nodes
