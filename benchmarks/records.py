"""What was measured, kept in `baseline.json`: by size and measure the ratios, the costs, and the machine."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import neuron_doctor
from benchmarks.measure import Measure
from benchmarks.processes import Cost
from benchmarks.ratios import Ratio, Round, medians, ratio

_ROOT = Path(__file__).resolve().parents[1]
BASELINE = Path(__file__).with_name("baseline.json")


@dataclass(frozen=True, slots=True)
class Result:
    """One measure: median costs of its commands by name, ratios by goal, and where that was."""

    costs: Mapping[str, Cost]
    ratios: Mapping[str, Ratio]
    rounds: int
    machine: str

    @classmethod
    def of(cls, measure: Measure, rounds: Sequence[Round]) -> Result:
        """Of the goals whose commands could be run."""
        met = [goal for goal in measure.goals if {goal.of, goal.against} <= rounds[0].keys()]
        return cls(medians(rounds), {goal.name: ratio(goal, rounds) for goal in met}, len(rounds), machine())


@dataclass(slots=True)
class Records:
    """Results by size, then by measure."""

    results: dict[str, dict[str, Result]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path = BASELINE) -> Records:
        """What was recorded; nothing where there is no file."""
        if not path.exists():
            return cls()
        sizes = json.loads(path.read_text("utf-8"))
        return cls({size: {name: _result(one) for name, one in results.items()} for size, results in sizes.items()})

    def write(self, path: Path = BASELINE) -> None:
        """Keep them, to three places."""
        plain = {
            size: {name: _rounded(asdict(one)) for name, one in some.items()} for size, some in self.results.items()
        }
        path.write_text(json.dumps(plain, indent=1, sort_keys=True) + "\n", "utf-8")


def _result(plain: Mapping[str, dict[str, dict[str, float]]]) -> Result:
    return Result(
        {name: Cost(**cost) for name, cost in plain["costs"].items()},
        {name: Ratio(**one) for name, one in plain["ratios"].items()},
        int(str(plain["rounds"])),
        str(plain["machine"]),
    )


def _rounded(plain: object) -> object:
    if isinstance(plain, dict):
        return {key: _rounded(value) for key, value in plain.items()}
    return round(plain, 4) if isinstance(plain, float) else plain


def machine() -> str:
    """The machine and the installation, in one line."""
    cpu = platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip()
            for line in info.read_text("utf-8").splitlines()
            if line.startswith("model name")
        ]
        cpu = f"{names[0]} ({cpu})" if names else cpu
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    python = f"Python {platform.python_version()}"
    editable = "editable" if Path(neuron_doctor.__file__).parent == _ROOT / "doctor" else "plain"
    return f"{cpu}, {os.cpu_count()} CPUs, {memory:.0f} GB, {sys.platform}, {python}, {editable} install"
