"""Slurm's queue in each of its forms."""

from __future__ import annotations

import pytest
from snapshot_inputs import as_input, by_kind, facts_of

from neuron_doctor.collectors.slurm import COLLECTORS

DEFAULT = """\
             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)
              6131      trn1  mix8x7b     lena  R    2:09:44      8 f[1-8]
              6140      trn1 big run      max PD       0:00     16 (ReqNodeNotAvail, UnavailableNodes:f[9-12])
         6132_[3-9]      inf2  tokenise     kim CG 1-00:00:05      1 g1
"""
LONG = """\
Thu Feb 19 11:20:00 2026
             JOBID PARTITION     NAME     USER    STATE       TIME TIME_LIMI  NODES NODELIST(REASON)
              6131      trn1  mix8x7b     lena  RUNNING    2:09:44 3-00:00:00      8 f[1-8]
"""
OWN = (
    "JOBID|STATE|NAME|NODELIST|REASON|TIME_LEFT\n6131|RUNNING|my run|f[1-8]|None|1:00\n6140|PENDING|b||Priority|2:00\n"
)


def jobs(text: str) -> list[tuple[object, ...]]:
    assert COLLECTORS[0].sniff(text.encode(), "squeue.txt")
    names = ("job_id", "name", "state", "nodes", "reason", "elapsed_s")
    return [tuple(f.data[name] for name in names) for f in by_kind(facts_of(text))["slurm-job"]]


def test_the_default_form() -> None:
    assert jobs(DEFAULT) == [
        ("6131", "mix8x7b", "RUNNING", "f[1-8]", "", 7784),
        ("6140", "big run", "PENDING", "", "ReqNodeNotAvail, UnavailableNodes:f[9-12]", 0),
        ("6132_[3-9]", "tokenise", "COMPLETING", "g1", "", 86405),
    ]


def test_the_long_form_below_its_date() -> None:
    assert jobs(LONG) == [("6131", "mix8x7b", "RUNNING", "f[1-8]", "", 7784)]


def test_a_form_of_ones_own_with_bars() -> None:
    assert jobs(OWN) == [
        ("6131", "my run", "RUNNING", "f[1-8]", "", -1),
        ("6140", "b", "PENDING", "", "Priority", -1),
    ]


def test_below_a_prompt_and_cut_off() -> None:
    assert len(jobs("$ squeue\n" + DEFAULT)) == 3
    assert len(jobs(DEFAULT[:-6])) == 2
    assert jobs(DEFAULT.splitlines()[0] + "\n") == []


def test_what_runs_or_waits_has_not_failed() -> None:
    assert "launcher-failure" not in by_kind(facts_of(DEFAULT))


@pytest.mark.parametrize(
    "text",
    [
        "JOBID STATE\nthe job has failed\n",
        DEFAULT + "2026-02-19 11:20:00 INFO step 5 loss 2.1\n",
        "Thu Feb 19 11:20:00 2026\nsomething else\n",
        "JOBID PARTITION\n6131 trn1\n",
    ],
)
def test_other_texts_are_no_queue(text: str) -> None:
    assert not COLLECTORS[0].sniff(text.encode(), "squeue.txt")


def test_a_damaged_table_does_no_harm() -> None:
    head = DEFAULT.splitlines()[0]
    for row in ("", " " * 3000, "6131 " * 400, "6131\x00", "\ufffd"):
        list(COLLECTORS[0].collect(as_input(f"{head}\n{row}\n".encode())))
