"""The kinds of source in words: what was collected, what was not, and how to get it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from neuron_doctor.engine.verdict import Counterfactual
from neuron_doctor.reports.summary import Collected
from neuron_doctor.reports.wording import STATUS, counted, host_words, rank_words, size_words

#: Kinds of source: their name, and how to get one. A kind that is not here is called as it is.
_KINDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "log": ("job or runtime log", ""),
        "kernel": ("kernel log (dmesg)", "sudo dmesg > HOST/dmesg.txt"),
        "neuron-ls": ("neuron-ls output", "neuron-ls -j > HOST/neuron-ls.json"),
        "neuron-monitor": ("neuron-monitor stream", "timeout 60 neuron-monitor > HOST/neuron-monitor.jsonl"),
        "metrics": ("exported table of metrics", ""),
        "step-times": ("exported table of the times of steps", ""),
        "flight-recorder": ("flight-recorder dump", "cp ~/.cache/torch/comm_lib_trace_rank_* HOST/"),
        "lsmod": ("list of kernel modules", "lsmod > HOST/lsmod.txt"),
        "modinfo": ("version of the driver", "modinfo neuron > HOST/modinfo.txt"),
        "uname": ("kernel version", "uname -a > HOST/uname.txt"),
        "hostname": ("name of a machine", "hostname > HOST/hostname.txt"),
        "hosts-file": ("names and addresses of machines (/etc/hosts)", ""),
        "packages": ("list of packages", "dpkg -l > HOST/packages.txt"),
        "env": ("environment of the job", "env > HOST/env.txt"),
        "ulimit": ("resource limits", "ulimit -a > HOST/ulimit.txt"),
        "df": ("list of file systems (df)", "df -h > HOST/df.txt"),
        "clock-report": ("state of the clock", "chronyc tracking > HOST/chronyc.txt"),
        "lspci": ("list of PCI devices", "lspci > HOST/lspci.txt"),
        "slurm": ("accounting of Slurm", "sacct -j JOB --parsable2 > sacct.txt"),
        "kubectl": ("state of Kubernetes", "kubectl get pods,events -o wide > kubectl.txt"),
        "docker": ("list of containers", "docker ps -a > HOST/docker.txt"),
        "ec2": ("status of instances", "aws ec2 describe-instance-status --output text > ec2.txt"),
        "aws-health": ("events of AWS Health", ""),
        "hyperpod": ("nodes of HyperPod", "aws sagemaker list-cluster-nodes --cluster-name NAME > nodes.json"),
        "sysfs": ("driver counters (sysfs)", "cp -r /sys/devices/virtual/neuron_device HOST/sysfs"),
        "ndet-trace": ("NDET trace", ""),
        "ndet-console": ("output of neuron-det", ""),
        "ndet-raw": ("raw NDET log", ""),
        "input-dump": ("dumped input tensors", ""),
        "profile": ("performance profile", ""),
        "paper": ("report or rule of this program (no evidence)", ""),
        "test-report": ("report of tests that passed (no evidence)", ""),
        "watch-rules": ("settings of monitoring (no evidence)", ""),
        "program": ("source code or script (no evidence)", ""),
        "notes": ("notes that quote other evidence", ""),
        "core-dump": ("core dump of the runtime", ""),
    }
)


def need_words(needs: Sequence[str]) -> str:
    """What rules needed, any of which would have served."""
    return " or ".join(_KINDS.get(need, (need, ""))[0] for need in needs)


def how_to_collect(needs: Sequence[str]) -> str:
    """A command that collects the first of `needs` for which there is one; empty if there is none."""
    return next((how for need in needs if (how := _KINDS.get(need, ("", ""))[1])), "")


def collected_words(kind: Collected) -> str:
    """`64 x kernel log (dmesg): 64 hosts, 1.2 MB, 31,201 records`."""
    name = _KINDS.get(kind.kind, (kind.kind, ""))[0]
    parts = [host_words(kind.hosts), rank_words(kind.ranks), size_words(kind.size), counted(kind.records, "record")]
    return f"{kind.sources:,} x {name}: " + ", ".join(part for part in parts if part)


def resting_words(trials: Sequence[Counterfactual]) -> list[str]:
    """What a verdict rests on, a sentence for each trial in which it becomes another, and one for all in which it stands."""
    flipped = [
        f"without {_evidence_words(trial)} it would be {STATUS[trial.verdict.status][0]}: {trial.verdict.headline}"
        for trial in trials
        if trial.flips
    ]
    standing = [_evidence_words(trial) for trial in trials if not trial.flips]
    return flipped + ([f"the same verdict without {', without '.join(standing)}"] if standing else [])


def _evidence_words(trial: Counterfactual) -> str:
    if len(trial.without) == 1:
        return trial.without[0]
    return f"any {need_words((trial.kind,))} ({len(trial.without):,} files)"
