"""All synthetic captures by kind, and how to run a collector over one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from io import BufferedReader, BytesIO

from cluster_captures import (
    DESCRIBE_EVENTS,
    DESCRIBE_NODE,
    DESCRIBE_POD,
    DOCKER,
    EC2_STATUS,
    EVENTS,
    HEALTH,
    HYPERPOD,
    MONITOR_GROUP,
    NODES,
    POD_JSON,
    POD_STATE,
    POD_YAML,
    PODS,
    SACCT,
    SACCT_PARSABLE,
    SCONTROL_JOB,
    SCONTROL_NODE,
    SINFO,
)
from host_captures import (
    APT,
    CHRONY,
    DF,
    DF_INODES,
    DF_POSIX,
    DPKG,
    DUMP_ARGUMENTS,
    DUMP_JSON,
    ENV,
    LSMOD,
    LSPCI,
    LSPCI_NUMERIC,
    LSPCI_TREE,
    METRICS,
    MODINFO,
    NEURON_LS_JSON,
    NEURON_LS_TABLE,
    NTPQ,
    PIP_FREEZE,
    PIP_LIST,
    PROC_LIMITS,
    RPM,
    STEP_TIMES,
    SYSFS_GREP,
    SYSFS_TAIL,
    TIMEDATECTL,
    ULIMIT,
    UNAME,
)

from neuron_doctor.collectors import (
    aws_health,
    clock_reports,
    core_dump,
    docker,
    environment,
    file_systems,
    hostname,
    hosts_file,
    hyperpod,
    input_dumps,
    instance_status,
    kubectl,
    lspci,
    metric_tables,
    modules,
    monitor_fragments,
    neuron_ls,
    packages,
    profiles,
    slurm,
    sysfs,
    timing_tables,
    ulimit,
    uname,
)
from neuron_doctor.collectors.base import HEAD, Collector, Input
from neuron_doctor.engine.facts import NOWHERE, Fact, Place
from neuron_doctor.engine.kinds import KINDS

ALL: tuple[Collector, ...] = (
    monitor_fragments.COLLECTOR,
    metric_tables.COLLECTOR,
    timing_tables.COLLECTOR,
    *profiles.COLLECTORS,
    *core_dump.COLLECTORS,
    *input_dumps.COLLECTORS,
    *sysfs.COLLECTORS,
    *neuron_ls.COLLECTORS,
    *kubectl.COLLECTORS,
    *docker.COLLECTORS,
    *instance_status.COLLECTORS,
    *aws_health.COLLECTORS,
    *hyperpod.COLLECTORS,
    *slurm.COLLECTORS,
    *lspci.COLLECTORS,
    *modules.COLLECTORS,
    *packages.COLLECTORS,
    *uname.COLLECTORS,
    *hostname.COLLECTORS,
    *hosts_file.COLLECTORS,
    *ulimit.COLLECTORS,
    *file_systems.COLLECTORS,
    *clock_reports.COLLECTORS,
    *environment.COLLECTORS,
)
TYPES = {"int": int, "float": float, "str": str, "bool": bool, "list": tuple}


def claimed_by(data: bytes, name: str = "capture.txt", collectors: Sequence[Collector] = ALL) -> list[str]:
    """The kinds of all collectors that take this input for theirs."""
    return [collector.kind for collector in collectors if collector.sniff(data[:HEAD], name)]


def as_input(data: bytes, path: str = "capture.txt", place: Place = NOWHERE) -> Input:
    return Input(path, path.rpartition("/")[2], BufferedReader(BytesIO(data)), len(data), place, "source")


def facts_of(data: str | bytes, path: str = "capture.txt", place: Place = NOWHERE) -> list[Fact]:
    """The facts of the first collector that claims the input, each checked against its kind and its span."""
    return read(data, path, place)[0]


def read(data: str | bytes, path: str = "capture.txt", place: Place = NOWHERE) -> tuple[list[Fact], Input]:
    raw = data.encode() if isinstance(data, str) else data
    inp = as_input(raw, path, place)
    collector = next(c for c in ALL if c.sniff(raw[:HEAD], inp.name))
    facts = list(collector.collect(inp))
    for fact in facts:
        check(fact, raw, collector.kind)
    return facts, inp


def check(fact: Fact, raw: bytes, source: str) -> None:
    """A fact has the fields and types of its kind, its source kind is listed there, and its span lies in the input."""
    kind = KINDS[fact.kind]
    assert source in kind.sources
    for name, value in fact.data.items():
        assert type(value) is TYPES[kind.fields[name]], (fact.kind, name, value)
    span = fact.span
    assert 0 <= span.offset <= span.offset + span.length <= len(raw)
    if span.line is not None:
        before = raw[: span.offset].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        assert span.line == before.count(b"\n") + 1


def by_kind(facts: Sequence[Fact]) -> dict[str, list[Fact]]:
    grouped: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        grouped[fact.kind].append(fact)
    return grouped


def one(facts: Sequence[Fact], kind: str) -> Fact:
    """The only fact of this kind."""
    (fact,) = by_kind(facts)[kind]
    return fact


#: Captures by the kind that must claim them, with a name that gives nothing away.
SAMPLES: dict[str, list[str]] = {
    "neuron-ls": [NEURON_LS_TABLE, NEURON_LS_JSON],
    "sysfs": [SYSFS_GREP, SYSFS_TAIL],
    "lsmod": [LSMOD, "neuron                237568  0\n"],
    "modinfo": [MODINFO],
    "lspci": [LSPCI, LSPCI_TREE, LSPCI_NUMERIC],
    "packages": [DPKG, RPM, APT, PIP_LIST, PIP_FREEZE],
    "uname": [UNAME, "6.8.0-1021-aws\n"],
    "ulimit": [ULIMIT, PROC_LIMITS],
    "df": [DF, DF_INODES, DF_POSIX],
    "clock-report": [CHRONY, TIMEDATECTL, NTPQ],
    "env": [ENV, ENV.replace("\n", "\0")],
    "kubectl": [PODS, NODES, EVENTS, DESCRIBE_EVENTS, DESCRIBE_POD, DESCRIBE_NODE, POD_JSON, POD_YAML, POD_STATE],
    "docker": [DOCKER],
    "neuron-monitor": [MONITOR_GROUP],
    "ec2": [EC2_STATUS],
    "aws-health": [HEALTH],
    "hyperpod": [HYPERPOD],
    "slurm": [SACCT, SACCT_PARSABLE, SCONTROL_JOB, SCONTROL_NODE, SINFO],
    "metrics": [METRICS],
    "step-times": [STEP_TIMES],
    "core-dump": [DUMP_ARGUMENTS, DUMP_JSON],
}
