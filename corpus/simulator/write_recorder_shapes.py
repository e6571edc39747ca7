"""What does not vary between the entries of one call site: names, sizes, types, stack. Each producer has its own way."""

from collections.abc import Callable
from typing import NamedTuple

from neuron_doctor.corpus.simulator.history import Call, Frame, Op
from neuron_doctor.corpus.simulator.job import Group
from neuron_doctor.corpus.simulator.write_recorder_numbers import P2P, Issued

Sizes = tuple[tuple[int, ...], ...]

_C10D = "torch/distributed/distributed_c10d.py"
_LOGGER = "torch/distributed/c10d_logger.py"
_ENTRIES = {  # the function of torch.distributed that the program called, and a line in it
    Op.ALL_REDUCE: Frame("all_reduce", _C10D, 2825),
    Op.ALL_GATHER: Frame("all_gather_into_tensor", _C10D, 3728),
    Op.REDUCE_SCATTER: Frame("reduce_scatter_tensor", _C10D, 4167),
    Op.BROADCAST: Frame("broadcast", _C10D, 2714),
    Op.ALL_TO_ALL: Frame("all_to_all_single", _C10D, 4395),
    Op.BARRIER: Frame("barrier", _C10D, 4551),
    Op.SEND: Frame("isend", _C10D, 2347),
    Op.RECV: Frame("irecv", _C10D, 2395),
}
_WRAPPER = Frame("wrapper", _LOGGER, 81)
_GLOO_NAMES = {Op.ALL_GATHER: "all_gather", Op.REDUCE_SCATTER: "all_reduce"}  # a reduce-scatter is an all-reduce there


class Shape(NamedTuple):
    """The unvarying part of an entry."""

    group: Group
    pg_id: int
    name: str
    input_sizes: Sizes
    input_dtypes: tuple[str, ...]
    output_sizes: Sizes
    output_dtypes: tuple[str, ...]
    frames: tuple[Frame, ...]
    timeout_ms: int
    is_p2p: bool
    thread_name: str
    thread_id: str


class Process(NamedTuple):
    """What the shapes of one rank share. `names_barriers` since torch 2.4; `packages` is where its Python packages are."""

    rank: int
    thread_name: str
    thread_id: str
    autograd_thread_id: str
    names_barriers: bool
    packages: str


Shaping = Callable[[Issued, Group], tuple[str, Sizes, Sizes]]  # name, input sizes, output sizes


def shape(issued: Issued, group: Group, pg_id: int, timeout_ms: int, process: Process, named: Shaping) -> Shape:
    """The shape of an issued operation; `named` is the producer's way to name and size it."""
    call = issued.call
    name, inputs, outputs = named(issued, group)
    backward = any(frame.function == "backward" for frame in call.frames)
    if call.op is Op.BARRIER and not process.names_barriers:
        name = name.removesuffix("_barrier")
    dtype = "Float" if call.op is Op.BARRIER else call.dtype
    return Shape(
        group,
        pg_id,
        name,
        inputs,
        (dtype,) * len(inputs),
        outputs,
        (dtype,) * len(outputs),
        _stack(call, process.packages),
        timeout_ms,
        call.op in P2P,
        "pt_autograd_0" if backward else process.thread_name,
        process.autograd_thread_id if backward else process.thread_id,
    )


def nccl(issued: Issued, group: Group) -> tuple[str, Sizes, Sizes]:
    """ProcessGroupNCCL: a transfer has its tensor on both sides, a barrier is an all-reduce of one number."""
    call = issued.call
    if issued.closes:
        return "nccl:coalesced", (), ()
    if call.op in P2P:
        tensor = call.input_sizes or call.output_sizes
        return f"nccl:{_transfer(call, group)}", tensor, tensor
    if call.op is Op.BARRIER:
        return "nccl:all_reduce_barrier", ((1,),), ((1,),)
    return f"nccl:{call.op}", call.input_sizes, call.output_sizes


def hook(issued: Issued, group: Group) -> tuple[str, Sizes, Sizes]:
    """FlightRecorderHook on TorchNeuron's backend: a transfer has a tensor on its own side only, a barrier none."""
    call = issued.call
    if call.op in P2P:
        tensor = call.input_sizes or call.output_sizes
        sends = call.op is Op.SEND
        return f"neuron:{_transfer(call, group)}", tensor if sends else (), () if sends else tensor
    if call.op is Op.BARRIER:
        return "neuron:barrier", (), ()
    name = "all_to_all_single" if call.op is Op.ALL_TO_ALL else call.op
    return f"neuron:{name}", call.input_sizes, call.output_sizes


def gloo(issued: Issued, group: Group) -> tuple[str, Sizes, Sizes]:
    """ProcessGroupGloo: gathers into one stacked tensor; a barrier has no tensor."""
    call = issued.call
    if call.op is Op.BARRIER:
        return "gloo:barrier", (), ()
    outputs = call.output_sizes
    if call.op is Op.ALL_GATHER:
        outputs = tuple((len(group.ranks), *size) for size in call.input_sizes)
    if call.op is Op.REDUCE_SCATTER:
        outputs = call.input_sizes
    return f"gloo:{_GLOO_NAMES.get(call.op, call.op)}", call.input_sizes, outputs


def _transfer(call: Call, group: Group) -> str:
    """`send 0->1` or `recv 1<-0`, in ranks of the group."""
    me, peer = group.ranks.index(call.rank), group.ranks.index(-1 if call.peer is None else call.peer)
    return f"send {me}->{peer}" if call.op is Op.SEND else f"recv {me}<-{peer}"


def _stack(call: Call, packages: str) -> tuple[Frame, ...]:
    """The call's frames, and above them those of torch.distributed itself where the program's trace has none."""
    if call.frames and call.frames[0].file.endswith(_C10D):
        return call.frames
    inside = (_ENTRIES[call.op], _WRAPPER)
    return (*(Frame(at.function, f"{packages}/{at.file}", at.line) for at in inside), *call.frames)
