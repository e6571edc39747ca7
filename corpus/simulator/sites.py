"""Call sites: the stack frames, innermost first, under which each kind of call is issued in three codebases."""

from dataclasses import dataclass
from enum import StrEnum

from neuron_doctor.corpus.simulator.history import Frame


class Site(StrEnum):
    """A place in a training program."""

    FORWARD_ATTENTION = "forward-attention"
    FORWARD_MLP = "forward-mlp"
    BACKWARD_ATTENTION = "backward-attention"
    BACKWARD_MLP = "backward-mlp"
    DISPATCH = "dispatch"
    COMBINE = "combine"
    RECV_FORWARD = "recv-forward"
    SEND_FORWARD = "send-forward"
    RECV_BACKWARD = "recv-backward"
    SEND_BACKWARD = "send-backward"
    EXCHANGE = "exchange"
    REDUCE_GRADS = "reduce-grads"
    GATHER_PARAMS = "gather-params"
    GRAD_NORM = "grad-norm"
    LOSS = "loss"
    EVALUATE = "evaluate"
    BARRIER = "barrier"
    SAVE = "save"
    DATA = "data"
    SYNC = "sync"
    SETUP = "setup"
    COMPILE = "compile"
    STALL = "stall"


@dataclass(frozen=True, slots=True)
class Codebase:
    """A training program: the frames of each site, and what a progress line looks like is the writers' choice by `name`."""

    name: str
    frames: dict[Site, tuple[Frame, ...]]


_DIST = "/usr/local/lib/python3.10/site-packages/torch/distributed/distributed_c10d.py"
_WRAP = Frame("wrapper", "/usr/local/lib/python3.10/site-packages/torch/distributed/c10d_logger.py", 81)
_LOADER = "/usr/local/lib/python3.10/site-packages/torch/utils/data/dataloader.py"

_ENTRY: dict[Site, tuple[Frame, ...]] = {
    Site.FORWARD_ATTENTION: (Frame("all_reduce", _DIST, 2810), _WRAP),
    Site.FORWARD_MLP: (Frame("all_reduce", _DIST, 2810), _WRAP),
    Site.BACKWARD_ATTENTION: (Frame("all_reduce", _DIST, 2810), _WRAP),
    Site.BACKWARD_MLP: (Frame("all_reduce", _DIST, 2810), _WRAP),
    Site.DISPATCH: (Frame("all_to_all_single", _DIST, 4462), _WRAP),
    Site.COMBINE: (Frame("all_to_all_single", _DIST, 4462), _WRAP),
    Site.RECV_FORWARD: (Frame("recv", _DIST, 2361), _WRAP),
    Site.SEND_FORWARD: (Frame("send", _DIST, 2328), _WRAP),
    Site.RECV_BACKWARD: (Frame("recv", _DIST, 2361), _WRAP),
    Site.SEND_BACKWARD: (Frame("send", _DIST, 2328), _WRAP),
    Site.EXCHANGE: (Frame("batch_isend_irecv", _DIST, 2675),),
    Site.REDUCE_GRADS: (Frame("reduce_scatter_tensor", _DIST, 4330), _WRAP),
    Site.GATHER_PARAMS: (Frame("all_gather_into_tensor", _DIST, 3962), _WRAP),
    Site.GRAD_NORM: (Frame("all_reduce", _DIST, 2810), _WRAP),
    Site.LOSS: (Frame("all_reduce", _DIST, 2810), _WRAP),
    Site.EVALUATE: (Frame("all_gather_into_tensor", _DIST, 3962), _WRAP),
    Site.BARRIER: (Frame("barrier", _DIST, 4744), _WRAP),
    Site.SAVE: (
        Frame("_write_item", "/usr/local/lib/python3.10/site-packages/torch/distributed/checkpoint/filesystem.py", 302),
    ),
    Site.DATA: (
        Frame("wait", "/usr/lib/python3.10/threading.py", 320),
        Frame("get", "/usr/lib/python3.10/queue.py", 180),
        Frame("_try_get_data", _LOADER, 1243),
        Frame("__next__", _LOADER, 708),
    ),
    Site.SYNC: (),
    Site.SETUP: (Frame("init_process_group", _DIST, 1713), _WRAP),
    Site.COMPILE: (
        Frame(
            "neuron_xla_compile",
            "/opt/aws_neuronx_venv/lib/python3.10/site-packages/libneuronxla/neuron_cc_wrapper.py",
            167,
        ),
    ),
    Site.STALL: (),
}

