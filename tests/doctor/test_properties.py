"""What must not matter to a verdict: the order of files, the names of hosts, copies, clocks, and lines that say nothing.

Of labelled incidents, and of those of the simulator, which have more hosts, groups and formats at once.
"""

from __future__ import annotations

import io
import random
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import cycle
from pathlib import Path

import pytest
from builtin_rules import engine, rulebook
from msgspec.structs import replace

from neuron_doctor.collectors.base import HEAD, Input
from neuron_doctor.collectors.hints import place_of_path
from neuron_doctor.collectors.streams import digest
from neuron_doctor.corpus.simulator.incident import simulate
from neuron_doctor.corpus.simulator.scenario import HEALTHY
from neuron_doctor.engine.diagnosis import diagnose, diagnose_once
from neuron_doctor.engine.facts import Clock, Collection, Fact, Instant, Value
from neuron_doctor.engine.recorder import GroupRecord, Operation
from neuron_doctor.engine.verdict import Diagnosis
from neuron_doctor.evaluation import PAIR, Cell, scenario_of
from neuron_doctor.pipeline import collect_inputs

CORPUS = Path(__file__).parents[2] / "corpus"
LABELLED = [CORPUS / "demo", *sorted((CORPUS / "incidents").iterdir())]
Incident = Path | Cell
Files = Mapping[str, bytes]
#: The full evidence of each, so that nothing hangs on what is lost: one of each family of faults, a pair, a job that is well.
SIMULATED = [
    Cell(fault, "full", 310000)
    for fault in (
        "collectives-rank-missing", "collectives-rank-died", "collectives-order-mismatch", "collectives-device-stuck",
        "p2p-missing", "straggler", "hang-outside-collectives", "hw-hbm-ue", "host-oom", "device-oom",
        "runtime-version-skew", "compile-failed", PAIR, HEALTHY,
    )
]  # fmt: skip
INCIDENTS: list[Incident] = [*LABELLED, *SIMULATED]
#: Names that incidents give to hosts; each stands in paths, in records, or in both.
HOST = re.compile(rb"ip-\d+-\d+-\d+-\d+|trn\d?-?\w*-\d+|node-?\d+|worker-?\d+|host-[a-h]\b")


def name_of(incident: Incident) -> str:
    return incident.name if isinstance(incident, Path) else f"simulated {incident.fault}"


def files_of(incident: Incident) -> dict[str, bytes]:
    if isinstance(incident, Cell):
        return {file.path: file.data for file in simulate(scenario_of(incident)).files}
    folder = incident / "input"
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def inputs(files: Files, order: Callable[[list[str]], list[str]]) -> Iterator[Input]:
    for path in order(list(files)):
        content = files[path]
        place = place_of_path(path)
        stream = io.BufferedReader(io.BytesIO(content), 1 << 17)  # type: ignore[arg-type]
        name = path.rpartition("/")[2]
        yield Input(
            path, name, stream, len(content), place, digest(place, len(content), content[:HEAD], content[-HEAD:])
        )


def diagnosed(files: Files, order: Callable[[list[str]], list[str]] = sorted) -> Diagnosis:
    return diagnose(rulebook(), collect_inputs(inputs(files, order), engine()))


def verdict(diagnosis: Diagnosis, rename: Callable[[str], str] = lambda host: host) -> object:
    """What must stay: the status, and for each root its rule and place."""
    roots = [finding for finding in diagnosis.findings if finding.id in diagnosis.root_causes]
    return diagnosis.verdict.status, sorted(
        (r.rule, r.place.device or -1, r.place.ranks, tuple(sorted(rename(host) for host in r.hosts))) for r in roots
    )


@pytest.mark.heavy
@pytest.mark.parametrize("incident", INCIDENTS, ids=name_of)
def test_the_order_of_files_changes_nothing(incident: Incident) -> None:
    files = files_of(incident)
    assert diagnosed(files, lambda names: random.Random(3).sample(names, len(names))) == diagnosed(files)


@pytest.mark.heavy
@pytest.mark.parametrize("incident", INCIDENTS, ids=name_of)
def test_a_copy_of_a_file_changes_nothing(incident: Incident) -> None:
    files = files_of(incident)
    for path in sorted(files)[:3]:
        assert verdict(diagnosed({**files, f"backup/{path}": files[path]})) == verdict(diagnosed(files))


@pytest.mark.heavy
@pytest.mark.parametrize("incident", LABELLED, ids=name_of)
def test_hosts_by_other_names_change_nothing(incident: Incident) -> None:
    files = files_of(incident)
    texts = [*files.values(), *(path.encode() for path in files)]
    names = sorted({found for text in texts for found in HOST.findall(text)})
    other = {name: b"node%d" % (900 + number) for number, name in enumerate(names)}
    back = {new.decode(): old.decode() for old, new in other.items()}

    def renamed(content: bytes) -> bytes:
        return HOST.sub(lambda match: other[match[0]], content)

    changed = {renamed(path.encode()).decode(): renamed(content) for path, content in files.items()}
    if any(content[:2] in (b"\x1f\x8b", b"\x80\x02", b"(\xb5") for content in files.values()):
        pytest.skip("compressed or binary: the names inside cannot be replaced")
    found = verdict(diagnosed(changed), lambda host: re.sub(r"node9\d\d", lambda match: back[match[0]], host))
    assert found == verdict(diagnosed(files))


