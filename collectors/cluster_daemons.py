"""The instances in a line of ParallelCluster's daemon, as `node=instance` where a node is given one, else as the instances alone.

Source: aws-parallelcluster-node 2.11 to 3.13 (slurm_plugin/instance_manager.py), which prints lists of Python.
"""

from __future__ import annotations

from neuron_doctor.engine.regexes import regex

_PAIR = regex(r"\('(?P<node>[\w.-]{1,253})', EC2Instance\(id='(?P<id>i-[\da-f]{8,17})'")
_ID = regex(r"i-[\da-f]{8,17}")


def instances_text(said: str) -> str:
    """The pairs of nodes and instances, or the instances, with commas between them."""
    pairs = [f"{pair['node']}={pair['id']}" for pair in _PAIR.finditer(said)]
    return ",".join(pairs or _ID.findall(said))
