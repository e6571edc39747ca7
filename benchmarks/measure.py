"""A measure: commands that are run in turn, on inputs that it prepares, and what they are held against."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from benchmarks.catalogue_lines import CatalogueLines
from benchmarks.log_corpus import LogCorpus
from benchmarks.processes import Command, output_of, program
from benchmarks.ratios import Goal, Limit
from benchmarks.store import Store, bytes_of

DOCTOR = "neuron-doctor"


@dataclass(frozen=True)
class Bench:
    """What a measure runs with: the size of the whole suite, where inputs are kept, and the programs that are here."""

    size: int
    store: Store
    peer: Path | None = None

    @cached_property
    def lines(self) -> CatalogueLines:
        """The catalogue, as lines and expressions."""
        return CatalogueLines.builtin()

    @cached_property
    def corpus(self) -> LogCorpus:
        """The blocks of the logs."""
        return LogCorpus.drawn(self.lines)

    @cached_property
    def patterns(self) -> Path:
        """A file with what the database looks for, for `rg -f`."""
        return self._patterns_file("patterns", self.lines.for_ripgrep)

    @cached_property
    def whole_patterns(self) -> Path:
        """A file with the rules' whole expressions for `rg -f`."""
        return self._patterns_file("whole-patterns", self.lines.whole_for_ripgrep)

    def _patterns_file(self, name: str, text: str) -> Path:
        made = self.store.input(name, lambda to: _write(to / "patterns", text), recipe="catalogue_lines", of=text)
        return made / "patterns"

    @property
    def catalogue(self) -> str:
        """What inputs that are made of the catalogue depend on."""
        templates = Path(__file__).with_name("log_templates.py").read_text("utf-8")
        return "\n".join([*self.lines.hits, *self.lines.near_misses, templates])

    @cached_property
    def logs(self) -> Path:
        """The logs of the suite: its size, in 64 files."""
        return self.store.input(
            f"logs-{self.size}", lambda to: self.corpus.write(to, self.size, 64), recipe="log_corpus", of=self.catalogue
        )

    def doctor(self, *args: str | Path) -> Command:
        """The doctor as users start it."""
        return (program(DOCTOR) or DOCTOR, *map(str, args))

    def diagnose(self, *paths: Path, jobs: int | None = 1) -> Command:
        """A diagnosis, with so many workers or with as many as the doctor takes by itself."""
        workers = () if jobs is None else ("--jobs", str(jobs))
        return self.doctor("diagnose", "--exit-zero", *workers, *paths)

    def rg(self, *paths: Path, whole: bool = False) -> Command:
        """ripgrep with what the database looks for, or with the rules' `whole` expressions; over bytes, as the database."""
        patterns = self.whole_patterns if whole else self.patterns
        return ("rg", "-j1", "-n", "-b", "--no-unicode", "-f", str(patterns), *map(str, paths))


def _write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")


def python(code: str, *args: str | Path) -> Command:
    """A Python program, given as text."""
    return (sys.executable, "-c", code, *map(str, args))


def shell(script: str, *args: str | Path) -> Command:
    """A pipeline; `args` are its `$1`, `$2`."""
    return ("sh", "-c", script, "sh", *map(str, args))


@dataclass(frozen=True)
class Prepared:
    """Commands by name, and what the doctor must have read for its figures to count: kind of the sources and bytes."""

    commands: Mapping[str, Command]
    kind: str = ""
    size: int = 0


@dataclass(frozen=True)
class Measure:
    """One row of the suite. `prepare` makes the inputs."""

    name: str
    says: str
    prepare: Callable[[Bench], Prepared]
    goals: tuple[Goal, ...] = ()
    limits: tuple[Limit, ...] = ()
    #: Yardsticks by the program that they need, which need not be installed.
    needs: Mapping[str, str] = field(default_factory=dict)


class NotRead(Exception):
    """The doctor did not read what it was given: its figures mean nothing."""


def read_by_doctor(prepared: Prepared) -> None:
    """Raises NotRead unless the doctor reads all of the input, as the kind that it is."""
    if not prepared.kind:
        return
    sources = json.loads(output_of((*prepared.commands[DOCTOR], "--format", "json")))["sources"]
    of_kind = [one for one in sources if one["kind"] == prepared.kind]
    size = sum(one["bytes"] for one in of_kind)
    if size != prepared.size:
        others = {one["kind"] for one in sources} - {prepared.kind}
        raise NotRead(f"{size} of {prepared.size} bytes were read as {prepared.kind}; other kinds: {others or 'none'}")


def input_of(directory: Path, kind: str, commands: Mapping[str, Command]) -> Prepared:
    """Commands that all read the same directory, plain."""
    return Prepared(commands, kind, bytes_of(directory))
