"""What holds for all tests: nothing is kept in the home of who runs them, nor are packs of theirs found there, and
`builtin_rules` is importable by its name."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session", autouse=True)
def _a_cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    directory: Path = tmp_path_factory.mktemp("cache")
    os.environ["NEURON_DOCTOR_CACHE"] = str(directory)
    os.environ["XDG_DATA_HOME"] = os.environ["XDG_CONFIG_HOME"] = str(tmp_path_factory.mktemp("home"))
