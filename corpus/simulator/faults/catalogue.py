"""Which function injects which cause."""

from collections.abc import Callable, Mapping

from neuron_doctor.corpus.simulator.faults import absence, device, fabric, machine, mismatch, pipeline, process, setup
from neuron_doctor.corpus.simulator.faults.injection import Injection, Setting

INJECT: Mapping[str, Callable[[Setting], Injection]] = {
    "collectives-rank-missing": absence.missing,
    "collectives-rank-died": process.vanished,
    "collectives-op-mismatch": mismatch.mismatched,
    "collectives-size-mismatch": mismatch.mismatched,
    "collectives-dtype-mismatch": mismatch.mismatched,
    "collectives-order-mismatch": mismatch.disordered,
    "collectives-partial-completion": fabric.partial,
    "collectives-transport-stall": fabric.stalled,
    "collectives-device-stuck": device.stuck,
    "hang-outside-collectives": absence.outside,
    "p2p-missing": pipeline.missing,
    "p2p-mismatch": pipeline.astray,
    "p2p-order": pipeline.crossed,
    "straggler": machine.slow,
    "collectives-barrier-timeout": fabric.barrier,
    **dict.fromkeys(sorted(setup.OF_THE_RANK | setup.OF_THE_HOST | setup.OF_THE_JOB), setup.failed),
    **dict.fromkeys(device.KINDS, device.failed),
    "hw-pcie-error": device.lost,
    "hw-ecc-corrected-rising": device.corrected,
    "host-hw-error": machine.broken,
    "exec-timeout": device.hung_on_compute,
    "process-crash": process.crashed,
    "device-oom": device.out_of_memory,
    "host-oom": process.host_memory,
    "compile-host-oom": setup.compile_failed,
    "disk-full": process.disk_full,
    "network-proxy-failure": fabric.proxy,
    "compile-failed": setup.compile_failed,
    "compile-in-progress-wait": setup.compiling,
    "compile-cache-lock-wait": setup.locked,
    "scheduler-cancelled": machine.cancelled,
    "node-lost": machine.node_lost,
    "application-exception": process.raised,
}
