"""What the runtime and the collectives library say when a job cannot be set up, by cause (neuron-facts.md section 3).

Each cause has variants of which a job uses one. Fields come from the event's `detail`, else from `DEFAULTS`.
"""

from collections.abc import Mapping
from dataclasses import replace

from neuron_doctor.corpus.simulator.runtime_words import Word, Words

DEFAULTS: Mapping[str, str] = {
    "address": "10.0.0.10:62182",
    "name": "train-worker-0.train-headless.ml-platform-research.svc.cluster.local",
    "port": "62182",
    "expected": "32",
    "actual": "64",
    "mine": "2.30.50.0",
    "theirs": "2.29.40.0",
    "peer": "0",
    "group": "0",
    "compatibility": "9",
    "interface": "rdmap16s27",
    "kernel": "5.10",
    "remote": "fe80::1e:27ff:fe45:9a6b",
    "reason": "",
}

_INIT_FAILED = Word("ENC", "ncclInitGlobalComm", "failed neuronInitGlobalComm request to NCCL", False)
_ENC_FAILED = Word("ENC", "enc_init_global_comm", "[nec_dev {local}] failed to initialize global communicator", False)
_DEVICES_FAILED = Word("NRT", "nrt_init", "Failed to initialize devices, error:1", False)
_LOAD_FAILED = Word("NMGR", "kmgr_load_nn_post_metrics", "Failed to load NN: {model}, err: 2", False)
_REFUSED = Word(
    "CCOM",
    "init.cc:655",
    "Unable to run multi-instance workload.  Ofi plugin is not installed or EFA is not enabled",
)
_NO_EFA = "OFI plugin initNet() failed is EFA enabled?"  # the refusal alone is documented for a missing installer
_BUSY = "not available - Requested:"

