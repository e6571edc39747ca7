"""Rules that lie as they lay when they were last read are not read again; whatever changes is seen."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from neuron_doctor import packs
from neuron_doctor.engine.packfiles import PackFile, Root, root_of
from neuron_doctor.keep import Keep
from neuron_doctor.packs import load
from neuron_doctor.request import Packs
from neuron_doctor.rulestamps import stamp_of

LATER_NS = 10 * 10**9
CAUSES = "family:\n  odd: {by: host, is: something odd}\n"
RULE = (
    "id: odd-line\ntitle: An odd line\ncause: odd\nseverity: error\npatterns:\n  odd-line: {regex: odd 1}\nwhen: odd-line\n"
    "explanation: It is odd.\nreferences: [nowhere]\ntrust: [I]\n"
)


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    folder = tmp_path / "pack"
    (folder / "inner").mkdir(parents=True)
    (folder / "causes.yaml").write_text(CAUSES)
    (folder / "inner" / "odd.yaml").write_text(RULE)
    return folder


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were just written lie there for a while."""
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + LATER_NS)


def stamped(pack: Path, *further: Root, site: PackFile | None = None) -> str:
    return stamp_of([root_of(pack), *further], site, [__file__])


@pytest.mark.usefixtures("later")
def test_files_that_lie_as_they_lay_have_one_stamp(pack: Path) -> None:
    assert stamped(pack)
    assert stamped(pack) == stamped(pack)


def test_what_was_changed_just_now_has_none(pack: Path) -> None:
    assert stamped(pack) == ""


@pytest.mark.usefixtures("later")
def test_what_cannot_be_looked_at_has_none(pack: Path) -> None:
    (pack / "lost.yaml").symlink_to("nowhere")
    assert stamped(pack) == ""


def _as_long_with_its_time(pack: Path) -> None:
    file = pack / "inner" / "odd.yaml"
    times = file.stat()
    file.write_text(RULE.replace("odd 1", "odd 2"))
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def _another_in_its_place(pack: Path) -> None:
    file = pack / "inner" / "odd.yaml"
    times = file.stat()
    other = pack / "new"
    other.write_text(RULE.replace("odd 1", "odd 2"))
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    other.replace(file)


CHANGES: list[Callable[[Path], object]] = [
    _as_long_with_its_time,
    _another_in_its_place,
    lambda pack: (pack / "more.yaml").write_text(""),
    lambda pack: (pack / "wrong.yml").write_text(""),
    lambda pack: (pack / "inner" / "odd.yaml").unlink(),
    lambda pack: (pack / "inner" / "odd.yaml").rename(pack / "inner" / "even.yaml"),
    lambda pack: (pack / "inner").rename(pack / "outer"),
    lambda pack: (pack / "causes.yaml").chmod(0o640),
]


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_another_stamp(pack: Path, change: Callable[[Path], object]) -> None:
    before = stamped(pack)
    time.sleep(0.02)  # a tick of the clock
    change(pack)
    assert stamped(pack) != before


@pytest.mark.usefixtures("later")
def test_other_packs_and_site_files_are_other_stamps(pack: Path) -> None:
    sites = [None, PackFile("site.yaml", b""), PackFile("site.yaml", b"silences: []")]
    stamps = [stamped(pack, site=site) for site in sites]
    stamps += [
        stamped(pack, Root(pack, "other", "other")),
        stamped(pack, Root(pack, "other", "other", only_terms=True)),
    ]
    assert len(set(stamps)) == len(stamps)


@pytest.mark.usefixtures("later")
def test_rules_that_lie_as_they_lay_are_not_read_and_changed_ones_are(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, wanted = Keep(str(tmp_path / "cache")), Packs(builtin=False, further=(pack,))
    first = load(wanted, keep)
    with monkeypatch.context() as patched:
        patched.setattr(packs, "read_packs", lambda _: pytest.fail("the files were read"))
        assert load(wanted, keep) == first
    time.sleep(0.02)
    _as_long_with_its_time(pack)
    again = load(wanted, keep)
    assert again.sha256 != first.sha256
    assert [pattern.regex for pattern in again.patterns.patterns if pattern.id == "odd-line"] == ["odd 2"]


def test_rules_that_are_changed_again_and_again_are_always_read(pack: Path, tmp_path: Path) -> None:
    keep, wanted = Keep(str(tmp_path / "cache")), Packs(builtin=False, further=(pack,))
    for number in (1, 2, 3):
        (pack / "inner" / "odd.yaml").write_text(RULE.replace("odd 1", f"odd {number}"))
        patterns = load(wanted, keep).patterns.patterns
        assert [pattern.regex for pattern in patterns if pattern.id == "odd-line"] == [f"odd {number}"]
