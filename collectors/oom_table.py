"""The table of tasks that the kernel prints when it kills one for memory: who held how much of it.

Source: `dump_tasks` of Linux 3.10 to 6.12 (mm/oom_kill.c): `[  pid  ]   uid  tgid total_vm      rss ... oom_score_adj name`, in
pages; what stands between the resident pages and the score differs by version. A row tells itself by its form, so that nothing
depends on where the file is cut; a table of a busy host has thousands of rows, of which the small ones tell nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.blocks import Block
from neuron_doctor.collectors.lines import decoded
from neuron_doctor.collectors.prefixes import Channel, peel
from neuron_doctor.engine.facts import Fact, span_of
from neuron_doctor.engine.regexes import regex

_ROW = regex(
    rb"\[ {0,8}\d{1,10}\] {1,8}(?P<uid>\d{1,10}) {1,8}\d{1,10} {1,20}\d{1,12} {1,20}(?P<rss>\d{1,12})(?: {1,20}-?\d{1,15}){3,6}"
    rb" {1,12}(?P<name>[^\s\d-][^\r\n]{0,63})\r?(?:\n|\Z)"
)
#: Pages are counted, of so many KiB on x86 and on Graviton as AWS runs it.
_PAGE_KB = 4
#: A process that holds less (KiB) does not fill a host.
_LEAST_KB = 64 * 1024


def memory_holders(block: Block, inp: Input) -> Iterator[Fact]:
    """A `memory-holder` fact for each row of such a table in a block, but for those of small processes."""
    for row in _ROW.finditer(block.data, block.start, block.end):
        held = int(row["rss"]) * _PAGE_KB
        if held < _LEAST_KB:
            continue
        begin, end = block.line_bounds(row.start())
        raw = block.data[begin:end]
        record = peel(decoded(raw)).records[0]
        if record.channel is Channel.KERNEL:
            span = span_of(inp.path, raw.rstrip(b"\r"), block.base + begin, block.line_number(begin), 1)
            data = {"command": row["name"].decode("utf-8", "replace").rstrip(), "uid": int(row["uid"]), "held_kb": held}
            yield Fact(
                "memory-holder", data, record.place.over(inp.place), span, inp.source_id or inp.path, record.instant
            )
