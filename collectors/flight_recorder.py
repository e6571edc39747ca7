"""PyTorch flight-recorder dumps: what they are known by. Reading one (`fr_dump`) is loaded for the first of them."""

from __future__ import annotations

from collections.abc import Iterator

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.regexes import regex

#: A pickle of protocol 2 or later, as torch writes it; also what tells the two dialects apart.
PICKLE = regex(rb"\x80[\x02-\x05]")
_JSON = regex(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*[\[{][ \t\r\n]*[\]}\"{]")
_MARKS = (b"pg_config", b"pg_status", b"profiling_name", b"collective_seq_id", b"comm_lib_version", b"nccl_comm_state")


def _sniff(head: bytes, _name: str) -> bool:
    return bool(PICKLE.match(head) or _JSON.match(head)) and any(mark in head for mark in _MARKS)


def _collect(inp: Input) -> Iterator[Fact]:
    """One `fr-rank` fact. Raises UnreadableInput for a dump that is cut off, damaged, too large or not plain data."""
    from neuron_doctor.collectors import fr_dump  # noqa: PLC0415 - most inputs are logs

    yield fr_dump.fact_of(inp)


COLLECTOR = Collector(kind="flight-recorder", title="PyTorch flight-recorder dump", sniff=_sniff, collect=_collect)
