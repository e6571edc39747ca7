"""What process groups say when a collective does not end or a peer is gone: ProcessGroupNCCL, TorchNeuron, gloo."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod

from neuron_doctor.corpus.simulator import clocks
from neuron_doctor.corpus.simulator.dialect import Watchdog
from neuron_doctor.corpus.simulator.history import Call, End, Op, PeerLost, WatchdogTimeout
from neuron_doctor.corpus.simulator.job import Group
from neuron_doctor.corpus.simulator.printed import Line, Printed, Process
from neuron_doctor.corpus.simulator.write_recorder_numbers import Counters, Issued, nccl

_OP_TYPES = {
    Op.ALL_REDUCE: "ALLREDUCE",
    Op.ALL_GATHER: "_ALLGATHER_BASE",
    Op.REDUCE_SCATTER: "_REDUCE_SCATTER_BASE",
    Op.BROADCAST: "BROADCAST",
    Op.ALL_TO_ALL: "ALLTOALL_BASE",
    Op.BARRIER: "BARRIER",
    Op.SEND: "SEND",
    Op.RECV: "RECV",
}
_TAKEN_DOWN = (
    (0.004, 683, ("[Rank {rank}] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA "
               "kernels, subsequent GPU operations might run on corrupted/incomplete data.")),
    (0.0038, 697, "[Rank {rank}] To avoid data inconsistency, we are taking the entire process down."),
    (0.002, 1899, "{pg} Process group watchdog thread terminated with exception: {caught}"),
)  # fmt: skip
_CAUSE = (
    " and we will try our best to dump the debug info. Last enqueued NCCL work: {enqueued}, last completed NCCL work: "
    "{completed}.This is most likely caused by incorrect usages of collectives, e.g., wrong sizes used across ranks, the "
    "order of collectives is not same for all ranks or the scheduled collective, for some reason, didn't run. "
    "Additionally, this can be caused by GIL deadlock or other reasons such as network errors or bugs in the "
    "communications library (e.g. NCCL), etc. "
)
_NATIVE_FRAMES = (
    "Exception raised from checkTimeout at ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:632 (most recent call first):",
    "frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x98 (0x7f8d1c1785e8 in {python}/torch/lib/libc10.so)",
    (
        "frame #1: c10d::ProcessGroupNCCL::WorkNCCL::checkTimeout(std::optional<std::chrono::duration<long, std::ratio<1l, "
        "1000l> > >) + 0x23d (0x7f8cce2c5a1d in {python}/torch/lib/libtorch_cuda.so)"
    ),
    "frame #2: c10d::ProcessGroupNCCL::watchdogHandler() + 0xc80 (0x7f8cce2c77a0 in {python}/torch/lib/libtorch_cuda.so)",
    "frame #3: <unknown function> + 0xdbbf4 (0x7f8d2c0dbbf4 in /lib/x86_64-linux-gnu/libstdc++.so.6)",
    "frame #4: <unknown function> + 0x94ac3 (0x7f8d2cc94ac3 in /lib/x86_64-linux-gnu/libc.so.6)",
    "",
)
_GLOO_TIMEOUT = (
    "[/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting {timeout}ms for recv "
    "operation to complete"
)
_GLOO_CLOSED = "[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] Connection closed by peer [{address}]:{port}"
_PEER_LOST = (
    "NCCL communicator was aborted on rank {rank}. Original reason for failure was: remote process exited or there was a "
    "network error, NCCL version 2.31.24\nncclRemoteError: A call failed possibly due to a network error or a remote "
    "process exiting prematurely.\nLast error:\nsocketProgress: Connection closed by remote peer {host}<{port}>"
)


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a rank has come in a process group, by the numbers that its watchdog counts."""

    enqueued: int
    completed: int
    stuck: int  # the number of the call that timed out


def timed_out(process: Process, event: WatchdogTimeout) -> Iterator[Printed]:
    """The report of a watchdog that gave up; gloo has none, its caller gets an exception."""
    match process.dialect.watchdog:
        case Watchdog.NCCL:
            yield from _nccl_report(process, event)
        case Watchdog.NEURON:
            yield from _neuron_report(process, event)


def timeout_exception(process: Process, event: WatchdogTimeout) -> tuple[str, str] | None:
    """The type and message of the exception that the waiting program gets, if it gets one."""
    match process.dialect.watchdog:
        case Watchdog.NEURON:
            return "RuntimeError", _neuron_text(process, event)
        case Watchdog.GLOO:
            return "RuntimeError", _GLOO_TIMEOUT.format(timeout=int(event.timeout * 1000))
    return None


def peer_exception(process: Process, event: PeerLost) -> tuple[str, str]:
    """The type and message of the exception of a program whose peer is gone."""
    host = process.history.job.host_of(event.peer)
    fields = {"address": host.address, "host": host.name, "port": 20000 + event.peer % 20000, "rank": process.rank}
    if process.dialect.watchdog is Watchdog.NCCL:
        return "torch.distributed.DistBackendError", _PEER_LOST.format_map(fields)
    return "RuntimeError", _GLOO_CLOSED.format_map(fields)


def told_to_dump(process: Process, first: WatchdogTimeout, time: float) -> Iterator[Printed]:
    """A rank whose own collectives are in time learns of another's timeout and says how far it is itself."""
    group = _group(process, first.group)
    standing = _standing(process, group.name, time, None)
    text = f"{_pg(process, group)} Received a dump signal due to a collective timeout from  rank {first.rank}"
    yield _native(process, time, 1743, text + _CAUSE.format(enqueued=standing.enqueued, completed=standing.completed))


