"""Lists of nodes as Slurm and LSF write them."""

from __future__ import annotations

import re

from neuron_doctor.engine.regexes import regex

_NODE_LIST = regex(r"(?P<before>[\w.-]{1,200}?)(?:\[(?P<ranges>[\d,-]{1,2000})\])?(?:,|$)", re.ASCII)
_RANGE = regex(r"(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?(?:,|$)", re.ASCII)
_MOST_NODES = 4096
#: LSF has each host in brackets, behind the number of its slots: `<64*n1> <64*n2>`.
_OF_LSF = regex(r"<(?:\d{1,6}\*)?(?P<host>[\w.-]{1,200})>", re.ASCII)


def nodes_of(listed: str) -> list[str]:
    """The nodes of a list as Slurm writes it: `trn-b[01-03,7],head` (slurm.conf, NodeName), or LSF (bjobs -l). What is longer
    than any cluster, and what is no such list (`None assigned`), has none."""
    if listed.startswith("<"):
        return [found["host"] for found in _OF_LSF.finditer(listed)][:_MOST_NODES]
    nodes: list[str] = []
    at = 0
    while at < len(listed):
        match = _NODE_LIST.match(listed, at)
        if match is None or len(nodes) > _MOST_NODES:
            return []
        at = match.end()
        nodes += _numbered(match["before"], match["ranges"]) if match["ranges"] else [match["before"]]
    return nodes


def _numbered(before: str, ranges: str) -> list[str]:
    """One name for each number, with its leading zeros."""
    found: list[str] = []
    for match in _RANGE.finditer(ranges):
        first, last = int(match["first"]), int(match["last"] or match["first"])
        width = len(match["first"])
        found += [f"{before}{number:0{width}}" for number in range(first, min(last, first + _MOST_NODES) + 1)]
    return found[:_MOST_NODES]
