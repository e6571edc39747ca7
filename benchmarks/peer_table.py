"""The same dumps through PyTorch's own analyser and through neuron-doctor: who names what, in docs/flight-recorder-comparison.md.

Run `python -m benchmarks.peer_table --peer <directory of an environment with torch>` from the top of the repository. The
dumps come from the tests' simulator, which knows who is at fault; `--real` adds directories of real dumps, each with a
file `truth.txt` of ranks, or beside a file with a list of them in brackets.

The peer gets what helps it: the right prefix, `--allow-incomplete-ranks`, and a reading in its favour. Its answer is the
set of "missing ranks" and of "Culprit rank" of the first group that it reports, or, if that is better for it, of all.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from neuron_doctor.collectors.discover import discover
from neuron_doctor.engine.diagnosis import diagnose_once
from neuron_doctor.engine.grades import Role
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.pipeline import collect_inputs, rulebook_for
from neuron_doctor.request import Request
from neuron_doctor.scan import Engine

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "engine"))  # the simulator is the tests'

from fr_scenarios import CLASSES, RECORDERS, draw, may_be_open  # noqa: E402

PAGE = ROOT / "docs" / "flight-recorder-comparison.md"
PREFIX = "nccl_trace_rank_"
SIZES = ((8, 1, 1), (4, 4, 1), (2, 2, 2), (4, 2, 2), (2, 2, 4), (8, 8, 1))
_SECONDS = 120
_NAMED = re.compile(r"missing ranks: \{([\d, ]+)\}")
_CULPRIT = re.compile(r"Culprit rank (\d+);")
_TRUTH = re.compile(r"\[[\d, ]*\]")
OUTCOMES = ("exact", "superset", "part", "wrong", "nobody", "crashed")


@dataclass(frozen=True)
class Sample:
    """Dumps in a directory, and who is at fault; `open`: nothing in them convicts anybody."""

    name: str
    recorder: str
    directory: Path
    prefix: str
    truth: frozenset[int]
    open: bool


def outcome(named: set[int], sample: Sample) -> str:
    """How the ranks that were named compare with those at fault."""
    if not named:
        return "exact" if not sample.truth or sample.open else "nobody"
    if named == sample.truth:
        return "exact"
    if sample.truth and named > sample.truth:
        return "superset"
    return "part" if sample.truth and named < sample.truth else "wrong"


#: Imports torch once, and forks for each directory, with what the analyser prints in a file beside it.
_DRIVER = """
import os, signal, sys
from torch.distributed.flight_recorder.fr_trace import main
for line in sys.stdin:
    prefix, directory = line.rstrip().split("\\t")
    if os.fork() == 0:
        out = os.open(directory + ".txt", os.O_WRONLY | os.O_CREAT)
        os.dup2(out, 1), os.dup2(out, 2)
        signal.alarm(SECONDS)
        main(["--allow-incomplete-ranks", "-p", prefix, directory])
        os.write(1, b"\\nTHE END\\n")
        os._exit(0)
    os.wait()
