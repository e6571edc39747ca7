"""What the start of the program loads: heavy things only where they are used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = (
    "hyperscan",
    "lark",
    "yaml",
    "msgspec",
    "jsonschema",
    "networkx",
    "jinja2",
    "pydantic",
    "rich",
    "importlib.metadata",
    "json",
)


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["diagnose", "--help"]])
def test_help_loads_nothing_heavy(args: list[str]) -> None:
    code = (
        f"import sys\nsys.argv = ['neuron-doctor', *{args!r}]\nfrom neuron_doctor.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.strip() == "[]"


def test_a_diagnosis_loads_no_validator_and_no_graph_library(tmp_path: object) -> None:
    code = (
        f"import sys\nsys.argv = ['neuron-doctor', 'diagnose', {str(tmp_path)!r}]\nfrom neuron_doctor.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print([n for n in ('jsonschema', 'networkx', 'jinja2', 'pydantic', 'rich') if n in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.strip() == "[]"


#: Of a diagnosis of logs with compiled rules: no YAML, parser, validator, processes, nor what tells how well the doctor does.
NOT_FOR_LOGS = (
    "yaml",
    "lark",
    "jsonschema",
    "networkx",
    "jinja2",
    "pydantic",
    "rich",
    "multiprocessing",
    "concurrent.futures",
    "importlib.metadata",
    "neuron_doctor.engine.rule_loader",
    "neuron_doctor.engine.collectives",
    "neuron_doctor.engine.query_parser",
    "statistics",
    "neuron_doctor.evaluation",
    "neuron_doctor.workers",
    "neuron_doctor.parts",
    "neuron_doctor.collectors.fr_dump",
    "neuron_doctor.collectors.fr_groups",
    "neuron_doctor.collectors.safe_pickle",
    "neuron_doctor.collectors.monitor_facts",
    "neuron_doctor.collectors.monitor_model",
    "neuron_doctor.collectors.ndet_trace",
    "email",
    "hashlib",
    "socket",
    "tarfile",
    "zoneinfo",
    "neuron_doctor.reports.json_report",
    "neuron_doctor.reports.markdown",
)


def test_a_diagnosis_of_logs_with_kept_rules_loads_only_what_it_needs(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text("2026-05-01T12:00:00Z rank0 nothing to see here\n" * 9)
    code = (
        f"import sys\nsys.argv = ['neuron-doctor', 'diagnose', {str(log)!r}]\nfrom neuron_doctor.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {NOT_FOR_LOGS!r} if name in sys.modules], file=sys.stderr)"
    )
    environment = {**os.environ, "NEURON_DOCTOR_CACHE": str(tmp_path / "cache")}
    done = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True, env=environment
        )
        for _ in range(2)
    ]
    assert done[1].stderr.strip() == "[]"
    assert done[1].stdout == done[0].stdout


def test_what_an_earlier_run_compiled_is_not_compiled_again(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text("2026-05-01T12:00:00Z rank0 RuntimeError: nothing is left\n" * 9)
    code = (
        "import re, sys\nfrom neuron_doctor.cli import main\n"
        f"sys.argv = ['neuron-doctor', 'diagnose', {str(log)!r}]\n"
        "made = []\ncompiler = re._compiler.compile\n"
        "re._compiler.compile = lambda *given: (made.append(given), compiler(*given))[1]\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\nprint(len(made), file=sys.stderr)"
    )
    environment = {**os.environ, "NEURON_DOCTOR_CACHE": str(tmp_path / "cache")}
    first, second = (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True, env=environment
        )
        for _ in range(2)
    )
    assert int(first.stderr) > 100
    assert int(second.stderr) < 25  # those of the command line's own library, and those made of what was read
    assert second.stdout == first.stdout
