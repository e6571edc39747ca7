"""What kubectl and Slurm print, synthetic, in the documented formats."""
# ruff: noqa: E501 - captures keep their own width

from __future__ import annotations

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

DOCKER = """CONTAINER ID   IMAGE                       COMMAND                  CREATED          STATUS                       PORTS      NAMES
9f2c1b7a4e10   pytorch-training-neuronx    "torchrun --nproc_pe…"   47 minutes ago   Exited (137) 5 minutes ago              sft-node0
1c0e77bd2f3a   neuron-monitor-exporter:1.2 "neuron-monitor-prom…"   3 days ago       Up 3 days                    8000/tcp   neuron-exporter
"""

POD_STATE = """$ kubectl get pod llama-w-3 -o json | jq '.status.containerStatuses[0].lastState'
{
  "terminated": {
    "containerID": "containerd://6e1b0f",
    "exitCode": 137,
    "finishedAt": "2026-05-26T10:41:02Z",
    "reason": "OOMKilled",
    "startedAt": "2026-05-26T09:12:44Z"
  }
}
"""

EC2_STATUS = """INSTANCESTATUSES\tus-west-2d\ti-0592464924bd45322
EVENTS\tinstance-retirement\tThe instance is running on degraded hardware\t2026-06-09T10:00:00+00:00
INSTANCESTATE\t16\trunning
SYSTEMSTATUS\timpaired
DETAILS\treachability\tfailed
"""

HEALTH = """{
  "version": "0",
  "detail-type": "AWS Health Event",
  "source": "aws.health",
  "time": "2026-05-26T10:00:00Z",
  "resources": ["i-0592464924bd45322"],
  "detail": {
    "service": "EC2",
    "eventTypeCode": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED",
    "eventTypeCategory": "scheduledChange",
    "startTime": "Tue, 26 May 2026 09:00:00 GMT",
    "statusCode": "open",
    "affectedEntities": [{"entityValue": "i-0592464924bd45322", "status": "PENDING"}]
  }
}
"""

HYPERPOD = """{
    "NodeDetails": {
        "InstanceGroupName": "trn",
        "InstanceId": "i-0292464924bd45322",
        "InstanceStatus": {"Status": "Failure", "Message": "the hardware of this instance failed"},
        "InstanceType": "ml.trn1.32xlarge",
        "PrivatePrimaryIp": "10.0.3.7",
        "PrivateDnsHostname": "ip-10-0-3-7.us-west-2.compute.internal"
    }
}
"""

MONITOR_GROUP = """$ neuron-monitor | jq -c .system_data.neuron_hw_counters
{"period":5.0,"neuron_devices":[{"neuron_device_index":3,"mem_ecc_corrected":0,"mem_ecc_uncorrected":0}],"error":""}
{"period":5.0,"neuron_devices":[{"neuron_device_index":3,"mem_ecc_corrected":0,"mem_ecc_uncorrected":2}],"error":""}
"""
