"""What the start of the program loads: heavy things only where they are used."""

from __future__ import annotations

import subprocess
import sys

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
