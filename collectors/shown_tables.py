"""Tables of a cluster that a terminal shows among other output: `$ sacct -X ...` below `$ ls -la /fsx`, `kubectl get pods` above
`dmesg`. Whoever copies a terminal copies all of it, and a table says the same as in a file of its own: so what such a command
printed is an input by itself, beside the text in which it stands. That one is read as ever.

So is one among several in a file that somebody put together without their commands (`squeue` above `sinfo`), between lines that
are empty. Where the text is nothing but one such output it is read as that (`slurm`, `kubectl`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from neuron_doctor.collectors.aws_health import COLLECTORS as OF_HEALTH
from neuron_doctor.collectors.base import HEAD
from neuron_doctor.collectors.command_lines import pipelines, tool_of
from neuron_doctor.collectors.docker import COLLECTORS as OF_DOCKER
from neuron_doctor.collectors.hyperpod import COLLECTORS as OF_HYPERPOD
from neuron_doctor.collectors.instance_status import COLLECTORS as OF_EC2
from neuron_doctor.collectors.kubectl import COLLECTORS as OF_KUBECTL
from neuron_doctor.collectors.monitor_fragments import COLLECTOR as OF_MONITOR
from neuron_doctor.collectors.prefixes import without_escapes
from neuron_doctor.collectors.shown_machines import ASIDE
from neuron_doctor.collectors.slurm import COLLECTORS as OF_SLURM
from neuron_doctor.collectors.snapshot import command_of, lines_of
from neuron_doctor.collectors.streams import Member
from neuron_doctor.engine.regexes import regex

#: What calls one of these tools for what is read here; other words of the same tools stand in many logs.
_CALLS: tuple[bytes, ...] = (
    *(b"sacct", b"squeue", b"scontrol", b"sinfo", b"kubectl"),
    *(b"docker ps", b"docker container", b"docker inspect", b"podman ", b"nerdctl "),
    *(b"describe-instance-status", b"aws health", b"cluster-node", b"neuron-monitor |"),
)
_TOOLS = frozenset(
    {"sacct", "squeue", "scontrol", "sinfo", "kubectl", "docker", "podman", "nerdctl", "aws", "neuron-monitor"}
)
_COLLECTORS = (*OF_SLURM, *OF_KUBECTL, *OF_DOCKER, *OF_EC2, *OF_HEALTH, *OF_HYPERPOD, OF_MONITOR)
#: What stands in the titles of these tables; the words are found sooner.
_WORDS = (b"JOBID", b"JobID", b"NODELIST", b"NAME ")
_TITLES = regex(rb"(?m)^ {0,20}(?:JOBID|JobID|NODELIST|NAME|NAMESPACE)[ |]")
_EMPTY = regex(rb"\n[ \t\r]*\n")


def shown_tables(head: bytes) -> Iterator[Member]:
    """The tables in a text that `head` holds as a whole, each with the line of its command above."""
    if len(head) >= HEAD:
        return
    sections: list[tuple[str, bytes]] = []
    if any(call in head for call in _CALLS):
        sections = list(_sections(head))
    if len(sections) <= 1 and any(word in head for word in _WORDS) and _TITLES.search(head):
        sections = list(_paragraphs(head))
    seen: Counter[str] = Counter()
    for tool, section in sections if len(sections) > 1 else ():
        if tool and _is_table(section):
            seen[tool] += 1
            name = f"{tool}.txt" if seen[tool] == 1 else f"{tool}-{seen[tool]}.txt"
            yield Member(name, len(section), iter([section]))


def _is_table(section: bytes) -> bool:
    """Whether one of the collectors knows this for its own, whatever its colours."""
    plain = without_escapes(section.decode("latin-1")).encode("latin-1") if b"\x1b" in section else section
    return any(collector.sniff(plain, "") for collector in _COLLECTORS)


def _sections(head: bytes) -> Iterator[tuple[str, bytes]]:
    """What stands at each prompt of a text, with the tool that was called there if it is one of these. A text that is output of
    these tools alone has none: it is one."""
    if _is_table(head):
        return
    tool, begin, at = "", 0, 0
    for line in lines_of(head):
        at = line.offset
        if (command := command_of(line.text)) is not None:
            if at > begin:
                yield tool, head[begin:at]
            tool, begin = _called(command), at
    if begin < len(head):
        yield tool, head[begin:]


def _paragraphs(head: bytes) -> Iterator[tuple[str, bytes]]:
    """What stands between lines that are empty, of a text that is no output of one of these tools."""
    if _is_table(head):
        return
    begin = 0
    for empty in (*_EMPTY.finditer(head), None):
        end = empty.end() if empty else len(head)
        if head[begin:end].strip():
            yield "table" if _TITLES.match(head, begin) else "", head[begin:end]
        begin = end


def _called(command: str) -> str:
    """The one of these tools that a line calls before anything else that prints."""
    try:
        tools = [tool for pipeline in pipelines(command) if (tool := tool_of(pipeline.words)) not in ASIDE]
    except ValueError:
        return ""
    return tools[0] if tools and tools[0] in _TOOLS else ""
