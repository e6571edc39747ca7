"""The way through the house: discover, collect, diagnose. Reads inputs; opens no connection, runs no command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from msgspec.structs import replace

from neuron_doctor.collectors.attempt_files import placed_by_attempts
from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.layout import placed_by_layout
from neuron_doctor.collectors.legends import placed_by_legends
from neuron_doctor.collectors.numbered_dumps import placed_by_numbers
from neuron_doctor.collectors.one_process import placed_by_one_process
from neuron_doctor.collectors.pod_files import placed_by_pods
from neuron_doctor.collectors.pod_sections import placed_by_commands
from neuron_doctor.collectors.rank_directories import placed_by_rank_directories
from neuron_doctor.collectors.stack_ranks import placed_by_stack_headings
from neuron_doctor.collectors.times_of_day import timed_by_the_lines_above
from neuron_doctor.collectors.walk import Found, find
from neuron_doctor.collectors.worker_directories import placed_by_worker_directories
from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Clock, Collection, Fact, Instant
from neuron_doctor.engine.readings import Reading, apart, gathered, merged
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.searched import understood
from neuron_doctor.engine.verdict import Diagnosis
from neuron_doctor.engine.wallclock import date_of, ns_of
from neuron_doctor.packs import load
from neuron_doctor.plugins import engine_for
from neuron_doctor.scan import Engine, Scanned, scan_input
from neuron_doctor.shards import Shard, is_worth_it, joined, planned, readings, scan

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from neuron_doctor.request import Request


def rulebook_for(request: Request) -> Rulebook:
    """The rules of the request. Raises RulebookError."""
    return load(request.packs)


def diagnose_paths(request: Request, rulebook: Rulebook, stdin: BinaryIO | None = None) -> Diagnosis:
    """The diagnosis of everything that the request names. Raises MissingPath."""
    engine = engine_for(request.packs, rulebook)
    collected, plugins = [_collected(request, rulebook, engine, stdin)], engine.plugins
    del engine  # its database, and what it knows of lines: the diagnosis takes their room
    return replace(diagnose(rulebook, collected.pop()), plugins=plugins)


def collect(request: Request, rulebook: Rulebook, stdin: BinaryIO | None = None) -> Collection:
    """Facts and sources of all inputs. An input that cannot be read is a problem of its source; the rest goes on."""
    return _collected(request, rulebook, engine_for(request.packs, rulebook), stdin)


def _collected(request: Request, rulebook: Rulebook, engine: Engine, stdin: BinaryIO | None) -> Collection:
    shards = _planned(find(request.paths, request.labels), engine, request)
    return collection_of(scan_all(shards, engine, request, stdin), request, rulebook)


def read(
    request: Request, rulebook: Rulebook, stdin: BinaryIO | None = None, *, but: Path | None = None
) -> list[Reading]:
    """What each source says, by itself, in the order of their paths; the file `but` is left out. Raises MissingPath."""
    engine = engine_for(request.packs, rulebook)
    left_out = but.resolve() if but else None
    found = [f for f in find(request.paths, request.labels) if not but or Path(f.location).resolve() != left_out]
    return merged(readings(scan_all(_planned(found, engine, request), engine, request, stdin)))


def _planned(found: Iterable[Found], engine: Engine, request: Request) -> list[Shard]:
    return planned(found, engine, cut=request.jobs > 1 or bool(request.scheduler))


def scan_all(
    shards: Sequence[Shard], engine: Engine, request: Request, stdin: BinaryIO | None
) -> Iterable[Sequence[Scanned]]:
    """The results of the shards, in their order; by several processes where there is work for them."""
    if not request.scheduler and not is_worth_it(shards, request.jobs):
        return (scan(shard, engine, stdin) for shard in shards)
    done: dict[int, list[Scanned]] = {}
    for _ in scan_some(dict(enumerate(shards)), engine, request, stdin, done):
        pass
    return (done[number] for number in range(len(shards)))


def scan_some(
    shards: Mapping[int, Shard],
    engine: Engine,
    request: Request,
    stdin: BinaryIO | None,
    done: dict[int, list[Scanned]],
) -> Iterator[int]:
    """Put the results of the shards into `done`; the number of each, when it is there."""
    own: Mapping[int, Shard] = {number: shard for number, shard in shards.items() if shard.is_pipe}
    others = {number: shard for number, shard in shards.items() if number not in own}
    if request.scheduler:
        from neuron_doctor.cluster import scan_on_cluster  # noqa: PLC0415 - an optional extra

        yield from scan_on_cluster(others, request.packs, request.scheduler, done)
    elif is_worth_it(list(others.values()), request.jobs):
        from neuron_doctor.workers import scan_in_processes  # noqa: PLC0415 - small inputs need no processes

        yield from scan_in_processes(others, request.packs, request.jobs, done)
    else:
        own = shards
    for number, shard in own.items():
        done[number] = scan(shard, engine, stdin)
        yield number


def collection_of(scanned: Iterable[Sequence[Scanned]], request: Request, rulebook: Rulebook) -> Collection:
    """Everything that was scanned, as the rulebook understands it, with hosts and time zones that only the whole tells."""
    collection = _placed(gathered(apart(understood(merged(readings(scanned)), rulebook))))
    if request.timezone is None:
        return collection
    return replace(collection, facts=tuple(_with_zone(collection.facts, request.timezone)))


def collect_inputs(inputs: Iterable[Input], engine: Engine) -> Collection:
    """Facts and sources of these inputs; what says no host is placed by the layout of them all."""
    return _placed(joined([[scan_input(inp, engine) for inp in inputs]]))


def _placed(collection: Collection) -> Collection:
    """With the pods, the ranks, the attempts and the hosts that only the whole tells."""
    timed = timed_by_the_lines_above(collection)
    of_pods = placed_by_one_process(
        placed_by_pods(
            placed_by_commands(placed_by_worker_directories(placed_by_rank_directories(placed_by_numbers(timed))))
        )
    )
    return placed_by_stack_headings(placed_by_legends(placed_by_layout(placed_by_attempts(of_pods))))


def _with_zone(facts: Iterable[Fact], zone: ZoneInfo) -> Iterator[Fact]:
    for fact in facts:
        if fact.instant and fact.instant.clock is Clock.HOST_LOCAL:
            yield replace(fact, instant=_in_utc(fact.instant, zone))
        else:
            yield fact


def _in_utc(instant: Instant, zone: ZoneInfo) -> Instant:
    local = date_of(instant.ns).replace(tzinfo=zone)
    return replace(instant, ns=ns_of(local) + instant.ns % 1000, clock=Clock.UTC)
