"""Packs, installed packages and homes as tests need them, in a folder of the test's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

RULE = """id: {name}
title: An odd line
cause: application-exception
severity: error
trust: [F]
patterns:
  {name}-text: {{regex: '{text} (?P<n>\\d{{1,9}})', fields: {{n: int}}}}
when: {name}-text
actions: [{{action: collect-more, note: look at it}}]
explanation: It is odd.
references: [https://wiki.example/odd]
examples:
  positive: [{{name: odd, text: "{text} 7"}}]
  negative: [{{name: well, text: "all is well"}}]
"""
MANIFEST = 'name: {name}\nversion: "1.4.0"\nminimum_engine: "0.1"\n'


def write_pack(folder: Path, name: str = "acme", *, manifest: str = MANIFEST, text: str = "") -> Path:
    """A pack with one rule, `NAME-odd`, that looks for `NAME odd 7`."""
    folder.mkdir(parents=True, exist_ok=True)
    if manifest:
        (folder / "pack.yaml").write_text(manifest.format(name=name))
    (folder / f"{name}-odd.yaml").write_text(RULE.format(name=f"{name}-odd", text=text or f"{name} odd"))
    return folder


def install(place: Path, package: str, entry_points: str, version: str = "1.0", name: str = "") -> Path:
    """A package as an installer leaves it: its module, which must not be imported, and its metadata."""
    module = place / package
    module.mkdir(parents=True)
    (module / "__init__.py").write_text("raise SystemExit('imported')\n")
    metadata = place / f"{name or package}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name or package}\nVersion: {version}\n")
    (metadata / "entry_points.txt").write_text(entry_points)
    return module


def run(
    *args: str | Path, home: Path | None = None, cwd: Path | None = None, **env: str
) -> subprocess.CompletedProcess[str]:
    """The program with the packs and the site file of this home, and nothing else in the environment."""
    known = {"XDG_DATA_HOME": str(home / "data"), "XDG_CONFIG_HOME": str(home / "config")} if home else {}
    command = [sys.executable, "-m", "neuron_doctor", *map(str, args)]
    cache = {"NEURON_DOCTOR_CACHE": os.environ["NEURON_DOCTOR_CACHE"]}
    return subprocess.run(
        command, capture_output=True, text=True, env={**cache, **known, **env}, timeout=120, check=False, cwd=cwd or "/"
    )
