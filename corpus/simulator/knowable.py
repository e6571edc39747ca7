"""What the files that are left can still show of each fault: stated by a line, inferable from witnesses together, or hidden."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from neuron_doctor.corpus.simulator.execution import Execution
from neuron_doctor.corpus.simulator.history import HangSuspected, History, LauncherSaw, WatchdogTimeout
from neuron_doctor.corpus.simulator.style import Recorder, Style
from neuron_doctor.corpus.simulator.truth import Fault, File, Knowable

SIGKILL, SIGSEGV, SIGBUS = 9, 11, 7
_ISSUE = frozenset(Recorder) - {Recorder.NONE}
_COMPLETION = frozenset({Recorder.NCCL, Recorder.NCCL_TIMING, Recorder.HOOK})
_TRANSFERS = frozenset({Recorder.NCCL, Recorder.NCCL_TIMING, Recorder.HOOK, Recorder.HOOK_ISSUE_ONLY})
_TIMING = frozenset({Recorder.NCCL_TIMING})

# Which recorders can show a fault at all.
_RECORDERS: Mapping[str, frozenset[Recorder]] = {
    "collectives-rank-missing": _ISSUE,
    "collectives-rank-died": _ISSUE,
    "collectives-op-mismatch": _ISSUE,
    "collectives-size-mismatch": _ISSUE,
    "collectives-dtype-mismatch": _ISSUE,
    "collectives-order-mismatch": _ISSUE,
    "collectives-partial-completion": _COMPLETION,
    "collectives-transport-stall": _COMPLETION,
    "collectives-device-stuck": _TIMING,
    "hang-outside-collectives": _COMPLETION,
    "straggler": _TIMING,
    "p2p-missing": _TRANSFERS,
    "p2p-mismatch": _TRANSFERS,
    "p2p-order": _TRANSFERS,
}
_BY_ABSENCE = frozenset({"collectives-rank-missing", "collectives-rank-died"})
_NOBODY_SPEAKS = frozenset({"collectives-rank-missing", "collectives-device-stuck"})
_BY_SIGNAL = frozenset({"host-oom", "process-crash", "collectives-rank-died"})


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of the evidence: ranks whose dump is whole, ranks (and hosts) whose logs are whole."""

    dumps: frozenset[int]
    logs: frozenset[int]
    launchers: frozenset[int]


def judge(execution: Execution, style: Style, before: Sequence[File], after: Sequence[File]) -> dict[int, Knowable]:
    """How much of each fault the files still show. `before` are the files as they were written, `after` those that are left."""
    stated = {mark.fault for file in after for mark in file.marks}
    left = _left(before, after)
    found = {}
    for number, fault in enumerate(execution.faults):
        if number in stated:
            found[number] = Knowable.STATED
        elif execution.shown[number] and _inferable(fault, execution.history, style, left):
            found[number] = Knowable.INFERABLE
        else:
            found[number] = Knowable.HIDDEN
    return found


def _left(before: Sequence[File], after: Sequence[File]) -> Left:
    """Whole is a file of which all bytes are there (or the copy of all); compressed ones are whole where they were."""
    sizes = {file.path: len(file.data) for file in before}
    whole = [file for file in after if file.path.endswith(".gz") or len(file.data) >= sizes.get(file.path, 1 << 62)]

    def ranks(*sources: str) -> frozenset[int]:
        return frozenset(rank for file in whole if file.source in sources for rank in file.ranks)

    launchers = frozenset(file.host for file in whole if file.source == "launcher-log" and file.host is not None)
    return Left(ranks("flight-recorder"), ranks("runtime-log", "framework-log"), launchers)


def _inferable(fault: Fault, history: History, style: Style, left: Left) -> bool:
    return (
        _by_dumps(fault, history, style, left)
        or _by_silence(fault, history, left)
        or _by_launcher(fault, history, left)
    )


def _by_dumps(fault: Fault, history: History, style: Style, left: Left) -> bool:
    """The dumps of all that could contradict: of every rank that shares a group with a rank at fault, and its own.

    Its own may lack where absence is the fault, if nobody else's does.
    """
    if style.recorder not in _RECORDERS.get(fault.cause, frozenset()):
        return False
    world = frozenset(range(history.job.world))
    there = left.dumps & frozenset(life.rank for life in history.lives if life.dumps_recorder)
    culprits = frozenset(fault.ranks)
    if not culprits or fault.cause == "straggler":
        return there == world
    if not culprits <= there:
        return fault.cause in _BY_ABSENCE and there == world - culprits
    peers = frozenset(
        rank for group in history.job.groups if culprits & set(group.ranks) for rank in _members(group.ranks, world)
    )
    return (peers or world) <= there


def _members(ranks: tuple[int, ...], world: frozenset[int]) -> tuple[int, ...]:
    """The members of a group; the world's do not count, since it says of everybody only that he waits."""
    return () if len(ranks) == len(world) else ranks


def _by_silence(fault: Fault, history: History, left: Left) -> bool:
    """All ranks but those at fault report the hang, and all logs are there: the silent ones are the culprits."""
    if fault.cause not in _NOBODY_SPEAKS:
        return False
    world = frozenset(range(history.job.world))
    spoke = {event.rank for event in history.events if isinstance(event, HangSuspected | WatchdogTimeout)}
    return bool(spoke) and world - spoke == frozenset(fault.ranks) and left.logs == world


def _by_launcher(fault: Fault, history: History, left: Left) -> bool:
    """The launcher of its host saw the process die of a signal that nobody sends to victims."""
    if fault.cause not in _BY_SIGNAL:
        return False
    return any(
        isinstance(event, LauncherSaw)
        and event.rank in fault.ranks
        and not event.killed_by_launcher
        and event.signal in {SIGKILL, SIGSEGV, SIGBUS}
        and event.host in left.launchers
        for event in history.events
    )
