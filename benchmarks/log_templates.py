"""What healthy ranks print: lines of training jobs on Neuron, with holes for numbers. No rule looks for any of them.

`MINUTE` and `SPACED` are the minute, `HOST` and `RANK` the writer; they are filled in where a block becomes part of a file.
"""

from __future__ import annotations

MINUTE = "2000-01-01T00:00"
SPACED = "2000-01-01 00:00"
HOST = "ip-0-0-0-0"
RANK = "rankR"

TEMPLATES = (
    f"{MINUTE}:%(s)s.%(ms)03dZ INFO [{RANK}] data loader: shard %(n)d of 4096 opened, %(n)d samples, %(f).3f s",
    f"{MINUTE}:%(s)s.%(ms)03dZ INFO [{RANK}] prefetch queue depth %(d)d, mean wait %(f).2f ms",
    f"{MINUTE}:%(s)s.%(ms)03dZ DEBUG [{RANK}] allocator: reserved %(n)d MB, active %(n)d MB, largest free block %(n)d KB",
    f"{MINUTE}:%(s)s.%(ms)03dZ DEBUG [{RANK}] parameter bucket %(d)d: %(n)d elements, dtype bfloat16, offset 0x%(h)x",
    f"{MINUTE}:%(s)s.%(ms)03dZ INFO [{RANK}] optimizer: gradient norm %(f).4f, learning rate %(f).8f, clipped 0",
    f"{MINUTE}:%(s)s.%(ms)03dZ INFO [{RANK}] checkpoint: wrote tensor model.layers.%(d)d.mlp.up_proj.weight, %(n)d bytes",
    f"{MINUTE}:%(s)s.%(ms)03dZ INFO [{RANK}] tokenizer: %(n)d documents, %(n)d tokens, %(f).1f tokens/document",
    f"{MINUTE}:%(s)s.%(ms)03dZ TRACE [{RANK}] autograd: node %(n)d MulBackward0 saved 2 tensors of %(n)d bytes",
    f"{MINUTE}:%(s)s.%(ms)03dZ INFO [{RANK}] scheduler: micro batch %(d)d of 32, warm-up 1F1B, in flight %(d)d",
    f"{MINUTE}:%(s)s.%(ms)03dZ INFO [{RANK}] embedding table sharded over tensor parallel group of 8, rows %(n)d-%(n)d",
    f"{SPACED}:%(s)s,%(ms)03d - root - INFO - sampled batch %(n)d from corpus part-%(d)05d.parquet in %(f).3f seconds",
    f"{SPACED}:%(s)s,%(ms)03d - neuronx_distributed.trainer - DEBUG - layer %(d)d output mean %(f).6f std %(f).6f",
    f"{SPACED}:%(s)s,%(ms)03d - neuronx_distributed.pipeline - DEBUG - stage %(d)d received activation of [%(n)d, 8192]",
    f"{SPACED}:%(s)s,%(ms)03d - datasets.arrow_dataset - INFO - Loading cached shuffled indices %(h)x.arrow",
    f"{SPACED}:%(s)s,%(ms)03d - torch.utils.data - DEBUG - worker %(d)d took index range [%(n)d, %(n)d)",
    f"{SPACED}:%(s)s.%(ms)06d: I tensorflow/core/util/port.cc:%(d)d] rounding may differ between orders of computation",
    f"{SPACED}:%(s)s.%(ms)06d: I torch_xla/csrc/lazy_graph_executor.cpp:%(d)d] graph hash %(h)x, %(n)d post-order nodes",
    f"{SPACED}.%(ms)06d  5%(d)d  INFO ||NEURON_CACHE||: lookup of MODULE_%(n)d+%(h)x in /var/tmp/cache took %(f).3f",
    f"{SPACED}:%(s)s.%(ms)06d:  %(n)d  INFO ||NEURON_CC_WRAPPER||: Using a cached neff at /cache/MODULE_%(n)d+%(h)x/model.neff",
    f"[{RANK}]:I1120 00:00:%(s)s.%(ms)06d %(n)d ProcessGroup.hpp:%(d)d] sequence %(n)d of group tensor_%(d)d is registered",
    f"[{RANK}]:{SPACED}:%(s)s,%(ms)03d main.py:%(d)d] tokens seen %(n)d, epoch 0, tokens per second per device %(f).1f",
    f"[{RANK}]: loss scale %(d)d, moving average of gradients %(f).5f, variance %(f).7f",
    f"{SPACED}:%(s)s {HOST} kubelet[%(n)d]: I1120 00:00:%(s)s.%(ms)06d   %(n)d prober.go:%(d)d] trainer-%(d)d is good",
    f"{MINUTE}:%(s)s.%(ms)06d+00:00 {HOST} systemd[1]: Started Session %(n)d of User ubuntu.",
    f"{MINUTE}:%(s)s.%(ms)06d+00:00 {HOST} chronyd[%(n)d]: Selected source 169.254.169.123, frequency %(f).3f ppm",
    f"{MINUTE}:%(s)s.%(ms)06d+00:00 {HOST} dhclient[%(n)d]: bound to 10.1.%(d)d.%(d)d -- renewal in %(n)d seconds.",
    f"{MINUTE}:%(s)s.%(ms)06d+00:00 {HOST} amazon-ssm-agent[%(n)d]: health ping %(n)d answered in %(d)d ms",
    f"{MINUTE}:%(s)s.%(ms)06d+00:00 {HOST} kernel: EXT4-fs (nvme1n1): re-mounted %(h)x. Quota mode: none.",
    f"{MINUTE}:%(s)s.%(ms)06d+00:00 {HOST} CRON[%(n)d]: (root) CMD (/usr/lib/sysstat/sa1 1 1 > /dev/null)",
    '{"time":"'
    + MINUTE
    + ':%(s)s.%(ms)03dZ","level":"debug","rank":"'
    + RANK
    + '","msg":"fetched","key":"s3://corpus/%(h)x"}',
    '{"time":"' + MINUTE + ':%(s)s.%(ms)03dZ","level":"info","component":"dataloader","queue":%(d)d,"bytes":%(n)d}',
    "    aten::native_layer_norm  %(f).2f%%  %(f).3fms  %(f).2f%%  %(f).3fms  %(f).3fus  %(d)d",
    "  model.layers.%(d)d.self_attn.q_proj.weight: torch.Size([%(n)d, 8192]) bfloat16 requires_grad=True",
    "  hyper parameters: beta1=0.9 beta2=0.95 weight_decay=0.1 seed=%(n)d micro_batch=%(d)d sequence=8192",
    "  reader %(d)d: |#####     | %(n)d of 500000 files listed, %(f).2f files a second, cache at 0x%(h)x",
    "WARNING:root:shuffle buffer of reader %(d)d holds %(n)d of 10000 samples; order is less random for a while",
)