def _nccl_report(process: Process, event: WatchdogTimeout) -> Iterator[Printed]:
    group, call = _group(process, event.group), process.life.calls[event.index]
    standing = _standing(process, event.group, event.time, call)
    caught = _caught(process, event, call, standing)
    pg, fault = _pg(process, group), event.fault
    status = (
        f"{pg}  failure detected by watchdog at work sequence id: {standing.stuck} PG status: last enqueued work: "
        f"{standing.enqueued}, last completed work: {standing.completed}"
    )
    dump = f"{pg} Received a dump signal due to a collective timeout from this local rank"
    cause = _CAUSE.format(enqueued=standing.enqueued, completed=standing.completed)
    yield _native(process, event.time, 632, caught, fault)
    yield _native(process, event.time + 0.0002, 2268, status)
    yield _native(process, event.time + 0.0009, 2103, f"{pg} First PG on this rank to signal dumping.")
    yield _native(process, event.time + 0.6, 1743, dump + cause)
    if process.life.end is not End.ABORTED or process.life.ended is None:
        return  # somebody else was faster
    for early, place, text in _TAKEN_DOWN:
        time = process.life.ended - early
        yield _native(process, time, place, text.format(rank=process.rank, pg=pg, caught=caught))
    yield process.says(process.life.ended - 0.001, _terminated(process, pg, caught))


def _terminated(process: Process, pg: str, caught: str) -> Iterable[str]:
    for line in _NATIVE_FRAMES:
        yield line.format(python=process.dialect.python)
    yield "terminate called after throwing an instance of 'c10::DistBackendError'"
    yield f"  what():  {pg} Process group watchdog thread terminated with exception: {caught}"


def _caught(process: Process, event: WatchdogTimeout, call: Call, standing: Standing) -> str:
    timeout = int(event.timeout * 1000)
    ran = timeout + 7 + (process.rank * 37 + call.ordinal) % 91  # the watchdog looks about ten times a second
    return (
        f"[Rank {process.rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={standing.stuck}, "
        f"OpType={_op_type(call)}, NumelIn={_numel(call.input_sizes)}, NumelOut={_numel(call.output_sizes)}, "
        f"Timeout(ms)={timeout}) ran for {ran} milliseconds before timing out."
    )


def _op_type(call: Call) -> str:
    return "COALESCED" if call.batch is not None else _OP_TYPES[call.op]


def _numel(sizes: tuple[tuple[int, ...], ...]) -> int:
    return sum(prod(size) for size in sizes)


def _neuron_report(process: Process, event: WatchdogTimeout) -> Iterator[Printed]:
    text = _neuron_text(process, event)
    head = f"E{_glog(process, event.time, 6)} {process.seat.pid + 41} process_group_neuron.cpp:512] "
    yield process.says(event.time, (f"{head}{text}",), event.fault)
    seq = text.rpartition("=")[2]
    yield process.says(event.time + 0.0003, (f"{head}Error checking work (seq={seq}): {text}",), event.fault)


def _neuron_text(process: Process, event: WatchdogTimeout) -> str:
    call = process.life.calls[event.index]
    standing = _standing(process, event.group, event.time, call)
    return f"Work timed out: op={call.op.strip('_').removesuffix('_base')}, seq={standing.stuck}"


def _native(process: Process, time: float, place: int, text: str, fault: int | None = None) -> Printed:
    head = f"[rank{process.rank}]:[E{_glog(process, time, 9)} ProcessGroupNCCL.cpp:{place}] "
    return process.says(time, (Line(f"{head}{text}", fault),))


def _glog(process: Process, time: float, digits: int) -> str:
    return clocks.glog(process.clock(time), digits=digits, utc_offset=process.style.utc_offset)


def _group(process: Process, name: str) -> Group:
    return next(group for group in process.history.job.groups if group.name == name)


def _pg(process: Process, group: Group) -> str:
    """[PG ID 0 PG GUID 0(default_pg) Rank 3]: the number is local to the rank, and so is the rank in the group."""
    mine = process.history.job.groups_of(process.rank)
    number = mine.index(group) if group in mine else 0
    place = group.ranks.index(process.rank) if process.rank in group.ranks else process.rank
    return f"[PG ID {number} PG GUID {group.name}({group.desc}) Rank {place}]"


def _standing(process: Process, group: str, time: float, stuck: Call | None) -> Standing:
    """By the numbers of ProcessGroupNCCL; a call that failed did not complete."""
    counters: defaultdict[str, Counters] = defaultdict(Counters)
    calls = (call for call in process.life.calls if call.group == group and call.issued <= time)
    work = [issued for issued in nccl(calls, counters) if not issued.inner]
    completed = [issued.status for issued in work if issued.completed is not None and issued.completed <= time]
    return Standing(
        enqueued=work[-1].status if work else -1,  # the last one's number, even where a transfer counts apart
        completed=completed[-1] if completed else -1,
        stuck=next((issued.status for issued in work if _is(issued, stuck)), -1),
    )


def _is(issued: Issued, call: Call | None) -> bool:
    if call is None:
        return False
    return issued.call is call or (issued.closes and issued.call.batch == call.batch)
