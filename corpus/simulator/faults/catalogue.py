"""Which function injects which cause."""

from collections.abc import Callable, Mapping

from neuron_doctor.corpus.simulator.faults import absence, device
from neuron_doctor.corpus.simulator.faults.injection import Injection, Setting

INJECT: Mapping[str, Callable[[Setting], Injection]] = {
    "collectives-rank-missing": absence.missing,
    "hang-outside-collectives": absence.outside,
    "collectives-device-stuck": device.stuck,
    "exec-timeout": device.hung_on_compute,
    "device-oom": device.out_of_memory,
    **dict.fromkeys(device.KINDS, device.failed),
}
