"""A status that an exception of another process tells is of that process."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_doctor import diagnose

LOAD = (
    "(RayWorkerWrapper pid=834, ip=10.30.5.44) 2026-Nov-03 10:18:06.031000   834:865   ERROR  NMGR:dlr_kelf_stage   NEFF version "
    "2.0 uses unsupported features: [0x100000]. Neuron Runtime NEFF supported features map: [0x1ff].\n"
    "(RayWorkerWrapper pid=834, ip=10.30.5.44) 2026-Nov-03 10:18:06.041000   834:865   ERROR  NMGR:kmgr_load_nn_post_metrics   "
    "Failed to load NN: /models/m.neff, err: 10\n"
    "(RayWorkerWrapper pid=800, ip=10.30.4.90) 2026-Nov-03 10:18:22.003100   800:850 INFO NRT:nrt_init Neuron Runtime 2.35.30\n"
)
HEAD = "ERROR 11-03 10:18:31 [core.py:586] "
PASSED_ON = (
    f"{HEAD}ray.exceptions.RayTaskError(RuntimeError): ray::RayWorkerWrapper.execute_method() "
    "(pid={pid}, ip={ip}, actor_id=d85c52)\n"
    f"{HEAD}RuntimeError: Could not load the model status=10 message=Unsupported NEFF Version\n"
)
PODS = (
    "NAME             READY   STATUS    RESTARTS   AGE   IP            NODE           NOMINATED NODE   READINESS GATES\n"
    "llm-head-7xk2p   0/1     Running   0          41m   10.30.4.90    ip-10-30-4-17  <none>           <none>\n"
    "llm-work-b8wwq   1/1     Running   0          41m   10.30.5.44    ip-10-30-5-12  <none>           <none>\n"
)


@pytest.mark.parametrize(
    ("pid", "ip", "hosts"),
    [(834, "10.30.5.44", {"ip-10-30-5-12"}), (800, "10.30.4.90", {"ip-10-30-4-17", "ip-10-30-5-12"})],
)
def test_a_status_that_the_head_passes_on_is_of_the_worker(tmp_path: Path, pid: int, ip: str, hosts: set[str]) -> None:
    (tmp_path / "llm-head-7xk2p_previous.log").write_text(LOAD + PASSED_ON.format(pid=pid, ip=ip))
    (tmp_path / "pods.txt").write_text(PODS)
    found = diagnose([str(tmp_path)])
    roots = [f for f in found.findings if f.id in found.root_causes]
    assert {root.cause for root in roots} == {"neff-version-mismatch"}
    assert {root.place.host for root in roots} == hosts
