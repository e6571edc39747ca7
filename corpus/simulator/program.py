"""What a rank's program does: a setup, then training steps of launches on the device, work on the host, and waits."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from neuron_doctor.corpus.simulator.history import End, Frame, Op
from neuron_doctor.corpus.simulator.job import Axis
from neuron_doctor.corpus.simulator.jobs import Shape, members
from neuron_doctor.corpus.simulator.sites import Codebase, Site

Sizes = tuple[tuple[int, ...], ...]


class Fate(StrEnum):
    """What becomes of a launch on the device of its rank."""

    NORMAL = "normal"
    DEVICE_STUCK = "device-stuck"  # it never starts, and neither does anything after it on this device
    LOST = "lost"  # it starts everywhere and completes nowhere
    UNSEEN = "unseen"  # it completes, but this rank never sees it complete


@dataclass(frozen=True, slots=True)
class Part:
    """One operation: a collective of `group`, or a transfer to or from `peer` within it."""

    op: Op
    group: str
    inputs: Sizes
    outputs: Sizes
    dtype: str
    frames: tuple[Frame, ...]
    peer: int | None = None


@dataclass(frozen=True, slots=True)
class Launch:
    """Operations that the host hands to the device: one, or a coalesced batch of transfers.

    `compute` seconds of device work lie before it; `blocks` makes later device work wait for it, `waits` the host.
    """

    site: Site
    parts: tuple[Part, ...]
    compute: float = 0.0
    blocks: bool = True
    waits: bool = False
    batch: bool = False
    fate: Fate = Fate.NORMAL
    recorded: bool = True


@dataclass(frozen=True, slots=True)
class Work:
    """Work on the host alone: reading data, saving, compiling."""

    site: Site
    seconds: float


@dataclass(frozen=True, slots=True)
class Sync:
    """The host waits until its device has done all that was launched."""

    site: Site = Site.SYNC


@dataclass(frozen=True, slots=True)
class StepEnd:
    """The training step is done."""

    step: int


@dataclass(frozen=True, slots=True)
class Halt:
    """The host goes no further: by fault number `fault` it hangs or ends here, with these frames on its stack.

    `taking` are other ranks that end at the same moment (of a host that goes down, of a job that is cancelled).
    """

    fault: int
    end: End
    frames: tuple[Frame, ...] = ()
    signal: int | None = None
    exit_code: int | None = None
    dumps: bool = True
    interruptible: bool = True  # SIGTERM ends it; else it takes SIGKILL
    taking: tuple[int, ...] = ()
    told: bool = False  # the launcher's line about the end states the fault
    seen: bool = True  # a launcher is left to see it


Instruction = Launch | Work | Sync | StepEnd | Halt
Edit = Callable[[list[Instruction]], list[Instruction]]
Edits = Mapping[tuple[int, int], tuple[Edit, ...]]  # by (rank, step); step -1 is the setup


class Kind(StrEnum):
    """What a step does beyond training."""

    PLAIN = "plain"
    EVALUATE = "evaluate"
    CHECKPOINT = "checkpoint"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the job trains: everything about its program that is not the job's shape."""

    codebase: Codebase
    steps: int
    microbatches: int = 4
    layers: int = 1
    one_f_one_b: bool = True
    sharded: bool = True  # reduce-scatter and all-gather of parameters; else an all-reduce of gradients
    sequence: int = 4096
    hidden: int = 8192
    seconds: float = 1.0  # device work of a step
    evaluate_every: int = 7
    checkpoint_every: int = 10


