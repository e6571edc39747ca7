"""The table of tasks that the kernel prints when it kills one for memory: who held how much of it.

Source: `dump_tasks` of Linux 3.10 to 6.12 (mm/oom_kill.c): `[  pid  ]   uid  tgid total_vm      rss ... oom_score_adj name`, in
pages; what stands between the resident pages and the score differs by version. A row tells itself by its form, so that nothing
depends on where the file is cut; a table of a busy host has thousands of rows, of which the small ones tell nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.matches import Candidate
from neuron_doctor.collectors.prefixes import Channel
from neuron_doctor.engine.facts import Fact, span_of
from neuron_doctor.engine.patterns import Pattern
from neuron_doctor.engine.regexes import regex

_ROW = regex(
    rb"\[ {0,8}\d{1,10}\] {1,8}(?P<uid>\d{1,10}) {1,8}\d{1,10} {1,20}\d{1,12} {1,20}(?P<rss>\d{1,12})(?: {1,20}-?\d{1,15}){3,6}"
    rb" {1,12}(?P<name>[^\s\d-][^\r\n]{0,63})\r?(?:\n|\Z)"
)
#: What is looked for beside the patterns of the rules: the columns before the name, with as many pages as matter. To try each
#: bracket of a log with the whole row took a fifteenth of a scan.
TABLE_ROW = Pattern(
    "oom-table-row", r"\] {1,8}\d{1,10} {1,8}\d{1,10} {1,20}\d{1,12} {1,20}\d{5,12} ", "kernel", emits="memory-holder"
)
#: Pages are counted, of so many KiB on x86 and on Graviton as AWS runs it.
_PAGE_KB = 4
#: A process that holds less (KiB) does not fill a host.
_LEAST_KB = 64 * 1024


def memory_holder(candidate: Candidate, inp: Input) -> Iterator[Fact]:
    """A `memory-holder` fact for a row of such a table, but for that of a small process."""
    lines, begin, end = candidate.lines, candidate.begin, candidate.end
    block = lines.block
    row = _ROW.search(block.data, begin, min(end + 1, block.end))
    held = int(row["rss"]) * _PAGE_KB if row else 0
    if row is None or held < _LEAST_KB:
        return
    record = lines.peeled(begin, end).records[0]
    if record.channel is Channel.KERNEL:
        raw = block.data[begin:end].rstrip(b"\r")
        span = span_of(inp.path, raw, candidate.offset, block.line_number(begin), 1)
        data = {"command": row["name"].decode("utf-8", "replace").rstrip(), "uid": int(row["uid"]), "held_kb": held}
        yield Fact("memory-holder", data, record.place.over(inp.place), span, inp.source_id or inp.path, record.instant)
