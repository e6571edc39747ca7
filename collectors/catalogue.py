"""All collectors, in the order in which they are asked whether an input is theirs: the precise ones first, text last."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from neuron_doctor.collectors import (
    attempts,
    aws_health,
    clock_reports,
    core_dump,
    docker,
    environment,
    file_systems,
    flight_recorder,
    hostname,
    hosts_file,
    hyperpod,
    input_dumps,
    instance_status,
    kubectl,
    lspci,
    machine_lists,
    metric_tables,
    modules,
    monitor_fragments,
    ndet,
    neuron_ls,
    neuron_monitor,
    packages,
    papers,
    profiles,
    programs,
    slurm,
    suite_reports,
    sysfs,
    text,
    timing_tables,
    ulimit,
    uname,
    watch_rules,
)
from neuron_doctor.collectors.base import Collector
from neuron_doctor.engine.matcher import Matcher
from neuron_doctor.engine.patterns import Pattern, PatternSet


def collectors_for(
    patterns: PatternSet, build: Callable[[Sequence[Pattern]], Matcher], further: tuple[Collector, ...] = ()
) -> tuple[Collector, ...]:
    """Every collector; the one for text looks for these patterns, with the matcher that `build` makes. Those of plug-ins
    (`further`) come right before it: they take nothing that is known to be of another kind."""
    read_text = text.text_collector(patterns, build)
    beside_text = (attempts.attempts_collector(read_text), machine_lists.machine_lists_collector(read_text))
    return (*_PRECISE, *beside_text, *further, read_text)


_PRECISE: tuple[Collector, ...] = (
    flight_recorder.COLLECTOR,  # of a job of thousands of ranks there are as many, and they tell themselves by their first bytes
    papers.COLLECTOR,
    programs.COLLECTOR,
    watch_rules.COLLECTOR,
    suite_reports.COLLECTOR,
    *ndet.COLLECTORS,
    neuron_monitor.COLLECTOR,
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
#: The kinds of source that are ours; text is a log, or the kernel's.
KINDS = frozenset({"log", "kernel", "unknown", "part", *(collector.kind for collector in _PRECISE)})
