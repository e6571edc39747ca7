"""What a person at a terminal sees while the inputs are read: after a second, one line that is wiped out at the end."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from neuron_doctor.collectors.walk import printable

#: Seconds before the first line, and between two.
PATIENCE, PAUSE = 1.0, 0.2


class Progress:
    """One line on standard error, rewritten in place."""

    def __init__(self) -> None:
        self._next = time.monotonic() + PATIENCE
        self._shown = False

    def __call__(self, share: float, headline: str) -> None:
        """Show how much was read, and the provisional verdict."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next, self._shown = now + PAUSE, True
        text = f"{share:4.0%} read" + (f"; so far: {headline}" if headline else "")
        width = shutil.get_terminal_size((80, 24)).columns - 1
        sys.stderr.write("\r\x1b[K" + printable(text)[:width])
        sys.stderr.flush()

    def wipe(self) -> None:
        """Leave the line empty."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


@contextmanager
def progress() -> Iterator[Progress]:
    """A line of progress that is gone afterwards."""
    line = Progress()
    try:
        yield line
    finally:
        line.wipe()
