"""What libnrt and libnccom print: initialisation, executions, errors, the infodump, memory tables, transport."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from random import Random

from neuron_doctor.corpus.simulator import layout
from neuron_doctor.corpus.simulator.dialect import dialect_of
from neuron_doctor.corpus.simulator.history import (
    BarrierTimedOut,
    DeviceMemoryExhausted,
    Event,
    ExecutionFailed,
    HangSuspected,
    HardwareError,
    History,
    NetworkProxyFailed,
    PeerLost,
    ReceiveTimeout,
    SetupFailed,
    StepDone,
)
from neuron_doctor.corpus.simulator.prefixes import written
from neuron_doctor.corpus.simulator.printed import Printed, Process, events_by_rank
from neuron_doctor.corpus.simulator.runtime_blocks import infodump, memory_table
from neuron_doctor.corpus.simulator.runtime_forms import Said, printed
from neuron_doctor.corpus.simulator.runtime_prelude import api_calls, open_call, prelude
from neuron_doctor.corpus.simulator.runtime_words import (
    BARRIER_HANG,
    BARRIER_PROXY,
    BETWEEN_COLLECTIVES,
    COLLECTIVES_HANG,
    COMPLETED,
    COMPUTE_HANG,
    FAILED_TO_EXECUTE,
    HARDWARE,
    SECONDARY,
    SPECIFIC,
    STATUS,
    SYMBOLS,
    Word,
    Words,
)
from neuron_doctor.corpus.simulator.setup_words import DEFAULTS, SETUP
from neuron_doctor.corpus.simulator.style import Style
from neuron_doctor.corpus.simulator.truth import File

_RECENT = 120.0  # seconds: what was said of a rank's device this long before needs no second statement
_TIMEOUT, _COLLECTIVES = 5, 1200
_NOTHING: tuple[Words, Words] = ((), ())
_AT_BARRIER = 0.3  # share of hangs in the first operation that are seen as waits for the barrier
_IN_DISORDER = 0.2  # share of failed executions after which the teardown complains
_HARDWARE_STATUS = frozenset({1201, 1202, 1203, 1205})
_PEER_GONE = (
    "RX, connection closed by remote peer",
    "Net : Connection closed by remote peer {address}<{port}>",
)
_WAITS = (
    ("include/socket.h:579", "Timeout waiting for RX (waited 120 sec) - retrying"),
    ("bootstrap.cc:89", "Timeout waiting for incoming connection (waited 120 sec) - retrying"),
    ("include/socket.h:541", "Connect to {address}<{port}> failed - retrying"),
)
_PROXY = (
    "NET/OFI Request 0x7f0a5c1d20c0 (SEND) completed with error: err: 103, flags: 1030, prov_errno: {errno}, "
    "strerror: {text}, len: {length}, device {interface}"
)
_PROXY_ERRNOS = (
    (2, "Internal queue pair error (local)"),
    (4101, "Failure to send packet"),
    (12, "Unexpected status returned by responder"),
)


def files(history: History, style: Style, random: Random) -> Iterator[File]:
    """The runtime's own files, where it has any: one a rank, by its pid."""
    if not style.runtime_apart:
        return
    dialect, events = dialect_of(history, style), events_by_rank(history)
    for life in history.lives:
        process = Process(history, style, dialect, life.rank)
        said = says(process, events[life.rank], random)
        path = layout.path_for(
            style, history.job, source="runtime-log", rank=life.rank, name=f"nrt_{process.seat.pid}_rank{life.rank}.log"
        )
        if said:
            yield written(history, style, process.seat.host, said, random, dressed=False).file(
                path, "runtime-log", process.seat.host, (life.rank,)
            )


def says(process: Process, events: Sequence[Event], random: Random) -> list[Printed]:
    """All that the runtime in a rank's process prints, in true time order of its beginnings."""
    entries = prelude(process, events, random)
    told: list[Event] = []
    for event in events:
        entries += _reaction(process, event, told, random)
        told.append(event)
    if process.style.runtime_debug:
        entries += open_call(process, events)
    return entries


def _reaction(process: Process, event: Event, told: Sequence[Event], random: Random) -> list[Printed]:
    entries: list[Printed] = []
    match event:
        case StepDone() if process.style.runtime_debug:
            entries = api_calls(process, event)
        case HardwareError():
            entries = _words(process, event, HARDWARE.get(event.error, _NOTHING), random)
        case BarrierTimedOut():
            words = (BARRIER_PROXY + BARRIER_HANG[0], BARRIER_PROXY + BARRIER_HANG[1])
            entries = _words(process, event, words, random)
        case HangSuspected():
            entries = _words(process, event, _hang(event, random), random)
        case ExecutionFailed():
            entries = _execution_failed(process, event, told, random)
        case PeerLost() | ReceiveTimeout() | NetworkProxyFailed():
            entries = printed(process, event.time, (_transport(process, event, random),))
        case DeviceMemoryExhausted():
            entries = memory_table(process, event, random)
        case SetupFailed() if event.what in SETUP:
            entries = _setup_failed(process, event)
    return entries


def _hang(event: HangSuspected, random: Random) -> tuple[Words, Words]:
    """A compute hang is stated at its place; a victim's between two collectives may be anybody's."""
    if event.collective:
        return BARRIER_HANG if event.operation == 0 and random.random() < _AT_BARRIER else COLLECTIVES_HANG
    return COMPUTE_HANG if event.fault is not None else BETWEEN_COLLECTIVES


