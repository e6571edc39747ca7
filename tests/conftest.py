"""What holds for all tests: nothing is kept in the home of who runs them, nor are packs of theirs found there, none fails for
being slow, and `builtin_rules` is importable by its name."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))
settings.register_profile("no clock", deadline=None)
settings.load_profile("no clock")


def pytest_configure(config: pytest.Config) -> None:
    """Before any test module is read, for some make an engine then."""
    directory = Path(tempfile.mkdtemp(prefix="neuron-doctor-tests-"))
    config.add_cleanup(lambda: shutil.rmtree(directory, ignore_errors=True))
    os.environ["NEURON_DOCTOR_CACHE"] = str(directory / "cache")
    os.environ["XDG_DATA_HOME"] = os.environ["XDG_CONFIG_HOME"] = str(directory / "home")
    for name in ("cache", "home"):
        (directory / name).mkdir(mode=0o700)
