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

LISTING = (
    "instance-type: trn1.32xlarge\ninstance-id: i-08a5ce67d29633248\n"
    "+--------+--------+--------+---------------+\n| NEURON | NEURON | NEURON |      PCI      |\n"
    "| DEVICE | CORES  | MEMORY |      BDF      |\n+--------+--------+--------+---------------+\n"
    + "".join(f"| {n:<6} | 2      | 32 GB  | 0000:{n + 16:x}:1e.0  |\n" for n in range(15))
    + "+--------+--------+--------+---------------+\n"
)
LSMOD = "Module                  Size  Used by\nneuron                385024  0\nefa                   114688  0\n"
MODINFO = "filename:       /lib/modules/6.8.0/updates/dkms/neuron.ko\nversion:        2.26.10.0\nlicense:        GPL\n"


def host_of_kernel_log(folder: Path, files: dict[str, str]) -> str | None:
    for name, text in {"dmesg.txt": DMESG, **files}.items():
        (folder / name).parent.mkdir(exist_ok=True)
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
        {"out/x_ip-10-0-0-9_trial.out": "step 1\n"},
        {"env.txt": "MASTER_ADDR=10.2.0.9\nMASTER_PORT=29500\nNEURON_RT_LOG_LEVEL=INFO\n"},
        {"job.log": "+ torchrun --nnodes=2 --nproc_per_node=32 train.py\n"},
        {"job.log": '  args: ["--nnodes", "1:4", "train.py"]\n'},
        {"job.log": "#SBATCH --nodes=4\n2026-10-08 06:00:04 step 10 loss 2.1\n"},
        {
            "job.log": "INFO: Starting elastic_operator with launch configs:\n  min_nodes        : 1\n  max_nodes        : 2\n"
        },
        {"env.txt": "NODE_RANK=1\nNEURON_RT_LOG_LEVEL=INFO\nPATH=/bin\n"},
        {"env.txt": "SLURM_NODEID=3\nSLURM_JOB_ID=7\nPATH=/bin\n"},
        {"env.txt": "WORLD_SIZE=64\nRANK=3\nLOCAL_RANK=3\nLOCAL_WORLD_SIZE=32\nNEURON_RT_LOG_LEVEL=INFO\nPATH=/bin\n"},
        {"job.log": "2026-10-08 06:00:04 > initializing world size to 256\n"},
        {"job.log": "2026-10-08 06:00:04 > initializing world size to 64\n", "neuron-ls.txt": LISTING},
        {"neuron-ls.txt": LISTING, "neuron-ls-again.txt": LISTING},
        {"a/lsmod.txt": LSMOD, "b/lsmod.txt": LSMOD},
        {"a/modinfo.txt": MODINFO, "b/modinfo.txt": MODINFO},
        {
            "job.log": "NEURON_HW_ERR=DMA_ERROR instance-id=i-0f1e2d3c4b5a69788 nd-id=3 nc-id=0 serial-num=0 timestamp=1.2\n"
        },
        {"job.log": "srun: error: serve-4: task 12: Exited with exit code 1\n"},
        {"rank_200.log": "2026-10-08 06:00:04 step 10 loss 2.1\n"},
        {"other.txt": DMESG.replace("6.1", "7.1")},
        {"pods.txt": "NAME   READY   STATUS    RESTARTS   AGE\nw-0    1/1     Running   0          118m\n"},
    ],
)
def test_where_anything_speaks_of_a_further_machine_nobody_has_it(tmp_path: Path, more: dict[str, str]) -> None:
    assert host_of_kernel_log(tmp_path, {"journal.log": JOURNAL, **more}) is None


@pytest.mark.parametrize(
    "more",
    [
        {"job.log": "+ torchrun --nnodes=1 --nproc_per_node=32 train.py\n"},
        {"job.log": "2026-10-08 06:00:04 > initializing world size to 32\n", "neuron-ls.txt": LISTING},
        {"env.txt": "NODE_RANK=0\nWORLD_SIZE=32\nRANK=3\nLOCAL_RANK=3\nLOCAL_WORLD_SIZE=32\nNNODES=1\nPATH=/bin\n"},
        {"modinfo.txt": MODINFO, "modinfo-efa.txt": MODINFO.replace("neuron", "efa"), "lsmod.txt": LSMOD},
    ],
)
def test_what_one_machine_does_is_of_it(tmp_path: Path, more: dict[str, str]) -> None:
    assert host_of_kernel_log(tmp_path, {"journal.log": JOURNAL, **more}) == "serve-3"


def test_a_host_that_a_launcher_names_does_not_name_itself(tmp_path: Path) -> None:
    said = "srun: error: serve-3: task 0: Exited with exit code 1\n"
    assert host_of_kernel_log(tmp_path, {"job.log": said}) is None
