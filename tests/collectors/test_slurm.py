"""Slurm: jobs, steps and nodes from each of its outputs."""

from __future__ import annotations

import pytest
from cluster_captures import SACCT, SACCT_PARSABLE, SCONTROL_JOB, SCONTROL_NODE, SINFO
from hypothesis import given
from hypothesis import strategies as st
from snapshot_inputs import as_input, by_kind, facts_of, one, read

from neuron_doctor.collectors.slurm import COLLECTORS
from neuron_doctor.engine.facts import Clock, Place


def jobs(text: str) -> list[tuple[object, ...]]:
    names = ("job_id", "step", "state", "exitcode", "signal")
    return [tuple(f.data[name] for name in names) for f in by_kind(facts_of(text))["slurm-job"]]


def test_the_default_form_of_sacct_is_read_by_its_ruler() -> None:
    assert jobs(SACCT) == [
        ("8812", "", "FAILED", 1, 0),
        ("8812", "batch", "FAILED", 1, 0),
        ("8812", "0", "OUT_OF_MEMORY", 0, 125),
        ("8813", "", "CANCELLED", 0, 0),
    ]


def test_the_parsable_form_gives_who_cancelled_and_what_was_derived() -> None:
    facts = by_kind(facts_of(SACCT_PARSABLE))["slurm-job"]
    assert [f.data["state"] for f in facts] == ["NODE_FAIL", "CANCELLED", "TIMEOUT"]
    assert facts[0].data["derived_exitcode"] == 137
    assert facts[1].data["cancelled_by"] == "1001"
    assert facts[1].place.known() == {"job": "8812", "host": "trn-3"}
    assert facts[0].place.known() == {"job": "8812"}
    assert facts[0].instant is not None
    assert facts[0].instant.clock is Clock.HOST_LOCAL
    assert facts[2].instant is None


def test_scontrol_gives_reason_restarts_and_a_name_with_spaces() -> None:
    job = one(facts_of(SCONTROL_JOB), "slurm-job").data
    shown = {name: job[name] for name in ("name", "state", "reason", "restarts", "exitcode", "nodes")}
    assert shown == {
        "name": "train run 7",
        "state": "FAILED",
        "reason": "NonZeroExitCode",
        "restarts": 2,
        "exitcode": 9,
        "nodes": "trn-[0-15]",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SCONTROL_JOB, [("slurm", 9, 0, "FAILED")]),
        (SACCT_PARSABLE, [("slurm", 1, 0, "NODE_FAIL"), ("slurm", 0, 15, "CANCELLED")]),
    ],
)
def test_a_job_that_failed_with_a_code_is_a_failure_of_the_launcher(text: str, expected: list[object]) -> None:
    names = ("launcher", "exitcode", "signal", "message")
    assert [tuple(f.data[n] for n in names) for f in by_kind(facts_of(text))["launcher-failure"]] == expected


def test_several_jobs_of_scontrol_are_told_apart() -> None:
    text = SCONTROL_JOB + "\n" + SCONTROL_JOB.replace("8812", "8813").replace("FAILED", "COMPLETED")
    assert [row[:3] for row in jobs(text)] == [("8812", "", "FAILED"), ("8813", "", "COMPLETED")]


def test_a_node_out_of_service_gives_its_reason() -> None:
    fact = one(facts_of(SCONTROL_NODE), "node-condition")
    assert (fact.data["name"], fact.data["status"], fact.data["healthy"]) == ("trn-3", "DOWN+DRAIN", False)
    assert str(fact.data["reason"]).startswith("Action:Replace")


def test_a_node_in_service_gives_nothing() -> None:
    assert facts_of("NodeName=trn-3 Arch=x86_64\n   State=IDLE ThreadsPerCore=2\n") == []


def test_sinfo_gives_each_reason_with_its_nodes() -> None:
    facts = by_kind(facts_of(SINFO))["node-condition"]
    assert [(f.data["name"], f.data["reason"]) for f in facts] == [
        ("trn-3", "Action:Reboot"),
        ("trn-[7-8]", "Not responding"),
    ]
    assert facts[0].place.host == "trn-3"
    assert facts[1].place.host is None


def test_what_the_controller_says_does_not_hold_for_the_host_that_asked() -> None:
    assert one(facts_of(SCONTROL_JOB, place=Place(host="head-node")), "slurm-job").place.host is None


def test_a_row_without_a_state_is_a_problem() -> None:
    facts, inp = read(SACCT_PARSABLE + "8815|x||0:0||||\n")
    assert len(by_kind(facts)["slurm-job"]) == 3
    assert inp.problems["a row without a job or a state"].line == 5


