"""Logs of a fleet, made fast: blocks of a minute each are drawn once, then given to every file with its own minutes and names.

A thousandth of the lines are hits and 6 % near misses, both from the rules' own examples; the rest is noise. Everything is
drawn from a fixed seed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from benchmarks.catalogue_lines import CatalogueLines
from benchmarks.log_templates import HOST, MINUTE, RANK, SPACED, TEMPLATES

HITS, NEAR_MISSES = 0.001, 0.06
_BLOCKS, _LINES = 48, 9_000
_FEWEST_TEMPLATES = 30
_START = datetime(2026, 3, 10, 6, 0)
_MINUTE = re.compile(r"\b20\d\d-\d\d-\d\d([T ])\d\d:\d\d")


@dataclass(frozen=True)
class LogCorpus:
    """The blocks of which files are cut."""

    blocks: tuple[bytes, ...]

    @classmethod
    def drawn(cls, lines: CatalogueLines, blocks: int = _BLOCKS) -> LogCorpus:
        """From the catalogue's examples and the templates. Raises ValueError where rules look for too many templates."""
        draw = random.Random(1)
        noise = [one for one in TEMPLATES if lines.is_noise(one % _numbers(draw, 1.0))]
        if len(noise) < _FEWEST_TEMPLATES:
            raise ValueError(
                f"only {len(noise)} of {len(TEMPLATES)} templates are noise: {set(TEMPLATES) - set(noise)}"
            )
        hits, near = ([_MINUTE.sub(_own_minute, one) for one in some] for some in (lines.hits, lines.near_misses))
        return cls(tuple(_block(draw, noise, near, hits) for _ in range(blocks)))

    def text(self, number: int, size: int) -> Iterator[bytes]:
        """About `size` bytes of the log of a rank, in pieces that end with a line."""
        draw = random.Random(number)
        host = f"ip-10-7-{number // 250}-{number % 250}".encode()
        at = _START
        while size > 0:
            block = draw.choice(self.blocks)
            if len(block) > size:
                block = block[: block.index(b"\n", size - 1) + 1]
            size -= len(block)
            yield (
                block.replace(MINUTE.encode(), at.strftime("%Y-%m-%dT%H:%M").encode())
                .replace(SPACED.encode(), at.strftime("%Y-%m-%d %H:%M").encode())
                .replace(HOST.encode(), host)
                .replace(RANK.encode(), b"rank%d" % number)
            )
            at += timedelta(minutes=1)

    def write(self, directory: Path, size: int, files: int) -> None:
        """`size` bytes in so many files, one of each rank, eight ranks a host."""
        for rank in range(files):
            path = directory / f"ip-10-7-0-{rank // 8}" / f"rank_{rank}.log"
            path.parent.mkdir(exist_ok=True)
            with path.open("wb") as file:
                file.writelines(self.text(rank, size // files))


def _own_minute(found: re.Match[str]) -> str:
    return MINUTE if found[1] == "T" else SPACED


def _block(draw: random.Random, noise: list[str], near: list[str], hits: list[str]) -> bytes:
    kinds = draw.choices(range(3), (1 - HITS - NEAR_MISSES, NEAR_MISSES, HITS), k=_LINES)
    pieces = []
    for number, kind in enumerate(kinds):
        if kind == 0:
            pieces.append(draw.choice(noise) % _numbers(draw, number / _LINES))
        else:
            pieces.append(draw.choice(near if kind == 1 else hits))
    return ("\n".join(pieces) + "\n").encode()


def _numbers(draw: random.Random, share: float) -> dict[str, int | float | str]:
    """For the holes of a line that stands so far (0 to 1) in its minute."""
    seconds = min(share * 60, 59.999)
    number = draw.getrandbits(32)
    return {
        "s": f"{int(seconds):02d}",
        "ms": int(seconds * 1000) % 1000,
        "d": number & 63,
        "n": number >> 12,
        "f": (number & 0xFFFF) / 997,
        "h": number << 24 | 0xA5F3,
    }


def write_storm(lines: CatalogueLines, directory: Path, size: int) -> None:
    """One log in which every line hits: of a few dozen messages on which no rule counts."""
    draw = random.Random(2)
    some = draw.sample(lines.storm, min(32, len(lines.storm)))
    block = "".join(f"{draw.choice(some)}\n" for _ in range(5_000)).encode()
    with (directory / "rank_0.log").open("wb") as file:
        file.writelines([block] * max(size // len(block), 1))
