"""What a collector says: typed facts, each at a place, an instant and a span of a source."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from operator import attrgetter

from msgspec import Struct, field

from neuron_doctor.engine.digests import sha256

#: What a field of a fact may hold. Tuples nest, so that a summary (of a ring buffer, say) stays one immutable fact.
Scalar = str | int | float | bool | None
Value = Scalar | tuple["Value", ...]

#: Evidence is quoted up to this many characters (shared contract of the JSON report).
MAX_TEXT = 2000
#: The kinds of fact that say how things are, and not what happened.
SETTINGS = frozenset(
    {"env", "identity", "launch", "node-width", "node-rank", "meeting-host", "package", "version", "limit"}
)


class Clock(StrEnum):
    """What an instant was read from. Instants of different clocks, or of one clock on two hosts, are not comparable."""

    UTC = "utc"
    HOST_LOCAL = "host-local"  # wall clock of the host, zone not stated
    YEARLESS = "yearless"  # host-local without a year (syslog); stored as if in 1972
    BOOT = "boot"  # nanoseconds since the host booted (dmesg)
    MONOTONIC = "monotonic"  # any other counter (NDET, profiler)


#: What these show is a date.
DATED = frozenset({Clock.UTC, Clock.HOST_LOCAL})


class Instant(Struct, frozen=True, order=True):
    """A time with the clock that gave it. `ns`: nanoseconds since that clock's zero (wall clocks: 1970-01-01 00:00)."""

    ns: int
    clock: Clock
    uncertainty_ns: int = 0


class Place(Struct, frozen=True, cache_hash=True):
    """Where a fact holds: whatever is known, None where it is not.

    `device` is the Neuron device number on its host, `core` is as the source prints it, `ranks` are global ranks that a
    statement about several ranks is about.
    """

    job: str | None = None
    attempt: int | None = None
    host: str | None = None
    instance_id: str | None = None
    container: str | None = None
    pid: int | None = None
    rank: int | None = None
    local_rank: int | None = None
    device: int | None = None
    core: int | None = None
    group: str | None = None
    ranks: tuple[int, ...] = ()

    def over(self, outer: Place) -> Place:
        """This place, completed from `outer` where it is silent: a line knows better than its file."""
        if self is NOWHERE or outer is NOWHERE:  # most often
            return outer if self is NOWHERE else self
        pairs = zip(_ALONE(self), _ALONE(outer), strict=True)
        alone = [theirs if mine is None else mine for mine, theirs in pairs]
        return Place(*[*alone, self.ranks or outer.ranks])

    def known(self) -> dict[str, str | int | tuple[int, ...]]:
        """The fields that are known, in declaration order."""
        return {name: v for name, v in zip(_NAMES, _VALUES(self), strict=True) if v is not None and v != ()}


_NAMES = Place.__struct_fields__
_VALUES = attrgetter(*_NAMES)
#: All but the ranks, of which there are several.
_ALONE = attrgetter(*_NAMES[:-1])
NOWHERE = Place()


def ranks_of(place: Place) -> tuple[int, ...]:
    """The ranks that a place speaks of."""
    return place.ranks or ((place.rank,) if place.rank is not None else ())


def pod_of(container: str | None) -> str:
    """The pod of a container (`pod/container`, or the pod alone); nothing where there is none."""
    return (container or "").partition("/")[0]


class Span(Struct, frozen=True):
    """Where the evidence stands. Offsets and lengths are bytes of the decompressed member; `line` and `column` count
    from 1 and are None for what is not text."""

    path: str
    offset: int = 0
    length: int = 0
    line: int | None = None
    column: int | None = None
    text: str = ""
    sha256: str = ""
    truncated: bool = False


def span_of(path: str, raw: bytes, offset: int, line: int | None = None, column: int | None = None) -> Span:
    """The span of `raw`, which starts at byte `offset` of `path`, with its quotation and digest."""
    text = raw.decode("utf-8", "replace")
    return Span(
        path=path,
        offset=offset,
        length=len(raw),
        line=line,
        column=column,
        text=text[:MAX_TEXT],
        sha256=sha256(raw).hexdigest(),
        truncated=len(text) > MAX_TEXT,
    )


class Fact(Struct, frozen=True):
    """A typed statement of one source. `kind` and the types of `data` are in `engine.kinds`; a `hit` also names its
    pattern. `repeats` counts further records like this one that were folded into it (a capped message storm)."""

    kind: str
    data: Mapping[str, Value]
    place: Place
    span: Span
    source: str
    instant: Instant | None = None
    repeats: int = 0

    @property
    def name(self) -> str:
        """What conditions call it: the pattern's id for a hit, else the kind."""
        return str(self.data["pattern"]) if self.kind == "hit" else self.kind


class About(StrEnum):
    """What a problem is about, where something follows from that."""

    OTHER = ""
    #: Its rank is not known: no problem any more once other evidence tells it.
    RANK = "rank"
    #: It is of an earlier run, and its records were left out.
    EARLIER_RUN = "earlier-run"


class Problem(Struct, frozen=True):
    """Something wrong with an input, counted: `what` in plain words, `line` of the first occurrence where it has one."""

    what: str
    line: int | None = None
    count: int = 1
    about: About = About.OTHER


class Gap(Struct, frozen=True):
    """Where a source lost records, from `start` to `end` (same clock). Silence alone is no gap: a log that goes on later
    covers it."""

    start: Instant
    end: Instant


class Searched(Struct, frozen=True, eq=False):
    """What a rulebook looks for: the name of each pattern and kind of fact with a digest of its definition. The `digest` of all
    of them names it."""

    digest: str
    names: Mapping[str, str] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Searched) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


class Source(Struct, frozen=True):
    """One input file, member or stream: what it is, where it is from, which interval it covers, what was wrong with it.

    `id` is a digest of content and place hint, so copies under other names are the same source. `searched` is what was
    looked for in it, where that was another rulebook's than the one at hand. `unended`: its last line has no end, so that
    it was cut there, or its writer was.
    """

    id: str
    path: str
    kind: str
    size: int = 0
    records: int = 0
    place: Place = NOWHERE
    first: Instant | None = None
    last: Instant | None = None
    gaps: tuple[Gap, ...] = ()
    problems: tuple[Problem, ...] = ()
    ranks: tuple[int, ...] = ()
    searched: Searched | None = None
    unended: bool = False


class Collection(Struct, frozen=True):
    """All that was collected: the sources, and the facts in canonical order."""

    sources: tuple[Source, ...] = ()
    facts: tuple[Fact, ...] = ()
