"""Logs that no collector of snapshots may take for its own."""
# ruff: noqa: E501 - captures keep their own width

from __future__ import annotations

RUNTIME_LOG = """\
2024-Jun-26 00:32:47.943821 30294:32381 ERROR  TDRV:exec_consume_tpb_status_notifications   Missing infer_status notification: (end:1)
2024-Jun-26 00:32:47.943830 30294:32381 ERROR  NMGR:dlr_infer                               Inference completed with err: 5
2024-Jun-26 00:32:48.000000 30294:32381 ERROR   NRT:nrt_infodump                            Environment:
2024-Jun-26 00:32:48.000000 30294:32381 ERROR   NRT:nrt_infodump                                NEURON_RT_EXEC_TIMEOUT=30
"""
DMESG = """\
[    0.000000] Linux version 6.8.0-1021-aws (buildd@lcy02) (gcc) #23-Ubuntu SMP
[   12.345678] neuron: loading out-of-tree module taints kernel.
[ 7638.723761] neuron:npid_attach: neuron:npid_attach: pid=1000, slot=0
[ 7640.000001] Out of memory: Killed process 1234 (python) total-vm:1kB, anon-rss:2kB
"""
TRAINING_LOG = """\
RANK=3 starting
WORLD_SIZE=64
step=100 loss=2.71 grad_norm=1.2
Traceback (most recent call last):
  File "train.py", line 7, in <module>
RuntimeError: boom
"""
LOGS = {"runtime": RUNTIME_LOG, "dmesg": DMESG, "training": TRAINING_LOG}
