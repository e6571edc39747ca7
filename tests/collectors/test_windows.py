"""Patterns over several lines, where a parallel shell has put the name of a host before each and mixed the hosts."""

from __future__ import annotations

import io
from itertools import chain, zip_longest

import pytest

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.text import text_collector
from neuron_doctor.engine.matcher import build_matcher
from neuron_doctor.engine.patterns import Pattern, PatternSet

MAIN = r'Thread \d{1,9} \(active\): "MainThread"'
PATTERNS = PatternSet(
    (
        Pattern("in-c10d", rf"Process (?P<pid>\d{{1,9}}): [^\n]*\n{MAIN}\n[^\n]*\n {{4}}\w+ \(c10d", anchor=MAIN),
        Pattern("blame", r"stage (?P<what>\w+)\n(?:[^\n]*\n)?\w+Error: ", anchor=r"\w+Error: "),
    )
)


def found(text: str) -> list[tuple[str | None, int | None]]:
    inp = Input("x.txt", "x.txt", io.BufferedReader(io.BytesIO(text.encode())), len(text))  # type: ignore[arg-type]
    facts = list(text_collector(PATTERNS, build_matcher).collect(inp))
    return [(fact.place.host, fact.place.pid) for fact in facts if fact.kind == "hit"]


def stack(pid: int, inner: str) -> list[str]:
    return [
        f"Process {pid}: python train.py",
        f'Thread {pid} (active): "MainThread"',
        "    wait (threading.py:331)",
        f"    {inner}",
        "    main (train.py:91)",
    ]


WAITS, LOADS = "all_reduce (c10d.py:2817)", "fetch (blob.py:44)"


def mixed(label: str, hosts: dict[str, list[str]]) -> str:
    told = [[label.format(host) + line for line in lines] for host, lines in hosts.items()]
    return "\n".join(line for line in chain.from_iterable(zip_longest(*told)) if line) + "\n"


@pytest.mark.parametrize("label", ["{}: ", "[{}] ", "{} | "])
@pytest.mark.parametrize("names", [("z1", "z2", "z3"), ("merlin", "kestrel", "osprey")])
def test_each_host_has_its_own_lines_however_they_are_mixed(label: str, names: tuple[str, str, str]) -> None:
    text = mixed(label, dict(zip(names, (stack(11, WAITS), stack(12, LOADS), stack(13, WAITS)), strict=True)))
    assert [pid for _, pid in found(text)] == [11, 13]
    if label == "{}: " and names[0] == "z1":
        assert [host for host, _ in found(text)] == ["z1", "z3"]


def test_the_frames_of_a_neighbour_are_nobody_elses() -> None:
    alone = [f"z2: {line}" for line in stack(12, LOADS)[:2]]
    other = ["z1:     wait (threading.py:331)", "z1:     all_reduce (c10d.py:2817)"]
    assert found("\n".join([*alone, *other]) + "\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "stage two\nValueError: x\n",
        "stage two\nKeyError: y\nValueError: x\n",
        "INFO: stage two\nERROR: at 5\nERROR: OSError: x\n",
    ],
)
def test_a_word_with_a_colon_is_no_speaker_and_hides_no_line(text: str) -> None:
    assert found(text)


@pytest.mark.parametrize("label", ["ERROR: ", "[error] ", "json.decoder.JSONDecodeError: "])
def test_lines_far_apart_have_no_speaker_in_common_for_their_level_or_exception(label: str) -> None:
    between = "".join(f"INFO: batch {n}\n" for n in range(40))
    assert found(f"{label}stage two\n{between}{label}OSError: x\n") == []


def test_a_word_among_lines_without_labels_is_no_speaker() -> None:
    assert found("store: stage two\n" + "batch\n" * 40 + "store: OSError: x\n") == []
    assert found("store: stage two\n" + "cache: batch\n" * 40 + "store: OSError: x\n")


@pytest.mark.parametrize(
    "above",
    [
        '{"log":"\\u0073tage boom\\n","stream":"stderr","time":"2026-04-02T06:31:44.000000000Z"}',
        "s\x1b[31mtage boom\x1b[0m",
        "s#033[1mtage boom",
        "stage boom",
    ],
)
def test_a_word_that_only_the_message_shows_is_found_there(above: str) -> None:
    assert len(found(f"step 1\n{above}\nValueError: x\nstep 2\n")) == 1
    assert not found(f"step 1\n{above.replace('tage', 'tagx')}\nValueError: x\nstep 2\n")
