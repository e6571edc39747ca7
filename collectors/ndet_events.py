"""What an event of NDET says, wherever it is printed, and which events are worth a fact.

Source: Neuron Distributed Event Tracing guide (SDK 2.16 to 2.21). The argument `gid` is the global rank.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct, field

from neuron_doctor.engine.facts import Clock, Instant, Value
from neuron_doctor.engine.regexes import regex

#: Of the errors of one name on one core, and of its events that never ended, so many are facts of their own.
KEEP = 64

#: Names of error events hold one of these words; `numerical_error` is the only one that the guide names.
_ERROR = regex(r"error|fail|timeout|timed_out|abort|fault", re.IGNORECASE)

#: Names that carry more than the kind of event.
_SYNC = regex(r"sync_exec - (?P<neff>.{1,1000})", re.DOTALL)
_RECEIVE = regex(r"(?P<event>\w{1,64}) \((?P<peer>\d{1,9})->(?P<own>\d{1,9})\)")

#: What the log of a process is called, and the ranks that neuron-det names behind it.
LOG_OF_PROCESS = regex(r"ndet_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_(?P<pid>\d{1,10})_(?P<instance>i-[0-9a-f]{8,17})")
GIDS = regex(r"\(GIDs: \[(?P<gids>[\d, ]*)\]\)")
_MAX_RANK_DIGITS = 9

_US = 1000
_INT64 = 2**63 - 1


class NdetEvent(Struct, frozen=True):
    """One event: `name` as printed, times in microseconds, `args` the integers among its arguments. It is `complete`
    when it ended; one that never did is where the core hangs."""

    name: str
    complete: bool
    start_us: float | None
    end_us: float | None
    args: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    def is_error(self) -> bool:
        """Whether it reports a failure: by its name, or by a return code that is not 0."""
        return self.args.get("ret", 0) != 0 or is_error_name(self.name)

    def own_rank(self) -> int | None:
        """The rank that the event itself names: its group id, or the receiving end of a barrier message."""
        received = _RECEIVE.fullmatch(self.name)
        return self.args.get("gid", int(received["own"]) if received else None)

    def data(self) -> dict[str, Value]:
        """The fields of an `ndet-event` fact."""
        data: dict[str, Value] = {"event": kind_of(self.name), "complete": self.complete}
        if (sync := _SYNC.fullmatch(self.name)) is not None:
            data["neff"] = sync["neff"]
        if (received := _RECEIVE.fullmatch(self.name)) is not None:
            data["peer"] = int(received["peer"])
        data |= {name: at for name, at in (("start_us", self.start_us), ("end_us", self.end_us)) if at is not None}
        return data | {name: self.args[name] for name in ("exec_id", "gid", "ret") if name in self.args}

    def instant(self) -> Instant | None:
        """When it ended, or began where it did not end; on the clock of its host only."""
        at = self.start_us if self.end_us is None else self.end_us
        if at is None or abs(at) * _US > _INT64:
            return None
        return Instant(round(at * _US), Clock.MONOTONIC, _US)


def ranks_named(text: str) -> tuple[int, ...]:
    """The ranks that neuron-det names behind the log of a process."""
    gids = GIDS.search(text)
    ranks = (part.strip() for part in gids["gids"].split(",")) if gids else ()
    return tuple(int(rank) for rank in ranks if rank.isdecimal() and len(rank) <= _MAX_RANK_DIGITS)


def is_error_name(name: str) -> bool:
    """Whether an event of this name reports a failure whatever its arguments; a NEFF may be called anything."""
    return _ERROR.search(kind_of(name)) is not None


def kind_of(name: str) -> str:
    """The name without the NEFF or the ranks that it carries."""
    if _SYNC.fullmatch(name):
        return "sync_exec"
    received = _RECEIVE.fullmatch(name)
    return received["event"] if received else name[:200]


def integers(args: Mapping[str, object]) -> dict[str, int]:
    """The arguments that are integers, or print like one."""
    found: dict[str, int] = {}
    for name, value in args.items():
        text = str(value)
        if isinstance(value, int | float | str) and len(text) <= len(str(_INT64)) and text.lstrip("-").isdecimal():
            found[name] = int(text)
    return found
