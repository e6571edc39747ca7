"""Where a command writes: the whole file or none of it, beside streams, links and directories that nobody may write to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from neuron_doctor.commands import outputs
from neuron_doctor.commands.outputs import write

OLD, NEW = b"the old report\n", b"the new report\n"


def cannot(capsys: pytest.CaptureFixture[str], file: Path, status: int = 2) -> str:
    """What is said of a file that cannot be written."""
    with pytest.raises(typer.Exit) as ended:
        write(file, NEW, status)
    assert ended.value.exit_code == status
    told = capsys.readouterr().err
    assert told.startswith(f"neuron-doctor: {file} cannot be written: ")
    return told.rpartition(": ")[2]


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_a_file_is_replaced_in_one_step(tmp_path: Path) -> None:
    file = tmp_path / "report.txt"
    write(file, OLD)
    with file.open("rb") as reader:
        write(file, NEW)
        assert reader.read() == OLD  # who had it open reads the old one to its end
    assert file.read_bytes() == NEW
    assert names(tmp_path) == ["report.txt"]


def test_what_fails_half_way_leaves_the_old_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    file = tmp_path / "report.txt"
    write(file, OLD)
    monkeypatch.setattr(outputs.os, "fsync", full)
    assert cannot(capsys, file, status=3) == "No space left on device\n"
    assert file.read_bytes() == OLD
    assert names(tmp_path) == ["report.txt"]


def test_who_is_killed_half_way_leaves_the_old_report(tmp_path: Path) -> None:
    file = tmp_path / "report.txt"
    write(file, OLD)
    code = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom neuron_doctor.commands import outputs\n"
        "outputs.os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)\noutputs.write(Path(sys.argv[1]), b'new')\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(file)], check=False).returncode == -9
    assert file.read_bytes() == OLD


def test_rights_stay(tmp_path: Path) -> None:
    file = tmp_path / "report.txt"
    write(file, OLD)
    file.chmod(0o640)
    write(file, NEW)
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_new_file_has_the_rights_that_the_user_wants(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write(tmp_path / "report.txt", NEW)
    finally:
        os.umask(before)
    assert (tmp_path / "report.txt").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path: Path, *, there: bool) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "report.txt", tmp_path / "latest.txt"
    link.symlink_to("there/report.txt")
    if there:
        target.write_bytes(OLD)
    write(link, NEW)
    assert link.is_symlink()
    assert target.read_bytes() == NEW
    assert names(tmp_path / "there") == ["report.txt"]


def test_a_link_to_itself_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert "links" in cannot(capsys, tmp_path / "loop")


def test_a_long_name_is_no_trouble(tmp_path: Path) -> None:
    write(tmp_path / ("x" * 255), NEW)
    assert names(tmp_path) == ["x" * 255]


def test_a_file_may_be_written_in_a_directory_that_may_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is for who is not root, to whom the kernel refuses nothing."""
    (tmp_path / "report.txt").write_bytes(OLD)
    monkeypatch.setattr(outputs.os, "open", refused)
    write(tmp_path / "report.txt", NEW)
    assert (tmp_path / "report.txt").read_bytes() == NEW


def test_no_file_is_made_in_a_directory_that_may_not_be_written_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outputs.os, "open", refused)
    assert cannot(capsys, tmp_path / "report.txt") == "Permission denied\n"


def test_a_file_that_may_not_be_written_is_not_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "report.txt").write_bytes(OLD)
    monkeypatch.setattr(outputs.os, "access", lambda *_: False)
    assert cannot(capsys, tmp_path / "report.txt") == "Permission denied\n"
    assert (tmp_path / "report.txt").read_bytes() == OLD


def refused(*_: object) -> int:
    raise PermissionError(13, "Permission denied")


@pytest.mark.parametrize("name", ["/dev/stdout", "/proc/self/fd/1"])
def test_standard_output_by_name_is_written_to_whatever_it_is(tmp_path: Path, name: str) -> None:
    code = "import pathlib, sys\nfrom neuron_doctor.commands import outputs\noutputs.write(pathlib.Path(sys.argv[1]), b'new')\n"
    command = [sys.executable, "-c", code, name]
    assert subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout == b"new"
    with (tmp_path / "out").open("wb") as out:
        subprocess.run(command, stdout=out, check=True)
    assert (tmp_path / "out").read_bytes() == b"new"
    assert names(tmp_path) == ["out"]
    assert Path("/dev/stdout").is_symlink()


def test_a_report_replaces_the_one_before(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("all is well\n")
    report = tmp_path / "report.json"
    report.write_bytes(OLD)
    done = subprocess.run(
        [sys.executable, "-m", "neuron_doctor", "diagnose", str(tmp_path / "run.log"), "-f", f"json={report}"],
        check=False,
    )
    assert done.returncode == 0
    assert report.read_bytes().startswith(b"{")
    assert names(tmp_path) == ["report.json", "run.log"]
