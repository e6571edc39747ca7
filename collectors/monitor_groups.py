"""The metric groups in a report of neuron-monitor, by their names."""

from __future__ import annotations

#: Each group, by the part of a document that it belongs to.
WHOLE = (b"neuron_runtime_data", b"system_data", b"instance_info", b"neuron_hardware_info", b"neuron_k8s_info")
OF_PROCESS = (b"neuroncore_counters", b"execution_stats", b"memory_used", b"neuron_runtime_vcpu_usage")
OF_SYSTEM = (b"neuron_hw_counters", b"memory_info", b"vcpu_usage")
GROUPS = WHOLE + OF_PROCESS + OF_SYSTEM