def _words(process: Process, event: Event, words: tuple[Words, Words], random: Random) -> list[Printed]:
    chosen = words[1] if process.dialect.modern else words[0]
    return printed(process, event.time, said(process, event, chosen, random))


def said(process: Process, event: Event, words: Words, random: Random, **more: str) -> Iterable[Said]:
    """The words with their fields filled in for a rank and an event."""
    fields = _fields(process, event, random) | more
    for word in words:
        fault = event.fault if word.states else None
        level = "WARN" if word.component == "CCOM" else "ERROR"
        yield Said(word.component, word.function, word.text.format_map(fields), fault, level)


def _fields(process: Process, event: Event, random: Random) -> dict[str, str]:
    seat, host = process.seat, process.host
    device = seat.device if event.device is None else event.device
    core = seat.core if event.core is None else event.core
    operation = event.operation if isinstance(event, HangSuspected) else 0
    return {
        "nd": str(device),
        "nc": str(core if process.dialect.modern else core % host.cores_per_device),
        "inner": str(core % host.cores_per_device),
        "rank": str(process.rank),
        "local": str(seat.local_rank),
        "world": str(process.history.job.world),
        "model": process.dialect.model,
        "timeout_ms": "120000" if isinstance(event, HangSuspected) else "30000",
        "waited": str(int(event.waited)) if isinstance(event, BarrierTimedOut) else "",
        "operation": str(operation),
        "before": str(max(operation - 1, 0)),
        "operations": str(event.operations if isinstance(event, HangSuspected) else 0),
        "engine": str(random.randrange(16)),
        "isa": str(random.randrange(1, 4000)),
    }


def _execution_failed(process: Process, event: ExecutionFailed, told: Sequence[Event], random: Random) -> list[Printed]:
    words: list[Word] = list(_statement(process, event, told))
    specific = event.status in SPECIFIC
    words += [Word(w.component, w.function, w.text, specific) for w in (COMPLETED[process.dialect.completed],)]
    stated = blamed(event, told)
    entries = printed(process, event.time, said(process, stated, tuple(words), random, status=str(event.status)))
    failure = f"{SYMBOLS.get(event.status, 'NRT_FAILURE')} in nrt_execute()"
    ticks = count(1)
    if process.dialect.infodump and not any(isinstance(other, DeviceMemoryExhausted) for other in told):
        block = infodump(process, failure, stated.fault if specific else None)
        entries += printed(process, event.time + 0.004 * next(ticks), block)
    last = Word(FAILED_TO_EXECUTE.component, FAILED_TO_EXECUTE.function, FAILED_TO_EXECUTE.text, specific)
    tail = (last, *SECONDARY) if random.random() < _IN_DISORDER else (last,)
    ends = said(process, stated, tail, random, status=str(event.status))
    return entries + printed(process, event.time + 0.012 * next(ticks), ends)


def _statement(process: Process, event: ExecutionFailed, told: Sequence[Event]) -> Words:
    """What states the error, unless the hang's report or the hardware's line did so already."""
    recent = [other for other in told if event.time - other.time < _RECENT]
    if any(isinstance(other, HangSuspected) for other in recent) and event.status in (_TIMEOUT, _COLLECTIVES):
        return ()
    if event.status == _TIMEOUT and event.fault is None:
        return ()  # ambiguous: a victim's summary says no more than the code
    older, newer = STATUS.get(event.status, _NOTHING)
    return newer if process.dialect.modern else older


def blamed(event: ExecutionFailed, told: Sequence[Event]) -> ExecutionFailed:
    """The event with the fault that its code states: a hardware code names the fault of the hardware error before it."""
    if event.fault is not None or event.status not in _HARDWARE_STATUS:
        return event
    faults = [other.fault for other in told if isinstance(other, HardwareError) and other.fault is not None]
    return ExecutionFailed(
        time=event.time, status=event.status, rank=event.rank, host=event.host, fault=faults[-1] if faults else None
    )


def _transport(process: Process, event: PeerLost | ReceiveTimeout | NetworkProxyFailed, random: Random) -> Said:
    if isinstance(event, NetworkProxyFailed):
        errno, text = random.choice(_PROXY_ERRNOS)
        line = _PROXY.format(
            errno=errno, text=text, length=random.choice((4096, 65536, 8192)), interface=event.interface
        )
        place = "int process_completions(struct fi_cq_data_entry*, uint64_t, nccl_net_ofi_cq*):498"
        return Said("CCOM", place, line, event.fault, "WARN")
    fields = {"address": process.history.job.host_of(event.peer).address, "port": str(random.randrange(32768, 60999))}
    if isinstance(event, PeerLost):
        return Said("CCOM", "include/socket.h:488", random.choice(_PEER_GONE).format_map(fields), event.fault, "WARN")
    place, text = random.choice(_WAITS)
    return Said("CCOM", place, text.format_map(fields), event.fault, "WARN")


def _setup_failed(process: Process, event: SetupFailed) -> list[Printed]:
    """All ranks of a job use the same variant, so it is drawn from the job and the cause."""
    variants = SETUP[event.what]
    random = Random(f"{process.history.job.job_id} {event.what}")
    words = random.choice(variants)
    more = {**DEFAULTS, **event.detail}
    return printed(process, event.time, said(process, event, words, random, **more))
