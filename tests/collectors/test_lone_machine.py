"""What was taken of a machine without saying which is of the only one that anything speaks of, if there is no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

JOURNAL = (
    "2026-10-08T05:59:43+0000 serve-3 systemd[1]: Started vllm-neuron.service.\n"
    "2026-10-08T06:00:04+0000 serve-3 vllm[88120]: 2026-Oct-08 06:00:04.100000 88142:88142 ERROR   NRT:nrt_allocate_neuron_cores "
    "NeuronCore(s) not available - Requested:32 Available:2\n"
)
DMESG = "[    6.102200] neuron:neuron_module_init: Neuron Driver Started with Version:2.26.10.0-0\n"


def host_of_kernel_log(folder: Path, files: dict[str, str]) -> str | None:
    for name, text in {"dmesg.txt": DMESG, **files}.items():
        (folder / name).write_text(text)
    [source] = [s for s in collect(Request((str(folder),)), rulebook()).sources if s.path.endswith("dmesg.txt")]
    return source.place.host


@pytest.mark.parametrize("files", [{"journal.log": JOURNAL}, {"hostname": "serve-3\n"}])
def test_a_machine_that_names_itself_has_what_lies_beside_it(tmp_path: Path, files: dict[str, str]) -> None:
    assert host_of_kernel_log(tmp_path, files) == "serve-3"


@pytest.mark.parametrize(
    "more",
    [
        {"sacct.txt": "JobID|JobName|State|ExitCode|NodeList\n7|train|FAILED|1:0|serve-[3-4]\n"},
        {"sacct.txt": "JobID|JobName|State|ExitCode\n7|train|FAILED|1:0\n"},  # on how many nodes is not said
        {"env.txt": "SLURM_NNODES=2\nSLURM_JOB_ID=7\nNEURON_RT_LOG_LEVEL=INFO\n"},
        {"env.txt": "MASTER_ADDR=10.2.0.9\nMASTER_PORT=29500\nNEURON_RT_LOG_LEVEL=INFO\n"},
        {"job.log": "srun: error: serve-4: task 12: Exited with exit code 1\n"},
        {"rank_200.log": "2026-10-08 06:00:04 step 10 loss 2.1\n"},
        {"other.txt": DMESG.replace("6.1", "7.1")},
        {"pods.txt": "NAME   READY   STATUS    RESTARTS   AGE\nw-0    1/1     Running   0          118m\n"},
    ],
)
def test_where_anything_speaks_of_a_further_machine_nobody_has_it(tmp_path: Path, more: dict[str, str]) -> None:
    assert host_of_kernel_log(tmp_path, {"journal.log": JOURNAL, **more}) is None


def test_a_host_that_a_launcher_names_does_not_name_itself(tmp_path: Path) -> None:
    said = "srun: error: serve-3: task 0: Exited with exit code 1\n"
    assert host_of_kernel_log(tmp_path, {"job.log": said}) is None
