"""The inputs of the benchmarks: made once, kept in a directory outside the repository, made anew when their recipe changes."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

#: Inputs are of these bytes and of nothing else, so that two runs measure the same.
_RECIPES = Path(__file__).parent


def default_directory() -> Path:
    """Where inputs are kept if nobody says: not in /tmp, which may be memory."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "neuron-doctor-benchmarks"


@dataclass(frozen=True, slots=True)
class Store:
    """A directory of inputs, each a directory `<name>.<digest of its recipe>`."""

    directory: Path

    def input(self, name: str, make: Callable[[Path], None], *, recipe: str, of: str = "") -> Path:
        """The directory that `make` filled, now or in an earlier run. `recipe` is the module that makes it, `of` whatever
        else it depends on. Older ones of the same name are removed."""
        source = (_RECIPES / f"{recipe}.py").read_bytes()
        digest = hashlib.sha256(source + of.encode()).hexdigest()[:12]
        wanted = self.directory / f"{name}.{digest}"
        if wanted.is_dir():
            return wanted
        self.directory.mkdir(parents=True, exist_ok=True)
        for old in self.directory.glob(f"{name}.*"):
            shutil.rmtree(old)
        half = self.directory / f"{name}.half"
        half.mkdir()
        make(half)
        return half.rename(wanted)


def files_of(directory: Path) -> list[Path]:
    """Every file below a directory, in order."""
    return sorted(path for path in directory.rglob("*") if path.is_file())


def bytes_of(directory: Path) -> int:
    """How much stands in a directory."""
    return sum(path.stat().st_size for path in files_of(directory))
