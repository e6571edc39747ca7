"""A sample of what jobs print that are well: what a pattern costs is measured on it.

The forms are those of training loops, launchers, the Neuron runtime and compiler, collectives, kernels, servers and data
loaders. Numbers, hosts and paths vary, always in the same way, so that a pattern costs the same on every machine.
"""

# ruff: noqa: E501 - forms keep their own width

from __future__ import annotations

from functools import cache

_STAMP = "2026-05-01 12:{m:02d}:{s:02d},{ms:03d}"
_ISO = "2026-05-01T12:{m:02d}:{s:02d}.{ms:03d}Z"
_NRT = "2026-May-01 12:{m:02d}:{s:02d}.{ms:03d}417 {pid}:{pid}"
#: How often a form stands in a round, and the form.
_FORMS = (
    (9, _STAMP + " INFO train: step={n} loss={f} grad_norm={f} lr=3.0e-05 tokens/s={n}"),
    (6, "[rank{r}]: iteration {n:8d}/ 500000 | consumed samples: {n} | elapsed time per iteration (ms): {ms}.{r} | lm loss: {f}E+00 | skipped iterations: 0 | nan iterations: 0 |"),
    (4, "{{'loss': {f}, 'grad_norm': {f}, 'learning_rate': 2.9e-05, 'epoch': {f}}}"),
    (4, "Epoch {r}:  {p}%|#####     | {n}/20000 [{m:02d}:{s:02d}<1:{s:02d}:{m:02d},  {f}it/s, v_num=0, train_loss={f}]"),
    (3, "step {n}: train loss {f}, val loss {f}, 0 errors, 0 retries, time {ms}ms, mfu {p}.{r}%"),
    (2, _STAMP + " [INFO] [rank {r}] saved checkpoint to /fsx/ckpt/run-17/step_{n} in {f} seconds (no error)"),
    (2, _STAMP + " DEBUG dataloader worker {r}: opened /fsx/data/shard-{n:05d}.bin, {n} bytes, timeout=120"),
    (2, _NRT + "  INFO  TDRV:kmgr_load_nn                              loaded model /tmp/ncache/MODULE_{h}/model.neff on nd{d}:nc{r} (h_nn={n})"),
    (2, _NRT + "  INFO   NRT:nrt_init                                  Neuron runtime 2.27.{r} initialised with {r} cores, device {d}"),
    (1, _NRT + "  INFO  ENC:enc_load_operations                        rank {r}: loaded {n} collective operations, ring of {r} channels"),
    (2, "ip-10-0-{r}-{d}:{pid}:{pid} [{d}] NCCL INFO Channel {r:02d}/16 : {r}[{d}] -> {d}[{r}] [send] via NET/OFI/{d}/GDRDMA"),
    (2, "ip-10-0-{r}-{d}:{pid}:{pid} [{d}] NCCL INFO NET/OFI Selected provider is efa, fabric is efa (found {r} nics)"),
    (1, "CCOM INFO rank {r} nranks 64 device {d}: bootstrap done, comm 0x{h} connected to all peers"),
    (3, _ISO + " neuronx-cc INFO: cached neff at /var/tmp/neuron-compile-cache/neuronxcc-2.21/MODULE_{h}+d41d8cd9/model.neff, exit code 0"),
    (2, "Compiler status PASS: MODULE_{h}, {n} instructions, {f} s"),
    (2, "[2026-05-01 12:{m:02d}:{s:02d},{ms:03d}] torch.distributed.run: [INFO] Starting elastic_operator with launch configs: run_id: {n}, nproc_per_node: 32, max_restarts: 3, rdzv_timeout: 900"),
    (2, "I0501 12:{m:02d}:{s:02d}.{ms:03d}000 {pid} ProcessGroupXLA.cpp:{n}] [Rank {r}] timeout(ms): 600000, seq {n}, last enqueued work: ALLREDUCE, last completed work: {n}"),
    (2, "/opt/venv/lib/python3.11/site-packages/torch/utils/data/dataloader.py:{n}: UserWarning: This DataLoader will create {r} worker processes in total; if memory is exceeded it may fail."),
    (2, "<6>[{n}.{ms:03d}417] systemd[1]: Started session-{r}.scope - Session {r} of user ubuntu."),
    (2, "[{n}.{ms:03d}417] neuron:ncdev_open: neuron: device {d} opened by pid {pid}, refcount {r}"),
    (1, "[{n}.{ms:03d}417] efa 0000:{r:02d}:1b.0 efa_{d}: Setup irq:{n} vector:{r} name:efa-comp{r}@pci:0000"),
    (1, "[{n}.{ms:03d}417] audit: type=1400 apparmor=\"ALLOWED\" operation=\"open\" pid={pid} comm=\"python\" requested_mask=\"r\" error=0"),
    (2, "May  1 12:{m:02d}:{s:02d} ip-10-0-{r}-{d} kubelet[{pid}]: I0501 prober.go:{n}] \"Probe succeeded\" pod=\"ml/trainer-{r}\" container=\"worker\" exitCode=0"),
    (2, "INFO:     10.0.{r}.{d}:{n} - \"POST /v1/completions HTTP/1.1\" 200 OK"),
    (2, _STAMP + " INFO metrics.py:{n}] Avg prompt throughput: {f} tokens/s, Running: {r} reqs, Swapped: 0 reqs, Pending: 0 reqs, KV cache usage: {p}.{r}%."),
    (1, _STAMP + " WARNING optim: overflow check passed, 0 of {n} gradients not finite, no retry needed"),
    (1, "slurmstepd: task {r} of job {n} on ip-10-0-{r}-{d}: cpu bind mask 0x{h}, memory limit 0"),
    (1, "wandb: Syncing run run-{h}: {n} files, {p} MB of {p} MB uploaded, 0 failed"),
    (1, "{{\"ts\": \"" + _ISO + "\", \"level\": \"info\", \"rank\": {r}, \"msg\": \"heartbeat\", \"step\": {n}, \"error\": null, \"status\": 0}}"),
    (1, ""),
)  # fmt: skip
SIZE = 1 << 17


@cache
def ordinary_text() -> str:
    """The text, `SIZE` characters long; all of them ASCII."""
    lines: list[str] = []
    size, turn = 0, 0
    while size < SIZE:
        for times, form in _FORMS:
            for _ in range(times):
                lines.append(_filled(form, turn))
                size += len(lines[-1]) + 1
                turn += 1
    return "\n".join(lines)[:SIZE]


def _filled(form: str, turn: int) -> str:
    spread = turn * 2654435761 % (1 << 32)
    return form.format(
        n=spread % 90_000 + 1,
        f=f"{spread % 7}.{spread % 9973:04d}",
        h=f"{spread:08x}{spread ^ 0x5A5A5A5A:08x}",
        ms=spread % 1000,
        p=spread % 100,
        r=spread % 32,
        d=spread % 16,
        m=turn // 60 % 60,
        s=turn % 60,
        pid=4000 + spread % 60,
    )
