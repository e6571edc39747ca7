"""The job of a log, by a number in its path that the accounting knows; and its host, where the job ran on one node."""

from __future__ import annotations

import pytest
from builders import hit
from msgspec.structs import replace

from neuron_doctor.engine.facts import Collection, Fact, Place, Source, Span
from neuron_doctor.engine.jobs_of_logs import in_their_jobs


def row(job: str, nodes: str = "", step: str = "") -> Fact:
    data = {"job_id": job, "step": step, "nodes": nodes, "state": "FAILED"}
    return Fact("slurm-job", data, Place(job=job), Span("sacct.txt"), "sacct.txt")


def placed(path: str, *rows: Fact, place: Place = Place(), **fact: object) -> tuple[str | None, str | None]:  # noqa: B008
    told = replace(hit("x", source=path, **fact), span=Span(path))  # type: ignore[arg-type]
    found = in_their_jobs(Collection((Source(path, path, "log", place=place),), (told, *rows)))
    return found.facts[0].place.job, found.facts[0].place.host


@pytest.mark.parametrize("path", ["out/glue-31050_5.out", "31050_5/train.log", "glue.31050_5.err"])
def test_a_task_of_an_array_that_ran_on_one_node_is_a_job_at_that_node(path: str) -> None:
    assert placed(path, row("31050_5", "avocet-26"), row("31050_2", "avocet-23")) == ("31050_5", "avocet-26")


def test_a_job_of_several_nodes_is_at_none_of_them_and_neither_is_one_that_moved() -> None:
    assert placed("5120/run.out", row("5120", "q-[03,12]"), row("5120", "q-03", step="batch")) == ("5120", None)
    assert placed("5120/run.out", row("5120", "q-03"), row("5120", "q-12")) == ("5120", None)


def test_what_says_its_host_stays_there() -> None:
    assert placed("5120/run.out", row("5120", "q-03"), host="q-12") == ("5120", "q-12")


@pytest.mark.parametrize(
    "path",
    ["run-5121.out", "run-15120.out", "run-5120.25.out", "5120-5133.txt", "10.0.5120.7/x.log", "5120/a/b/run.out"],
)
def test_other_numbers_and_two_of_them_name_no_job(path: str) -> None:
    assert placed(path, row("5120", "q-03"), row("5133", "q-03")) == (None, None)


def test_a_year_is_no_job() -> None:
    assert placed("2026/run-2026.out", row("2026", "q-03")) == (None, None)


def test_without_accounting_a_number_is_none() -> None:
    assert placed("run-5120.out") == (None, None)


def test_the_components_of_a_heterogeneous_job_are_one_job_and_a_log_of_both_is_at_neither() -> None:
    assert placed("run-7702.out", row("7702+0", "g[07-08]"), row("7702+1", "g31")) == (None, None)


def test_what_slurm_calls_its_output_says_the_job_and_the_accounting_which_task() -> None:
    both = row("5150_1", "q-1"), row("5150_2", "q-2")
    assert placed("slurm-5150_2.out", *both, place=Place(job="5150"), job="5150") == ("5150_2", "q-2")
    assert placed("slurm-5150_3.out", *both, place=Place(job="5150"), job="5150") == ("5150", None)
    assert placed("slurm-5150_2.out", *both, place=Place(job="77"), job="77") == ("77", None)


def test_a_log_in_the_directory_of_a_host_is_not_all_of_its_job() -> None:
    log = Source("a", "q-1/run-5120.out", "log", place=Place(host="q-1"))
    [source] = in_their_jobs(Collection((log,), (row("5120", "q-[1-2]"),))).sources
    assert source.place == Place(host="q-1")
