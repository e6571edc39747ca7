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


def jobs(*told: tuple[str, str | None, int | None]) -> list[str | None]:
    """The jobs of the facts, each of which is said in a file, of a host and of a rank."""
    facts = tuple(replace(hit("x", source=path, host=host, rank=rank), span=Span(path)) for path, host, rank in told)
    sources = tuple(Source(path, path, "log") for path in dict.fromkeys(path for path, *_ in told))
    return [fact.place.job for fact in in_their_jobs(Collection(sources, facts)).facts]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("b.tar.gz!b/J801/n3.log", "b.tar.gz!b/J802/n8.log"),
        ("job-801/n3.log", "job-802/n8.log"),
        ("job_id_801/logs/n3.log", "job_id_802/logs/n8.log"),
        ("slurm-801/n3.log", "slurm-802/n8.log"),
        ("x/jobs/801/n3.log", "x/jobs/802/n8.log"),
        ("/scratch/job-5150/J801/n3.log", "/scratch/job-5150/J802/n8.log"),
    ],
)
def test_directories_called_after_jobs_that_tell_of_one_rank_on_two_hosts_are_of_two_jobs(one: str, other: str) -> None:
    assert jobs((one, "n3", 0), (one, None, None), (other, "n8", 0), (other, "n8", 5)) == ["801", "801", "802", "802"]
    assert jobs((one, None, 0), (other, "n8", 0)) == ["801", "802"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("run-801/n3.log", "run-802/n8.log"),
        ("801/n3.log", "802/n8.log"),
        ("jobs/1/n3.log", "jobs/2/n8.log"),
        ("J2025/n3.log", "J2026/n8.log"),
        ("a/J801/n3.log", "b/J802/n8.log"),
        ("J801/n3.log", "J801/n8.log"),
    ],
)
def test_directories_with_other_names_or_elsewhere_are_of_no_jobs(one: str, other: str) -> None:
    assert jobs((one, "n3", 0), (other, "n8", 0)) == [None, None]


def test_directories_of_one_job_or_of_one_that_ran_again_on_its_hosts_stay_together() -> None:
    one, other = "J801/a.log", "J802/a.log"
    assert jobs((one, "n3", 0), (other, "n8", 8)) == [None, None]
    assert jobs((one, "n3", 0), (other, "n8", 0), (other, "n3", 1)) == [None, None, None]
