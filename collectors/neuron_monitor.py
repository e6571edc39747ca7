"""neuron-monitor: how a stream of its reports is told from a log that quotes some."""

from __future__ import annotations

from collections.abc import Iterator

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.monitor_groups import GROUPS
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.regexes import regex

#: Groups that open within the head of an input: so many different ones make it a stream of neuron-monitor.
_ENOUGH = 2
_GROUP = regex(rb'"(%s)"\s{0,8}:\s{0,8}[{\[n]' % b"|".join(GROUPS))
#: A line of JSON that is printed over several lines.
_MEMBER = regex(rb"\s*(?:[\"}\]]|(?:-?\d[\d.eE+-]{0,40}|true|false|null),?\s*$)")


def sniff(head: bytes, _name: str) -> bool:
    """Two metric groups as members of JSON; the configuration of neuron-monitor and programs that read it have none. A log
    in which a report is quoted here and there is a log."""
    if len(set(_GROUP.findall(head))) < _ENOUGH:
        return False
    lines = [line for line in head.split(b"\n") if line.strip()]
    others = sum(b"{" not in line and not _MEMBER.match(line) for line in lines)
    return 2 * others < len(lines)


def _collect(inp: Input) -> Iterator[Fact]:
    from neuron_doctor.collectors.monitor_facts import collect  # noqa: PLC0415 - loaded for the first stream: few inputs are one

    return collect(inp)


COLLECTOR = Collector("neuron-monitor", "reports of neuron-monitor, one or a stream", sniff, _collect)
