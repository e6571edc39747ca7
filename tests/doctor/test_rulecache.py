"""What is compiled is kept between runs, by content, safely; without a place to keep it everything is the same."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from enum import Enum
from pathlib import Path

import pytest

from neuron_doctor.engine.errors import RulebookError
from neuron_doctor.engine.facts import Place
from neuron_doctor.engine.packfiles import PackFile, read_packs, root_of
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.keep import NEWEST, Keep, directory_of
from neuron_doctor.packs import builtin_pack, load
from neuron_doctor.request import Packs
from neuron_doctor.rulecache import compiled

CAUSES = b"family:\n  odd: {by: host, is: something odd}\n"
RULE = b"""id: odd-line
title: An odd line
cause: odd
severity: error
patterns:
  odd-line: {regex: 'odd (?P<n>\\\\d+)', fields: {n: int}}
when: odd-line where n > %d
explanation: It is odd.
references: [nowhere]
trust: [I]
"""


def files(n: int = 1, rule: bytes = RULE) -> list[PackFile]:
    return [PackFile("p/causes.yaml", CAUSES), PackFile("p/odd.yaml", rule.replace(b"%d", str(n).encode()))]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def kept(place: Path) -> list[Path]:
    return sorted(place.glob("rules-*")) if place.is_dir() else []


def test_what_is_read_back_is_what_was_compiled(place: Path) -> None:
    fresh = load(Packs(), Keep(str(place)))
    (file,) = kept(place)
    before = file.stat().st_mtime_ns
    again = load(Packs(), Keep(str(place)))
    assert again == fresh
    assert (kept(place), file.stat().st_mtime_ns) == ([file], before)
    assert again.patterns.digest == fresh.patterns.digest
    assert {rule.examples for rule in again.rules} == {None}


def test_a_python_that_pickles_enums_by_their_names_reads_them_back(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Enum, "__reduce_ex__", lambda self, _protocol: (getattr, (type(self), self.name)))
    keep = Keep(str(place))
    first = compiled(files(), keep)
    (file,) = kept(place)
    before = file.stat().st_mtime_ns
    assert (compiled(files(), keep), file.stat().st_mtime_ns) == (first, before)


@pytest.mark.parametrize(
    "others",
    [
        files(2),
        [PackFile("q/causes.yaml", CAUSES), files()[1]],
        [*files(), PackFile("p/terms.yaml", b"causes: {odds: [odd]}\n")],
    ],
)
def test_other_files_are_another_rulebook(place: Path, others: list[PackFile]) -> None:
    keep = Keep(str(place))
    first, other = compiled(files(), keep), compiled(others, keep)
    assert len(kept(place)) == 2
    assert (compiled(files(), keep), compiled(others, keep)) == (first, other)
    assert len(kept(place)) == 2


def test_a_pack_for_its_terms_is_not_the_pack_with_its_rules(place: Path) -> None:
    keep = Keep(str(place))
    with_rules = load(Packs(), keep)
    without = load(Packs(builtin=False), keep)
    assert with_rules.rules
    assert not without.rules


def test_wrong_rules_are_never_kept_and_always_told(place: Path) -> None:
    wrong = files(rule=RULE.replace(b"cause: odd", b"cause: strange"))
    told = []
    for _ in range(2):
        with pytest.raises(RulebookError) as error:
            compiled(wrong, Keep(str(place)))
        told.append(error.value.errors)
    assert told[0] == told[1]
    assert told[0][0].location.line == 3
    assert kept(place) == []


def damage_cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def damage_flip(data: bytes) -> bytes:
    return data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]


def damage_empty(data: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("damage", [damage_cut, damage_flip, damage_empty])
def test_a_damaged_entry_is_compiled_anew(place: Path, damage: Callable[[bytes], bytes]) -> None:
    fresh = compiled(files(), Keep(str(place)))
    (file,) = kept(place)
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert compiled(files(), Keep(str(place))) == fresh
    assert file.read_bytes() == whole


class Evil:
    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, ("/tmp/neuron-doctor-was-here",)


@pytest.mark.parametrize("content", [pickle.dumps(Evil()), pickle.dumps(Place()), pickle.dumps(7), b"no pickle"])
def test_what_names_anything_but_rules_is_refused(place: Path, content: bytes) -> None:
    keep = Keep(str(place))
    fresh = compiled(files(), keep)
    (file,) = kept(place)
    keep.put("rules", file.name.removeprefix("rules-"), content)
    assert compiled(files(), keep) == fresh
    assert not Path("/tmp/neuron-doctor-was-here").exists()


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o722])
def test_a_directory_that_others_can_write_to_is_not_used(place: Path, mode: int) -> None:
    fresh = compiled(files(), Keep(str(place)))
    place.chmod(mode)
    keep = Keep(str(place))
    assert keep.get("rules", kept(place)[0].name.removeprefix("rules-")) is None
    assert compiled(files(), keep) == fresh
    keep.put("other", "x", b"x")
    assert not (place / "other-x").exists()


def test_a_file_that_others_can_write_to_is_not_read(place: Path) -> None:
    keep = Keep(str(place))
    keep.put("a", "b", b"x")
    assert keep.get("a", "b") == b"x"
    (place / "a-b").chmod(0o666)
    assert keep.get("a", "b") is None


def test_a_directory_of_someone_else_is_not_used(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Keep(str(place)).put("a", "b", b"x")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert Keep(str(place)).get("a", "b") is None


def test_a_link_is_not_followed(place: Path, tmp_path: Path) -> None:
    Keep(str(place)).put("a", "b", b"x")
    (tmp_path / "link").symlink_to(place)
    assert Keep(str(tmp_path / "link")).get("a", "b") is None


@pytest.mark.parametrize("where", ["/proc/none/cache", "/dev/null", "/dev/null/x", None])
def test_where_nothing_can_be_kept_everything_works(where: str | None) -> None:
    assert isinstance(compiled(files(), Keep(where)), Rulebook)


def test_a_full_disk_is_no_reason_to_fail(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    keep = Keep(str(place))
    monkeypatch.setattr(os, "replace", full)
    assert isinstance(compiled(files(), keep), Rulebook)
    assert list(place.iterdir()) == []


def test_only_the_newest_entries_are_left(place: Path) -> None:
    keep = Keep(str(place))
    for n in range(NEWEST + 3):
        keep.put("a", str(n), b"x")
        os.utime(place / f"a-{n}", (n, n))
    keep.put("b", "0", b"x")
    assert keep.get("a", str(NEWEST + 2))
    assert keep.get("a", "0") is None
    assert len(list(place.glob("a-*"))) == NEWEST


@pytest.mark.parametrize(
    ("environment", "directory"),
    [
        ({"NEURON_DOCTOR_CACHE": "off", "HOME": "/h"}, None),
        ({"NEURON_DOCTOR_CACHE": "/c", "XDG_CACHE_HOME": "/x"}, "/c"),
        ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/neuron-doctor"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/neuron-doctor"),
        ({"HOME": "/h"}, "/h/.cache/neuron-doctor"),
        ({"HOME": "nowhere"}, None),
    ],
)
def test_the_user_says_where(environment: dict[str, str], directory: str | None) -> None:
    assert directory_of(environment) == directory


def run(place: str, log: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "neuron_doctor", "diagnose", "--exit-zero", "--format", "json", str(log)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "NEURON_DOCTOR_CACHE": place})


@pytest.mark.heavy
def test_processes_that_race_and_those_without_a_cache_report_the_same(place: Path, tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text("2026-05-01T12:00:00Z nrtucode: error NRT_EXEC_HW_ERR_HBM_UE status=1201\n")
    racing = [run(str(place), log) for _ in range(3)]
    reports = {process.communicate(timeout=300)[0] for process in racing}
    warm = run(str(place), log).communicate(timeout=300)[0]
    without = run("off", log).communicate(timeout=300)[0]
    assert reports == {warm} == {without}
    assert warm.startswith(b"{")
    assert len(kept(place)) == 1
    assert not list(place.glob(".*"))


def test_the_built_in_files_are_found_in_the_order_of_their_paths() -> None:
    shown = [file.shown for file in read_packs([root_of(builtin_pack())])]
    assert shown == [
        f"rules/{p.relative_to(builtin_pack()).as_posix()}" for p in sorted(builtin_pack().rglob("*.yaml"))
    ]