"""


def ask_peer(sets: list[Sample], python: Path) -> None:
    """Run `torchfrtrace` over all of them; what it prints goes into files for `peer`."""
    lines = "".join(f"{sample.prefix}\t{sample.directory}\n" for sample in sets)
    driver = _DRIVER.replace("SECONDS", str(_SECONDS))
    subprocess.run([python / "bin" / "python", "-c", driver], input=lines, text=True, check=False)


def peer(sample: Sample) -> str:
    """The outcome of `torchfrtrace`, read in its favour."""
    printed = Path(f"{sample.directory}.txt").read_bytes()
    # It writes with the program's own buffer, so the mark of its end may stand before what it says.
    if b"Traceback" in printed or b"THE END" not in printed:
        return "crashed"
    said = printed.decode("utf-8", "replace")
    reports = [_ranks(part) for part in said.split("internal record id") if _ranks(part)]
    readings = [set[int]().union(*reports), reports[0]] if reports else [set[int]()]
    return min((outcome(reading, sample) for reading in readings), key=OUTCOMES.index)


def _ranks(text: str) -> set[int]:
    listed = {int(rank) for match in _NAMED.findall(text) for rank in match.split(",")}
    return listed | {int(rank) for rank in _CULPRIT.findall(text)}


def ours(sample: Sample, rulebook: Rulebook, engine: Engine) -> str:
    """The outcome of neuron-doctor: the ranks of its root causes."""
    collection = collect_inputs(discover([str(sample.directory)]), engine)
    found = diagnose_once(rulebook, collection)
    roots = [finding for finding in found.findings if finding.role is Role.ROOT]
    return outcome({rank for finding in roots for rank in finding.place.ranks}, sample)


def samples(directory: Path, seeds: int) -> Iterator[Sample]:
    """A fixed sample: of each class some seeds, each with another recorder."""
    for number, (name, make) in enumerate(CLASSES.items()):
        made = 0
        for seed in range(10_000, 10_400):
            case = make(draw(seed, shapes=SIZES))
            if case is None:
                continue
            recorder = list(RECORDERS)[(made + number) % len(RECORDERS)]
            target = directory / f"{name.replace(' ', '-')}-{seed}"
            target.mkdir()
            for rank, data in case.dumps(RECORDERS[recorder]).items():
                (target / f"{PREFIX}{rank}").write_bytes(data)
            may = may_be_open(name, RECORDERS[recorder], case)
            yield Sample(name, recorder, target, PREFIX, frozenset(case.culprits), may)
            made += 1
            if made == seeds:
                break


def real(directory: Path, run: Path) -> Sample:
    """Real dumps: files that end in their rank, and beside them, or in `truth.txt`, the ranks at fault in brackets."""
    notes = [path for path in [*run.glob("truth.txt"), *sorted(run.glob("*.log"))] if _TRUTH.search(path.read_text())]
    truth = re.findall(r"\d+", _TRUTH.search(notes[0].read_text()).group())  # type: ignore[union-attr]
    target = directory / f"real-{run.name}"
    target.mkdir()
    for path in sorted(path for path in run.rglob("*") if path.is_file() and re.fullmatch(r"\D*_\d+", path.name)):
        shutil.copyfile(path, target / path.name)
    prefix = re.sub(r"\d+$", "", next(target.iterdir()).name)
    return Sample("real", "nccl", target, prefix, frozenset(map(int, truth)), open=False)


def table(rows: dict[str, dict[str, Counter[str]]], title: str) -> Iterator[str]:
    """A table of outcomes, with a line for each row and tool."""
    yield f"| {title} | tool | {' | '.join(OUTCOMES)} |"
    yield f"|---|---|{'---:|' * len(OUTCOMES)}"
    for row, tools in rows.items():
        for tool, counts in tools.items():
            yield f"| {row} | {tool} | {' | '.join(str(counts[one] or '') for one in OUTCOMES)} |"


def is_for_peer(sample: Sample) -> bool:
    """Whether the peer claims to read such files."""
    recorder = RECORDERS.get(sample.recorder)
    return recorder is None or (recorder.dialect == "pickle" and recorder.version not in {"2.2", "1.4"})


def page(outcomes: list[tuple[Sample, str, str]], version: str, seeds: int) -> str:
    """The page, whole."""
    by: dict[str, dict[str, dict[str, Counter[str]]]] = {title: {} for title in ("all", "fault", "recorder")}
    for sample, theirs, our in outcomes:
        rows = [("all", "all"), ("fault", sample.name), ("recorder", sample.recorder)]
        shows = bool(sample.truth) and not sample.open
        rows += [("all", "that show who it was")] if shows else []
        rows += [("all", "of a format that the peer reads")] if is_for_peer(sample) else []
        rows += [("all", "both")] if shows and is_for_peer(sample) else []
        for title, row in rows:
            tools = by[title].setdefault(row, {version: Counter(), "neuron-doctor": Counter()})
            tools[version][theirs] += 1
            tools["neuron-doctor"][our] += 1
    tables = ["\n".join(table(by[title], title)) for title in ("all", "fault", "recorder")]
    machine = f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}"
    return _PAGE.format(
        sets=len(outcomes), version=version, machine=machine, tables="\n\n".join(tables), sizes=SIZES, seeds=seeds
    )


_PAGE = """\
# Flight-recorder dumps: PyTorch's analyser and neuron-doctor on the same files

This page is written by `benchmarks/peer_table.py`; do not edit it. {sets} sets of dumps, 8 to 64 ranks each
(tensor x data x pipeline parallel: {sizes}), {seeds} of each fault, over all recorders in turn. The peer is
`{version}`; machine: {machine}.

- **exact**: just the ranks at fault were named; or nobody, where nobody is at fault or where this recorder does not show it.
- **superset**: all ranks at fault, and innocent ones. **part**: some of those at fault, and no other. **wrong**: innocent ones
  and not all at fault.
- **nobody**: the dumps show who it was, and nobody was named. **crashed**: a traceback, or no answer within 120 s.

The simulator is our own, and neuron-doctor was made better on other seeds of it, so these figures say how the two compare on such
files, not how often either is right on yours. Which recorder shows what (`may_be_open`) was written down by us too. It
draws what real jobs do: hosts that run ahead, wrapped rings, batched transfers, lost dumps, every schema since torch 2.2.
The peer reads pickles of schema 2.1 and later only; what it cannot read counts as crashed, and a line of its own leaves that out.
It gets the right prefix and
`--allow-incomplete-ranks`, and of two readings of what it prints (the first report, or all) the better one counts.
Most of its other
crashes are two that it has on real files as well: it does not know the backend name `neuron`, and torch itself writes gloo's
dumps without the groups that it looks up.

{tables}

To run it again:

```
python -m venv peer && peer/bin/pip install torch tabulate
python -m benchmarks.peer_table --peer peer [--real <directory with dumps and truth.txt> ...]
```
"""


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--peer", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--real", type=Path, nargs="*", default=[])
    chosen = parser.parse_args()
    ask = [chosen.peer / "bin" / "python", "-c", "import torch; print('torchfrtrace', torch.__version__)"]
    version = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory(prefix="peer-") as name:
        directory = Path(name)
        sets = [*samples(directory, chosen.seeds), *(real(directory, run) for run in chosen.real)]
        ask_peer(sets, chosen.peer)
        rulebook = rulebook_for(Request(()))
        engine = Engine.of(rulebook)
        outcomes = [(sample, peer(sample), ours(sample, rulebook, engine)) for sample in sets]
    for sample, theirs, our in outcomes:
        print(sample.name, sample.recorder, sample.directory.name, theirs, our)
    PAGE.write_text(page(outcomes, version, chosen.seeds), "utf-8")


if __name__ == "__main__":
    main()