@given(st.sampled_from([SACCT, SACCT_PARSABLE, SCONTROL_JOB, SCONTROL_NODE, SINFO]), st.data())
def test_any_cut_or_splice_of_an_output_is_read_without_an_exception(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    list(COLLECTORS[0].collect(as_input((text[:start] + text[end:]).encode())))


def test_the_batch_step_ends_as_its_job_does_and_names_no_host_for_the_reason() -> None:
    text = (
        "JobID|JobName|State|ExitCode|NodeList\n"
        "85840|gpt|OUT_OF_MEMORY|0:125|trn-[1-4]\n"
        "85840.batch|batch|OUT_OF_MEMORY|0:125|trn-1\n"
        "85840.0|gpt|OUT_OF_MEMORY|0:125|trn-3\n"
    )
    facts = by_kind(facts_of(text))["slurm-job"]
    assert [fact.place.host for fact in facts] == [None, None, "trn-3"]


def test_a_remark_below_the_table_is_neither_a_row_nor_a_reason_to_refuse_it() -> None:
    text = f'{SACCT.rstrip()}\n(full State of 8813: "CANCELLED by 1207")\n# asked on the head node\n'
    assert jobs(text) == jobs(SACCT)
    assert not read(text)[1].problems


def test_a_table_without_its_ruler_is_read_by_its_words() -> None:
    text = (
        "       JobID    JobName      State ExitCode     Elapsed   NodeList\n"
        "20211              vit  COMPLETED      0:0    00:50:02   hpc7-a,hpc7-b\n"
        "20211.0          train     FAILED      1:0    00:49:51   hpc7-a,hpc7-b\n"
    )
    jobs = [fact for fact in facts_of(text) if fact.kind == "slurm-job"]
    assert [(job.data["step"], job.data["state"], job.data["exitcode"]) for job in jobs] == [
        ("", "COMPLETED", 0),
        ("0", "FAILED", 1),
    ]


def test_in_a_table_whose_columns_are_off_by_a_place_no_word_is_cut() -> None:
    rows = """
JobID           JobName      State ExitCode   NodeList
------------ ---------- ---------- -------- ----------
4410           distill-s  PREEMPTED     0:15 inf-p[3-4]
4410.batch         batch  CANCELLED     0:15     inf-p3
""".lstrip()
    facts = by_kind(facts_of(rows))["slurm-job"]
    assert [(f.data["name"], f.data["signal"], f.data["nodes"]) for f in facts] == [
        ("distill-s", 15, "inf-p[3-4]"),
        ("batch", 15, "inf-p3"),
    ]


ROWS_OF_P = (
    "3021|bert-large|COMPLETED|0:0|02:49:31|q4-st-trn1-[1-2]\n3021.0|srun|COMPLETED|0:0|02:49:20|q4-st-trn1-[1-2]\n"
)
ROWS_OF_N = (
    "8812           train  trn1       ml        64     FAILED      1:0 \n"
    "8812.batch     batch             ml        64     FAILED      1:0 \n"
    "8812.0    python3 -m             ml        64 OUT_OF_ME+    0:125 \n"
    "8813           train  trn1       ml        64 CANCELLED+      0:0 \n"
)


def test_rows_of_sacct_without_a_title_are_known_by_their_cells() -> None:
    assert jobs(ROWS_OF_P) == [("3021", "", "COMPLETED", 0, 0), ("3021", "0", "COMPLETED", 0, 0)]
    assert jobs(ROWS_OF_N) == [
        ("8812", "", "FAILED", 1, 0),
        ("8812", "batch", "FAILED", 1, 0),
        ("8812", "0", "OUT_OF_MEMORY", 0, 125),
        ("8813", "", "CANCELLED", 0, 0),
    ]
    squeezed = "8812 train FAILED 1:0\n8813 train FAILED 0:9\n"
    assert jobs(squeezed) == [("8812", "", "FAILED", 1, 0), ("8813", "", "FAILED", 0, 9)]
    first = by_kind(facts_of(ROWS_OF_P))["slurm-job"][0].data
    assert (first["name"], first["elapsed_s"], first["nodes"]) == ("bert-large", 10171, "q4-st-trn1-[1-2]")


def test_a_row_without_a_title_says_who_cancelled_where_and_when_and_takes_no_partition_for_a_node() -> None:
    row = "77|train|trn1|CANCELLED by 1001|0:15|2025-01-06T11:00:00|2025-01-06T11:42:10|trn-3\n"
    fact = one(facts_of(row), "slurm-job")
    assert (fact.data["cancelled_by"], fact.place.known()) == ("1001", {"job": "77", "host": "trn-3"})
    assert fact.instant is not None
    assert one(facts_of("77|train|FAILED|1:0|trn1\n"), "slurm-job").place.known() == {"job": "77"}


@pytest.mark.parametrize(
    "text",
    [
        "12 COMPLETED at last\n",
        "3021|bert|COMPLETED|02:49:31\n",
        ROWS_OF_P + "Traceback (most recent call last):\n",
        "12 tests COMPLETED in 10:30\n3 tests FAILED in 10:31\n",
        "7 tests FAILED 3:12\n",
        "7 tests FAILED in 0:31\n",
        "2026 foo COMPLETED 12:00 \n",
    ],
)
def test_what_only_begins_like_a_row_of_sacct_is_left_to_others(text: str) -> None:
    assert not COLLECTORS[0].sniff(text.encode(), "x")


SEFF = (
    "Job ID: 3021\nCluster: trn\nUser/Group: ml/ml\nState: {}\nNodes: 2\nCores per node: 128\nCPU Utilized: 3-01:00:00\n"
    "CPU Efficiency: 31.20% of 10-00:00:00 core-walltime\nJob Wall-clock time: 02:49:31\nMemory Utilized: 312.10 GB\n"
)


def test_seff_tells_how_one_job_ended() -> None:
    assert jobs(SEFF.format("COMPLETED (exit code 0)")) == [("3021", "", "COMPLETED", 0, 0)]
    assert jobs(SEFF.format("FAILED (exit code 1)")) == [("3021", "", "FAILED", 1, 0)]
    assert not COLLECTORS[0].sniff(b"Job ID: 3021\nsubmitted\n", "x")
