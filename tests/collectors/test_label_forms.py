"""Labels before a line that mean nothing alone, and a rank that says that it speaks."""

from __future__ import annotations

import pytest

from neuron_doctor.collectors.prefixes import peel
from neuron_doctor.engine.facts import Clock, Instant


@pytest.mark.parametrize("label", ["[n1:7] ", "[n1] ", "[n1] [7] ", "[r07] "])
def test_a_label_that_means_nothing_alone_is_taken_off_before_what_begins_like_a_line(label: str) -> None:
    [record] = peel(f"{label}2026-05-01 12:00:00,120 INFO step 7").records
    assert record.instant is not None
    assert (record.place.host, record.place.rank, record.place.pid) == (None, None, None)
    assert peel(f"{label}hello").records[0].start == 0


@pytest.mark.parametrize("label", ["rank 14: ", "rank14: ", "Rank=14: ", "[rank 14] ", "[rank:14]: "])
def test_a_rank_that_speaks_says_its_number(label: str) -> None:
    raw = f"Oct 19 13:20:00 vega-06 pre[2114]: {label}RuntimeError: nrt_execute: status=1205"
    assert peel(raw).records[0].place.known() == {"host": "vega-06", "pid": 2114, "rank": 14}


def test_a_rank_that_is_spoken_of_does_not_speak() -> None:
    assert peel("rank 14: not heard of for 30 s").records[0].place.rank is None


OF_STREAM = "queue-a-st-trn2-2.i-0aa21f6633de09b18.slurmd"


def test_a_stream_of_parallelcluster_names_host_and_instance_behind_the_time_of_cloudwatch() -> None:
    (record,) = peel(f"2026-08-24T23:51:08.000000+00:00 {OF_STREAM} error: Node differs").records
    assert (record.place.host, record.place.instance_id) == ("queue-a-st-trn2-2", "i-0aa21f6633de09b18")


@pytest.mark.parametrize("gap", [" ", "\t"])
@pytest.mark.parametrize(
    ("stream", "place"),
    [
        ("bloom-ft-2026-01-19-22-40-11-339/algo-2-1768862800", {"host": "algo-2"}),
        ("2b-sft/algo-12-1768862800123", {"host": "algo-12"}),
        (f"olmo/default/{'0a' * 16}", {"container": f"olmo/default/{'0a' * 16}"}),
        ("bloom/algo-2-notes", {}),
        ("olmo/default/latest", {}),
    ],
)
def test_a_stream_of_sagemaker_or_batch_says_where_behind_the_time(gap: str, stream: str, place: object) -> None:
    (record,) = peel(f"2026-01-19T23:14:02.000Z{gap}{stream}{gap}OSError: no space").records
    assert record.place.known() == place


@pytest.mark.parametrize(
    "line",
    [
        f"{OF_STREAM} error: Node differs",  # somebody speaks of it
        "2026-08-24T23:51:08.000000+00:00 run.7.i-0aa21f6633de09b18.slurmd error: Node differs",
        "2026-08-24T23:51:08.000000+00:00 i-0aa21f6633de09b18.slurmd error: Node differs",
        "2026-08-24T23:51:08.000000+00:00 queue.i-0aa21f66.internal: no such host",
    ],
)
def test_what_resembles_such_a_name_names_nobody(line: str) -> None:
    assert {record.place.host for record in peel(line).records} == {None}


def test_an_event_of_htcondor_begins_with_its_number_and_job() -> None:
    [record] = peel("005 (412.000.000) 2026-11-24 21:47:02 Job terminated.").records
    assert record.start == len("005 (412.000.000) 2026-11-24 21:47:02 ")
    assert record.instant == Instant(1795556822_000000_000, Clock.HOST_LOCAL, 10**9)


@pytest.mark.parametrize(
    ("raw", "host", "pid"),
    [
        ("Mar 14 02:11:40 merlin trainer[33]: x", "merlin", 33),
        ("2026-03-14T02:11:40.123456+00:00 merlin trainer[33]: x", "merlin", 33),
        ("2026-03-14 02:11:40 merlin-a trainer[33]: x", None, 33),
        ("2026-03-14 02:11:40 merlin3 trainer[33]: x", "merlin3", 33),
        ("2026-03-14T02:11:40Z worker-3 trainer[33]: x", "worker-3", 33),
        ("Mar 14 02:11:40 worker kernel: x", "worker", None),
        ("Mar 14 02:11:40 worker trainer[33]: x", None, 33),
        ("Mar 14 02:11:40 Error trainer: x", None, None),
        ("2026-03-14T02:11:40Z main python[33]: x", None, 33),
        ("2026-03-14 02:11:40,123 merlin main[33]: x", None, 33),
        ("2026-03-14 02:11:40,123 worker0 main[33]: x", None, 33),
        ("2026-03-14 02:11:40,123 llama2 train[33]: x", None, 33),
        ("2026-03-14T02:11:40,123456+0000 merlin3 trainer[33]: x", "merlin3", 33),
        ("Mar 14 02:11:40 merlin rank[3]: loss 2.3", None, None),
        ("2026-03-14T02:11:40Z WARNING: kernel: x", None, None),
    ],
)
def test_a_word_before_a_program_is_a_host_only_where_no_program_writes_so(
    raw: str, host: str | None, pid: int | None
) -> None:
    (record,) = peel(raw).records
    assert (record.place.host, record.place.pid) == (host, pid)


@pytest.mark.parametrize(
    "said", ["INFO 10-02 09:18:30 [loggers.py:127] Engine 000: ok", "ERROR: it failed", "INFO:     up"]
)
def test_the_levels_of_programs_begin_lines_behind_the_labels_of_compose(said: str) -> None:
    assert peel(f"prefill-1  | {said}").records[-1].place.container == "prefill-1"


def test_bhist_tells_the_time_before_what_it_tells() -> None:
    (record,) = peel("Wed Apr 29 23:41:55: Done successfully. The CPU time used is 611022.0 seconds;").records
    assert record.instant is not None
    assert record.instant.clock is Clock.YEARLESS
