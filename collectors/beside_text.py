"""Documents of which a part is read for what it is, while all that they say is read as any text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from io import BufferedReader, BytesIO

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.snapshot import read_bytes
from neuron_doctor.engine.facts import Fact


def beside_text(
    text: Collector, title: str, sniff: Callable[[bytes, str], bool], read: Callable[[Input, bytes], Iterable[Fact]]
) -> Collector:
    """The collector of such documents: what `text` says of them, then what `read` makes of their bytes."""

    def collect(inp: Input) -> Iterator[Fact]:
        data = read_bytes(inp)
        whole = inp.stream
        inp.stream = BufferedReader(BytesIO(data))
        try:
            yield from text.collect(inp)
        finally:
            inp.stream = whole  # what was not read of it still counts
        yield from read(inp, data)

    return Collector(text.kind, title, sniff, collect)
