"""Orders between the clocks of one host, from the lives of processes of which its kernel, its programs and their
launcher tell, and from lines that stand in two logs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import permutations

from msgspec import Struct, field

from neuron_doctor.engine.clocks import Clocks
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.moments import Moment, Track
from neuron_doctor.engine.orders import Order

_SECOND = 1_000_000_000
#: A process opens its devices so soon after the first record of its runtime.
_OPENING = 120 * _SECOND
#: It may go on writing for so long after it closed them.
_CLOSING = 30 * _SECOND
#: The stamp of a launcher's report may stand on a line above it.
_REPORTING = 60 * _SECOND
#: A line reaches a second log, or a killed process stops writing, within so long.
_AT_ONCE = 2 * _SECOND
#: How launchers print the end of a process that was killed.
_KILLED = frozenset({9, -9, 137})
#: What others say of a process; all else in a log is its own.
_OF_OTHERS = frozenset({"launcher-failure", "oom-kill", "attach", "detach", "core-dump"})
#: So many characters of a line are compared: the kernel cuts it at 512 bytes.
_COMPARED = 200

Span = tuple[Moment, Moment]
#: (what is told, what is told) -> which end of each comes first, the slack, the witness
_LIFE = (
    ("attach", 0, "spoke", 0, _OPENING, "attach"),
    ("spoke", 1, "detach", 1, _CLOSING, "detach"),
    ("spoke", 1, "oom-kill", 0, _AT_ONCE, "oom-kill"),
    ("oom-kill", 1, "killed", 0, _REPORTING, "oom-kill"),
    ("detach", 1, "ended", 0, _REPORTING, "launcher"),
    ("spoke", 1, "ended", 0, _REPORTING, "launcher"),
)


class _Life(Struct):
    """What is told of one process: the first and the last moment of each, by every clock."""

    ranks: set[int] = field(default_factory=set)
    told: dict[str, dict[Track, Span]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, what: str, moment: Moment) -> None:
        """One more moment at which it is told."""
        track, told = moment.track, self.told[what]
        first, last = told.get(track, (moment, moment))
        told[track] = (
            moment if moment.instant < first.instant else first,
            last if moment.instant < last.instant else moment,
        )


def orders_of_processes(facts: Iterable[Fact], clocks: Clocks, logs: Collection[str]) -> Iterator[Order]:
    """All orders of this kind; `logs` are the sources that programs write. A process id that two ranks of a host have
    proves nothing."""
    facts = tuple(facts)
    for life in _lives(facts, clocks, logs).values():
        if len(life.ranks) <= 1:
            for first, end, then, begin, slack, why in _LIFE:
                for a in life.told.get(first, {}).values():
                    yield from _no_later(a[end], [b[begin] for b in life.told.get(then, {}).values()], slack, why)
    yield from _orders_of_copies(facts, clocks, logs)


def _no_later(first: Moment, others: Iterable[Moment], slack: int, why: str) -> Iterator[Order]:
    for then in others:
        if then.track != first.track:
            unsure = first.instant.uncertainty_ns + then.instant.uncertainty_ns
            yield Order(first.track, first.instant.ns, then.track, then.instant.ns, slack + unsure, why)


def _lives(facts: Iterable[Fact], clocks: Clocks, logs: Collection[str]) -> dict[tuple[str | None, int], _Life]:
    lives: dict[tuple[str | None, int], _Life] = defaultdict(_Life)
    for fact in facts:
        moment, pid = clocks.moment(fact), fact.place.pid
        if moment is None or pid is None:
            continue
        life = lives[fact.place.host, pid]
        if fact.place.rank is not None:
            life.ranks.add(fact.place.rank)
        for what in _told(fact, logs):
            life.add(what, moment)
    return lives


def _told(fact: Fact, logs: Collection[str]) -> Iterator[str]:
    """What a fact tells of its process."""
    if fact.kind in ("attach", "detach", "oom-kill"):
        yield fact.kind
    elif fact.kind == "launcher-failure":
        yield "ended"
        if {fact.data.get("signal"), fact.data.get("exitcode")} & _KILLED:
            yield "killed"
    elif fact.source in logs and fact.kind not in _OF_OTHERS:
        yield "spoke"


def _orders_of_copies(facts: Iterable[Fact], clocks: Clocks, logs: Collection[str]) -> Iterator[Order]:
    """The runtime writes its errors to the kernel log as well, and the kernel log may be there twice (`dmesg` and the
    journal): a line that stands once by each clock of its host, and in a kernel log of one boot, is one event."""
    lines: dict[tuple[object, ...], dict[Track, list[tuple[Moment, bool]]]] = defaultdict(lambda: defaultdict(list))
    for fact in facts:
        if fact.source in clocks.boots:
            continue  # every boot writes the same lines
        kernel = fact.source in clocks.kernel
        own = kernel or (fact.source in logs and fact.place.pid is not None)
        moment = clocks.moment(fact) if own else None
        text = fact.span.text[(fact.span.column or 1) - 1 :][:_COMPARED]
        if moment and text:
            place = fact.place
            lines[place.host, fact.name, place.device, place.core, text][moment.track].append((moment, kernel))
    for tracks in lines.values():
        single = [found[0] for found in tracks.values() if len(found) == 1]
        for (a, is_kernel), (b, is_kernel_too) in permutations(single, 2):
            if is_kernel or is_kernel_too:
                yield from _no_later(a, [b], _AT_ONCE, "same line")
