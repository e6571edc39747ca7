"""Files made of blocks, one for each host: which block is whose, byte by byte, and what only looks like them."""

from __future__ import annotations

from io import BufferedReader, BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.collectors import host_blocks
from neuron_doctor.collectors.discover import discover, is_packed
from neuron_doctor.collectors.host_blocks import is_of_blocks, members_of_blocks

DASHES = "-" * 16
DSHBAK = f"{DASHES}\nrb-5\n{DASHES}\n[   31.1] one\n[   32.1] two\n{DASHES}\nrb-6\n{DASHES}\n[   31.1] three\n"
CLUSH = "---------------\nnode[1-2,4] (3)\n---------------\n5.15.0\n---------------\nnode3\n---------------\n6.1.0\n"
ANSIBLE = (
    'trn-a | CHANGED | rc=0 >>\nok\ntrn-b | FAILED | rc=1 >>\nno such file\ntrn-c | UNREACHABLE! => {\n "msg": "x"\n}\n'
)
PSSH = "[1] 10:04:40 [SUCCESS] 10.0.0.7\nfine\n[2] 10:04:41 [FAILURE] rb-8 Exited with error code 1\nbroken\n"


def blocks(text: str | bytes) -> dict[str, bytes]:
    raw = text.encode() if isinstance(text, str) else text
    return {m.name: b"".join(m.chunks) for m in members_of_blocks(BufferedReader(BytesIO(raw)))}


def test_each_block_is_of_the_host_above_it_and_named_after_its_first_line() -> None:
    assert blocks(DSHBAK) == {"nodes/rb-5/4": b"[   31.1] one\n[   32.1] two\n", "nodes/rb-6/9": b"[   31.1] three\n"}


def test_what_several_hosts_printed_alike_is_of_none_alone() -> None:
    assert blocks(CLUSH) == {"node[1-2,4]/4": b"5.15.0\n", "nodes/node3/8": b"6.1.0\n"}


def test_other_shells_name_their_hosts_in_one_line() -> None:
    assert blocks(ANSIBLE) == {
        "nodes/trn-a/2": b"ok\n",
        "nodes/trn-b/4": b"no such file\n",
        "nodes/trn-c/6": b' "msg": "x"\n}\n',
    }
    assert blocks(PSSH) == {"nodes/10.0.0.7/2": b"fine\n", "nodes/rb-8/4": b"broken\n"}


def test_the_files_of_tail_are_members_under_their_own_names() -> None:
    text = "==> /logs/hosts/venus/a.log <==\none\n\n==> b.log <==\ntwo\n\n==> /logs/hosts/venus/a.log <==\nthree\n"
    assert blocks(text) == {
        "logs/hosts/venus/a.log": b"one\n\n",
        "b.log": b"two\n\n",
        "logs/hosts/venus/a.log.2": b"three\n",
    }
    assert is_of_blocks(text.encode())


@pytest.mark.parametrize("text", [DSHBAK, CLUSH, ANSIBLE, PSSH])
def test_the_command_above_and_line_ends_of_windows_change_nothing(text: str) -> None:
    for other in ("\n" + text, "$ pdsh -w rb-[5-6] dmesg | dshbak\n" + text, text.replace("\n", "\r\n")):
        assert is_of_blocks(other.encode())
        assert [b.replace(b"\r", b"") for b in blocks(other).values()] == list(blocks(text).values())


@pytest.mark.parametrize(
    "text",
    [
        f"{DASHES}\nEnvironment\n{DASHES}\nA=1\n",
        f"{DASHES}\nStep 1 of 2\n{DASHES}\n",
        f"{DASHES}-\nrb-5\n{DASHES}-\nA\n",
        f"{DASHES}\nrb-5\n---------------\nA\n",
        f"2026-04-04 04:04:00 start\n{DSHBAK}",
        "a | b | rc=0 >>\n",
        "",
    ],
)
def test_banners_and_logs_are_no_blocks(text: str) -> None:
    assert not is_of_blocks(text.encode())
    assert not is_packed(text.encode())


def test_a_host_that_comes_twice_has_two_blocks() -> None:
    assert list(blocks(DSHBAK + DSHBAK)) == ["nodes/rb-5/4", "nodes/rb-6/9", "nodes/rb-5/13", "nodes/rb-6/18"]


def test_a_block_that_is_left_unread_does_not_disturb_the_next() -> None:
    names = [m.name for m in members_of_blocks(BufferedReader(BytesIO(DSHBAK.encode())))]
    assert names == list(blocks(DSHBAK))


LINES = st.lists(st.sampled_from(["x", "-" * 15, "rb-5", "", "y" * 90, "trn-b | CHANGED | rc=0 >>"]), max_size=12)


@given(st.lists(LINES, min_size=1, max_size=5), st.integers(1, 300), st.integers(24, 64))
def test_no_byte_is_lost_wherever_the_file_is_cut(parts: list[list[str]], chunk: int, longest: int) -> None:
    text = "".join(
        f"{DASHES}\nh-{n}\n{DASHES}\n" + "".join(f"{line}\n" for line in part) for n, part in enumerate(parts)
    )
    whole = blocks(text)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(host_blocks, "CHUNK", chunk)
        patched.setattr(host_blocks, "_LONGEST", longest + 40)
        assert blocks(text) == whole
    headings = "".join(found[0].decode() for found in host_blocks._HEADING.finditer(text.encode()))
    assert sum(map(len, whole.values())) == len(text) - len(headings)


def test_a_line_without_end_is_not_held() -> None:
    line = b"x" * (5 << 20)
    *_, (name, content) = blocks(DSHBAK.encode() + line).items()
    assert (name, content) == ("nodes/rb-6/9", b"[   31.1] three\n" + line)
    sizes = [
        len(chunk) for m in members_of_blocks(BufferedReader(BytesIO(DSHBAK.encode() + line))) for chunk in m.chunks
    ]
    assert max(sizes) < 2 << 20


def test_the_host_of_a_block_is_that_of_its_input(tmp_path: Path) -> None:
    file = tmp_path / "dmesg-all.txt"
    file.write_text(DSHBAK)
    found = [(inp.path.rpartition("/tmp")[2].partition("!")[2], inp.place.host) for inp in discover([str(file)])]
    assert found == [("nodes/rb-5/4", "rb-5"), ("nodes/rb-6/9", "rb-6")]


SALT = "minion-1:\n    one\n      two\n\n    three\nminion-2:\n    four\n"


def test_what_salt_indents_is_read_as_the_host_printed_it() -> None:
    assert blocks(SALT) == {"nodes/minion-1/2": b"one\n  two\n\nthree\n", "nodes/minion-2/7": b"four\n"}
    assert is_of_blocks(b"$ salt 'minion-*' cmd.run dmesg\n" + SALT.encode())


@pytest.mark.parametrize("text", ["spec:\n    node7: x\n", "minion-1:\n  one\n", "minion-1: one\n    two\n"])
def test_what_is_indented_otherwise_or_below_a_word_is_not_of_salt(text: str) -> None:
    assert not is_of_blocks(text.encode())


def test_a_name_above_indented_lines_ends_no_block_of_another_shell() -> None:
    raised = f"{DASHES}\nrb-5\n{DASHES}\nrank_3:\n    Traceback\n"
    assert blocks(raised) == {"nodes/rb-5/4": b"rank_3:\n    Traceback\n"}