_MEGATRON = "/workspace/Megatron-LM/megatron"
_MEGATRON_MAIN = (
    Frame("pretrain", f"{_MEGATRON}/training/training.py", 402),
    Frame("<module>", "/workspace/Megatron-LM/pretrain_gpt.py", 264),
)
_MEGATRON_TRAIN = (Frame("train", f"{_MEGATRON}/training/training.py", 1312), *_MEGATRON_MAIN)
_MEGATRON_STEP = (
    Frame("forward_backward_pipelining_without_interleaving", f"{_MEGATRON}/core/pipeline_parallel/schedules.py", 1411),
    Frame("train_step", f"{_MEGATRON}/training/training.py", 731),
    *_MEGATRON_TRAIN,
)
_P2P = f"{_MEGATRON}/core/pipeline_parallel/p2p_communication.py"
_MAPPINGS = f"{_MEGATRON}/core/tensor_parallel/mappings.py"

_MEGATRON_SITES: dict[Site, tuple[Frame, ...]] = {
    Site.FORWARD_ATTENTION: (
        Frame("_reduce", _MAPPINGS, 31),
        Frame("forward", f"{_MEGATRON}/core/transformer/attention.py", 414),
        *_MEGATRON_STEP,
    ),
    Site.FORWARD_MLP: (
        Frame("_reduce", _MAPPINGS, 31),
        Frame("forward", f"{_MEGATRON}/core/transformer/mlp.py", 141),
        *_MEGATRON_STEP,
    ),
    Site.BACKWARD_ATTENTION: (
        Frame("_reduce", _MAPPINGS, 31),
        Frame("backward", f"{_MEGATRON}/core/tensor_parallel/layers.py", 482),
        *_MEGATRON_STEP,
    ),
    Site.BACKWARD_MLP: (
        Frame("_reduce", _MAPPINGS, 31),
        Frame("backward", f"{_MEGATRON}/core/tensor_parallel/layers.py", 497),
        *_MEGATRON_STEP,
    ),
    Site.DISPATCH: (
        Frame("token_permutation", f"{_MEGATRON}/core/transformer/moe/token_dispatcher.py", 507),
        *_MEGATRON_STEP,
    ),
    Site.COMBINE: (
        Frame("token_unpermutation", f"{_MEGATRON}/core/transformer/moe/token_dispatcher.py", 561),
        *_MEGATRON_STEP,
    ),
    Site.RECV_FORWARD: (Frame("recv_forward", _P2P, 372), *_MEGATRON_STEP),
    Site.SEND_FORWARD: (Frame("send_forward", _P2P, 411), *_MEGATRON_STEP),
    Site.RECV_BACKWARD: (Frame("recv_backward", _P2P, 393), *_MEGATRON_STEP),
    Site.SEND_BACKWARD: (Frame("send_backward", _P2P, 430), *_MEGATRON_STEP),
    Site.EXCHANGE: (
        Frame("_batched_p2p_ops", _P2P, 165),
        Frame("send_forward_recv_backward", _P2P, 452),
        *_MEGATRON_STEP,
    ),
    Site.REDUCE_GRADS: (
        Frame("start_grad_sync", f"{_MEGATRON}/core/distributed/param_and_grad_buffer.py", 286),
        *_MEGATRON_STEP,
    ),
    Site.GATHER_PARAMS: (
        Frame("start_param_sync", f"{_MEGATRON}/core/distributed/param_and_grad_buffer.py", 201),
        *_MEGATRON_TRAIN,
    ),
    Site.GRAD_NORM: (
        Frame("get_grad_norm_fp32", f"{_MEGATRON}/core/optimizer/clip_grads.py", 102),
        Frame("step", f"{_MEGATRON}/core/optimizer/optimizer.py", 515),
        *_MEGATRON_TRAIN,
    ),
    Site.LOSS: (
        Frame("average_losses_across_data_parallel_group", f"{_MEGATRON}/training/utils.py", 62),
        *_MEGATRON_TRAIN,
    ),
    Site.EVALUATE: (
        Frame("evaluate", f"{_MEGATRON}/training/training.py", 1588),
        Frame("evaluate_and_print_results", f"{_MEGATRON}/training/training.py", 1650),
        *_MEGATRON_TRAIN,
    ),
    Site.BARRIER: (Frame("save_checkpoint", f"{_MEGATRON}/training/checkpointing.py", 437), *_MEGATRON_TRAIN),
    Site.SAVE: (Frame("save_checkpoint", f"{_MEGATRON}/training/checkpointing.py", 421), *_MEGATRON_TRAIN),
    Site.DATA: (Frame("get_batch", "/workspace/Megatron-LM/pretrain_gpt.py", 131), *_MEGATRON_STEP),
    Site.SYNC: (Frame("training_log", f"{_MEGATRON}/training/training.py", 913), *_MEGATRON_TRAIN),
    Site.SETUP: (Frame("_initialize_distributed", f"{_MEGATRON}/training/initialize.py", 284), *_MEGATRON_MAIN),
    Site.COMPILE: (Frame("train_step", f"{_MEGATRON}/training/training.py", 731), *_MEGATRON_TRAIN),
    Site.STALL: (Frame("refresh_features", f"{_MEGATRON}/training/utils.py", 348), *_MEGATRON_TRAIN),
}

