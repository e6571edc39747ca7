"""What each pattern of the catalogue costs the scan: `python -m benchmarks.pattern_costs`.

Each is added to a database of a few plain ones, and text of the benchmark's logs is scanned with both: what it adds is its
cost, of the same processor and the same blocks. A pattern that could begin anywhere is dear though it finds nothing, which
neither its events nor the lint tell: one cost four fifths of the scan before this was measured.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from itertools import islice

from benchmarks.catalogue_lines import CatalogueLines
from benchmarks.log_corpus import LogCorpus
from neuron_doctor.engine.matcher import Matcher, build_matcher
from neuron_doctor.engine.patterns import Pattern

BLOCK = 256 * 1024
#: So many of the shortest patterns make the database that each other one is added to.
_PLAIN = 40


def blocks(corpus: LogCorpus, megabytes: int) -> list[bytes]:
    """The first blocks of a log, each cut at a line end."""
    text = b"".join(corpus.text(0, megabytes << 20))
    return [text[at : at + BLOCK].rpartition(b"\n")[0] + b"\n" for at in range(0, len(text), BLOCK)]


def seconds(patterns: Sequence[Pattern], text: Sequence[bytes], rounds: int) -> float:
    """The least CPU time of a scan for these patterns; compiling them is not counted."""
    matcher = build_matcher(patterns)
    matcher.find(text[0])
    return min(_once(matcher, text) for _ in range(rounds))


def _once(matcher: Matcher, text: Sequence[bytes]) -> float:
    begun = time.process_time()
    for block in text:
        matcher.find(block)
    return time.process_time() - begun


def costs(patterns: Sequence[Pattern], text: Sequence[bytes], rounds: int) -> Iterator[tuple[float, Pattern]]:
    """What each pattern but the plain ones adds, in seconds."""
    plain = sorted(patterns, key=lambda pattern: len(pattern.search))[:_PLAIN]
    base = seconds(plain, text, 4 * rounds)
    for pattern in patterns:
        if pattern not in plain:
            yield seconds([*plain, pattern], text, rounds) - base, pattern


def main() -> None:
    """Print the dearest patterns, and what the scan for all takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=2, metavar="MB", help="text to scan (2)")
    parser.add_argument("--rounds", type=int, default=10, help="the fastest of so many counts (10)")
    parser.add_argument("--top", type=int, default=15, help="so many are printed (15)")
    options = parser.parse_args()
    lines = CatalogueLines.builtin()
    patterns = lines.rulebook.patterns.patterns
    text = blocks(LogCorpus.drawn(lines), options.size)
    megabytes = sum(map(len, text)) / 1e6
    whole = seconds(patterns, text, options.rounds)
    print(f"all {len(patterns)} patterns: {1e6 * whole / megabytes:.0f} us/MB, {megabytes / whole:.0f} MB/s\n")
    for cost, pattern in islice(sorted(costs(patterns, text, options.rounds), key=lambda one: -one[0]), options.top):
        print(f"{1e6 * cost / megabytes:6.0f} us/MB  {cost / whole:4.0%}  {pattern.id}")


if __name__ == "__main__":
    main()
