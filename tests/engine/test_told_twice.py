"""One fault that two logs tell: the kernel's with the host, a process's without."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from builders import hit, pack, progress, rule, source

from neuron_doctor.engine import decide
from neuron_doctor.engine.diagnosis import diagnose, diagnose_once
from neuron_doctor.engine.facts import Collection
from neuron_doctor.engine.grades import Role
from neuron_doctor.engine.match import Match


@pytest.mark.parametrize(("speaker", "roots"), [({"pid": 77}, 1), ({"rank": 9}, 1), ({}, 2)])
def test_the_kernel_says_the_host_and_a_process_the_same_device_of_one_fault(
    tmp_path: Path, speaker: dict[str, object], roots: int
) -> None:
    """The log of one process names no host, the kernel log no process."""
    kernel = hit("broke", at=100.0, host="h1", device=3)
    process = hit("broke", at=101.0, offset=9, source="p", device=3, **speaker)
    other = progress(at=90.0, offset=5, host="h2")
    book = pack(
        tmp_path, rule("device-broke", "record: broke", cause="broken-device", at="device", patterns=("broke",))
    )
    found = diagnose(book, Collection((source("s", kind="kernel"), source("p")), (kernel, process, other)))
    assert [finding.role for finding in found.findings].count(Role.ROOT) == roots


@pytest.mark.parametrize(("of_host", "of_rank"), [("log", "log"), ("kernel", "kernel")])
def test_two_processes_or_two_kernels_tell_of_two_faults(tmp_path: Path, of_host: str, of_rank: str) -> None:
    """Each machine has a device of that number: only what a kernel says and what a process says of it are told apart."""
    one = hit("broke", at=100.0, host="h1", device=3)
    another = hit("broke", at=101.0, offset=9, source="p", device=3, pid=77)
    other = progress(at=90.0, offset=5, source="q", host="h2")
    book = pack(
        tmp_path, rule("device-broke", "record: broke", cause="broken-device", at="device", patterns=("broke",))
    )
    sources = (source("s", kind=of_host), source("p", kind=of_rank), source("q"))
    found = diagnose(book, Collection(sources, (one, another, other)))
    assert [finding.role for finding in found.findings].count(Role.ROOT) == 2


def test_thousands_of_faults_are_not_compared_with_one_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ranks, compared = range(2000), Counter[str]()

    def counted(one: Match, other: Match, kernel: frozenset[str]) -> bool:
        compared["pairs"] += 1
        return same(one, other, kernel)

    same = decide._same
    monkeypatch.setattr(decide, "_same", counted)
    said = ("raising", "failing")
    facts = tuple(hit(said[rank % 2], at=1000.0 + rank, source=f"r{rank}", rank=rank) for rank in ranks)
    raised, failed = (rule(name, f"record: {name}", cause="bug", at="process", patterns=(name,)) for name in said)
    book = pack(tmp_path, raised, failed)
    found = diagnose_once(book, Collection(tuple(source(f"r{rank}") for rank in ranks), facts))
    assert compared["pairs"] < 2 * len(ranks)
    assert [finding.role for finding in found.findings] == [Role.ROOT, Role.ROOT]
