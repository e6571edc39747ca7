"""One fault that two logs tell: the kernel's with the host, a process's without."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import hit, pack, progress, rule, source

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Collection
from neuron_doctor.engine.grades import Role


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