_NXD = "/opt/aws_neuronx_venv/lib/python3.10/site-packages/neuronx_distributed"
_NXD_MAIN = (
    Frame("main", "/fsx/train/tp_pp_llama_hf_pretrain.py", 611),
    Frame("<module>", "/fsx/train/tp_pp_llama_hf_pretrain.py", 742),
)
_NXD_TRAIN = (Frame("train_llama", "/fsx/train/tp_pp_llama_hf_pretrain.py", 301), *_NXD_MAIN)
_NXD_STEP = (
    Frame("_exec_schedule", f"{_NXD}/pipeline/model.py", 1604),
    Frame("run_train", f"{_NXD}/pipeline/model.py", 1144),
    *_NXD_TRAIN,
)
_NXD_COMM = f"{_NXD}/pipeline/comm.py"
_NXD_MAP = f"{_NXD}/parallel_layers/mappings.py"

_NXD_SITES: dict[Site, tuple[Frame, ...]] = {
    Site.FORWARD_ATTENTION: (
        Frame("_reduce", _NXD_MAP, 52),
        Frame("forward", f"{_NXD}/parallel_layers/layers.py", 771),
        Frame("forward", "/fsx/train/modeling_llama_nxd.py", 433),
        *_NXD_STEP,
    ),
    Site.FORWARD_MLP: (
        Frame("_reduce", _NXD_MAP, 52),
        Frame("forward", f"{_NXD}/parallel_layers/layers.py", 771),
        Frame("forward", "/fsx/train/modeling_llama_nxd.py", 218),
        *_NXD_STEP,
    ),
    Site.BACKWARD_ATTENTION: (Frame("backward", f"{_NXD}/parallel_layers/layers.py", 402), *_NXD_STEP),
    Site.BACKWARD_MLP: (Frame("backward", f"{_NXD}/parallel_layers/layers.py", 418), *_NXD_STEP),
    Site.DISPATCH: (Frame("enter_expert_parallel_region", f"{_NXD}/modules/moe/expert_mlps.py", 344), *_NXD_STEP),
    Site.COMBINE: (Frame("exit_expert_parallel_region", f"{_NXD}/modules/moe/expert_mlps.py", 371), *_NXD_STEP),
    Site.RECV_FORWARD: (
        Frame("recv_from", _NXD_COMM, 88),
        Frame("_fwd_preprocess_task", f"{_NXD}/pipeline/model.py", 1283),
        *_NXD_STEP,
    ),
    Site.SEND_FORWARD: (
        Frame("send", _NXD_COMM, 41),
        Frame("_fwd_postprocess_task", f"{_NXD}/pipeline/model.py", 1361),
        *_NXD_STEP,
    ),
    Site.RECV_BACKWARD: (
        Frame("recv_from", _NXD_COMM, 88),
        Frame("_bwd_preprocess_task", f"{_NXD}/pipeline/model.py", 1404),
        *_NXD_STEP,
    ),
    Site.SEND_BACKWARD: (
        Frame("send", _NXD_COMM, 41),
        Frame("_bwd_postprocess_task", f"{_NXD}/pipeline/model.py", 1470),
        *_NXD_STEP,
    ),
    Site.EXCHANGE: (Frame("exchange", _NXD_COMM, 121), *_NXD_STEP),
    Site.REDUCE_GRADS: (
        Frame("bucket_allreduce_gradients", f"{_NXD}/parallel_layers/grads.py", 291),
        Frame("step", f"{_NXD}/optimizer/zero_redundancy_optimizer.py", 174),
        *_NXD_TRAIN,
    ),
    Site.GATHER_PARAMS: (
        Frame("_all_gather_shards", f"{_NXD}/optimizer/zero_redundancy_optimizer.py", 231),
        *_NXD_TRAIN,
    ),
    Site.GRAD_NORM: (Frame("get_grad_norm", f"{_NXD}/parallel_layers/grads.py", 113), *_NXD_TRAIN),
    Site.LOSS: (Frame("average_loss", "/fsx/train/training_utils.py", 97), *_NXD_TRAIN),
    Site.EVALUATE: (Frame("evaluate", "/fsx/train/training_utils.py", 161), *_NXD_TRAIN),
    Site.BARRIER: (
        Frame("_rendezvous", f"{_NXD}/trainer/checkpoint.py", 402),
        Frame("save_checkpoint", f"{_NXD}/trainer/checkpoint.py", 611),
        *_NXD_TRAIN,
    ),
    Site.SAVE: (Frame("save_checkpoint", f"{_NXD}/trainer/checkpoint.py", 588), *_NXD_TRAIN),
    Site.DATA: (Frame("__iter__", "/fsx/train/training_utils.py", 44), *_NXD_TRAIN),
    Site.SYNC: (
        Frame("mark_step", "/opt/aws_neuronx_venv/lib/python3.10/site-packages/torch_xla/core/xla_model.py", 1055),
        *_NXD_TRAIN,
    ),
    Site.SETUP: (Frame("initialize_model_parallel", f"{_NXD}/parallel_layers/parallel_state.py", 118), *_NXD_MAIN),
    Site.COMPILE: (
        Frame("mark_step", "/opt/aws_neuronx_venv/lib/python3.10/site-packages/torch_xla/core/xla_model.py", 1055),
        *_NXD_TRAIN,
    ),
    Site.STALL: (Frame("update_throughput_table", "/fsx/train/training_utils.py", 208), *_NXD_TRAIN),
}

