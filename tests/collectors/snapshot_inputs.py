"""Synthetic captures in the documented formats, and how to run a collector over one."""
# ruff: noqa: E501 - captures keep their own width

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from io import BufferedReader, BytesIO

from neuron_doctor.collectors import (
    core_dump,
    environment,
    input_dumps,
    kubectl,
    lspci,
    modules,
    neuron_ls,
    packages,
    profiles,
    slurm,
    sysfs,
    ulimit,
    uname,
)
from neuron_doctor.collectors.base import HEAD, Collector, Input
from neuron_doctor.engine.facts import NOWHERE, Fact, Place
from neuron_doctor.engine.kinds import KINDS

ALL: tuple[Collector, ...] = (
    *profiles.COLLECTORS,
    *core_dump.COLLECTORS,
    *input_dumps.COLLECTORS,
    *sysfs.COLLECTORS,
    *neuron_ls.COLLECTORS,
    *kubectl.COLLECTORS,
    *slurm.COLLECTORS,
    *lspci.COLLECTORS,
    *modules.COLLECTORS,
    *packages.COLLECTORS,
    *uname.COLLECTORS,
    *ulimit.COLLECTORS,
    *environment.COLLECTORS,
)
TYPES = {"int": int, "float": float, "str": str, "bool": bool, "list": tuple}


def claimed_by(data: bytes, name: str = "capture.txt", collectors: Sequence[Collector] = ALL) -> list[str]:
    """The kinds of all collectors that take this input for theirs."""
    return [collector.kind for collector in collectors if collector.sniff(data[:HEAD], name)]


def as_input(data: bytes, path: str = "capture.txt", place: Place = NOWHERE) -> Input:
    return Input(path, path.rpartition("/")[2], BufferedReader(BytesIO(data)), len(data), place, "source")


def facts_of(data: str | bytes, path: str = "capture.txt", place: Place = NOWHERE) -> list[Fact]:
    """The facts of the first collector that claims the input, each checked against its kind and its span."""
    return read(data, path, place)[0]


def read(data: str | bytes, path: str = "capture.txt", place: Place = NOWHERE) -> tuple[list[Fact], Input]:
    raw = data.encode() if isinstance(data, str) else data
    inp = as_input(raw, path, place)
    collector = next(c for c in ALL if c.sniff(raw[:HEAD], inp.name))
    facts = list(collector.collect(inp))
    for fact in facts:
        check(fact, raw, collector.kind)
    return facts, inp


def check(fact: Fact, raw: bytes, source: str) -> None:
    """A fact has the fields and types of its kind, its source kind is listed there, and its span lies in the input."""
    kind = KINDS[fact.kind]
    assert source in kind.sources
    for name, value in fact.data.items():
        assert type(value) is TYPES[kind.fields[name]], (fact.kind, name, value)
    span = fact.span
    assert 0 <= span.offset <= span.offset + span.length <= len(raw)
    if span.line is not None:
        before = raw[: span.offset].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        assert span.line == before.count(b"\n") + 1


def by_kind(facts: Sequence[Fact]) -> dict[str, list[Fact]]:
    grouped: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        grouped[fact.kind].append(fact)
    return grouped


def one(facts: Sequence[Fact], kind: str) -> Fact:
    """The only fact of this kind."""
    (fact,) = by_kind(facts)[kind]
    return fact


