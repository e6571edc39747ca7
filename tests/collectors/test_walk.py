"""Finding files: order, links, what is refused, and names as they are shown."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from folders import filled
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.collectors.walk import Found, MissingPath, find, printable


def tree(root: Path, *files: str) -> None:
    filled(root, {file: file for file in files})


def shown(paths: list[str], **options: dict[str, str]) -> list[str]:
    return [found.path for found in find(paths, **options)]


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_folder_is_walked_sorted_and_shown_as_it_was_typed(tmp_path: Path) -> None:
    tree(tmp_path, "logs/node2/b.log", "logs/node2/a.log", "logs/node10/c.log", "logs/z.log", "other.log")
    expected = ["logs/node10/c.log", "logs/node2/a.log", "logs/node2/b.log", "logs/z.log"]
    assert shown(["logs"]) == shown(["logs/"]) == shown(["./logs"]) == expected
    assert shown([f"{tmp_path}/logs"]) == [f"{tmp_path}/{path}" for path in expected]
    assert shown(["."]) == [*expected, "other.log"]
    assert shown(["other.log", "logs/z.log"]) == ["other.log", "logs/z.log"]


def test_a_label_stands_in_place_of_the_path(tmp_path: Path) -> None:
    tree(tmp_path, "logs/node2/a.log", "x.log")
    labels = {"logs/": "run-1", "x.log": "run-2"}
    assert shown(["logs", "x.log"], labels=labels) == ["run-1/node2/a.log", "run-2/x.log"]


def test_found_files_know_their_size_and_how_to_open_them(tmp_path: Path) -> None:
    tree(tmp_path, "logs/a.log")
    assert list(find(["logs"])) == [Found("logs/a.log", "logs/a.log", 10)]


def test_a_missing_path_is_told_before_anything_is_found(tmp_path: Path) -> None:
    tree(tmp_path, "a.log")
    (tmp_path / "dangling").symlink_to("nothing")
    for missing in ("nothing", "a.log/below", "dangling", "nul\0byte", ""):
        with pytest.raises(MissingPath):
            find(["a.log", missing])


def test_a_link_to_a_file_elsewhere_is_followed_once(tmp_path: Path) -> None:
    tree(tmp_path, "elsewhere/x.log", "logs/a.log")
    (tmp_path / "logs/l1").symlink_to(tmp_path / "elsewhere/x.log")
    (tmp_path / "logs/l2").symlink_to(tmp_path / "elsewhere/x.log")
    assert shown(["logs"]) == ["logs/a.log", "logs/l1"]


def test_a_link_within_the_folder_leads_to_nothing_new(tmp_path: Path) -> None:
    tree(tmp_path, "logs/run-3/x.log")
    (tmp_path / "logs/current").symlink_to("run-3")
    (tmp_path / "logs/latest.log").symlink_to("run-3/x.log")
    assert shown(["logs"]) == ["logs/run-3/x.log"]


def test_a_linked_folder_elsewhere_is_walked_with_its_own_links(tmp_path: Path) -> None:
    tree(tmp_path, "far/deep/x.log", "farther/y.log")
    (tmp_path / "far/onward").symlink_to(tmp_path / "farther")
    (tmp_path / "far/round").symlink_to(tmp_path / "far")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/node").symlink_to(tmp_path / "far")
    assert shown(["logs"]) == ["logs/node/deep/x.log", "logs/node/onward/y.log"]


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    tree(tmp_path, "logs/a/x.log")
    (tmp_path / "logs/a/self").symlink_to(".")
    (tmp_path / "logs/a/up").symlink_to("..")
    (tmp_path / "logs/a/l1").symlink_to("l2")
    (tmp_path / "logs/a/l2").symlink_to("l1")
    found = list(find(["logs"]))
    assert [(f.path, f.problem) for f in found if not f.problem] == [("logs/a/x.log", "")]
    assert [f.path for f in found if f.problem] == ["logs/a/l1", "logs/a/l2"]


def test_links_out_into_everything_are_not_followed(tmp_path: Path) -> None:
    tree(tmp_path, "logs/x.log")
    for name, target in (("above", ".."), ("devices", "/dev"), ("null", "/dev/null"), ("proc", "/proc/self")):
        (tmp_path / "logs" / name).symlink_to(target)
    found = {f.path: f.problem for f in find(["logs"])}
    assert found == {
        "logs/x.log": "",
        "logs/above": "a link to a folder above: not followed",
        "logs/devices": "a link into the kernel's files: not read",
        "logs/null": "a link into the kernel's files: not read",
        "logs/proc": "a link into the kernel's files: not read",
    }


def test_what_is_no_file_is_refused_and_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("sock")
        problems = {f.path: f.problem for f in find([".", "/dev/null"])}
    assert problems == {
        "pipe": "a named pipe, not a file: not read",
        "sock": "a socket, not a file: not read",
        "/dev/null": "a device, not a file: not read",
    }


def test_a_folder_that_may_not_be_listed_is_a_problem_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(tmp_path, "logs/closed/x.log", "logs/open/y.log")
    listed = os.scandir

    def scandir(path: str) -> object:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert [(f.path, f.problem) for f in find(["logs"])] == [
        ("logs/closed", "cannot be read: Permission denied"),
        ("logs/open/y.log", ""),
    ]


def test_an_open_file_of_the_shell_is_read_as_a_pipe(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    try:
        path = f"/dev/fd/{reading}"
        assert list(find([path, "-"])) == [Found(path, path), Found("-", "-")]
    finally:
        os.close(reading)
        os.close(writing)


def test_a_tree_deeper_than_the_stack_is_walked(tmp_path: Path) -> None:
    depth = 1500  # of one-letter names: below the 4,096 bytes that a path may have, above Python's limit of recursion
    os.chdir(tmp_path)
    for _ in range(depth):
        Path("d").mkdir()
        os.chdir("d")
    Path("x.log").write_text("x")
    os.chdir(tmp_path)
    assert shown(["d"]) == ["d/" * depth + "x.log"]
    for _ in range(depth):  # pytest would remove it by recursion
        os.chdir("d")
    Path("x.log").unlink()
    for _ in range(depth):
        os.chdir("..")
        Path("d").rmdir()


def test_hostile_names_are_shown_escaped_and_still_open(tmp_path: Path) -> None:
    Path("logs").mkdir()
    for name in (b"logs/a\nb", b"logs/\xff\xfe", b"logs/\x1b[31mred", "logs/\u202egol.x".encode(), "logs/é ü".encode()):
        Path(os.fsdecode(name)).write_text("x")
    found = list(find(["logs"]))
    assert [f.path for f in found] == [
        "logs/\\x1b[31mred",
        "logs/a\\nb",
        "logs/é ü",
        "logs/\\u202egol.x",
        "logs/\\xff\\xfe",
    ]
    assert [Path(f.location).read_text() for f in found] == ["x"] * 5


@given(st.binary(max_size=40))
def test_what_is_shown_is_always_printable_text(name: bytes) -> None:
    shown_name = printable(os.fsdecode(name))
    assert shown_name.isprintable()
    assert shown_name.encode("utf-8").decode("utf-8") == shown_name