_FSDP = "/usr/local/lib/python3.10/site-packages/torch/distributed/fsdp/_fully_shard"
_TITAN = "/workspace/torchtitan/torchtitan"
_FSDP_MAIN = (Frame("main", f"{_TITAN}/train.py", 571), Frame("<module>", f"{_TITAN}/train.py", 588))
_FSDP_TRAIN = (Frame("train", f"{_TITAN}/train.py", 502), *_FSDP_MAIN)
_FSDP_STEP = (
    Frame("forward_backward_step", f"{_TITAN}/train.py", 413),
    Frame("train_step", f"{_TITAN}/train.py", 447),
    *_FSDP_TRAIN,
)
_STAGE = "/usr/local/lib/python3.10/site-packages/torch/distributed/pipelining/schedules.py"

_FSDP_SITES: dict[Site, tuple[Frame, ...]] = {
    Site.FORWARD_ATTENTION: (
        Frame("redistribute", "/usr/local/lib/python3.10/site-packages/torch/distributed/tensor/_redistribute.py", 214),
        Frame("forward", f"{_TITAN}/models/llama3/model.py", 219),
        *_FSDP_STEP,
    ),
    Site.FORWARD_MLP: (
        Frame("redistribute", "/usr/local/lib/python3.10/site-packages/torch/distributed/tensor/_redistribute.py", 214),
        Frame("forward", f"{_TITAN}/models/llama3/model.py", 263),
        *_FSDP_STEP,
    ),
    Site.BACKWARD_ATTENTION: (
        Frame("backward", "/usr/local/lib/python3.10/site-packages/torch/distributed/tensor/_redistribute.py", 351),
        *_FSDP_STEP,
    ),
    Site.BACKWARD_MLP: (
        Frame("backward", "/usr/local/lib/python3.10/site-packages/torch/distributed/tensor/_redistribute.py", 366),
        *_FSDP_STEP,
    ),
    Site.DISPATCH: (Frame("_token_dispatch", f"{_TITAN}/distributed/expert_parallel.py", 133), *_FSDP_STEP),
    Site.COMBINE: (Frame("_token_combine", f"{_TITAN}/distributed/expert_parallel.py", 176), *_FSDP_STEP),
    Site.RECV_FORWARD: (Frame("_get_recv_ops", _STAGE, 602), *_FSDP_STEP),
    Site.SEND_FORWARD: (Frame("_get_send_ops", _STAGE, 641), *_FSDP_STEP),
    Site.RECV_BACKWARD: (Frame("_get_recv_ops", _STAGE, 658), *_FSDP_STEP),
    Site.SEND_BACKWARD: (Frame("_get_send_ops", _STAGE, 677), *_FSDP_STEP),
    Site.EXCHANGE: (Frame("_batch_p2p", _STAGE, 412), Frame("_step_microbatches", _STAGE, 767), *_FSDP_STEP),
    Site.REDUCE_GRADS: (
        Frame("foreach_reduce", f"{_FSDP}/_fsdp_collectives.py", 448),
        Frame("post_backward", f"{_FSDP}/_fsdp_param_group.py", 404),
        *_FSDP_STEP,
    ),
    Site.GATHER_PARAMS: (
        Frame("foreach_all_gather", f"{_FSDP}/_fsdp_collectives.py", 173),
        Frame("unshard", f"{_FSDP}/_fsdp_param_group.py", 253),
        *_FSDP_STEP,
    ),
    Site.GRAD_NORM: (Frame("clip_grad_norm_", f"{_TITAN}/distributed/utils.py", 331), *_FSDP_TRAIN),
    Site.LOSS: (Frame("dist_mean", f"{_TITAN}/distributed/utils.py", 62), *_FSDP_TRAIN),
    Site.EVALUATE: (Frame("validate", f"{_TITAN}/components/validate.py", 171), *_FSDP_TRAIN),
    Site.BARRIER: (Frame("dcp_save", f"{_TITAN}/components/checkpoint.py", 344), *_FSDP_TRAIN),
    Site.SAVE: (Frame("dcp_save", f"{_TITAN}/components/checkpoint.py", 351), *_FSDP_TRAIN),
    Site.DATA: (Frame("batch_generator", f"{_TITAN}/train.py", 352), *_FSDP_TRAIN),
    Site.SYNC: (Frame("log", f"{_TITAN}/components/metrics.py", 388), *_FSDP_TRAIN),
    Site.SETUP: (Frame("init_distributed", f"{_TITAN}/distributed/utils.py", 264), *_FSDP_MAIN),
    Site.COMPILE: (Frame("parallelize_llama", f"{_TITAN}/models/llama3/parallelize.py", 101), *_FSDP_MAIN),
    Site.STALL: (Frame("collect_memory_report", f"{_TITAN}/tools/profiling.py", 77), *_FSDP_TRAIN),
}


def _joined(own: dict[Site, tuple[Frame, ...]]) -> dict[Site, tuple[Frame, ...]]:
    return {site: _ENTRY[site] + frames for site, frames in own.items()}


CODEBASES = (
    Codebase("megatron", _joined(_MEGATRON_SITES)),
    Codebase("nxd", _joined(_NXD_SITES)),
    Codebase("fsdp", _joined(_FSDP_SITES)),
)