NEURON_LS_TABLE = """\
instance-type: trn1.32xlarge
instance-id: i-0123456789abcdef0
+--------+--------+--------+-----------+--------------+-------+-------------------+---------+
| NEURON | NEURON | NEURON | CONNECTED |     PCI      |  PID  |      COMMAND      | RUNTIME |
| DEVICE | CORES  | MEMORY |  DEVICES  |     BDF      |       |                   | VERSION |
+--------+--------+--------+-----------+--------------+-------+-------------------+---------+
| 0      | 2      | 32 GB  | 12, 3, 4  | 0000:10:1c.0 | 23518 | python train.py   | 2.22.14 |
|        |        |        |           |              | 23531 | neuron-ls -a      | NA      |
+--------+--------+--------+-----------+--------------+-------+-------------------+---------+
| 1      | 2      | 32 GB  | 13, 0, 5  | 0000:10:1d.0 |       |                   |         |
+--------+--------+--------+-----------+--------------+-------+-------------------+---------+
"""
NEURON_LS_JSON = """\
[
    {
        "neuron_device": 0,
        "bdf": "cc:00.0",
        "cpu_affinity": "48-95",
        "numa_node": "1",
        "connected_to": [12, 3, 4, 1],
        "nc_count": 4,
        "logical_neuroncore_config": 2,
        "memory_size": 103079215104,
        "neuroncore_ids": [0, 1, 2, 3],
        "neuron_processes": [
            {"pid": 113985, "command": "python train.py --api-key abc123", "neuron_runtime_version": "2.31.24.0"}
        ]
    },
    {
        "neuron_device": 1,
        "bdf": "b5:00.0",
        "connected_to": null,
        "nc_count": 4,
        "memory_size": 103079215104,
        "neuron_processes": []
    }
]
"""
SYSFS_GREP = """\
/sys/devices/virtual/neuron_device/neuron3/stats/hardware/mem_ecc_uncorrected:2
/sys/devices/virtual/neuron_device/neuron3/stats/hardware/sram_ecc_uncorrected:0
/sys/devices/virtual/neuron_device/neuron3/core_count:2
/sys/devices/virtual/neuron_device/neuron3/reset:2
/sys/devices/virtual/neuron_device/neuron3/neuron_core1/stats/status/timeout/total:5
/sys/devices/virtual/neuron_device/neuron3/neuron_core1/stats/status/timeout/present:1
/sys/devices/virtual/neuron_device/neuron3/neuron_core1/stats/status/success/total:0
/sys/devices/virtual/neuron_device/neuron3/neuron_core1/stats/status/infer_completed_with_num_error/total:7
/sys/devices/virtual/neuron_device/neuron3/neuron_core1/stats/memory_usage/device_mem/tensors/total:1048576
/sys/devices/virtual/neuron_device/neuron3/neuron_core1/stats/memory_usage/device_mem/tensors/peak:2097152
/sys/devices/virtual/neuron_device/neuron3/neuron_core1/stats/other_info/reset_fail_count/total:1
/sys/devices/virtual/neuron_device/neuron3/neuron_core1/stats/other_info/flop_count/total:99
"""
SYSFS_TAIL = """\
==> /sys/devices/virtual/neuron_device/neuron0/reset <==
1

==> /sys/devices/virtual/neuron_device/neuron0/neuron_core0/stats/status/execute_completed_with_error/total <==
3

==> /sys/devices/virtual/neuron_device/neuron0/info/architecture/arch_type <==
NCv2
"""
LSMOD = """\
Module                  Size  Used by
xt_conntrack           16384  1
efa                   135168  0
ib_uverbs             180224  1 efa
ib_core               446464  2 efa,ib_uverbs
neuron                421888  34
overlay               151552  0
nvme                   57344  2
"""
MODINFO = """\
filename:       /lib/modules/6.8.0-1021-aws/updates/dkms/neuron.ko
version:        2.19.64.0
description:    Neuron Driver, built from SHA: 0123456789abcdef
license:        GPL
author:         Annapurna Labs, Inc
srcversion:     0123456789ABCDEF
alias:          pci:v00001D0Fd00007364sv*sd*bc*sc*i*
depends:
retpoline:      Y
name:           neuron
vermagic:       6.8.0-1021-aws SMP mod_unload modversions
parm:           dup_helper_enable:enable duplicate helper
"""
LSPCI = """\
00:00.0 Host bridge: Intel Corporation 440FX - 82441FX PMC [Natoma]
00:04.0 Non-Volatile memory controller: Amazon.com, Inc. NVMe EBS Controller
00:05.0 Ethernet controller: Amazon.com, Inc. Elastic Network Adapter (ENA)
10:19.0 Ethernet controller: Amazon.com, Inc. Elastic Fabric Adapter (EFA)
10:1c.0 System peripheral: Amazon.com, Inc. NeuronDevice (Trainium)
10:1d.0 System peripheral: Amazon.com, Inc. NeuronDevice (Trainium) (rev ff)
"""
LSPCI_TREE = """\
-+-[0000:a0]-+-00.0  Amazon.com, Inc. Elastic Network Adapter (ENA)
 |           +-19.0  Amazon.com, Inc. Elastic Fabric Adapter (EFA)
 |           +-1b.0  Amazon.com, Inc. NeuronDevice
 |           \\-1f.0  Amazon.com, Inc. NVMe SSD Controller
 +-[0000:90]-+-00.0  Amazon.com, Inc. Elastic Network Adapter (ENA)
 |           \\-1b.0  Amazon.com, Inc. NeuronDevice
 \\-[0000:00]-+-00.0  Intel Corporation 440FX - 82441FX PMC [Natoma]
             \\-1f.0  Amazon.com, Inc. NVMe EBS Controller
"""
LSPCI_NUMERIC = """\
0000:00:00.0 0600: 8086:1237 (rev 02)
0000:10:19.0 0200: 1d0f:efa1
0000:10:1c.0 0880: 1d0f:7364 (rev 01)
"""
DPKG = """\
Desired=Unknown/Install/Remove/Purge/Hold
| Status=Not/Inst/Conf-files/Unpacked/halF-conf/Half-inst/trig-aWait/Trig-pend
|/ Err?=(none)/Reinst-required (Status,Err: uppercase=bad)
||/ Name                          Version        Architecture Description
+++-=============================-==============-============-=================================
ii  adduser                       3.118ubuntu5   all          add and remove users and groups
ii  aws-neuronx-collectives       2.23.133.0     amd64        neuron_ccom built using CMake
iF  aws-neuronx-dkms              2.19.64.0      amd64        Neuron driver in DKMS format.
ii  linux-headers-6.8.0-1021-aws  6.8.0-1021.23  amd64        Linux kernel headers
"""
RPM = """\
aws-neuronx-dkms-2.19.64.0-dkms.noarch
aws-neuronx-runtime-lib-2.23.112.0_9b5179492-1.x86_64
glibc-2.26-64.amzn2.x86_64
kernel-devel-5.10.220-209.869.amzn2.x86_64
"""
APT = """\
Listing... Done
adduser/jammy,now 3.118ubuntu5 all [installed]
aws-neuronx-tools/unknown,now 2.20.204.0 amd64 [installed,upgradable to: 2.22.61.0]
"""
PIP_LIST = """\
Package                   Version
------------------------- --------------
numpy                     1.26.4
protobuf                  3.20.3
requests                  2.32.3
torch                     2.5.1
torch-neuronx             2.5.1.2.4.0
"""
PIP_FREEZE = """\
absl-py==2.1.0
numpy==1.26.4
libneuronxla==2.1.681.0
torch-neuronx @ file:///opt/wheels/torch_neuronx-2.5.1-py3-none-any.whl
"""
UNAME = "Linux ip-10-0-3-7 6.8.0-1021-aws #23-Ubuntu SMP Mon Dec  9 23:59:34 UTC 2024 x86_64 x86_64 x86_64 GNU/Linux\n"
ULIMIT = """\
real-time non-blocking time  (microseconds, -R) unlimited
core file size              (blocks, -c) 0
data seg size               (kbytes, -d) unlimited
max locked memory           (kbytes, -l) 65536
open files                          (-n) 1024
pipe size                (512 bytes, -p) 8
stack size                  (kbytes, -s) 8192
max user processes                  (-u) unlimited
"""
PROC_LIMITS = """\
Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max stack size            8388608              unlimited            bytes
Max processes             1030608              1030608              processes
Max open files            1024                 1048576              files
Max locked memory         unlimited            unlimited            bytes
"""
ENV = """\
SHELL=/bin/bash
HOSTNAME=trn-node-7
RANK=35
LOCAL_RANK=3
WORLD_SIZE=64
MASTER_ADDR=10.0.3.7
NEURON_RT_ROOT_COMM_ID=10.0.3.7:41000
SLURM_JOB_ID=8812
HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz
AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI
USER_EMAIL=someone@example.org
PATH=/opt/aws/neuron/bin:/usr/bin
"""
PODS = """\
NAMESPACE   NAME               READY   STATUS             RESTARTS       AGE     IP           NODE
default     train-worker-0     1/1     Running            0              3h2m    10.0.1.7     ip-10-0-1-7.ec2.internal
default     train-worker-1     0/1     OOMKilled          2 (5m ago)     3h2m    10.0.1.8     ip-10-0-1-8.ec2.internal
default     train-worker-2     0/1     Pending            0              3h2m    <none>       <none>
"""
NODES = """\
NAME                       STATUS                     ROLES    AGE   VERSION
ip-10-0-1-7.ec2.internal   Ready                      <none>   12d   v1.31.2-eks-94953ac
ip-10-0-1-8.ec2.internal   NotReady,SchedulingDisabled   <none>   12d   v1.31.2-eks-94953ac
"""
EVENTS = """\
LAST SEEN   TYPE      REASON             OBJECT                MESSAGE
12m         Normal    Scheduled          pod/train-worker-0    Successfully assigned default/train-worker-0 to ip-10-0-1-7
12m         Warning   FailedScheduling   pod/train-worker-0    0/4 nodes are available: 4 Insufficient aws.amazon.com/neuron.
3m          Warning   FailedScheduling   pod/train-worker-2    0/4 nodes are available: 4 Insufficient aws.amazon.com/neuron.
"""
DESCRIBE_EVENTS = """\
Events:
  Type     Reason            Age                  From               Message
  ----     ------            ----                 ----               -------
  Warning  FailedScheduling  9m2s (x3 over 11m)   default-scheduler  0/2 nodes are available: 2 Insufficient aws.amazon.com/neuroncore.
  Normal   Scheduled         8m59s                default-scheduler  Successfully assigned ml/infer-0 to ip-10-0-9-9.ec2.internal
  Normal   Started           8m50s                kubelet            Started container server
"""
DESCRIBE_POD = """\
Name:             train-worker-1
Namespace:        ml
Priority:         0
Node:             ip-10-0-1-8.ec2.internal/10.0.1.8
Start Time:       Mon, 06 Jan 2025 10:00:00 +0000
Labels:           app=train
Annotations:      <none>
Status:           Running
IP:               10.0.1.8
Containers:
  worker:
    Container ID:  containerd://0123
    Image:         example/train:1
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
      Started:      Mon, 06 Jan 2025 10:00:05 +0000
      Finished:     Mon, 06 Jan 2025 11:30:00 +0000
    Ready:          False
    Restart Count:  2
    Limits:
      aws.amazon.com/neuron:  16
    Environment:
      HF_TOKEN:  hf_abcdefghijklmnopqrstuvwxyz
  sidecar:
    State:          Running
      Started:      Mon, 06 Jan 2025 10:00:05 +0000
    Ready:          True
    Restart Count:  0
Conditions:
  Type              Status
  Ready             False
Events:
  Type     Reason   Age                From     Message
  ----     ------   ----               ----     -------
  Warning  BackOff  2m (x9 over 20m)   kubelet  Back-off restarting failed container worker in pod train-worker-1
"""
DESCRIBE_NODE = """\
Name:               ip-10-0-1-8.ec2.internal
Roles:              <none>
Labels:             kubernetes.io/arch=amd64
                    node.kubernetes.io/instance-type=ml.trn1.32xlarge
                    sagemaker.amazonaws.com/node-health-status=UnschedulablePendingReplacement
Annotations:        node.alpha.kubernetes.io/ttl: 0
CreationTimestamp:  Mon, 06 Jan 2025 09:00:00 +0000
Taints:             sagemaker.amazonaws.com/node-health-status=Unschedulable:NoSchedule
Unschedulable:      true
Conditions:
  Type             Status  LastHeartbeatTime                 LastTransitionTime                Reason                        Message
  ----             ------  -----------------                 ------------------                ------                        -------
  NeuronHealth     True    Mon, 06 Jan 2025 11:00:00 +0000   Mon, 06 Jan 2025 10:59:00 +0000   NeuronHasError_DMA_ERROR      DMA engine stopped
  Ready            True    Mon, 06 Jan 2025 11:00:00 +0000   Mon, 06 Jan 2025 09:01:00 +0000   KubeletReady                  kubelet is posting ready status
Capacity:
  aws.amazon.com/neuron:      16
  aws.amazon.com/neuroncore:  32
Allocatable:
  aws.amazon.com/neuron:      15
  aws.amazon.com/neuroncore:  30
  vpc.amazonaws.com/efa:      8
System Info:
  Kernel Version:             5.10.230-223.885.amzn2.x86_64
ProviderID:                   aws:///us-west-2b/i-0123456789abcdef0
Events:              <none>
"""
POD_JSON = """\
{
    "apiVersion": "v1",
    "items": [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "train-worker-1", "namespace": "ml"},
            "spec": {
                "containers": [{"env": [{"name": "HF_TOKEN", "value": "hf_abcdefghijklmnopqrstuvwxyz"}]}],
                "nodeName": "ip-10-0-1-8.ec2.internal"
            },
            "status": {
                "phase": "Running",
                "containerStatuses": [
                    {
                        "name": "worker",
                        "ready": false,
                        "restartCount": 2,
                        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                        "lastState": {
                            "terminated": {
                                "exitCode": 137,
                                "finishedAt": "2025-01-06T11:30:00Z",
                                "reason": "OOMKilled"
                            }
                        }
                    }
                ]
            }
        },
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "annotations": {"sagemaker.amazonaws.com/fault-details": "[]"},
                "labels": {
                    "node.kubernetes.io/instance-type": "trn1.32xlarge",
                    "sagemaker.amazonaws.com/deep-health-check-status": "Failed"
                },
                "name": "ip-10-0-1-8.ec2.internal"
            },
            "spec": {
                "providerID": "aws:///us-west-2b/i-0123456789abcdef0",
                "taints": [{"effect": "NoSchedule", "key": "sagemaker.amazonaws.com/node-health-status", "value": "Unschedulable"}]
            },
            "status": {
                "allocatable": {"aws.amazon.com/neuron": "15", "cpu": "127"},
                "conditions": [
                    {
                        "lastTransitionTime": "2025-01-06T10:59:00Z",
                        "message": "disk is fine",
                        "reason": "KubeletHasNoDiskPressure",
                        "status": "False",
                        "type": "DiskPressure"
                    }
                ]
            }
        },
        {
            "apiVersion": "v1",
            "involvedObject": {"kind": "Pod", "name": "train-worker-1"},
            "kind": "Event",
            "count": 4,
            "lastTimestamp": "2025-01-06T09:59:00Z",
            "message": "0/4 nodes are available",
            "reason": "FailedScheduling",
            "type": "Warning"
        },
        {
            "apiVersion": "v1",
            "involvedObject": {"kind": "Pod", "name": "train-worker-1"},
            "kind": "Event",
            "eventTime": "2025-01-06T10:00:00.123456Z",
            "message": "Successfully assigned",
            "reason": "Scheduled",
            "type": "Normal"
        }
    ],
    "kind": "List"
}
"""
POD_YAML = """\
apiVersion: v1
items:
- apiVersion: v1
  kind: Pod
  metadata:
    name: train-worker-1
    namespace: ml
  spec:
    nodeName: ip-10-0-1-8.ec2.internal
  status:
    containerStatuses:
    - lastState:
        terminated:
          exitCode: 1
          finishedAt: "2025-01-06T11:30:00Z"
          reason: Error
      name: worker
      ready: false
      restartCount: 3
      state:
        waiting:
          reason: CrashLoopBackOff
    phase: Running
kind: List
metadata:
  resourceVersion: ""
"""
SACCT = """\
JobID           JobName  Partition    Account  AllocCPUS      State ExitCode
------------ ---------- ---------- ---------- ---------- ---------- --------
8812              train        trn       ml-a       2048     FAILED      1:0
8812.batch        batch                  ml-a        128     FAILED      1:0
8812.0            train                  ml-a       2048 OUT_OF_ME+    0:125
8813              train        trn       ml-a       2048 CANCELLED+      0:0
"""
SACCT_PARSABLE = """\
JobID|JobName|State|ExitCode|DerivedExitCode|NodeList|End|Reason
8812|train|NODE_FAIL|1:0|137:0|trn-[0-15]|2025-01-06T11:30:00|None
8812.0|torchrun|CANCELLED by 1001|0:15||trn-3|2025-01-06T11:30:02|
8814|train|TIMEOUT|0:0|0:0|trn-4|Unknown|None
"""
SCONTROL_JOB = """\
JobId=8812 JobName=train run 7
   UserId=alice(1001) GroupId=ml(100) MCS_label=N/A
   JobState=FAILED Reason=NonZeroExitCode Dependency=(null)
   Requeue=1 Restarts=2 BatchFlag=1 Reboot=0 ExitCode=9:0
   StartTime=2025-01-06T10:00:00 EndTime=2025-01-06T11:30:00 Deadline=N/A
   NodeList=trn-[0-15]
   BatchHost=trn-0
"""
SCONTROL_NODE = """\
NodeName=trn-3 Arch=x86_64 CoresPerSocket=64
   OS=Linux 6.8.0-1021-aws #23-Ubuntu SMP Mon Dec 9 23:59:34 UTC 2024
   State=DOWN+DRAIN ThreadsPerCore=2 TmpDisk=0 Weight=1
   Reason=Action:Replace [root@2025-01-06T11:40:00]
"""
SINFO = """\
REASON               USER      TIMESTAMP           NODELIST
Action:Reboot        root      2025-01-06T11:40:00 trn-3
Not responding       slurm     2025-01-06T11:42:10 trn-[7-8]
"""
DUMP_ARGUMENTS = (
    '--neff-name "model.neff" --neff-uuid 0a1b --date-time 2025-01-06-11-30 --pid 4242 --tid 4250 --log-id 3 '
    "--instance-id i-0123456789abcdef0 --cluster-id 00000000deadbeef --error-location nrt_execute --error-code 1006 "
    "--local-output-dir /tmp/neuron-core-dump/x\n"
)
DUMP_JSON = (
    '{"neff-name": "model.neff", "log-id": "3", "pid": 4242, "cluster-id": "00000000deadbeef", "error-code": 1006,'
    ' "error-location": "nrt_execute"}\n'
)

#: Captures by the kind that must claim them, with a name that gives nothing away.
SAMPLES: dict[str, list[str]] = {
    "neuron-ls": [NEURON_LS_TABLE, NEURON_LS_JSON],
    "sysfs": [SYSFS_GREP, SYSFS_TAIL],
    "lsmod": [LSMOD, "neuron                237568  0\n"],
    "modinfo": [MODINFO],
    "lspci": [LSPCI, LSPCI_TREE, LSPCI_NUMERIC],
    "packages": [DPKG, RPM, APT, PIP_LIST, PIP_FREEZE],
    "uname": [UNAME, "6.8.0-1021-aws\n"],
    "ulimit": [ULIMIT, PROC_LIMITS],
    "env": [ENV, ENV.replace("\n", "\0")],
    "kubectl": [PODS, NODES, EVENTS, DESCRIBE_EVENTS, DESCRIBE_POD, DESCRIBE_NODE, POD_JSON, POD_YAML],
    "slurm": [SACCT, SACCT_PARSABLE, SCONTROL_JOB, SCONTROL_NODE, SINFO],
    "core-dump": [DUMP_ARGUMENTS, DUMP_JSON],
}

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
