"""What is refused because of the nearest neighbours is what all neighbours refuse."""

from __future__ import annotations

from functools import cache
from itertools import chain

from builtin_rules import rulebook
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_doctor.collectors.blocks import Block
from neuron_doctor.collectors.lines import Lines
from neuron_doctor.collectors.matches import Found, _channel_fits, _fits_above, _in_window
from neuron_doctor.collectors.windows import windows
from neuron_doctor.engine.patterns import Pattern
from neuron_doctor.engine.regexes import compiled
from neuron_doctor.packs import load_with_examples
from neuron_doctor.request import Packs
from neuron_doctor.rulefiles import texts_of

ANCHORED = [pattern for pattern in rulebook().patterns.patterns if pattern.anchor]
#: Lines that the patterns have to do with one another by, in other orders than anybody writes them.
OTHERS = [
    "$ py-spy dump --pid 7 # rank 3",
    "==== rank 3 ====",
    "== RANK 4, host a",
    "Process 11: python train.py RANK=4",
    "Process 12: python",
    'Thread 11 (active): "MainThread"',
    "    all_reduce (torch/distributed/distributed_c10d.py:2817)",
    "Traceback (most recent call last):",
    '  File "a.py", line 3, in main',
    "    raise ValueError",
    "ValueError: x",
    "[rank0]: ConnectionResetError: [Errno 104]",
    "docker exec a ls /dev/neuron0",
    "z1: Process 12: python",
    "z2: ==== rank 3 ====",
    "z1: ==== rank 5 ====",
    "",
    "\u017f \u212a",
]


@cache
def example_texts() -> list[list[str]]:
    """The lines around each line that an anchor finds, in the examples of all rules."""
    documents = [rule.examples for rule in load_with_examples(Packs()).rules if rule.examples is not None]
    examples = [one for doc in documents for one in (*doc.positive, *doc.negative)]
    texts = [text.split("\n") for example in examples for text in texts_of(example).values()]
    anchors = [compiled(pattern.search).search for pattern in ANCHORED]
    return [
        lines[max(0, at - 12) : at + 9]
        for lines in texts
        for at, line in enumerate(lines)
        if len(line) < 500 and any(search(line) for search in anchors)
    ]


def plain(lines: Lines, begin: int, end: int, pattern: Pattern) -> Found | None:
    """A match over all neighbours that takes in the line."""
    anchor = lines.gist(begin, end).message
    parts = anchor.split("\n")
    found = [number for number, part in enumerate(parts) if compiled(pattern.search).search(part)]
    record = lines.peeled(begin, end).records[-1]
    if not found or not _channel_fits(pattern, record.channel):
        return None
    if pattern.above and not any(_fits_above(lines, begin, parts[:number], pattern.above) for number in found):
        return None
    for window in windows(lines, begin, end):
        at = sum(map(len, window.before)) + len(window.before)
        for match in pattern.compiled().finditer("\n".join([*window.before, window.anchor, *window.after])):
            if match.start() <= at + len(window.anchor) and match.end() > at:
                return Found(match.groupdict(), anchor, record)
    return None


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_match_is_found_as_if_all_neighbours_were_looked_at(data: st.DataObject) -> None:
    pieces = st.one_of(st.sampled_from(example_texts()), st.lists(st.sampled_from(OTHERS), min_size=1, max_size=5))
    text = "\n".join(chain.from_iterable(data.draw(st.lists(pieces, min_size=1, max_size=6)))).encode()
    block = Block(text, 0, len(text), 0, 1, last=True)
    fast, slow = Lines(block, {}), Lines(block, {})
    begin = 0
    while begin <= len(text):
        end = block.line_bounds(begin)[1]
        for pattern in ANCHORED:
            assert _in_window(fast, begin, end, pattern) == plain(slow, begin, end, pattern)
        begin = end + 1
