"""Resource limits: three forms, one set of names, memory in bytes."""

from __future__ import annotations

from host_captures import PROC_LIMITS, ULIMIT
from hypothesis import given
from hypothesis import strategies as st
from snapshot_inputs import facts_of


def limits(text: str) -> dict[object, object]:
    return {f.data["name"]: f.data["value"] for f in facts_of(text)}


def test_bash_prints_memory_in_units_of_1024_bytes() -> None:
    assert limits(ULIMIT) == {"memlock": 65536 * 1024, "nofile": 1024, "stack": 8192 * 1024, "nproc": -1}


def test_proc_gives_the_soft_limit_in_bytes() -> None:
    assert limits(PROC_LIMITS) == {"stack": 8388608, "nproc": 1030608, "nofile": 1024, "memlock": -1}


def test_zsh_is_read_too() -> None:
    text = "-t: cpu time (seconds)  unlimited\n-l: locked-in-memory size (kbytes)  64\n-n: file descriptors   4096\n"
    assert limits(text) == {"memlock": 64 * 1024, "nofile": 4096}


@given(st.integers(min_value=0, max_value=10**15))
def test_any_number_of_open_files_is_read_as_it_is_printed(number: int) -> None:
    assert limits(ULIMIT.replace("1024", str(number)))["nofile"] == number
