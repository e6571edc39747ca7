"""A full file system is on the one host whose df shows it full, as far as others are known whose df does not."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.engine.diagnosis import diagnose_once
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

TITLE = "Filesystem      Size  Used Avail Use% Mounted on\n"
ROOT = "/dev/nvme0n1p1  484G  484G    0 100% /\n"
LOG = "[rank7]: OSError: [Errno 28] No space left on device: '/local/stage/x'\n"


def disk(used: int, mount: str = "/local") -> str:
    return f"/dev/md0        7.0T  6.0T  1.0T  {used:3}% {mount}\n"


def where(folder: Path, files: dict[str, str], log: str = LOG) -> set[str | None]:
    for name, text in {**files, "job.log": log}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    diagnosis = diagnose_once(rulebook(), collect(Request((str(folder),)), rulebook()))
    return {f.place.host for f in diagnosis.findings if f.id in diagnosis.root_causes}


def by_directory(**tables: str) -> dict[str, str]:
    return {f"ip-10-0-0-{name[1:]}/df.txt": TITLE + ROOT + table for name, table in tables.items()}


def test_it_is_the_host_whose_disk_alone_is_full(tmp_path: Path) -> None:
    assert where(tmp_path, by_directory(n1=disk(29), n2=disk(100), n3=disk(99))) == {"ip-10-0-0-2"}


def test_a_parallel_shell_shows_the_disks_without_a_title(tmp_path: Path) -> None:
    rows = "".join(f"trn-{n}: {disk(100 if n == 3 else 40)}" for n in range(1, 9))
    table = f"$ pdsh -w trn-[1-8] df -h /local | grep -v Filesystem\n{rows}$ ssh trn-3 du -sh /local/x\n4.4T /local/x\n"
    assert where(tmp_path, {"df.txt": table}) == {"trn-3"}


def test_full_shared_memory_is_on_the_host_that_shows_it(tmp_path: Path) -> None:
    log = "[rank7]: ERROR: Unexpected bus error encountered in worker. It might be caused by insufficient shared memory (shm).\n"
    files = by_directory(n1="tmpfs  64G  3G  61G  5% /dev/shm\n", n2="tmpfs  64G  64G  0  100% /dev/shm\n")
    assert where(tmp_path, files, log) == {"ip-10-0-0-2"}


@pytest.mark.parametrize(
    "tables",
    [
        {"n1": disk(100), "n2": disk(100)},  # of two
        {"n1": disk(29), "n2": disk(80)},  # of none any more
        {"n2": disk(100)},  # nobody shows that it is not so elsewhere
        {"n1": disk(29, "/data"), "n2": disk(100, "/data")},  # another file system
        {"n1": disk(29, "/loc"), "n2": disk(100, "/loc")},
    ],
)
def test_else_nobody_is_accused(tmp_path: Path, tables: dict[str, str]) -> None:
    assert where(tmp_path, by_directory(**tables)) == {None}


BARE = "[rank7]: OSError: [Errno 28] No space left on device\n"


def test_a_record_without_a_path_is_of_the_one_host_that_has_anything_full(tmp_path: Path) -> None:
    files = {f"ip-10-0-0-{n}/df.txt": TITLE + disk(used) for n, used in ((1, 29), (2, 100))}
    assert where(tmp_path, files, BARE) == {"ip-10-0-0-2"}


def test_such_a_record_may_be_of_any_of_two(tmp_path: Path) -> None:
    assert where(tmp_path, by_directory(n1=disk(29), n2=disk(100)), BARE) == {None}, "both roots are full"


@pytest.mark.parametrize("full", list(permutations([disk(100), disk(100, "/opt"), disk(100, "/scratch")])))
def test_it_does_not_matter_in_which_order_a_host_shows_its_full_disks(tmp_path: Path, full: tuple[str, ...]) -> None:
    files = {
        "ip-10-0-0-1/df.txt": TITLE + disk(29),
        "ip-10-0-0-2/df.txt": TITLE + "".join(full),
    }
    assert where(tmp_path, files, BARE) == {"ip-10-0-0-2"}
