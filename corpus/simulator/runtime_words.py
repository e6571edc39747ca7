"""What the runtime says, by neuron-facts.md sections 1 to 3: constant tables of components, functions and texts.

A text holds fields: nd and nc (as the words of this version count them), rank, local, world, model, status, completed,
timeout_ms, operation, operations. Two columns are the older and the newer wording.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """A message with fields to fill in. `states` is whether it tells of the fault by itself, not only of its effect."""

    component: str
    function: str
    text: str
    states: bool = True


Words = tuple[Word, ...]

_FATAL = "(FATAL-RT-UNDEFINED-STATE)"
_OLD_PLACE, _NEW_PLACE = "Neuron Device {nd} NC {nc}", "[ND {nd}][NC {nc}]"

SYMBOLS: Mapping[int, str] = {
    1: "NRT_FAILURE",
    2: "NRT_INVALID",
    4: "NRT_RESOURCE",
    5: "NRT_TIMEOUT",
    6: "NRT_HW_ERROR",
    7: "NRT_QUEUE_FULL",
    9: "NRT_LOAD_NOT_ENOUGH_NC",
    10: "NRT_UNSUPPORTED_NEFF_VERSION",
    13: "NRT_UNINITIALIZED",
    14: "NRT_CLOSED",
    101: "NRT_EXEC_UNIT_UNRECOVERABLE",
    1002: "NRT_EXEC_BAD_INPUT",
    1003: "NRT_EXEC_COMPLETED_WITH_NUM_ERR",
    1004: "NRT_EXEC_COMPLETED_WITH_ERR",
    1005: "NRT_EXEC_NC_BUSY",
    1006: "NRT_EXEC_OOB",
    1200: "NRT_EXEC_HW_ERR_COLLECTIVES",
    1201: "NRT_EXEC_HW_ERR_HBM_UE",
    1202: "NRT_EXEC_HW_ERR_NC_UE",
    1203: "NRT_EXEC_HW_ERR_DMA_ABORT",
    1204: "NRT_EXEC_SW_NQ_OVERFLOW",
    1205: "NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE",
    1206: "NRT_NETWORK_PROXY_FAILURE",
}

# Codes that name their cause by themselves; 5, 1004 and 1 do not, 101 and 1200 tell of another's fault.
SPECIFIC = frozenset({1002, 1003, 1006, 1201, 1202, 1203, 1204, 1205, 1206})

COMPUTE_HANG: tuple[Words, Words] = (
    (
        Word(
            "TDRV",
            "exec_consume_infer_status_notifications",
            f"{_FATAL} execution timeout ({{timeout_ms}} ms) on {_OLD_PLACE}, model {{model}}, "
            "waiting for execution completion notification",
        ),
    ),
    (
        Word(
            "TDRV",
            "exec_request_process_errors",
            f"{_FATAL} {_NEW_PLACE} execution timeout ({{timeout_ms}} ms) on model {{model}}, "
            "waiting for execution completion notification",
        ),
        Word(
            "TDRV",
            "exec_request_progress_one_step",
            "[LNC {nc}] Failed to progress Neuron Core Exec State, error: 5",
            False,
        ),
    ),
)

COLLECTIVES_HANG: tuple[Words, Words] = (
    (
        Word(
            "TDRV",
            "exec_consume_topsp_cc_notifications",
            f"{_FATAL} missing collectives status on {_OLD_PLACE}, model {{model}} - "
            "suspected hang in collectives operation {operation} out of {operations}",
        ),
    ),
    (
        Word(
            "TDRV",
            "exec_request_process_errors",
            f"{_FATAL} {_NEW_PLACE} missing collectives status on model {{model}}. "
            "Suspected hang in collectives operation {operation} out of {operations}",
        ),
        Word(
            "TDRV",
            "exec_request_progress_one_step",
            "[LNC {nc}] Failed to progress Neuron Core Exec State, error: 5",
            False,
        ),
    ),
)

BETWEEN_COLLECTIVES: tuple[Words, Words] = (
    COLLECTIVES_HANG[0],
    (
        Word(
            "TDRV",
            "exec_request_process_errors",
            f"{_FATAL} {_NEW_PLACE} missing collectives status on model {{model}}. Suspected hang between the end of "
            "collectives operation {before} and the start of collectives operation {operation} "
            "(out of {operations} total operations)",
        ),
    ),
)

BARRIER_PROXY = (
    Word(
        "TDRV", "exec_barrier_proxy_wait", "[nec_dev {local}, gid {rank}] barrier proxy timeout (waited {waited} sec)"
    ),
)

BARRIER_HANG: tuple[Words, Words] = (
    COLLECTIVES_HANG[0],
    (
        Word(
            "TDRV",
            "exec_request_process_errors",
            f"{_FATAL} {_NEW_PLACE} missing collectives status on model {{model}}. Suspected hang in waiting for barrier",
        ),
    ),
)

_HBM_UE = f"{_FATAL} [ND {{nd}}] Uncorrectable HBM memory error is detected. Execution results may be invalid. "

# Corrected ECC events have no documented runtime line; a PCIe error is the kernel's to tell.
HARDWARE: Mapping[str, tuple[Words, Words]] = {
    "hbm-ue": (
        (
            Word(
                "TDRV",
                "exec_consume_infer_status_notifications",
                f"{_FATAL} encountered uncorrectable memory error on Neuron Device {{nd}}, execution results may be "
                "invalid.  Please terminate or start/stop this instance to recover from bad hardware.",
            ),
        ),
        (
            Word(
                "TDRV",
                "exec_request_process_errors",
                _HBM_UE + "Please terminate this instance to prevent future impact from the hardware error.",
            ),
        ),
    ),
    "hbm-ue-repairable": (
        (
            Word(
                "TDRV",
                "exec_request_process_errors",
                _HBM_UE + "Please reload the neuron driver or reboot your EC2 instance to prevent future impact from "
                "the hardware error.",
            ),
        ),
        (
            Word(
                "TDRV",
                "exec_request_process_errors",
                _HBM_UE + "Please reload the neuron driver or reboot your EC2 instance to prevent future impact from "
                "the hardware error.",
            ),
        ),
    ),
    "sram-ue": (
        (
            Word(
                "TDRV",
                "notification_consume_error_block",
                f"{_FATAL} Uncorrectable memory error is detected on Neuron device: {{nd}}:{{nc}} metadata: 0x2. "
                "Failing execution.",
            ),
        ),
        (
            Word(
                "TDRV",
                "exec_request_process_errors",
                f"{_FATAL} {_NEW_PLACE} Uncorrectable memory error is detected, metadata: 0x16. Please terminate or "
                "stop/start this instance to prevent future impact from the hardware error.",
            ),
        ),
    ),
    "dma-abort": (
        (
            Word("TDRV", "dma_check_abort", "[MLA {nd}][NC {nc}] DMA TX engine {engine} is in an abort state"),
            Word("TDRV", "dma_check_abort", "[MLA {nd}][NC {nc}] DMA RX engine {engine} is in an abort state"),
        ),
        (
            Word("TDRV", "dma_check_abort", "[MLA {nd}][NC {nc}] DMA TX engine {engine} is in an abort state"),
            Word("TDRV", "dma_check_abort", "[MLA {nd}][NC {nc}] DMA RX engine {engine} is in an abort state"),
        ),
    ),
}

# What goes before the summary of a failed execution, by status, where nothing else told of it already.
STATUS: Mapping[int, tuple[Words, Words]] = {
    5: COMPUTE_HANG,
    1200: COLLECTIVES_HANG,
    1003: (
        (
            Word(
                "TDRV",
                "notification_consume_errors",
                "Error notifications found on NC:{inner}; action=INFER_ERROR_SUBTYPE_NUMERICAL; error_id=1; "
                "error string:TRAINIUM_NC_ERROR_TYPE_FP_NAN",
            ),
        ),
        (
            Word(
                "TDRV",
                "notification_consume_error_block",
                "Error notifications found on nd{nd} nc{inner}; action=INFER_ERROR_SUBTYPE_NUMERICAL; error_id=1; "
                "error string:TRAINIUM_NC_ERROR_TYPE_FP_NAN",
            ),
        ),
    ),
    1004: (
        (
            Word(
                "TDRV",
                "notification_consume_errors",
                "Error notifications found on NC:{inner}; action=INFER_ERROR_SUBTYPE_MODEL; error_id=8; "
                "error string:Event double set",
            ),
        ),
        (
            Word(
                "TDRV",
                "notification_consume_error_block",
                "Error notifications found on nd{nd} nc{inner}; action=INFER_ERROR_SUBTYPE_MODEL; error_id=8; "
                "error string:Event double set",
            ),
        ),
    ),
    1006: (
        (
            Word(
                "TDRV",
                "generate_custom_notification_msg",
                "nd{nd}:nc{inner}:h_model.id1001: Received notification generated at runtime: failed to run scatter/gather "
                "(indirect memory copy), due to out-of-bound access. isa instruction line number = {isa}. "
                "model name = {model}",
            ),
        ),
        (
            Word(
                "TDRV",
                "exec_process_custom_notification",
                "nd{nd}:nc{inner}:h_model.id1001: Received notification generated at runtime: failed to run scatter/gather "
                "(indirect memory copy via vector DGE), due to out-of-bound access. model name = {model}.",
            ),
            Word("TDRV", "exec_request_process_errors", f"{_NEW_PLACE} Out of bounds access on model {{model}}"),
        ),
    ),
    1204: (
        (
            Word(
                "TDRV",
                "exec_consume_topsp_cc_notifications",
                f"{_NEW_PLACE} execution on model {{model}}, is stuck after all collectives operation have completed",
                False,
            ),
            Word(
                "TDRV",
                "exec_request_process_errors",
                f"{_NEW_PLACE} execution timeout ({{timeout_ms}} ms) on model {{model}}, potentially caused by DGE "
                "notifications enabled. Please disable it (set NEURON_RT_ENABLE_DGE_NOTIFICATIONS to 0) and try again.",
            ),
        ),
    )
    * 2,
    1206: (
        (Word("TDRV", "exec_request_process_errors", f"{_NEW_PLACE} EFA network proxy failure on model {{model}}"),),
    )
    * 2,
    101: ((Word("NRT", "nrt_execute_repeat", "Failed to schedule execution, execution unit is unrecoverable"),),) * 2,
}

COMPLETED = {
    "Inference": Word("NMGR", "dlr_infer", "Inference completed with err: {status}. mode->h_nn=1001, lnc={nc}", False),
    "Execution": Word(
        "NMGR", "dlr_exec_wait", "Execution completed with err: {status}. mode->h_nn=1001, lnc={nc}", False
    ),
}
FAILED_TO_EXECUTE = Word("NRT", "nrt_execute_repeat", "Failed to execute model {model} with status {status}", False)
SECONDARY = (
    Word("NRT", "nrt_close", "Unexpected runtime state: NRT_STATE_START", False),
    Word("TDRV", "notification_destroy", "Notifications not initialized!", False),
)
