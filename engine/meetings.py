"""Orders between the clocks of several hosts, from what ranks can only do together: collectives, transfers from one to
the other, barriers, connections, and the steps of a training that synchronises them."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from neuron_doctor.engine.connections import orders_of_connections
from neuron_doctor.engine.dumps import selections
from neuron_doctor.engine.facts import Clock, Fact
from neuron_doctor.engine.moments import Moment, Track, moment_of
from neuron_doctor.engine.orders import Hub, Order
from neuron_doctor.engine.recorder import COLLECTIVE, PENDING, RECEIVE, SEND, GroupRecord, Operation

#: Collectives that no rank completes before all have joined. (An all-to-all may exchange nothing with some.)
_SYNCHRONISING = ("all_reduce", "allreduce", "all_gather", "allgather", "reduce_scatter", "barrier")
#: So many of the last collectives of a group are looked at.
_LATEST = 8
#: A rank may print a step before its peers have ended the one before it.
_RUN_AHEAD = 2
_STEPS = frozenset({"step", "global_step", "global step", "iteration", "iter"})
#: So many steps, at least, must agree.
_FEWEST = 3

#: A line is written so soon after what it tells of.
_WRITING = 1_000_000_000

Ends = dict[Track, int]
#: The name and members of a group, the two ends within it, and how many went before.
Transfer = tuple[str, str, int, int, int]


def orders_of_meetings(facts: Iterable[Fact]) -> Iterator[Order]:
    """All orders of this kind."""
    facts = tuple(facts)
    yield from orders_of_collectives(facts)
    yield from orders_of_transfers(facts)
    yield from orders_of_barriers(facts)
    yield from orders_of_connections(facts)
    yield from orders_of_steps(facts)


def orders_of_collectives(facts: Iterable[Fact]) -> Iterator[Order]:
    """No rank completes a collective before its last member has issued it. Each collective is a hub between the clocks
    of its members, so that the orders are as many as the members."""
    recorders = [fact for fact in facts if fact.kind == "fr-rank" and fact.place.host is not None]
    for run, selection in enumerate(selections(recorders)):
        issued: dict[Hub, Ends] = defaultdict(dict)
        completed: dict[Hub, Ends] = defaultdict(dict)
        names: dict[Hub, set[str]] = defaultdict(set)
        for record in selection.dumps.values():
            track = Track(record.fact.place.host, Clock.UTC)
            for group in filter(_is_numbered, record.groups):
                for operation in (*group.recent, *group.pending)[-2 * _LATEST :]:
                    hub = Hub((run, group.name, group.members, operation.sequence))
                    names[hub].add(operation.name)
                    _note(operation, track, issued[hub], completed[hub])
        for hub, ends in completed.items():
            if ends and len(names[hub]) == 1 and len(issued[hub].keys() | ends.keys()) > 1:
                yield from (Order(track, ns, hub, 0, 0, "collectives") for track, ns in issued[hub].items())
                yield from (Order(hub, 0, track, ns, 0, "collectives") for track, ns in ends.items())


def _is_numbered(group: GroupRecord) -> bool:
    """Whether a collective of the group has the same number on all ranks."""
    return bool(group.members) and group.completions and group.contiguous and not group.batched


def _note(operation: Operation, track: Track, issued: Ends, completed: Ends) -> None:
    """The last rank of a host to issue, and the first to complete."""
    name = operation.name.lower().removeprefix("_")
    if operation.kind != COLLECTIVE or operation.sequence < 0 or not name.startswith(_SYNCHRONISING):
        return
    if operation.created_ns > 0:
        issued[track] = max(issued.get(track, 0), operation.created_ns)
    if operation.state == "completed" and operation.completed_ns > operation.created_ns > 0:
        completed[track] = min(completed.get(track, operation.completed_ns), operation.completed_ns)


def orders_of_transfers(facts: Iterable[Fact]) -> Iterator[Order]:
    """No rank completes a receive before its peer has issued the send. The n-th send from one rank to another in a group
    is the n-th receive, where the recorders of both have lost nothing."""
    recorders = [fact for fact in facts if fact.kind == "fr-rank" and fact.place.host is not None]
    for selection in selections(recorders):
        sent: dict[Transfer, tuple[Track, int]] = {}
        received: dict[Transfer, tuple[Track, int]] = {}
        for record in selection.dumps.values():
            track = Track(record.fact.place.host, Clock.UTC)
            for group in record.groups if record.whole else ():
                for transfer, operation in _numbered(group):
                    if operation.kind == SEND and operation.created_ns > 0:
                        sent[transfer] = track, operation.created_ns
                    elif operation.kind == RECEIVE and operation.completed_ns > operation.created_ns > 0:
                        received[transfer] = track, operation.completed_ns
        for transfer in sorted(sent.keys() & received.keys()):
            (source, issued), (target, arrived) = sent[transfer], received[transfer]
            if source != target:
                yield Order(source, issued, target, arrived, 0, "transfers")


def _numbered(group: GroupRecord) -> Iterator[tuple[Transfer, Operation]]:
    """The transfers that a dump describes, numbered for each kind and two ends: it says how many there are, and describes
    the last of them, unless it has cut the list of the open ones short."""
    if len(group.pending_transfers) >= PENDING:
        return
    described: dict[tuple[str, int, int], list[Operation]] = defaultdict(list)
    for operation in (*group.transfers, *group.pending_transfers):
        described[operation.kind, operation.source, operation.target].append(operation)
    for kind, source, target, times in group.pairs:
        operations = described.get((kind, source, target), ())
        for number, operation in enumerate(operations, times - len(operations)):
            yield (group.name, group.members, source, target, number), operation


# --- barriers ------------------------------------------------------------------------------------------------------


def orders_of_barriers(facts: Iterable[Fact]) -> Iterator[Order]:
    """No rank passes a barrier before all have come to it. Names are used again, by other jobs and after a restart: one
    under which not all ranks came, each once, orders nothing."""
    named: dict[tuple[object, ...], dict[str, list[Fact]]] = defaultdict(lambda: defaultdict(list))
    for fact in facts:
        if fact.kind == "barrier":
            named[fact.place.job or "", fact.place.attempt or 0, fact.data["name"]][str(fact.data["phase"])].append(
                fact
            )
    for name, told in sorted(named.items(), key=repr):
        sizes = {fact.data["size"] for found in told.values() for fact in found if "size" in fact.data}
        came = sorted(fact.place.rank for fact in told["came"] if fact.place.rank is not None)
        passed = [fact.place.rank for fact in told["passed"]]
        if (
            len(sizes) == 1
            and came == list(range(len(came)))
            and sizes == {len(came)}
            and len({*passed}) == len(passed)
        ):
            hub = Hub(("barrier", *name))
            yield from (Order(at.track, at.instant.ns, hub, 0, _unsure(at), "barriers") for at in _dated(told["came"]))
            yield from (
                Order(hub, 0, at.track, at.instant.ns, _unsure(at), "barriers") for at in _dated(told["passed"])
            )


def _dated(facts: Iterable[Fact]) -> Iterator[Moment]:
    return (moment for fact in facts if (moment := moment_of(fact)) and moment.host)


def _unsure(moment: Moment) -> int:
    """A rank writes that it came once it has come, and the last one may be through before that."""
    return moment.instant.uncertainty_ns + _WRITING


# --- steps of a training -------------------------------------------------------------------------------------------


def orders_of_steps(facts: Iterable[Fact]) -> Iterator[Order]:
    """Where all ranks of one job end the same step, none ends step `b` before all have ended those before `b - 1`. The
    steps are a chain of hubs, so that the orders are as many as the records."""
    facts = tuple(facts)
    sizes = {fact.data["size"] for fact in facts if fact.kind == "world"}
    runs: dict[tuple[object, ...], dict[int, list[tuple[int, Moment]]]] = defaultdict(lambda: defaultdict(list))
    for fact in facts:
        moment, rank = moment_of(fact), fact.place.rank
        if fact.kind == "progress" and moment and moment.host and rank is not None:
            what, value = str(fact.data["what"]).lower(), fact.data["value"]
            if what in _STEPS and isinstance(value, float) and value.is_integer():
                place = fact.place
                runs[place.job or "", place.attempt or 0, what][rank].append((int(value), moment))
    for run in sorted(runs, key=repr):
        by_rank = runs[run]
        if len(sizes) == 1 and _are_synchronous(by_rank, next(iter(sizes))):
            yield from _chained(run, [one for found in by_rank.values() for one in found])


def _are_synchronous(by_rank: dict[int, list[tuple[int, Moment]]], size: object) -> bool:
    """Whether the ranks are of one job of this size, each took its steps once and in order, and all ended at the same."""
    if not isinstance(size, int) or not 1 < len(by_rank) <= size or max(by_rank) >= size:
        return False
    lasts = [max(step for step, _ in found) for found in by_rank.values()]
    several = len({step for found in by_rank.values() for step, _ in found}) >= _FEWEST
    return several and max(lasts) - min(lasts) <= 1 and all(_is_one_run(found) for found in by_rank.values())


def _is_one_run(found: Sequence[tuple[int, Moment]]) -> bool:
    ordered = sorted(found, key=lambda one: (one[0], one[1].instant.ns))
    tracks = {moment.track for _, moment in ordered}
    later = pairwise(ordered)
    return len(tracks) == 1 and all(a[0] < b[0] and a[1].instant.ns <= b[1].instant.ns for a, b in later)


def _chained(run: tuple[object, ...], found: Sequence[tuple[int, Moment]]) -> Iterator[Order]:
    """`hub(s)`: the moment when all have ended the steps up to `s`."""
    steps = sorted({step for step, _ in found})
    for step, after in pairwise(steps):
        yield Order(Hub((run, step)), 0, Hub((run, after)), 0, 0, "steps")
    for step, moment in found:
        instant, unsure = moment.instant, moment.instant.uncertainty_ns
        yield Order(moment.track, instant.ns, Hub((run, step)), 0, unsure, "steps")
        before = bisect_right(steps, step - _RUN_AHEAD)
        if before:
            yield Order(Hub((run, steps[before - 1])), 0, moment.track, instant.ns, unsure, "steps")
