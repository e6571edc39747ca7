"""What the tools of one host print, synthetic, in the documented formats."""

from __future__ import annotations

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
DUMP_ARGUMENTS = (
    '--neff-name "model.neff" --neff-uuid 0a1b --date-time 2025-01-06-11-30 --pid 4242 --tid 4250 --log-id 3 '
    "--instance-id i-0123456789abcdef0 --cluster-id 00000000deadbeef --error-location nrt_execute --error-code 1006 "
    "--local-output-dir /tmp/neuron-core-dump/x\n"
)
DUMP_JSON = (
    '{"neff-name": "model.neff", "log-id": "3", "pid": 4242, "cluster-id": "00000000deadbeef", "error-code": 1006,'
    ' "error-location": "nrt_execute"}\n'
)

DF = """\
Filesystem       Size  Used Avail Use% Mounted on
/dev/root        500G  201G  299G  41% /
tmpfs            124G     0  124G   0% /dev/shm
/dev/loop0        56M   56M     0 100% /snap/core18/2829
/dev/nvme1n1     7.0T  7.0T     0 100% /opt/dlami/nvme
fs-0a1b.fsx:/x   1.2T  400G  800G  34% /fsx
"""
DF_INODES = """\
Filesystem      Inodes  IUsed   IFree IUse% Mounted on
/dev/nvme1n1   1000000 1000000      0  100% /data
"""
DF_POSIX = """\
Filesystem     Type 1K-blocks      Used Available Use% Mounted on
/dev/root      ext4 508245224 210412341 297816499  42% /
"""

CHRONY = """\
Reference ID    : A9FEA97B (169.254.169.123)
Stratum         : 4
Ref time (UTC)  : Sat Aug 08 08:06:02 2026
System time     : 0.000003331 seconds slow of NTP time
Last offset     : -0.000000112 seconds
Leap status     : Normal
"""
TIMEDATECTL = """\
       Server: 169.254.169.123 (169.254.169.123)
Poll interval: 32s (min: 32s; max 34min 8s)
         Leap: normal
      Version: 4
       Offset: -1.500s
        Delay: 321us
"""
NTPQ = """\
associd=0 status=0615 leap_none, sync_ntp, 1 event, clock_sync,
version="ntpd 4.2.8p15", processor="x86_64", system="Linux/5.15",
rootdelay=0.411, rootdisp=1.2, refid=169.254.169.123,
clock=e8b2f1a2, offset=-120.5, frequency=-3.1, sys_jitter=0.01
"""

METRICS = """\
timestamp,host,neuron_device_index,event_type,value
1793972460,ip-10-0-0-5,3,sram_ecc_uncorrected,0
1793972460,ip-10-0-0-5,3,mem_ecc_corrected,0
1793972490,ip-10-0-0-5,3,sram_ecc_uncorrected,2
1793972490,ip-10-0-0-5,3,mem_ecc_corrected,0
"""

STEP_TIMES = """\
step,rank,host,t_fwd_bwd_s,t_allreduce_wait_s,t_data_s
500,0,trn-a1,2.158,0.102,0.030
500,1,trn-a2,2.120,0.125,0.023
501,0,trn-a1,2.132,0.125,0.011
501,1,trn-a2,2.150,0.109,0.029
"""
