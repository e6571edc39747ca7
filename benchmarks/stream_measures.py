"""Measures of what is no log: the monitor's stream, a Chrome trace, flight recorders, the wait-for graph."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from benchmarks.flight_recorder_dumps import write_dumps
from benchmarks.graph import write_facts
from benchmarks.measure import DOCTOR, Bench, Measure, Prepared, input_of, python
from benchmarks.ratios import Goal, Limit
from benchmarks.sizes import scaled
from benchmarks.stream_inputs import write_monitor, write_trace

LOAD, PEER, JSON = "pickle.load", "PyTorch's analyser", "json.loads"
MATCH, COMPONENTS, QUARTER = "match, all ranks", "networkx condensation", "match, a quarter of the ranks"

#: jq holds the whole trace in memory, ten times as large.
_JQ_MEMORY = 14

_MONITOR = """-c .system_data.neuron_hw_counters.neuron_devices, [.neuron_runtime_data[].report |
  (.execution_stats | .error_summary, .execution_summary, .latency_stats.total_latency.p99),
  .memory_used.neuron_runtime_used_bytes.neuron_device,
  [.neuroncore_counters.neuroncores_in_use[].neuroncore_utilization]]"""
_TRACE = '[.traceEvents[] | select(.ph == "B" or (.args.ret // 0) != 0)] | length'
_LOAD_ALL = """
import pickle, sys
from pathlib import Path
for path in sorted(Path(sys.argv[1]).iterdir()):
    with path.open("rb") as file:
        pickle.load(file)
"""
_LINES = """
import json, sys
with open(sys.argv[1], "rb") as file:
    for line in file:
        json.loads(line)
"""
#: With its usual cap it gives up a job at the tenth mismatch, before it has looked at most of the groups.
_ANALYSE = """
import sys
from torch.distributed.flight_recorder.fr_trace import main
main(["--allow-incomplete-ranks", "--mismatch_cap", "1000000000", "-p", "nccl_trace_rank_", sys.argv[1]])
"""


def _monitor(bench: Bench) -> Prepared:
    size = bench.size // 2
    made = bench.store.input(
        f"monitor-{size}", lambda to: write_monitor(to / "neuron-monitor.jsonl", size), recipe="stream_inputs"
    )
    option, query = _MONITOR.split(maxsplit=1)
    stream = made / "neuron-monitor.jsonl"
    commands = {DOCTOR: bench.diagnose(made), "jq": ("jq", option, query, str(stream)), JSON: python(_LINES, stream)}
    return input_of(made, "neuron-monitor", commands)


def _chrome(bench: Bench) -> Prepared:
    size = min(bench.size // 2, _memory_available() // _JQ_MEMORY)
    made = bench.store.input(
        f"chrome-{size >> 26 << 26 or size}", lambda to: write_trace(to / "trace.json", size), recipe="stream_inputs"
    )
    return input_of(made, "ndet-trace", {DOCTOR: bench.diagnose(made), "jq": ("jq", _TRACE, str(made / "trace.json"))})


def _memory_available() -> int:
    """Bytes that a process could take now."""
    lines = Path("/proc/meminfo").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))


def _flight_recorder(bench: Bench) -> Prepared:
    ranks = scaled(1024, bench.size, 32)
    made = bench.store.input(
        f"dumps-{ranks}", lambda to: write_dumps(to, ranks, 2000, culprit=ranks // 3), recipe="flight_recorder_dumps"
    )
    commands = {DOCTOR: bench.diagnose(made), LOAD: python(_LOAD_ALL, made)}
    if bench.peer is not None:
        commands[PEER] = (str(bench.peer / "bin" / "python"), "-c", _ANALYSE, str(made))
    return input_of(made, "flight-recorder", commands)


def _graph(bench: Bench) -> Prepared:
    ranks = scaled(32_000, bench.size, 256)
    made = bench.store.input(f"graph-{ranks}", lambda to: _facts(to, ranks), recipe="flight_recorder")

    def command(what: str, name: str) -> tuple[str, ...]:
        return (sys.executable, "-m", "benchmarks.graph", what, str(made / name))

    commands = {MATCH: command("match", "all"), QUARTER: command("match", "quarter")}
    if find_spec("networkx"):
        commands[COMPONENTS] = command("components", "all")
    return Prepared(commands)


def _facts(directory: Path, ranks: int) -> None:
    write_facts(directory / "all", ranks)
    write_facts(directory / "quarter", ranks // 4)


STREAM_MEASURES = (
    Measure(
        "monitor",
        "a stream of neuron-monitor, half of the size",
        _monitor,
        (Goal(DOCTOR, "jq", 1 / 9, 1 / 20),),
        (Limit(DOCTOR, 48, 32),),
        {"jq": "jq"},
    ),
    Measure(
        "chrome",
        "a Chrome trace of neuron-det, half of the size",
        _chrome,
        (Goal(DOCTOR, "jq", 1 / 8),),
        (Limit(DOCTOR, 40),),
        {"jq": "jq"},
    ),
    Measure(
        "flight-recorder",
        "the dumps of 1,024 ranks at full size, 2,000 entries each, verdict included",
        _flight_recorder,
        (Goal(DOCTOR, LOAD, 2, 1.3), Goal(DOCTOR, PEER, 1 / 10)),
    ),
    Measure(
        "graph",
        "who waits for whom among 32,000 ranks at full size; loading the facts included",
        _graph,
        (Goal(MATCH, QUARTER, 1.1, work=4), Goal(MATCH, COMPONENTS, 2, 1)),
    ),
)
