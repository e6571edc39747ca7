"""The Chrome trace that neuron-det writes: of each core the last event of every kind, the errors, and what never ended.

Source: NDET guide (SDK 2.16 to 2.21) and the Chrome trace-event format. A process of the trace is one NDET log (its
name holds the path of the log and the ranks, `GIDs`), a thread is a NeuronCore. Clocks are those of the hosts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from msgspec import Struct, field
from msgspec.structs import replace

from neuron_doctor.collectors.base import Input, UnreadableInput
from neuron_doctor.collectors.chrome_trace import Args, Block, Brief, Event, blocks
from neuron_doctor.collectors.ndet_events import (
    KEEP,
    LOG_OF_PROCESS,
    NdetEvent,
    integers,
    is_error_name,
    kind_of,
    ranks_named,
)
from neuron_doctor.collectors.ndet_usual import Usual, latest
from neuron_doctor.engine.facts import Fact, Place, Value, span_of

#: So many pairs of a core and a name of an event are followed, and so many events open at once on one core.
_MOST = 65_536
_MAX_OPEN = 1024

#: Blocks that may be held for the events in them. Most of those are replaced by later ones before anybody asks.
_BLOCKS_HELD = 32

_COMPLETE = "X"
#: Other phases of the trace-event format. An event of any phase that is not listed never ended.
_BEGIN, _END, _INSTANT = frozenset("BbS"), frozenset("EeF"), frozenset("iIn")
_SILENT = frozenset("stfCPNODVvRc(),")  # arrows, counters, objects, dumps: nothing that could end

_Id = int | str | None
_Track = tuple[_Id, _Id]  # process and thread of the trace


class _Kept(Struct):
    """An event that becomes a fact. `end` is None for one that never ended. Where it stands, and what it says beside the
    least, is known as long as there is its `block`; `place` notes it, so that the block need not be kept."""

    event: Brief
    block: Block | None
    index: int
    end: float | None = None
    closing: Args | None = None
    repeats: int = 0
    raw: bytes = b""
    offset: int = 0
    line: int = 1
    column: int = 1

    def replace(self, event: Brief, block: Block, index: int) -> None:
        """Keep a later one instead."""
        self.event, self.block, self.index = event, block, index
        self.end = self.closing = None

    def place(self) -> Self:
        """Note where it stands, and all of it."""
        block = self.block
        if block is not None:
            self.event = block.event(self.index)
            start, end = block.bounds(self.index)
            self.raw, self.offset = block.raw[start:end], block.offset + start
            self.line, self.column = block.line_and_column(start)
            self.block = None
        return self

    def told(self) -> NdetEvent:
        """The event without the form of the trace."""
        args = dict[str, int]()
        for part in (self.args(), self.closing):
            if part is not None:
                args |= integers(
                    {"nd": part.nd, "nc": part.nc, "exec_id": part.exec_id, "gid": part.gid, "ret": part.ret}
                )
        end = self.event.ts + self.event.dur if self.event.ph == _COMPLETE else self.end
        return NdetEvent(self.event.name, end is not None, self.event.ts, end, args)

    def args(self) -> Args | None:
        """The arguments, of one that is placed."""
        return self.event.args if isinstance(self.event, Event) else None

    def track(self) -> _Track:
        """Where it ran."""
        return self.event.pid, self.event.tid


class _Trace(Struct):
    """What was seen of a trace so far: by process its name, by core what is open, by core and event the rest."""

    processes: dict[_Id, _Kept] = field(default_factory=dict)
    opened: dict[_Track, list[_Kept]] = field(default_factory=dict)
    untold: dict[_Track, int] = field(default_factory=dict)
    errors: dict[tuple[_Track, str], list[_Kept]] = field(default_factory=dict)
    last: dict[tuple[_Id, _Id, str], _Kept] = field(default_factory=dict)
    stuck: list[_Kept] = field(default_factory=list)
    names: dict[str, tuple[str, bool]] = field(default_factory=dict)

    def learn(self, name: str) -> tuple[str, bool]:
        """The kind of event that a name stands for, and whether it is an error; remembered, since traces repeat them."""
        known = self.names.get(name)
        if known is None:
            known = (kind_of(name), is_error_name(name))
            if len(self.names) < _MOST:
                self.names[name] = known
        return known


def collect(inp: Input) -> Iterator[Fact]:
    """Facts of the kinds ndet-event and identity."""
    trace = _Trace()
    for number, block in enumerate(blocks(inp, Usual(trace.names).decode)):
        inp.records += len(block.events) or len(block.brief)
        _fold_usual(trace, block)
        _fold(trace, block)
        if number % _BLOCKS_HELD == 0:
            _settle(trace)
    _settle(trace)
    if not inp.records:
        raise UnreadableInput("no event of the trace could be read")
    yield from _facts(inp, trace)


# --- folding


def _fold_usual(trace: _Trace, block: Block) -> None:
    """Take in a block of which only the last events can matter."""
    for index in latest(block.brief):
        event = block.brief[index]
        key = (event.pid, event.tid, trace.learn(event.name)[0])
        kept = trace.last.get(key)
        if kept is None:
            _fold_last(trace, key, _Kept(event, block, index))
        elif (kept.event.ts, kept.index if kept.block is block else -1) < (event.ts, index):
            kept.replace(event, block, index)


def _fold(trace: _Trace, block: Block) -> None:
    """Take in a block, event by event."""
    names, last = trace.names, trace.last
    for index, event in enumerate(block.events):
        if event.ph != _COMPLETE:
            _fold_other(trace, block, index)
            continue
        args, known = event.args, names.get(event.name)
        kind, is_error = known if known is not None else trace.learn(event.name)
        if is_error or (args is not None and args.ret):
            _fold_suspect(trace, _Kept(event, block, index), is_error=is_error)
        kept = last.get((event.pid, event.tid, kind))
        if kept is None:
            _fold_last(trace, (event.pid, event.tid, kind), _Kept(event, block, index))
        elif kept.event.ts <= event.ts:
            kept.replace(event, block, index)


def _settle(trace: _Trace) -> None:
    """Let go of the blocks."""
    for kept in trace.last.values():
        kept.place()


def _fold_last(trace: _Trace, key: tuple[_Id, _Id, str], kept: _Kept) -> None:
    before = trace.last.get(key)
    if len(trace.last) < _MOST if before is None else before.event.ts <= kept.event.ts:
        trace.last[key] = kept


def _fold_suspect(trace: _Trace, kept: _Kept, *, is_error: bool) -> None:
    """An event that is an error by its name, or may be one by its return code."""
    if is_error or kept.told().args.get("ret", 0):
        _fold_error(trace, kept.place())


def _fold_error(trace: _Trace, kept: _Kept) -> None:
    key = (kept.track(), trace.learn(kept.event.name)[0])
    if key in trace.errors or len(trace.errors) < _MOST:
        _storm(trace.errors.setdefault(key, []), kept)


def _storm(told: list[_Kept], kept: _Kept) -> None:
    """Keep the first ones, count the others on the last that is kept."""
    if len(told) < KEEP:
        told.append(kept)
    else:
        told[-1].repeats += 1


def _fold_other(trace: _Trace, block: Block, index: int) -> None:
    event = block.events[index]
    kept = _Kept(event, block, index)
    if event.ph == "M":
        if event.name == "process_name" and len(trace.processes) < _MOST:
            trace.processes[event.pid] = kept.place()
    elif event.ph in _BEGIN:
        _fold_begin(trace, kept.place())
    elif event.ph in _END:
        _fold_end(trace, event)
    elif event.ph in _INSTANT:
        kept.end = event.ts
        _fold_suspect(trace, kept, is_error=trace.learn(event.name)[1])
    elif event.ph and event.ph not in _SILENT and len(trace.stuck) < _MOST:
        trace.stuck.append(kept.place())


def _fold_begin(trace: _Trace, kept: _Kept) -> None:
    track = kept.track()
    opened = trace.opened.get(track)
    if opened is None:
        if len(trace.opened) >= _MOST:
            return
        opened = trace.opened[track] = []
    if len(opened) < _MAX_OPEN:
        opened.append(kept)
    else:
        trace.untold[track] = trace.untold.get(track, 0) + 1


def _fold_end(trace: _Trace, event: Event) -> None:
    """The innermost event that is open on the core ends."""
    track = (event.pid, event.tid)
    opened = trace.opened.get(track)
    if trace.untold.get(track, 0):
        trace.untold[track] -= 1
    elif opened:
        kept = opened.pop()
        kept.end, kept.closing = event.ts, event.args
        if kept.told().is_error():
            _fold_error(trace, kept)
        _fold_last(trace, (*track, trace.learn(kept.event.name)[0]), replace(kept))  # `last` is overwritten in place


# --- facts


class _Process(Struct, frozen=True):
    """The NDET log of one process: its process id, instance and ranks, as far as its name says."""

    pid: int | None = None
    instance_id: str | None = None
    ranks: tuple[int, ...] = ()


def _facts(inp: Input, trace: _Trace) -> Iterator[Fact]:
    processes = {pid: _process_of(kept.args()) for pid, kept in trace.processes.items()}
    for pid, kept in trace.processes.items():
        process = processes[pid]
        if process.instance_id is not None or process.ranks:
            place = Place(instance_id=process.instance_id, pid=process.pid, ranks=process.ranks)
            data: dict[str, Value] = {"instance_id": process.instance_id} if process.instance_id else {}
            yield _fact(inp, "identity", data, place, kept)
    ranks = _ranks_by_track(trace)
    for kept in _told(trace):
        event = kept.told()
        process = processes.get(kept.event.pid, _Process())
        only = process.ranks[0] if len(process.ranks) == 1 else None
        rank = event.own_rank()
        place = Place(
            instance_id=process.instance_id,
            pid=process.pid,
            rank=ranks.get(kept.track(), only) if rank is None else rank,
            device=event.args.get("nd"),
            core=_core(kept.event.tid, event),
        )
        yield _fact(inp, "ndet-event", event.data(), place, kept)


def _told(trace: _Trace) -> Iterator[_Kept]:
    """The events that become facts, each once: errors, what never ended, the last of each kind."""
    unended: dict[tuple[_Track, str], list[_Kept]] = {}
    for kept in (*(kept for opened in trace.opened.values() for kept in opened), *trace.stuck):
        _storm(unended.setdefault((kept.track(), kind_of(kept.event.name)), []), kept)
    told = set[int]()
    for group in (*trace.errors.values(), *unended.values(), list(trace.last.values())):
        for kept in group:
            if kept.offset not in told or not kept.raw:
                told.add(kept.offset)
                yield kept


def _ranks_by_track(trace: _Trace) -> dict[_Track, int]:
    """The rank of each core on which events name exactly one."""
    named: dict[_Track, set[int]] = {}
    for kept in trace.last.values():
        rank = kept.told().args.get("gid")
        if rank is not None:
            named.setdefault(kept.track(), set()).add(rank)
    return {track: next(iter(ranks)) for track, ranks in named.items() if len(ranks) == 1}


def _process_of(args: Args | None) -> _Process:
    name = str(args.name) if args is not None else ""
    log = LOG_OF_PROCESS.search(name)
    return _Process(
        pid=int(log["pid"]) if log else None,
        instance_id=log["instance"] if log else None,
        ranks=ranks_named(name),
    )


def _core(thread: _Id, event: NdetEvent) -> int | None:
    """The NeuronCore: the thread of the trace, else what the arguments say."""
    return integers({"core": thread}).get("core", event.args.get("nc"))


def _fact(inp: Input, kind: str, data: dict[str, Value], place: Place, kept: _Kept) -> Fact:
    span = span_of(inp.path, kept.raw, kept.offset, kept.line, kept.column)
    instant = kept.told().instant() if kind == "ndet-event" else None
    return Fact(kind, data, place.over(inp.place), span, inp.source_id, instant, kept.repeats)