SETUP: Mapping[str, tuple[Words, ...]] = {
    "core-in-use": (
        (Word("NRT", "nrt_allocate_neuron_cores", f"NeuronCore(s) {_BUSY}nc{{nc}}-nc{{nc}} Available:0"),),
        (
            Word(
                "NRT",
                "nrt_allocate_neuron_cores",
                f"Logical Neuron Core(s) {_BUSY}lnc{{nc}}-lnc{{nc}} Available:0 Logical Core size:2 (cores busy, ret=-16)",
            ),
        ),
        (Word("NRT", "nrt_allocate_neuron_cores", f"Logical Neuron Core(s) {_BUSY}1 Available:0 Logical Core size 1"),),
    ),
    "driver-incompatible": (
        (
            Word(
                "NRT",
                "nrt_init",
                "This Neuron Runtime (compatibility id: {compatibility}) is not compatible with the installed "
                "aws-neuronx-dkms package",
            ),
        ),
        (
            Word(
                "NRT",
                "nrt_init",
                "This runtime requires Neuron Driver version 2.0 or greater. Please upgrade aws-neuronx-dkms package.",
            ),
        ),
    ),
    "driver-missing": (
        (
            Word(
                "NRT",
                "nrt_init",
                "Unable to determine Neuron Driver version. Please check aws-neuronx-dkms package is installed.",
            ),
        ),
    ),
    "device-open-failed": (
        (
            Word("TDRV", "tdrv_init_mla_phase1", "Could not open the nd{nd}"),
            Word("TDRV", "tdrv_destroy_one_mla", "close device failed", False),
            Word("TDRV", "tdrv_destroy", "TDRV not initialized", False),
            _DEVICES_FAILED,
        ),
    ),
    "device-not-in-container": ((Word("TDRV", "tdrv_get_dev_info", "No neuron device available"), _DEVICES_FAILED),),
    "insufficient-cores": (
        (
            Word(
                "NRT",
                "nrt_allocate_neuron_cores",
                "Insufficient number of pncs, required: {expected}, available: {actual}",
            ),
        ),
    ),
    "device-stale-state": (
        (
            Word(
                "TDRV",
                "tpb_eng_init_hals_v2",
                "CRITICAL HW ERROR: One or more engines are running. Please restart device by reloading driver:",
            ),
            Word("TDRV", "tdrv_init_one_mla_phase2", "nd{nd} nc{inner} HAL init failed. error:1", False),
            _DEVICES_FAILED,
        ),
    ),
    "device-reset-failed": (
        (
            Word(
                "TDRV",
                "tdrv_init_wait_ncs_ready",
                "Failed to reset nd {nd} nc_map 0x3 timeout (result=-110)",
            ),
        ),
    ),
    "collectives-init-failed": (
        (replace(_INIT_FAILED, states=True), _ENC_FAILED),
        (
            Word(
                "NRT",
                "nrt_load_collectives",
                "Failed to create global communicator, g_device_id={rank}, g_device_count={expected}",
            ),
            _ENC_FAILED,
        ),
    ),
    "collectives-unsupported-topology": (
        (
            Word(
                "ENC",
                "init_metaring_algorithm",
                "[nec_dev {local} ch 2] failed to reuse global comm devmem reservation",
            ),
            Word(
                "ENC",
                "enc_init_comm",
                "global comm (2) has less channels than this replica group (4) :likely not enough EFA devices found if "
                "running on multiple nodes or CC not permitted on this group [1 3 5 7]",
            ),
            _LOAD_FAILED,
        ),
    ),
    "collectives-world-size-mismatch": (
        (
            Word(
                "NRT",
                "nrt_load_collectives",
                "NRT has already been setup with a collectives world size of {expected} but trying to set up "
                "collectives world size of {actual}",
            ),
            Word(
                "NRT",
                "nrt_load_collectives",
                "Failed to create global communicator, g_device_id={rank}, g_device_count={actual}",
            ),
        ),
    ),
    "collectives-replica-mismatch": (
        (
            Word(
                "ENC",
                "enc_check_replica_group_signature",
                "[nec_dev {local}, gid {rank}] replica group signature mismatch for group {group}: likely caused by "
                "mismatched collectives between peers",
            ),
            _LOAD_FAILED,
        ),
    ),
    "collectives-root-comm-id": (
        (
            Word(
                "CCOM",
                "init.cc:137",
                "Invalid NCCL_COMM_ID [{address}], please use format: <ipv4>:<port> or [<ipv6>]:<port>",
            ),
            _INIT_FAILED,
        ),
        (
            Word("CCOM", "include/socket.h:372", "Call to bind failed : Address already in use"),
            _INIT_FAILED,
            _ENC_FAILED,
        ),
    ),
    "mpmd-graph-mismatch": (
        (
            Word(
                "TDRV",
                "v2_cc_execute",
                "[nec_dev {local}, gid {rank}] MPMD detected but reload is not supported yet: {model}",
            ),
        ),
    ),
    "runtime-version-skew": (
        (
            Word(
                "ENC",
                "enc_check_version",
                "[nec_dev {local}] Neuron Runtime version mismatch between ranks: rank {rank} runs {mine}, rank {peer} "
                "runs {theirs}. All ranks must use the same runtime",
            ),
            _ENC_FAILED,
        ),
    ),
    "efa-installer-missing": ((_REFUSED, _INIT_FAILED, _ENC_FAILED),),
    "efa-not-enabled": (
        (Word("CCOM", "init.cc:138", _NO_EFA), _REFUSED, _INIT_FAILED, _ENC_FAILED),
        (
            Word("CCOM", "net_plugin.cc:97", _NO_EFA),
            _REFUSED,
            Word(
                "CCOM",
                "transport.cc:36",
                "No transport found between devices 0 and 0. Possible replica group misconfiguration",
                False,
            ),
            _INIT_FAILED,
            _ENC_FAILED,
        ),
    ),
    "efa-fork-safe-unset": (
        (
            Word(
                "CCOM",
                "init.cc:660",
                "Linux kernel {kernel} requires setting FI_EFA_FORK_SAFE=1 environment variable.  Multi-node support will "
                "be disabled.",
            ),
            Word("CCOM", "init.cc:661", "Please restart with FI_EFA_FORK_SAFE=1 set."),
            _INIT_FAILED,
        ),
    ),
    "efa-security-group": (
        (
            Word(
                "CCOM",
                "int process_completions(struct fi_cq_data_entry*, uint64_t, nccl_net_ofi_cq*):1038",
                "NET/OFI Request 0x7f3c5c0c6a40 (SEND) completed with error: err: 113, flags: 1030, prov_errno: 15, "
                "strerror: Unreachable remote - never received a response, len: 0",
                False,
            ),
            Word("CCOM", "platform-aws.cpp:1038", "NET/OFI ****************************************", False),
            Word(
                "CCOM",
                "platform-aws.cpp:1038",
                "NET/OFI * This error indicates that the security group on either this instance or the peer instance",
            ),
            Word("CCOM", "platform-aws.cpp:1038", "NET/OFI * is not setup correctly."),
            _INIT_FAILED,
        ),
    ),
    "name-resolution-failed": (
        (
            Word(
                "CCOM",
                "init.cc:137",
                "Invalid NCCL_COMM_ID [{name}:{port}], please use format: <ipv4>:<port> or [<ipv6>]:<port>",
            ),
            _INIT_FAILED,
        ),
    ),
    "bootstrap-interface-ipv6": (
        (
            Word(
                "CCOM",
                "include/socket.h:310",
                "No interface found in the same subnet as remote address {remote}<45015>",
            ),
            Word("CCOM", "bootstrap.cc:52", "No usable listening interface found"),
            _INIT_FAILED,
        ),
    ),
    "too-many-open-files": (
        (
            Word("CCOM", "bootstrap.cc:106", "Call to accept failed : Too many open files"),
            Word("CCOM", "include/socket.h:438", "Net : Socket creation failed : Too many open files"),
            Word("ENC", "ncclBootstrapRecv", "failed neuronBootstrapRecv request to NCCL", False),
            Word("ENC", "ncclBootstrapSend", "failed neuronBootstrapSend request to NCCL", False),
        ),
    ),
    "collectives-lib-missing": (
        (
            Word(
                "ENC",
                "enc_load_nccl",
                "NCCL init error: Error opening libnccom.so, cannot use collective operations! Please set "
                "LD_LIBRARY_PATH to library location. Error: libnccom.so: cannot open shared object file: "
                "No such file or directory",
            ),
        ),
    ),
}
