"""One input to facts: which collector reads it, and what becomes of one that fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.collectors.base import Collector, Input, SniffFailed, UnreadableInput
from neuron_doctor.collectors.blocks import WHOLE, Extent
from neuron_doctor.collectors.catalogue import collectors_for
from neuron_doctor.collectors.coverage import Coverage
from neuron_doctor.collectors.discover import unread
from neuron_doctor.collectors.prefixes import without_escapes
from neuron_doctor.collectors.saved_outputs import saved_outputs
from neuron_doctor.collectors.streams import Damaged, finish
from neuron_doctor.engine.facts import Fact, Source, ranks_of
from neuron_doctor.engine.matcher import build_matcher
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.verdict import Plugin
from neuron_doctor.keep import keep_of_user


class Engine(Struct, frozen=True):
    """The collectors with the patterns of a rulebook, built once and used for many inputs; the `plugins` that brought some."""

    collectors: tuple[Collector, ...]
    plugins: tuple[Plugin, ...] = ()

    @classmethod
    def of(
        cls,
        rulebook: Rulebook,
        *,
        pure: bool = False,
        further: tuple[Collector, ...] = (),
        plugins: tuple[Plugin, ...] = (),
    ) -> Engine:
        """Compile the patterns; `pure` without Vectorscan. `further` are the collectors of the plug-ins."""
        build = partial(build_matcher, pure=pure, store=keep_of_user())
        return cls(collectors_for(rulebook.patterns, build, further), plugins)


class Scanned(Struct, frozen=True):
    """What one input, or one extent of a file, says. `coverage` is what the parts of a file add up."""

    source: Source
    facts: tuple[Fact, ...]
    coverage: Coverage
    extent: Extent = WHOLE


def collector_for(
    head: bytes, name: str, collectors: Sequence[Collector], told: Callable[[str], None] = lambda _: None
) -> Collector | None:
    """The first collector that knows what this is, whatever its colours; `told` hears of each that could not say."""
    head = without_escapes(head.decode("latin-1")).encode("latin-1") if b"\x1b" in head else head
    for collector in collectors:
        try:
            if collector.sniff(head, name):
                return collector
        except SniffFailed as error:
            told(str(error))
    return None


def scan_input(inp: Input, engine: Engine) -> Scanned:
    """The facts of one input, read to its end; this is the one place where any exception of a collector ends, counted and
    reported."""
    facts: list[Fact] = []
    try:
        head = inp.head()
        collector = collector_for(head, inp.name, engine.collectors, inp.problem)
        if collector:
            inp.kind = collector.kind
            facts.extend(() if inp.extent.begin else saved_outputs(inp, head))
            facts.extend(collector.collect(inp))
        else:
            inp.kind = "unknown"
            inp.problem("not text, and of no kind that is known")
    except UnreadableInput as error:
        inp.problem(str(error))
    except (KeyboardInterrupt, MemoryError):
        raise
    except Exception as error:
        inp.problem(f"the collector stopped: {type(error).__name__}: {error}")
    source = _source(inp)
    named = tuple(fact if fact.source == source.id else replace(fact, source=source.id) for fact in facts)
    return Scanned(source, named, inp.coverage, inp.extent)


def scan_part(inp: Input) -> list[Scanned]:
    """What the sources of a part say; and the part itself, as a source, if anything is wrong with it."""
    from neuron_doctor.parts import read_part  # noqa: PLC0415 - loaded for the first part: where logs are read, there is none

    scanned: list[Scanned] = []
    inp.kind = "part"
    try:
        scanned.extend(Scanned(one.source, one.facts, Coverage()) for one in read_part(inp.stream))
    except Damaged as error:
        inp.problem(str(error))
    except OSError as error:
        inp.problem(f"cannot be read: {error.strerror}")
    source = _source(inp)
    return [*scanned, Scanned(source, (), Coverage())] if source.problems else scanned


def given_up(path: str, why: str, extent: Extent) -> Scanned:
    """The extent of a file that nobody can read."""
    return Scanned(_source(unread(path, why)), (), Coverage(), extent)


def _source(inp: Input) -> Source:
    return Source(
        id=finish(inp),
        path=inp.path,
        kind=inp.kind,
        size=inp.size,
        records=inp.records,
        place=inp.place,
        first=inp.first,
        last=inp.last,
        gaps=tuple(inp.gaps),
        problems=tuple(inp.problems.values()),
        ranks=tuple(sorted({*ranks_of(inp.place), *inp.ranks})),
        unended=inp.unended,
    )
