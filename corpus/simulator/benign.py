"""Benign noise of healthy programs: warnings that mean nothing, as every real log is full of them."""

from collections.abc import Iterator
from random import Random

from neuron_doctor.corpus.simulator.printed import Line, Printed, Process
from neuron_doctor.corpus.simulator.runtime_forms import Said, printed

_FRAMEWORK: tuple[tuple[str, ...], ...] = (
    (
        (
            "{python}/neuronx_distributed/parallel_layers/layers.py:14: DeprecationWarning: torch_neuronx.nki_jit is deprecated, "
            "use nki.jit instead."
        ),
        "  from .mappings import (",
    ),
    (
        (
            "{python}/neuronx_distributed/modules/moe/blockwise.py:42: DeprecationWarning: torch_neuronx.nki_jit is deprecated, "
            "use nki.jit instead."
        ),
        "  component, error = import_nki(config)",
    ),
    (
        (
            "{python}/transformers/generation/configuration_utils.py:631: UserWarning: `do_sample` is set to `False`. However, "
            "`temperature` is set to `0.6`."
        ),
        "  warnings.warn(",
    ),
    (
        (
            "{python}/torch_neuronx/xla_impl/hlo_conversion.py:289: UserWarning: Received an input tensor that was unused or "
            "used in a non-static way when traced"
        ),
        "  warnings.warn(",
    ),
    (
        (
            "{python}/torch/utils/checkpoint.py:464: UserWarning: torch.utils.checkpoint: the use_reentrant parameter should be "
            "passed explicitly."
        ),
        "  warnings.warn(",
    ),
    (
        (
            "huggingface/tokenizers: The current process just got forked, after parallelism has already been used. Disabling "
            "parallelism to avoid deadlocks..."
        ),
        "To disable this warning, you can either:",
        "\t- Avoid using `tokenizers` before the fork if possible",
        "\t- Explicitly set the environment variable TOKENIZERS_PARALLELISM=(true | false)",
    ),
    ("Platform 'neuron' is experimental and not all JAX functionality may be correctly supported!",),
    ("No CUDA runtime is found, using CUDA_HOME='/usr/local/cuda'",),
    ("WARNING: Failed to import from vllm._C with ModuleNotFoundError(\"No module named 'vllm._C'\")",),
    ("`torch_dtype` is deprecated! Use `dtype` instead!",),
    (
        (
            "Token indices sequence length is longer than the specified maximum sequence length for this model (9214 > 8192). "
            "Running this sequence through the model will result in indexing errors"
        ),
    ),
    (
        (
            'E tensorflow/core/framework/op_kernel.cc:1676] OpKernel (\'op: "TPURoundRobin" '
            'device_type: "CPU"\') for unknown op: TPURoundRobin'
        ),
    ),
    ("SHM transfer will be disabled because of ptrace protection.",),
)
_RUNTIME = (
    Said(
        "TDRV",
        "notification_consume_error_block",
        "Error notifications found on nd{nd} nc{nc}; action=INFER_ERROR_SUBTYPE_NONE; error_id=0; "
        "error string:TRAINIUM_NC_ERROR_TYPE_FP_UNDERFLOW",
        level="WARN",
    ),
    Said(
        "TDRV",
        "notification_consume_error_block",
        "Error notifications found on nd{nd} nc{nc}; action=INFER_ERROR_SUBTYPE_NONE; error_id=3; "
        "error string:TRAINIUM_NC_ERROR_TYPE_FP_OVERFLOW",
        level="WARN",
    ),
    Said(
        "TDRV",
        "notification_consume_error_block",
        "Received an unusually large number of error notifications (count:262126) on nd{nd} nc{nc}. Performance may be "
        "negatively affected",
        level="WARN",
    ),
    Said("TDRV", "model_start", "Ignoring errors found during model load.", level="WARN"),
)
_OF_THE_RUNTIME = 0.25


def noise(process: Process, count: int, end: float, random: Random) -> Iterator[Printed]:
    """So many benign entries at any time from the start of the process to `end`."""
    for _ in range(count):
        time = random.uniform(process.life.start + 0.5, max(end, process.life.start + 0.5))
        if random.random() < _OF_THE_RUNTIME:
            yield from printed(process, time, (_placed(process, random.choice(_RUNTIME)),))
        else:
            texts = random.choice(_FRAMEWORK)
            yield process.says(time, (Line(text.replace("{python}", process.dialect.python)) for text in texts))


def _placed(process: Process, said: Said) -> Said:
    core = process.seat.core % process.host.cores_per_device
    text = said.text.format(nd=process.seat.device, nc=core)
    return Said(said.component, said.function, text, level=said.level)
