"""Measures of the scan: logs, packed logs, small files, a storm, and starting up."""

from __future__ import annotations

import gzip
import tarfile
from pathlib import Path

from benchmarks.log_corpus import write_storm
from benchmarks.measure import DOCTOR, Bench, Measure, Prepared, input_of, python, shell
from benchmarks.ratios import Goal, Limit
from benchmarks.sizes import scaled
from benchmarks.store import files_of

RG, CAT, PASS = "rg -j1", "cat", "python -c pass"
#: What the doctor finds in the end is a longer and dearer search than that of its database; it is shown beside and is no goal.
RG_WHOLE = "rg -j1, whole expressions"
TWO, ONE = "neuron-doctor -j2", "neuron-doctor -j1"
_ALL = 'find "$1" -type f -print0 | xargs -0 cat'


def _logs(bench: Bench) -> Prepared:
    logs = bench.logs
    commands = {
        DOCTOR: bench.diagnose(logs),
        RG: bench.rg(logs),
        RG_WHOLE: bench.rg(logs, whole=True),
        CAT: ("cat", *map(str, files_of(logs))),
    }
    return input_of(logs, "log", commands)


def _two_workers(bench: Bench) -> Prepared:
    return Prepared({TWO: bench.diagnose(bench.logs, jobs=2), ONE: bench.diagnose(bench.logs)})


def _gz(bench: Bench) -> Prepared:
    plain = _some_logs(bench)

    def make(to: Path) -> None:
        for path in files_of(plain):
            packed = to / f"{path.parent.name}-{path.name}.gz"
            packed.write_bytes(gzip.compress(path.read_bytes(), 6, mtime=0))

    packed = bench.store.input(f"gz-{bench.size}", make, recipe="log_measures", of=plain.name)
    gz = ("gzip", "-dc", *map(str, files_of(packed)))
    return Prepared({DOCTOR: bench.diagnose(packed), "gzip -dc": gz}, "log", _size(plain))


def _targz(bench: Bench) -> Prepared:
    plain = _some_logs(bench)

    def make(to: Path) -> None:
        with tarfile.open(to / "bundle.tar.gz", "w:gz", compresslevel=6) as tar:
            tar.add(plain, arcname="bundle")

    bundle = bench.store.input(f"targz-{bench.size}", make, recipe="log_measures", of=plain.name) / "bundle.tar.gz"
    piped = shell('tar xzOf "$1" | rg -j1 -n -b --no-unicode -f "$2"', bundle, bench.patterns)
    return Prepared({DOCTOR: bench.diagnose(bundle), "tar xzO | rg": piped}, "log", _size(plain))


def _some_logs(bench: Bench) -> Path:
    """An eighth of the logs in 8 files: packing takes its time."""
    return bench.store.input(
        f"some-logs-{bench.size}",
        lambda to: bench.corpus.write(to, bench.size // 8, 8),
        recipe="log_corpus",
        of=bench.catalogue,
    )


def _small_files(bench: Bench) -> Prepared:
    files = scaled(16_000, bench.size, 8)
    small = bench.store.input(
        f"small-files-{files}",
        lambda to: bench.corpus.write(to, files * 8192, files),
        recipe="log_corpus",
        of=bench.catalogue,
    )
    return input_of(
        small, "log", {DOCTOR: bench.diagnose(small), "find | xargs cat": shell(_ALL, small), RG: bench.rg(small)}
    )


def _storm(bench: Bench) -> Prepared:
    size = bench.size // 64
    storm = bench.store.input(
        f"storm-{size}", lambda to: write_storm(bench.lines, to, size), recipe="log_corpus", of=bench.catalogue
    )
    return input_of(storm, "log", {DOCTOR: bench.diagnose(storm), RG: bench.rg(storm)})


def _help(bench: Bench) -> Prepared:
    return Prepared({DOCTOR: bench.doctor("--help"), PASS: python("pass")})


def _small_directory(bench: Bench) -> Prepared:
    small = bench.store.input(
        "small-directory", lambda to: bench.corpus.write(to, 16 << 16, 16), recipe="log_corpus", of=bench.catalogue
    )
    commands = {DOCTOR: bench.diagnose(small, jobs=None), PASS: python("pass"), RG: bench.rg(small)}
    return input_of(small, "log", commands)


def _size(directory: Path) -> int:
    return sum(path.stat().st_size for path in files_of(directory))


_WITH_RG = {RG: "rg"}

LOG_MEASURES = (
    Measure(
        "logs",
        "64 logs, one worker, the whole catalogue; a line in a thousand hits",
        _logs,
        (Goal(DOCTOR, RG, 1 / 2.5, 1 / 3.2), Goal(DOCTOR, CAT, 9, 5)),
        (Limit(DOCTOR, 48, 32),),
        _WITH_RG | {RG_WHOLE: "rg"},
    ),
    Measure(
        "logs-2-workers",
        "the same logs, two workers beside one",
        _two_workers,
        (Goal(TWO, ONE, 1 / 1.7),),
        (Limit(TWO, 48, 32),),
    ),
    Measure("gz", "an eighth of them, as .gz", _gz, (Goal(DOCTOR, "gzip -dc", 0.7, 0.5),), (Limit(DOCTOR, 48, 32),)),
    Measure(
        "targz",
        "an eighth of them, as .tar.gz",
        _targz,
        (Goal(DOCTOR, "tar xzO | rg", 1 / 2.5),),
        (Limit(DOCTOR, 48, 32),),
        {"tar xzO | rg": "rg"},
    ),
    Measure(
        "small-files",
        "16,000 logs of 8 KiB at full size",
        _small_files,
        (Goal(DOCTOR, "find | xargs cat", 2, 1.3), Goal(DOCTOR, RG, 1)),
        needs=_WITH_RG,
    ),
    Measure(
        "storm", "a log in which every line hits", _storm, (Goal(DOCTOR, RG, 1),), (Limit(DOCTOR, 48, 32),), _WITH_RG
    ),
    Measure("help", "`--help`", _help, (Goal(DOCTOR, PASS, 7),)),
    Measure(
        "small-directory",
        "16 logs of 64 KiB, as a user starts it",
        _small_directory,
        (Goal(DOCTOR, PASS, 12, 9), Goal(DOCTOR, RG, 1)),
        needs=_WITH_RG,
    ),
)
