"""Which job of a scheduler a log is of, where its path says so in a way of the site's own: `glue-31050_5.out` (`%x-%A_%a` for
sbatch), `5120/pretrain.out`. A number in a name is anything, until the accounting of Slurm names a job of that number.

A task of an array (`31050_5`) is a job of its own: it runs where and when it will, and waits for no other task. The components of
a heterogeneous job (`7702+0`, `7702+1`) are one job.

Where the accounting shows that a job ran on one node alone, all that its log tells is of that node.

Without an accounting, directories beside each other that are called after jobs (`J801/ J802/`, `job-801/`, `jobs/801/`) are those
of several jobs where two of them tell of the same rank and no two of the same host: their logs number their ranks alike.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise

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
#: A directory that is called after a job; a number alone only in one that is called so.
_OF_A_JOB = regex(
    r"(?:(?:slurm[-_.]?)?(?:job[-_.]?(?:id[-_.]?)?|jid[-_.]?|j)|slurm[-_.])(?P<job>(?!20\d\d$)\d{3,12})", re.IGNORECASE
)
_NUMBER = regex(r"(?P<job>(?!20\d\d$)\d{3,12})")


def in_their_jobs(collection: Collection) -> Collection:
    """The collection; logs of which the path names a job that the accounting knows are of that job, and where it ran on one node
    and nothing else says a host, at this."""
    rows = [fact for fact in collection.facts if fact.kind == "slurm-job" and not fact.data.get("step")]
    known = {str(row.data["job_id"]) for row in rows if _JOB.fullmatch(str(row.data["job_id"]))}
    if known:
        job_of = {s.id: job for s in collection.sources if s.kind == "log" and (job := _job(s, known)) is not None}
    else:
        job_of = _jobs_of_directories(collection)
    if not job_of:
        return collection
    node_of = _nodes(rows)
    sources = tuple(_source(source, job_of.get(source.id)) for source in collection.sources)
    return Collection(sources, tuple(_placed(fact, job_of.get(fact.source), node_of) for fact in collection.facts))


def _jobs_of_directories(collection: Collection) -> dict[str, str]:
    """The jobs of sources that lie in directories of several jobs."""
    named: dict[str, tuple[str, str]] = {}
    for source in collection.sources:
        if (found := _directory_of_job(source.path)) is not None:
            named[source.id] = found
    if len(set(named.values())) <= 1:
        return {}
    ranks: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    hosts: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    of_sources = ((source.id, source.place) for source in collection.sources)
    for of, place in (*of_sources, *((fact.source, fact.place) for fact in collection.facts)):
        if of in named:
            above, job = named[of]
            ranks[above][job] |= {place.rank} if place.rank is not None else set()
            hosts[above][job] |= {place.host} if place.host else set()
    apart = {above for above in ranks if _overlap(ranks[above].values()) and not _overlap(hosts[above].values())}
    return {of: job for of, (above, job) in named.items() if above in apart}


def _directory_of_job(path: str) -> tuple[str, str] | None:
    """The innermost directory in a path that is called after a job: what it lies in, and the job."""
    *directories, _ = path.replace("!", "/").split("/")
    for number, (above, name) in reversed(list(enumerate(pairwise(("", *directories))))):
        if found := _OF_A_JOB.fullmatch(name) or (_NUMBER.fullmatch(name) if above.casefold() == "jobs" else None):
            return "/".join(directories[:number]), found["job"]
    return None


def _overlap(sets: Iterable[set[int]] | Iterable[set[str]]) -> bool:
    """Whether two of these have something in common."""
    times = Counter(one for some in sets for one in some)
    return any(count > 1 for count in times.values())


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
