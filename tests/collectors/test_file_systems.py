"""Tables of df: how full what can be written to is."""

from __future__ import annotations

import pytest
from host_captures import DF, DF_INODES, DF_POSIX
from snapshot_inputs import claimed_by, facts_of


def filled(text: str) -> dict[object, object]:
    return {(f.data["mount"], f.data["what"]): f.data["used"] for f in facts_of(text)}


def test_images_that_are_always_full_are_left_out() -> None:
    assert filled(DF) == {
        ("/", "space"): 41,
        ("/dev/shm", "space"): 0,
        ("/opt/dlami/nvme", "space"): 100,
        ("/fsx", "space"): 34,
    }


@pytest.mark.parametrize(
    ("text", "expected"), [(DF_INODES, {("/data", "inodes"): 100}), (DF_POSIX, {("/", "space"): 42})]
)
def test_other_columns_are_read_too(text: str, expected: dict[object, object]) -> None:
    assert filled(text) == expected


def test_tables_one_after_the_other_keep_their_meaning() -> None:
    assert filled("$ df -i\n" + DF_INODES + "$ df -hT\n" + DF_POSIX) == {("/data", "inodes"): 100, ("/", "space"): 42}


def test_a_sentence_that_begins_like_a_table_is_none() -> None:
    assert claimed_by(b"Filesystem is full, see df\n") == []
