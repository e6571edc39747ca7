"""Which job of a scheduler a log is of, where its path says so in a way of the site's own: `glue-31050_5.out` (`%x-%A_%a` for
sbatch), `5120/pretrain.out`. A number in a name is anything, until the accounting of Slurm names a job of that number.

A task of an array (`31050_5`) is a job of its own: it runs where and when it will, and waits for no other task. The components of
a heterogeneous job (`7702+0`, `7702+1`) are one job.

Where the accounting shows that a job ran on one node alone, all that its log tells is of that node.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from neuron_doctor.engine.facts import Collection, Fact, Place, Source
from neuron_doctor.engine.nodelists import nodes_of
from neuron_doctor.engine.proven import unique
from neuron_doctor.engine.regexes import regex

#: A job that the accounting shows: a number, or a task of an array.
_JOB = regex(r"\d{1,12}(?:_\d{1,7})?")
#: What may be one in a name. Of `31050_5` both may be meant. A year is none.
_NUMBERS = regex(r"(?<!\d)(?<!\d\.)(?P<job>(?!20\d\d(?!\d))\d{3,12})(?:_(?P<task>\d{1,7}))?(?![\d.]\d|\d)")
_DEEPEST = 2


def in_their_jobs(collection: Collection) -> Collection:
    """The collection; logs of which the path names a job that the accounting knows are of that job, and where it ran on one node
    and nothing else says a host, at this."""
    rows = [fact for fact in collection.facts if fact.kind == "slurm-job" and not fact.data.get("step")]
    known = {str(row.data["job_id"]) for row in rows if _JOB.fullmatch(str(row.data["job_id"]))}
    if not known:
        return collection
    job_of = {s.id: job for s in collection.sources if s.kind == "log" and (job := _job(s, known)) is not None}
    node_of = _nodes(rows)
    sources = tuple(_source(source, job_of.get(source.id)) for source in collection.sources)
    return Collection(sources, tuple(_placed(fact, job_of.get(fact.source), node_of) for fact in collection.facts))


def _job(source: Source, known: set[str]) -> str | None:
    """The job that the innermost part of the path names which names one; one that is known already, more precisely."""
    for part in reversed(source.path.replace("!", "/").split("/")[-_DEEPEST:]):
        named = {job for found in _NUMBERS.finditer(part) if (job := _known(found["job"], found["task"], known))}
        if len(named) == 1:
            [job] = named
            return job if source.place.job in (None, job, job.partition("_")[0]) else None
    return None


def _known(job: str, task: str | None, known: set[str]) -> str | None:
    """The task of the array, if that is known, else the job. `31050_0.log` of an array is of a task of which nothing is known."""
    if task is not None and f"{job}_{task}" in known:
        return f"{job}_{task}"
    return job if job in known else None


def _nodes(rows: Iterable[Fact]) -> Mapping[str, str]:
    """The node of each job that ran on one alone, every time."""
    told: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        told[str(row.data["job_id"])] |= set(nodes_of(str(row.data.get("nodes") or "")))
    return unique((job, next(iter(nodes))) for job, nodes in told.items() if len(nodes) == 1)


def _source(source: Source, job: str | None) -> Source:
    """A log in the directory of a host is not all of its job."""
    if job is None or source.place.host is not None:
        return source
    return replace(source, place=replace(source.place, job=job))


def _placed(fact: Fact, job: str | None, node_of: Mapping[str, str]) -> Fact:
    if job is None:
        return fact
    of_host = Place(host=node_of.get(job)) if fact.place.container is None else Place()
    return replace(fact, place=replace(fact.place, job=job).over(of_host))
