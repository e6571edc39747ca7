"""The way through the house: discover, collect, diagnose. Reads inputs; opens no connection, runs no command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import neuron_doctor.engine
from neuron_doctor.collectors.base import HEAD, Collector, Input, UnreadableInput
from neuron_doctor.collectors.catalogue import collectors_for
from neuron_doctor.collectors.discover import discover
from neuron_doctor.collectors.layout import placed_by_layout
from neuron_doctor.collectors.streams import finish
from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Clock, Collection, Fact, Instant, Source, ranks_of
from neuron_doctor.engine.matcher import build_matcher
from neuron_doctor.engine.rulebook import Rulebook, load_rulebook
from neuron_doctor.engine.verdict import Diagnosis
from neuron_doctor.engine.wallclock import date_of, ns_of

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from neuron_doctor.request import Request


def builtin_pack() -> Path:
    """The directory of the built-in rules. It has no Python file, so it is found beside the engine: in a checkout and in
    a wheel alike."""
    return Path(neuron_doctor.engine.__file__).resolve().parent.parent / "rules"


def rulebook_for(request: Request) -> Rulebook:
    """The rules of the request. Raises RulebookError."""
    return load_rulebook(
        [builtin_pack(), *request.packs], only_terms=() if request.builtin_rules else (builtin_pack(),)
    )


def diagnose_paths(request: Request, rulebook: Rulebook, stdin: BinaryIO | None = None) -> Diagnosis:
    """The diagnosis of everything that the request names. Raises MissingPath."""
    return diagnose(rulebook, collect(request, rulebook, stdin))


def collect(request: Request, rulebook: Rulebook, stdin: BinaryIO | None = None) -> Collection:
    """Facts and sources of all inputs. An input that cannot be read is a problem of its source; the rest goes on."""
    inputs = discover(request.paths, labels=request.labels, stdin=stdin)
    collection = collect_inputs(inputs, Engine.of(rulebook, pure=request.pure))
    if request.timezone is None:
        return collection
    return replace(collection, facts=tuple(_with_zone(collection.facts, request.timezone)))


@dataclass(frozen=True, slots=True)
class Engine:
    """The collectors with the patterns of a rulebook, built once and used for many inputs."""

    collectors: tuple[Collector, ...]

    @classmethod
    def of(cls, rulebook: Rulebook, *, pure: bool = False) -> Engine:
        """Compile the patterns; `pure` without Vectorscan."""
        patterns = rulebook.patterns
        return cls(collectors_for(patterns, build_matcher(patterns.patterns, pure=pure)))


def collect_inputs(inputs: Iterable[Input], engine: Engine) -> Collection:
    """Facts and sources of these inputs, each read to its end before the next; what says no host is placed by the layout of
    them all."""
    sources: list[Source] = []
    facts: list[Fact] = []
    for inp in inputs:
        found = _collect_one(inp, engine.collectors)
        source = _source(inp)
        sources.append(source)
        facts.extend(fact if fact.source == source.id else replace(fact, source=source.id) for fact in found)
    return placed_by_layout(Collection(tuple(sources), tuple(facts)))


def _collect_one(inp: Input, collectors: Sequence[Collector]) -> list[Fact]:
    """The facts of one input; this is the one place where any exception of a collector ends, counted and reported."""
    facts: list[Fact] = []
    try:
        head = inp.stream.peek(HEAD)[:HEAD]
        collector = next((c for c in collectors if c.sniff(head, inp.name)), None)
        if collector is None:
            inp.kind = "unknown"
            inp.problem("not text, and of no kind that is known")
            return facts
        inp.kind = collector.kind
        facts.extend(collector.collect(inp))
    except UnreadableInput as error:
        inp.problem(str(error))
    except (KeyboardInterrupt, MemoryError):
        raise
    except Exception as error:
        inp.problem(f"the collector stopped: {type(error).__name__}: {error}")
    return facts


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
        ranks=ranks_of(inp.place),
    )


def _with_zone(facts: Iterable[Fact], zone: ZoneInfo) -> Iterator[Fact]:
    for fact in facts:
        if fact.instant and fact.instant.clock is Clock.HOST_LOCAL:
            yield replace(fact, instant=_in_utc(fact.instant, zone))
        else:
            yield fact


def _in_utc(instant: Instant, zone: ZoneInfo) -> Instant:
    local = date_of(instant.ns).replace(tzinfo=zone)
    return replace(instant, ns=ns_of(local) + instant.ns % 1000, clock=Clock.UTC)