@pytest.mark.heavy
@pytest.mark.parametrize("incident", INCIDENTS, ids=name_of)
def test_lines_that_gave_no_fact_can_go(incident: Incident) -> None:
    files = files_of(incident)
    whole = collect_inputs(inputs(files, sorted), engine())
    texts = {source.path for source in whole.sources if source.kind in ("log", "kernel")}
    used: dict[str, set[int]] = {}
    for fact in whole.facts:
        used.setdefault(fact.span.path, set()).add(fact.span.line or 0)
    thinned = {
        path: _without(content, used.get(path, set())) if path in texts and content[:2] != b"\x1f\x8b" else content
        for path, content in files.items()
    }
    assert verdict(diagnosed(thinned)) == verdict(diagnosed(files))


def _moved(operation: Operation, by: int) -> Operation:
    completed = operation.completed_ns and operation.completed_ns + by
    return operation._replace(created_ns=operation.created_ns + by, completed_ns=completed)


def _dump(data: Mapping[str, Value], by: int) -> dict[str, Value]:
    """What a flight recorder would have written by a clock that is wrong."""
    groups = [
        group._replace(
            **{
                name: tuple(_moved(one, by) for one in getattr(group, name))
                for name in ("recent", "pending", "transfers", "pending_transfers")
            }
        )
        for group in data["groups"]  # type: ignore[union-attr]
        if isinstance(group, GroupRecord)
    ]
    ends = {name: data[name] + by if data[name] else 0 for name in ("first_ns", "last_ns")}  # type: ignore[operator]
    return {**data, **ends, "groups": tuple(groups)}


def skewed(collection: Collection, offsets: Mapping[str, int]) -> Collection:
    """The collection as clocks would have stamped it that are wrong by so much on each host: wall clocks by the offset,
    counters since the boot as if it had been at another time."""

    def shifted(instant: Instant | None, host: str | None) -> Instant | None:
        if instant is None or instant.clock is Clock.MONOTONIC:
            return instant
        by = offsets[host or ""]
        return replace(instant, ns=instant.ns + (by // 7 if instant.clock is Clock.BOOT else by))

    def shifted_fact(fact: Fact) -> Fact:
        made = replace(fact, instant=shifted(fact.instant, fact.place.host))
        dump = fact.kind == "fr-rank"
        return replace(made, data=_dump(fact.data, offsets[fact.place.host or ""])) if dump else made

    sources = [
        replace(s, first=shifted(s.first, s.place.host), last=shifted(s.last, s.place.host)) for s in collection.sources
    ]
    return Collection(tuple(sources), tuple(map(shifted_fact, collection.facts)))


@pytest.mark.heavy
@pytest.mark.parametrize("seconds", [-7, 420, 5 * 3600])
@pytest.mark.parametrize("incident", INCIDENTS, ids=name_of)
def test_clocks_that_are_wrong_by_seconds_to_hours_change_nothing(incident: Incident, seconds: int) -> None:
    collection = collect_inputs(inputs(files_of(incident), sorted), engine())
    names = sorted(
        {fact.place.host or "" for fact in collection.facts} | {s.place.host or "" for s in collection.sources}
    )
    offsets = {name: (number + 1) * seconds * 10**9 for number, name in enumerate(names)}
    assert verdict(diagnose_once(rulebook(), skewed(collection, offsets))) == verdict(
        diagnose_once(rulebook(), collection)
    )


def _without(content: bytes, used: set[int]) -> bytes:
    """Every fifth line that gave no fact and stands far from those that did is left out; first and last stay."""
    lines = content.split(b"\n")
    near = {line + step for line in used for step in range(-20, 12)}
    last = len(lines)
    return b"\n".join(
        line
        for number, line in enumerate(lines, 1)
        if number % 5 or number in near or number in (1, last) or number > last - 3
    )


#: How people look at logs of other machines on the one at which they sit.
LOOKS = (
    "sed -n 1,80p logs/node7.log",
    "cat /fsx/logs/run/current.log",
    "timeout 60 ssh node7 cat /fsx/x.log",
    "less /tmp/collected",
    "kubectl logs worker-7",
    "for h in a b c; do ssh $h dmesg | tail; done",
    "journalctl -D /fsx/journal",
    "srun --pty bash",
    "ssh node7",
    "",
)
PROMPTS = ("ops@login-77:~$ {}", "[ops@login-77 ~]$ {}", "login-77:~/run$ {}")


@pytest.mark.parametrize("incident", LABELLED[::5], ids=name_of)
def test_the_host_at_which_somebody_looked_at_the_logs_is_none_of_the_places(incident: Path) -> None:
    lines = cycle(prompt.format(command) for prompt in PROMPTS for command in LOOKS)
    files = {
        path: data if b"\0" in data or data[:1] in (b"{", b"<") else f"{next(lines)}\n".encode() + data
        for path, data in files_of(incident).items()
    }
    assert not {host for finding in diagnosed(files).findings for host in finding.hosts if "login-77" in host}
