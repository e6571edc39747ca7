"""What other programs, scripts and settings leave beside the logs of a job changes no verdict."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.engine.verdict import Diagnosis
from neuron_doctor.labels import labelled
from neuron_doctor.pipeline import diagnose_paths
from neuron_doctor.request import Request

CORPUS = Path(__file__).parents[2] / "corpus"
INCIDENTS = [
    *sorted((CORPUS / "incidents").iterdir()),
    *(i for d in sorted(CORPUS.glob("heldout*")) for i in labelled(d)),
]

SCRIPT = """\
#!/bin/bash
#SBATCH --job-name=pretrain
#SBATCH --exclusive
set -euo pipefail
module load libfabric-aws
ulimit -n 65535
export OMP_NUM_THREADS=1
srun --kill-on-bad-exit=1 python3 train.py --config config.yaml
"""
SETTINGS = """\
model:
  hidden_size: 4096
  num_layers: 32
optim: {lr: 3.0e-4, warmup_steps: 2000, max_steps: 100000}
data: {path: /fsx/data/tokens, num_workers: 8}
"""
PACKAGES = "datasets==2.19.1\neinops==0.8.0\nsentencepiece==0.2.0\n"
HISTORY = """\

Start-Date: 2023-11-02  06:14:11
Commandline: /usr/bin/unattended-upgrade
Upgrade: libssl3:amd64 (3.0.2-0ubuntu1.10, 3.0.2-0ubuntu1.12), curl:amd64 (7.81.0-1ubuntu1.13, 7.81.0-1ubuntu1.14)
End-Date: 2023-11-02  06:14:19
"""
ACCESS = """\
10.0.9.3 - - [02/Nov/2023:06:25:24 +0000] "GET /metrics HTTP/1.1" 200 1834 "-" "Prometheus/2.45.0"
10.0.9.3 - - [02/Nov/2023:06:25:39 +0000] "GET /metrics HTTP/1.1" 200 1834 "-" "Prometheus/2.45.0"
"""
BOOT = """\
Cloud-init v. 23.3.3-0ubuntu0~22.04.1 running 'modules:final' at Thu, 02 Nov 2023 06:02:51 +0000. Up 21 s.
Cloud-init v. 23.3.3-0ubuntu0~22.04.1 finished at Thu, 02 Nov 2023 06:02:52 +0000. Datasource DataSourceEc2Local.  Up 22 s
"""
LOADS = """\
06:30:01 up 4 days, 1 user,  load average: 12.02, 11.80, 11.71
06:31:01 up 4 days, 1 user,  load average: 12.11, 11.83, 11.72
"""
STRANGERS = {
    "run.sbatch": SCRIPT,
    "config.yaml": SETTINGS,
    "requirements.txt": PACKAGES,
    "apt-history.log": HISTORY,
    "metrics-access.log": ACCESS,
    "cloud-init-output.log": BOOT,
    "load.txt": LOADS,
}


def roots(path: Path) -> tuple[object, ...]:
    found: Diagnosis = diagnose_paths(Request((str(path),), labels={str(path): "x"}), rulebook())
    named = [finding for finding in found.findings if finding.id in found.root_causes]
    return (
        found.verdict.status.value,
        sorted((root.cause, root.place.host or "", root.place.ranks, root.place.rank or -1) for root in named),
    )


@pytest.mark.heavy
@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_strangers_change_no_verdict(incident: Path, tmp_path: Path) -> None:
    beside = tmp_path / "input"
    shutil.copytree(incident / "input", beside)
    for name, text in STRANGERS.items():
        if not (beside / name).exists():
            (beside / name).write_text(text)
    assert roots(beside) == roots(incident / "input")