@dataclass(frozen=True)
class Program:
    """The programs of all ranks of a job."""

    shape: Shape
    recipe: Recipe

    @cached_property
    def groups(self) -> Mapping[tuple[Axis, int], tuple[str, tuple[int, ...]]]:
        """By axis and rank: the name and the members of its group."""
        return {
            (axis, rank): (str(number), ranks)
            for number, (axis, ranks) in enumerate(members(self.shape))
            for rank in ranks
        }

    def run(self, rank: int, edits: Edits) -> Iterator[Instruction]:
        """All that a rank does, with the edits that a fault makes to it."""
        templates = {kind: tuple(self.step(rank, kind)) for kind in Kind}
        yield from _edited(list(self.setup(rank)), edits.get((rank, -1), ()))
        for step in range(self.recipe.steps):
            changes = edits.get((rank, step))
            template = templates[self.kind(step)]
            yield from _edited(list(template), changes) if changes else template
            yield StepEnd(step)
        yield from self.farewell()

    def kind(self, step: int) -> Kind:
        """What a step does beyond training."""
        if step % self.recipe.checkpoint_every == self.recipe.checkpoint_every - 1:
            return Kind.CHECKPOINT
        return Kind.EVALUATE if step % self.recipe.evaluate_every == self.recipe.evaluate_every - 1 else Kind.PLAIN

    def setup(self, rank: int) -> Iterator[Instruction]:
        """Start of the process, rendezvous, compilation, the first barrier."""
        yield Work(Site.SETUP, 4.0 + rank % 7 * 0.13)
        yield replace(self._world(Site.SETUP, Op.BARRIER, 1), waits=True, recorded=False)
        yield Work(Site.COMPILE, 2.0)
        yield replace(self._world(Site.SETUP, Op.BARRIER, 1), waits=True)

    def farewell(self) -> Iterator[Instruction]:
        """The end of a run that went well."""
        yield replace(self._world(Site.BARRIER, Op.BARRIER, 1), waits=True)

    def step(self, rank: int, kind: Kind) -> Iterator[Instruction]:
        """One training step."""
        yield Work(Site.DATA, 0.004)
        yield from self._pipeline(rank)
        yield from self._reduce(rank)
        yield self._world(Site.GRAD_NORM, Op.ALL_REDUCE, 1)
        yield from self._gather(rank)
        yield self._world(Site.LOSS, Op.ALL_REDUCE, 2)
        yield Sync()
        if kind is Kind.EVALUATE:
            yield self._world(Site.EVALUATE, Op.ALL_GATHER, 64)
            yield Sync(Site.EVALUATE)
        if kind is Kind.CHECKPOINT:
            yield replace(self._world(Site.BARRIER, Op.BARRIER, 1), waits=True)
            yield Work(Site.SAVE, 3.0)
            yield replace(self._world(Site.BARRIER, Op.BARRIER, 1), waits=True)

    def _frames(self, site: Site) -> tuple[Frame, ...]:
        return self.recipe.codebase.frames[site]

    def _group(self, axis: Axis, rank: int) -> tuple[str, tuple[int, ...]] | None:
        return self.groups.get((axis, rank))

    def _world(self, site: Site, op: Op, count: int) -> Launch:
        ranks = self.shape.world
        outputs = ((count * ranks,),) if op is Op.ALL_GATHER else ((count,),)
        return self._collective(site, op, "0", ((count,),), outputs, "Float")

    def _collective(
        self, site: Site, op: Op, group: str, inputs: Sizes, outputs: Sizes, dtype: str = "BFloat16"
    ) -> Launch:
        return Launch(site, (Part(op, group, inputs, outputs, dtype, self._frames(site)),))

    @property
    def _chunk(self) -> float:
        """Device seconds between two calls of a pass: the work of a step over its passes, layers and halves."""
        return self.recipe.seconds / (self.recipe.microbatches * 2 * self.recipe.layers * 2)

    def _pass(self, rank: int, attention: Site, mlp: Site) -> Iterator[Instruction]:
        """One microbatch, forward or backward: the tensor and expert parallel calls of its layers."""
        tensor, expert = self._group(Axis.TENSOR, rank), self._group(Axis.EXPERT, rank)
        whole: Sizes = ((self.recipe.sequence, 1, self.recipe.hidden),)
        for _ in range(self.recipe.layers):
            if tensor:
                yield replace(self._collective(attention, Op.ALL_REDUCE, tensor[0], whole, whole), compute=self._chunk)
            if expert:
                yield self._collective(Site.DISPATCH, Op.ALL_TO_ALL, expert[0], whole, whole)
                yield replace(
                    self._collective(Site.COMBINE, Op.ALL_TO_ALL, expert[0], whole, whole), compute=self._chunk / 2
                )
            if tensor:
                yield replace(self._collective(mlp, Op.ALL_REDUCE, tensor[0], whole, whole), compute=self._chunk)

    def _forward(self, rank: int) -> Iterator[Instruction]:
        yield from self._pass(rank, Site.FORWARD_ATTENTION, Site.FORWARD_MLP)

    def _backward(self, rank: int) -> Iterator[Instruction]:
        yield from self._pass(rank, Site.BACKWARD_ATTENTION, Site.BACKWARD_MLP)

    def _pipeline(self, rank: int) -> Iterator[Instruction]:
        """All microbatches of a step, by the schedule."""
        if self.recipe.one_f_one_b and self.shape.pipeline > 1:
            yield from self._one_f_one_b(rank)
            return
        for _ in range(self.recipe.microbatches):
            yield from self._transfer(rank, (Site.RECV_FORWARD,))
            yield from self._forward(rank)
            yield from self._transfer(rank, (Site.SEND_FORWARD,))
        for _ in range(self.recipe.microbatches):
            yield from self._transfer(rank, (Site.RECV_BACKWARD,))
            yield from self._backward(rank)
            yield from self._transfer(rank, (Site.SEND_BACKWARD,))

    def _one_f_one_b(self, rank: int) -> Iterator[Instruction]:
        """Megatron's schedule without interleaving: warm-up, one forward one backward, cool-down."""
        stage = self.shape.coordinates(rank)[2]
        warmup = min(self.shape.pipeline - 1 - stage, self.recipe.microbatches)
        steady = self.recipe.microbatches - warmup
        for _ in range(warmup):
            yield from self._transfer(rank, (Site.RECV_FORWARD,))
            yield from self._forward(rank)
            yield from self._transfer(rank, (Site.SEND_FORWARD,))
        if steady:
            yield from self._transfer(rank, (Site.RECV_FORWARD,))
        for left in reversed(range(steady)):
            yield from self._forward(rank)
            yield from self._transfer(rank, (Site.SEND_FORWARD, Site.RECV_BACKWARD))
            yield from self._backward(rank)
            yield from self._transfer(rank, (Site.SEND_BACKWARD, Site.RECV_FORWARD) if left else (Site.SEND_BACKWARD,))
        for _ in range(warmup):
            yield from self._transfer(rank, (Site.RECV_BACKWARD,))
            yield from self._backward(rank)
            yield from self._transfer(rank, (Site.SEND_BACKWARD,))

    def _transfer(self, rank: int, sites: tuple[Site, ...]) -> Iterator[Instruction]:
        """Sends and receives with the stages before and after, as far as there are any."""
        group = self._group(Axis.PIPELINE, rank)
        if group is None:
            return
        batch = self.recipe.one_f_one_b
        name, ranks = group
        stage = ranks.index(rank)
        parts: list[Part] = []
        for site in sites:
            other = stage + (1 if site in {Site.SEND_FORWARD, Site.RECV_BACKWARD} else -1)
            if 0 <= other < len(ranks):
                parts.append(self._part(site, name, ranks[other], Site.EXCHANGE if batch else site))
        if parts:
            yield Launch(sites[0], tuple(parts), blocks=any(part.op is Op.RECV for part in parts), batch=batch)

    def _part(self, site: Site, group: str, peer: int, frames: Site) -> Part:
        tensor: Sizes = ((self.recipe.sequence, 1, self.recipe.hidden),)
        if site in {Site.SEND_FORWARD, Site.SEND_BACKWARD}:
            return Part(Op.SEND, group, tensor, tensor, "BFloat16", self._frames(frames), peer)
        return Part(Op.RECV, group, tensor, tensor, "BFloat16", self._frames(frames), peer)

    def _reduce(self, rank: int) -> Iterator[Instruction]:
        group = self._group(Axis.DATA, rank)
        if group is None:
            return
        count = len(group[1])
        flat, part = ((count * 1_048_576,),), ((1_048_576,),)
        op, outputs = (Op.REDUCE_SCATTER, part) if self.recipe.sharded else (Op.ALL_REDUCE, flat)
        for _ in range(2):
            yield replace(self._collective(Site.REDUCE_GRADS, op, group[0], flat, outputs), blocks=False)

    def _gather(self, rank: int) -> Iterator[Instruction]:
        group = self._group(Axis.DATA, rank)
        if group is not None and self.recipe.sharded:
            flat = ((len(group[1]) * 1_048_576,),)
            yield self._collective(Site.GATHER_PARAMS, Op.ALL_GATHER, group[0], ((1_048_576,),), flat)


def _edited(instructions: list[Instruction], edits: tuple[Edit, ...]) -> list[Instruction]:
    for edit in edits:
        instructions = edit(instructions)
    return instructions
