"""Lists of nodes as Slurm, LSF and PBS write them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from neuron_doctor.engine.regexes import regex

_NODE_LIST = regex(
    r"(?P<before>[\w.-]{1,200}?)(?:\[(?P<ranges>\d{1,9}(?:-\d{1,9})?(?:,\d{1,9}(?:-\d{1,9})?){0,4095})\])?(?:,|$)",
    re.ASCII,
)
_RANGE = regex(r"(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?(?:,|$)", re.ASCII)
_MOST_NODES = 4096
#: LSF has each host in brackets, behind the number of its slots: `<64*n1> <64*n2>`.
_OF_LSF = regex(r"<(?:\d{1,6}\*)?(?P<host>[\w.-]{1,200})>", re.ASCII)
#: PBS has each host with the index of its slot, and how many: `n1/0*192+n2/0*192`.
_OF_PBS = regex(r"(?P<host>[\w.-]{1,200})/\d{1,6}(?:\*\d{1,6})?(?:\+|$)", re.ASCII)


def nodes_of(listed: str) -> list[str]:
    """The nodes of a list as Slurm writes it: `trn-b[01-03,7],head` (slurm.conf, NodeName), LSF (bjobs -l) or PBS (qstat -f).
    What is longer than any cluster, and what is no such list (`None assigned`), has none: a part of a list would tell of a
    smaller job."""
    nodes: list[str] = []
    for node in _of_lsf(listed) if listed.startswith("<") else _of_pbs(listed) if "/" in listed else _of_slurm(listed):
        if node is None or len(nodes) == _MOST_NODES:
            return []
        nodes.append(node)
    return nodes


def _of_lsf(listed: str) -> Iterator[str | None]:
    """Each host; None where there is more than these."""
    yield from (found["host"] for found in _OF_LSF.finditer(listed))
    if _OF_LSF.sub("", listed).strip():
        yield None


def _of_pbs(listed: str) -> Iterator[str | None]:
    """Each host once; None where there is more than these."""
    yield from dict.fromkeys(found["host"] for found in _OF_PBS.finditer(listed))
    if _OF_PBS.sub("", listed).strip():
        yield None


def _of_slurm(listed: str) -> Iterator[str | None]:
    """One name for each number, with its leading zeros; None where this is no list."""
    at = 0
    while at < len(listed):
        match = _NODE_LIST.match(listed, at)
        if match is None:
            yield None
            return
        at = match.end()
        if not match["ranges"]:
            yield match["before"]
        for part in _RANGE.finditer(match["ranges"] or ""):
            first, last = int(part["first"]), int(part["last"] or part["first"])
            yield from (f"{match['before']}{number:0{len(part['first'])}}" for number in range(first, last + 1))
