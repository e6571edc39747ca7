"""A worker that Ray labels with the address of its pod is on the node that it names itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_doctor import diagnose

NODE = "ip-10-60-1-77.ec2.internal"
LABEL = "(ServeReplica:llama70b:LLMDeployment pid=5100, ip=10.60.1.99) "
FAILED = (
    f"{LABEL}2026-Aug-27 16:20:44.501000  5100:5100  ERROR  TDRV:tdrv_init_wait_ncs_ready   Failed to reset nd 6 nc_map 0xff "
    "timeout (result=-110)\n"
)
KERNEL = f"2026-08-27T16:20:28+0000 {NODE} kernel: neuron:nr_wait: nd6: reset request 51 was initiated, but failed to complete\n"


def hosts(folder: Path, said: str) -> set[str | None]:
    (folder / "serve.log").write_text(f"{LABEL}INFO 08-27 16:20:30 [worker.py:88] {said}\n{FAILED}")
    (folder / f"{NODE}.txt").write_text(KERNEL)
    found = diagnose([str(folder)])
    return {finding.place.host for finding in found.findings if finding.id in found.root_causes}


@pytest.mark.parametrize(
    "said",
    [f"Neuron worker init, cores 0-31, node {NODE}", f"worker started on node {NODE}", f"Worker running on {NODE}"],
)
def test_it_is_on_the_node_on_which_it_says_it_begins(tmp_path: Path, said: str) -> None:
    assert (hosts(tmp_path, said) == {NODE}) == ("node" in said)


def test_a_node_that_it_only_speaks_of_is_not_its_own(tmp_path: Path) -> None:
    assert "10.60.1.99" in hosts(tmp_path, f"Neuron worker init, connecting to node {NODE}")
