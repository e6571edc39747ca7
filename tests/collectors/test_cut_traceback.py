"""Where a log ends inside of a traceback, and where it only seems to."""

from __future__ import annotations

from io import BufferedReader, BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.blocks import blocks
from neuron_doctor.collectors.cut_traceback import cut_traceback
from neuron_doctor.engine.facts import Fact, Place

FRAMES = [
    '  File "/app/run.py", line 120, in <module>',
    "    main()",
    '  File "/app/run.py", line 98, in main',
    "    loss = step(batch)",
    "           ^^^^^^^^^^^",
]
TRACEBACK = ["Traceback (most recent call last):", *FRAMES]


def ending(text: str, place: Place | None = None) -> list[Fact]:
    raw = text.encode()
    inp = Input("a.log", "a.log", BufferedReader(BytesIO(raw)), len(raw), place or Place())
    return [fact for block in blocks(inp.stream) if block.last for fact in cut_traceback(block, inp)]


@given(
    st.integers(0, len(FRAMES)),
    st.sampled_from(["", "\n", "\r\n", "\n\n"]),
    st.sampled_from(["", "step 1\n", "x" * 300_000 + "\n"]),
)
def test_a_traceback_may_be_cut_after_any_line(kept: int, end: str, before: str) -> None:
    [fact] = ending(before + "\n".join(TRACEBACK[: kept + 1]) + end)
    lines = [98, 98, 98, 120, 120]
    assert fact.data.get("line") == (lines[len(FRAMES) - kept] if kept else None)
    assert (fact.span.line or 0) == before.count("\n") + {0: 1, 1: 2, 2: 2}.get(kept, 4)


def test_the_prefixes_say_whose_it_is_and_when() -> None:
    text = "".join(f"2026-07-01T10:00:00.1Z stderr F [rank3]: {line}\n" for line in TRACEBACK)
    [fact] = ending(text, Place(host="node7"))
    assert (fact.place.rank, fact.place.host) == (3, "node7")
    assert fact.instant is not None


@pytest.mark.parametrize(
    "last",
    [
        ["ValueError: bad"],
        ["KeyboardInterrupt"],
        ["Interrupted"],
        ["ValueError: bad", "step 902"],
        ["[rank4]: step 902"],
    ],
)
def test_whatever_stands_below_it_ends_it(last: list[str]) -> None:
    assert ending("\n".join([*TRACEBACK, *last])) == []


def test_frames_without_the_heading_of_a_traceback_are_none() -> None:
    assert ending("\n".join(FRAMES)) == []
    assert ending("\n".join(["Stack (most recent call last):", *FRAMES])) == []
    assert ending("\n".join([TRACEBACK[0], "something else", *FRAMES])) == []
    assert ending("") == []


def test_a_traceback_that_is_longer_than_every_cut_shows_is_not_judged() -> None:
    assert ending("\n".join([TRACEBACK[0], *FRAMES * 30])) != []
    assert ending("\n".join([TRACEBACK[0], *FRAMES * 300])) == []


RAISED = [*FRAMES[:2], '  File "/app/serve.py", line 7, in call', "    raise exc"]


@pytest.mark.parametrize("before", ["", "Hello,\n\n```\n", "> since today\n\n~~~ text\n"])
@pytest.mark.parametrize("after", ["", '  File "/app/a.py", line 3, in f\n    return g()\n', '  File "/app/site-pac'])
def test_of_an_excerpt_without_the_heading_a_frame_that_raises_tells_a_traceback(before: str, after: str) -> None:
    [fact] = ending(before + "\n".join(RAISED) + "\n" + after)
    assert fact.data["function"] == ("f" if "a.py" in after else "call")


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(["step 12 loss 2.1", *RAISED]),
        "\n".join(["Stack (most recent call last):", *RAISED]),
        "\n".join([*RAISED, "step 13 loss 2.0"]),
        "```\n" + "\n".join(FRAMES),
        "    raise exc\n    return 1\n",
    ],
)
def test_what_is_no_such_excerpt_is_none(text: str) -> None:
    assert ending(text) == []


NOTEBOOK = [
    "-" * 75,
    "IndexError                                Traceback (most recent call last)",
    "Cell In[7], line 2",
    "      1 rows = []",
    "----> 2 rows[3]",
]


@pytest.mark.parametrize(
    "after", [[], ["", "File ~/zen/a.py:12, in f(x)", "     10 def f(x):"], ["```", "", "Any idea?"]]
)
def test_a_notebook_that_does_not_name_its_exception_again_is_cut(after: list[str]) -> None:
    [fact] = ending("\n".join([*NOTEBOOK, *after]))
    assert fact.span.line == 2


@pytest.mark.parametrize(
    "last", ["IndexError: list index out of range", "IndexError:", "zen.errors.IndexError: no", "IndexError"]
)
def test_a_notebook_that_does_is_not(last: str) -> None:
    assert ending("\n".join([*NOTEBOOK, "", last, "```", "Any idea?"])) == []
