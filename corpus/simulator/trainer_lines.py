"""What trainers print when all is well: the start, the steps, the checkpoints, the end, in each trainer's manner."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from neuron_doctor.corpus.simulator import clocks
from neuron_doctor.corpus.simulator.dialect import Trainer
from neuron_doctor.corpus.simulator.history import Call, Event, Op, StepDone
from neuron_doctor.corpus.simulator.job import Axis
from neuron_doctor.corpus.simulator.printed import Printed, Process

_SIZED = {Axis.TENSOR: "tensor model parallel", Axis.PIPELINE: "pipeline model parallel", Axis.DATA: "data parallel"}
_BATCH = 512
_OF_EACH_RANK = {
    Trainer.MEGATRON: "[rank {rank}] using local rank {local}, world size {world}",
    Trainer.NXD: "rank {rank}: xla:0 on {host}, process {pid}",
    Trainer.TITAN: "{logging} - root - INFO - Starting job: global rank {rank}, local rank {local}, world size {world}",
    Trainer.LIGHTNING: "Initializing distributed: GLOBAL_RANK: {rank}, MEMBER: {member}/{world}",
    Trainer.ACCELERATE: "{logging} - WARNING - __main__ - Process rank: {rank}, device: xla:{local}, n_gpu: 1, "
    "distributed training: True",
}
_OF_THE_FIRST = {
    Trainer.MEGATRON: (
        "> initializing torch distributed ...",
        "> setting random seeds to 1234 ...",
        "> building train, validation, and test datasets ...",
        "time to initialize megatron (seconds): 14.213",
        "training ...",
    ),
    Trainer.NXD: ("Number of parameters: 6738415616", "start training"),
    Trainer.TITAN: (
        "{logging} - root - INFO - Building 2-D device mesh",
        "{logging} - root - INFO - Model llama3 8B size: 8,030,261,248 total parameters",
        "{logging} - root - INFO - Training starts at step 1",
    ),
    Trainer.LIGHTNING: ("GPU available: False, used: False", "  | Name  | Type  | Params", "1 | model | Llama | 8.0 B"),
    Trainer.ACCELERATE: ("***** Running training *****", "  Num Epochs = 1", "  Total optimization steps = 1,000"),
}
_STEP = {
    Trainer.MEGATRON: " [{zoned}] iteration {step:8d}/    5000 | consumed samples: {samples:12d} | elapsed time per iteration "
    "(ms): {ms:.1f} | learning rate: 1.500E-04 | global batch size:   512 | lm loss: {loss:.6E} | loss scale: 1.0 | grad "
    "norm: {norm:.3f} | number of skipped iterations:   0 | number of nan iterations:   0 |",
    Trainer.NXD: "[rank {rank}] step {step} step_time {seconds:.3f}s throughput {rate:.3f} seq/s loss {loss:.4f} grad norm "
    "{norm:.4f}",
    Trainer.TITAN: "{logging} - root - INFO - step: {step:2d}  loss: {loss:7.4f}  grad_norm: {norm:7.4f}  memory: "
    "43.21GiB(45.01%)  tps: {tps:,d}  mfu: 38.21%",
    Trainer.LIGHTNING: "Epoch 0: {percent:3d}%|{bar:<10}| {step}/5000 [00:00<00:00, {seconds:5.2f}s/it, v_num=0, "
    "reduced_train_loss={loss:.3f}, global_step={before}.0, consumed_samples={samples}.0]",
    Trainer.ACCELERATE: "{{'loss': {loss:.4f}, 'grad_norm': {norm:.4f}, 'learning_rate': 4.5e-05, 'epoch': {epoch:.4f}}}",
}
_SAVED = {
    Trainer.MEGATRON: ("saving checkpoint at iteration {step:7d} to /fsx/checkpoints/run1 in torch_dist format",
                       "  successfully saved checkpoint from iteration {step:7d} to /fsx/checkpoints/run1"),
    Trainer.TITAN: ("{logging} - root - INFO - Saving the checkpoint (or staging if async is enabled).",
                    "{logging} - root - INFO - Finished saving the checkpoint in 3.02 seconds."),
}  # fmt: skip
_SAVED_ANYHOW = ("saving checkpoint step_{step}", "checkpoint step_{step} saved")
_PROGRESS = frozenset({Trainer.LIGHTNING})  # draw over their own line


def start(process: Process, events: Sequence[Event]) -> Iterator[Printed]:
    """Who a rank is, and of the first rank how the job is split and, once all ranks have met, that training begins."""
    time = process.life.start + 1.1 + 0.013 * process.seat.local_rank
    yield process.says(time, (_filled(process, _OF_EACH_RANK[process.dialect.trainer], time),))
    if process.rank == 0:
        yield from _groups(process, time + 0.4)
        met = _met(process, events)
        for text in _OF_THE_FIRST[process.dialect.trainer] if met is not None else ():
            yield process.says(met or time, (_filled(process, text, met or time),))


def _met(process: Process, events: Sequence[Event]) -> float | None:
    """When the ranks had met: the end of the first operation, if it is still known, else the start of the first step."""
    first = next((event for event in events if isinstance(event, StepDone)), None)
    ends = [call.completed for call in process.life.calls[:1] if call.completed is not None]
    if first is not None:
        ends.append(first.time - first.seconds)
    return min(ends, default=None)


def step(process: Process, event: StepDone) -> Printed | None:
    """The line of a training step, of a rank whose trainer prints it."""
    trainer, dialect = process.dialect.trainer, process.dialect
    last = process.history.job.world - 1
    if not dialect.every_rank_steps and process.rank != (last if trainer is Trainer.MEGATRON else 0):
        return None
    text = _filled(process, _STEP[trainer], event.time, **_numbers(event))
    if trainer in _PROGRESS:
        before = _filled(process, _STEP[trainer], event.time, **_numbers(replace(event, step=event.step - 1)))
        text = f"\r{before}\r{text}"
    return process.says(event.time + 0.002, (text,))


def checkpoints(process: Process) -> Iterator[Printed]:
    """Of the first rank: that a checkpoint is being written, and that it was, between the barriers around it."""
    if process.rank != 0:
        return
    begins, ends = _SAVED.get(process.dialect.trainer, _SAVED_ANYHOW)
    barriers = [call for call in process.life.calls if _saves(call)]
    done = _steps_done(process)
    for before, after in zip(barriers[::2], [*barriers[1::2], None], strict=False):
        if before.completed is None:
            return
        at = sum(time <= before.issued for time in done)
        yield process.says(before.completed, (_filled(process, begins, before.completed, step=at),))
        if after is not None:
            yield process.says(after.issued, (_filled(process, ends, after.issued, step=at),))


def _saves(call: Call) -> bool:
    return call.op is Op.BARRIER and any("checkpoint" in f"{frame.function} {frame.file}" for frame in call.frames)


def _steps_done(process: Process) -> list[float]:
    return [
        event.time for event in process.history.events if isinstance(event, StepDone) and event.rank == process.rank
    ]


def _groups(process: Process, time: float) -> Iterator[Printed]:
    """The sizes of the axes, as NxD and Megatron print them."""
    sizes = {group.axis: len(group.ranks) for group in process.history.job.groups}
    for axis, name in _SIZED.items():
        if process.dialect.trainer is Trainer.NXD:
            stamp = clocks.iso(process.clock(time), digits=3, separator=" ", utc_offset=process.style.utc_offset)
            place = "neuronx_distributed/parallel_layers/parallel_state.py:628"
            yield process.says(time, (f"[{stamp}: I {place}] > initializing {name} with size {sizes.get(axis, 1)}",))
        elif process.dialect.trainer is Trainer.MEGATRON:
            yield process.says(time, (f"> initialized {name} with size {sizes.get(axis, 1)}",))


def _numbers(event: StepDone) -> dict[str, float | int | str]:
    number = event.step + 1
    return {
        "step": number,
        "before": event.step,
        "samples": number * _BATCH,
        "ms": event.seconds * 1000,
        "seconds": event.seconds,
        "rate": _BATCH / max(event.seconds, 1e-3),
        "tps": int(4096 / max(event.seconds, 1e-3)),
        "loss": event.loss,
        "norm": 0.5 + event.loss / 4,
        "epoch": number / 5000,
        "percent": number * 100 // 5000,
        "bar": "█" * (number * 10 // 5000),
    }


def _filled(process: Process, text: str, time: float, **more: float | str) -> str:
    clock, offset = process.clock(time), process.style.utc_offset
    day = clocks.iso(clock, digits=0, separator=" ", utc_offset=offset)
    fields = {
        "logging": clocks.python_logging(clock, utc_offset=offset),
        "zoned": f"{day} {process.style.zone}" if process.style.zone and offset == 0 else day,
        "rank": process.rank,
        "member": process.rank + 1,
        "local": process.seat.local_rank,
        "world": process.history.job.world,
        "host": process.host.name,
        "pid": process.seat.pid,
    }
    return text.format_map(fields | more)
