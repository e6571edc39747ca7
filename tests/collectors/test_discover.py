"""From paths to inputs: what is packed in what, what is shown, what is a problem, and the id of a source."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import pickle
import tarfile
import zipfile
from pathlib import Path

import pytest

from neuron_doctor.collectors import discover as module
from neuron_doctor.collectors.base import HEAD, Input
from neuron_doctor.collectors.discover import discover, inputs_of
from neuron_doctor.collectors.streams import finish
from neuron_doctor.collectors.walk import MissingPath, find

LOG = b"2026-Jan-01 00:00:00.000000 1:1 ERROR TDRV:f x\n" * 4000


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def tar(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def write(files: dict[str, bytes]) -> None:
    for name, content in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)


def problems(inp: Input) -> list[str]:
    return [problem.what for problem in inp.problems.values()]


def contents(*paths: str, stdin: bytes = b"") -> dict[str, bytes]:
    return {inp.path: inp.stream.read() for inp in discover(paths, stdin=io.BytesIO(stdin))}


def told(*paths: str, stdin: bytes = b"") -> dict[str, list[str]]:
    """What was wrong, by path, after everything was read."""
    found: dict[str, list[str]] = {}
    for inp in discover(paths, stdin=io.BytesIO(stdin)):
        inp.stream.read()
        found[inp.path] = problems(inp)
    return found


def ids(*paths: str) -> list[str]:
    return [finish(inp) for inp in discover(paths)]


def test_files_folders_and_standard_input_are_read_in_order() -> None:
    write({"logs/b.log": b"b", "logs/a/x.log": b"x", "c.log": b"c"})
    assert list(contents("logs", "-", "c.log", stdin=b"in").items()) == [
        ("logs/a/x.log", b"x"),
        ("logs/b.log", b"b"),
        ("-", b"in"),
        ("c.log", b"c"),
    ]


def test_what_is_packed_is_known_by_its_content_whatever_its_name() -> None:
    files = {"./node3/x.log": LOG, "./node3/y.log": b"y"}
    write({"a.log": gzip.compress(LOG), "b.txt": lzma.compress(tar(files)), "c": zipped({"d/z.log": b"z"})})
    assert contents(".") == {
        "a.log": LOG,
        "b.txt!node3/x.log": LOG,
        "b.txt!node3/y.log": b"y",
        "c!d/z.log": b"z",
    }


def test_archives_in_archives_are_opened() -> None:
    inner = tar({"x.log.gz": gzip.compress(b"deep"), "plain": b"p"})
    write({"all.zip": zipped({"n1.tar.gz": gzip.compress(inner), "n2.zip": zipped({"w": b"w"})})})
    assert contents("all.zip") == {
        "all.zip!n1.tar.gz!x.log.gz": b"deep",
        "all.zip!n1.tar.gz!plain": b"p",
        "all.zip!n2.zip!w": b"w",
    }


def test_a_packed_standard_input_is_unpacked() -> None:
    assert contents("-", stdin=gzip.compress(tar({"x": b"1"}))) == {"-!x": b"1"}


def test_a_pipe_of_the_shell_is_read() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"line\n")
    os.close(writing)
    try:
        assert contents(f"/dev/fd/{reading}") == {f"/dev/fd/{reading}": b"line\n"}
    finally:
        os.close(reading)


def test_the_name_is_the_last_part_without_the_compression() -> None:
    write({"n/dmesg.txt.gz": gzip.compress(b"x"), "t.tar": tar({"d/rank_3.log": b"y"})})
    assert [inp.name for inp in discover(["n", "t.tar"])] == ["dmesg.txt", "rank_3.log"]


def test_the_head_of_every_input_can_be_peeked_at_whole() -> None:
    write({"a": LOG, "b.gz": gzip.compress(LOG), "c": tar({"m": LOG})})
    heads = [inp.stream.peek() for inp in discover(["."], stdin=None)]
    assert heads == [LOG[:HEAD]] * 3


def test_members_that_are_left_unread_do_not_disturb_the_next() -> None:
    write({"t.tgz": gzip.compress(tar({"a": LOG, "b": LOG, "c": b"end"}))})
    taken = [(inp.path, inp.stream.read(5)) for inp in discover(["t.tgz"])]
    assert taken == [("t.tgz!a", LOG[:5]), ("t.tgz!b", LOG[:5]), ("t.tgz!c", b"end")]


def test_torn_files_give_what_they_had_and_say_so() -> None:
    packed, archive = gzip.compress(LOG), tar({"a": b"first", "b": LOG})
    write({"log.gz": packed[:-20], "t.tar": archive[:100_000], "t.tgz": gzip.compress(archive)[:-20]})
    found = contents(".")
    assert LOG.startswith(found["log.gz"])
    assert len(found["log.gz"]) > len(LOG) * 0.5
    assert found["t.tar!a"] == found["t.tgz!a"] == b"first"
    assert found["t.tar!b"] == LOG[: 100_000 - 3 * 512]
    assert told(".") == {
        "log.gz": ["cut off: the gzip data has no end"],
        "t.tar!a": [],
        "t.tar!b": [f"cut off: 98464 of {len(LOG)} bytes are there"],
        "t.tar": ["cut off: the tar has no end mark"],
        "t.tgz!a": [],
        "t.tgz!b": told("t.tgz")["t.tgz!b"],
        "t.tgz": ["cut off: the gzip data has no end", "cut off: the tar has no end mark"],
    }


def test_hostile_member_names_are_shown_escaped_and_nothing_is_written(tmp_path: Path) -> None:
    write({"evil.tar": tar({"../../etc/passwd": b"1", "/etc/shadow": b"2", "a\nb\x1b[31m": b"3", "\udcff": b"4"})})
    assert contents("evil.tar") == {
        "evil.tar!../../etc/passwd": b"1",
        "evil.tar!/etc/shadow": b"2",
        "evil.tar!a\\nb\\x1b[31m": b"3",
        "evil.tar!\\xff": b"4",
    }
    assert [path.name for path in tmp_path.iterdir()] == ["evil.tar"]


def test_packing_without_end_stops_at_the_limit() -> None:
    packed = b"x"
    for _ in range(module.MAX_LAYERS + 1):
        packed = gzip.compress(packed)
    write({"deep.gz": packed})
    assert told("deep.gz") == {"deep.gz": [f"packed in more than {module.MAX_LAYERS} layers: not unpacked"]}


def test_members_without_end_stop_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_MEMBERS", 3)
    write({"t.tar": tar({str(n): b"x" for n in range(9)})})
    assert told("t.tar") == {
        "t.tar!0": [],
        "t.tar!1": [],
        "t.tar!2": [],
        "t.tar": ["more than 3 files in it: the rest is not read"],
    }


@pytest.mark.parametrize("path", ["bomb", "-"])
def test_a_bomb_stops_at_the_limit(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setattr(module, "MAX_GROWTH", 100)
    monkeypatch.setattr(module, "ALWAYS_ALLOWED", 1_000_000)
    bomb = gzip.compress(tar({str(n): bytes(4_000_000) for n in range(5)}))
    write({"bomb": bomb})
    size = sum(len(text) for text in contents(path, stdin=bomb).values())
    assert size < 1_000_000 + 100 * len(bomb)
    assert "unpacks to more than 100 times its size: the rest is not read" in told(path, stdin=bomb)[path]


def test_copies_have_one_id_whatever_their_name_and_packing() -> None:
    write(
        {
            "a/dmesg": LOG,
            "b/copy-of-it": LOG,
            "c/dmesg.gz": gzip.compress(LOG),
            "d.tgz": gzip.compress(tar({"dmesg": LOG})),
            "e.zip": zipped({"dmesg": LOG}),
        }
    )
    assert len(ids(".")) == 5
    assert len(set(ids("."))) == 1


def test_other_content_or_another_host_is_another_source() -> None:
    write({"node1/x.log": LOG, "node2/x.log": LOG, "node1/y.log": LOG + b"more", "rank_1.log": b"", "rank_2.log": b""})
    assert len(set(ids("."))) == 5


def test_the_id_of_a_plain_file_is_known_before_it_is_read() -> None:
    write({"x.log": LOG})
    (inp,) = discover(["x.log"])
    before = inp.source_id
    (again,) = discover(["x.log"])
    assert before == again.source_id
    assert [inp.source_id for inp in discover(["x.log"])] == ids("x.log")


def test_the_place_comes_from_the_path_in_the_archive_too() -> None:
    write({"node3.tar": tar({"rank_5.log": b"x"}), "nodes/alpha/x.log": b"x"})
    places = {inp.path: inp.place.known() for inp in discover(["."])}
    assert places == {"node3.tar!rank_5.log": {"host": "node3", "rank": 5}, "nodes/alpha/x.log": {"host": "alpha"}}


def test_a_label_stands_in_front_of_everything_in_its_path() -> None:
    write({"d/t.tar": tar({"x": b"1"}), "y": b"2"})
    found = [inp.path for inp in discover(["d", "y"], labels={"d": "first", "y": "second"})]
    assert found == ["first/t.tar!x", "second/y"]


def test_a_missing_path_is_told_before_anything_is_read() -> None:
    write({"x.log": b"x"})
    with pytest.raises(MissingPath, match="nothing"):
        discover(["x.log", "nothing"])


def test_what_cannot_be_opened_is_an_empty_input_with_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    write({"a.log": b"a", "b.log": b"b"})
    opened = module.FileIO

    def fileio(location: str) -> io.FileIO:
        if location.endswith("a.log"):
            raise PermissionError(13, "Permission denied")
        return opened(location)

    monkeypatch.setattr(module, "FileIO", fileio)
    assert contents(".") == {"a.log": b"", "b.log": b"b"}
    assert told(".") == {"a.log": ["cannot be read: Permission denied"], "b.log": []}


def test_what_is_no_file_is_an_empty_input_with_a_problem() -> None:
    os.mkfifo("pipe")
    write({"x.log": b"x"})
    assert told(".") == {"pipe": ["a named pipe, not a file: not read"], "x.log": []}
    assert len(set(ids("."))) == 2


def test_standard_input_that_is_not_there_is_a_problem() -> None:
    assert [problems(inp) for inp in discover(["-"])] == [["there is no standard input"]]


def test_a_found_file_can_be_sent_to_a_worker() -> None:
    write({"t.tar": tar({"x": b"1"})})
    (found,) = pickle.loads(pickle.dumps(list(find(["t.tar"]))))
    assert [inp.stream.read() for inp in inputs_of(found)] == [b"1"]


def test_empty_and_short_files_are_inputs_like_any_other() -> None:
    write({"empty": b"", "one": b"\x1f", "two": b"PK", "zeros": bytes(4096)})
    assert contents(".") == {"empty": b"", "one": b"\x1f", "two": b"PK", "zeros": bytes(4096)}
