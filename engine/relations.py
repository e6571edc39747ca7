"""How two places relate: yes, no, or unknown where either is not precise enough."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from neuron_doctor.engine.expressions import kleene
from neuron_doctor.engine.facts import Place, pod_of, ranks_of
from neuron_doctor.engine.regexes import regex

#: A job of Slurm, or the task of an array: `31050`, `31050_5`.
_NUMBERED = regex(r"(?P<job>\d{1,18})(?:_(?P<task>\d{1,9}))?")


class Located(Protocol):
    """What has a place and may stand on several hosts."""

    @property
    def place(self) -> Place:
        """What all of it agrees on."""

    @property
    def hosts(self) -> tuple[str, ...]:
        """Every host that it stands on."""


def _equal(a: object, b: object) -> bool | None:
    return None if a is None or b is None else a == b


def _attempt(effect: Located, cause: Located) -> bool | None:
    return _equal(effect.place.attempt, cause.place.attempt)


def are_two_jobs(one: str | None, other: str | None) -> bool:
    """Whether these are numbers that a scheduler gave, and to two jobs: names may be two names of one job. Tasks of an array are
    jobs of their own; the number of an array, and numbers after it, may mean any of its tasks."""
    a, b = (_NUMBERED.fullmatch(job or "") for job in (one, other))
    if a is None or b is None or a[0] == b[0]:
        return False
    if (a["task"] is None) == (b["task"] is None):
        return True
    array, job = (a, b) if a["task"] is not None else (b, a)
    return int(job["job"]) < int(array["job"])


def _other_job(effect: Located, cause: Located) -> bool:
    return are_two_jobs(effect.place.job, cause.place.job)


def _job(effect: Located, cause: Located) -> bool | None:
    return _attempt(effect, cause) is not False and not _other_job(effect, cause)


def _host(effect: Located, cause: Located) -> bool | None:
    """A pod whose node is not known is on one host, too; an instance of which no name is known is one by its id."""
    if not effect.hosts or not cause.hosts:
        same = _equal(effect.place.instance_id, cause.place.instance_id)
        if not _job(effect, cause) or same is False:
            return False
        if same:
            return True
        return True if _same_pod(effect, cause) else None
    return bool(set(effect.hosts) & set(cause.hosts)) and bool(_job(effect, cause))


def _device(effect: Located, cause: Located) -> bool | None:
    return kleene("and", [_host(effect, cause), _equal(effect.place.device, cause.place.device)])


def _core(effect: Located, cause: Located) -> bool | None:
    return kleene("and", [_device(effect, cause), _equal(effect.place.core, cause.place.core)])


def _ranks(located: Located) -> set[int]:
    return set(ranks_of(located.place))


def _rank(effect: Located, cause: Located) -> bool | None:
    a, b = _ranks(effect), _ranks(cause)
    return None if not a or not b else bool(a & b) and bool(_job(effect, cause))


def _same_pod(effect: Located, cause: Located) -> bool:
    pod = pod_of(effect.place.container)
    return bool(pod) and pod == pod_of(cause.place.container)


def _other_pod(effect: Located, cause: Located) -> bool:
    """Whether each is in a pod, and in another: on one host or two, their processes are not the same."""
    a, b = (located.place.container for located in (effect, cause))
    return a is not None and b is not None and pod_of(a) != pod_of(b)


def _process(effect: Located, cause: Located) -> bool | None:
    host = _host(effect, cause)
    if host is False or _other_pod(effect, cause):
        return False
    same_rank = _rank(effect, cause)
    if same_rank is not None:
        return same_rank
    same_number = _equal(effect.place.pid, cause.place.pid)
    if same_number is False and (effect.place.container is None) != (cause.place.container is None):
        same_number = None  # a pod counts its processes itself, unless it shares the numbers of its node
    return kleene("and", [host, same_number])


def _group(effect: Located, cause: Located) -> bool | None:
    return kleene("and", [_job(effect, cause), _equal(effect.place.group, cause.place.group)])


#: relation -> is the effect in this relation to the cause
RELATIONS: Mapping[str, Callable[[Located, Located], bool | None]] = {
    "same-core": _core,
    "same-device": _device,
    "same-process": _process,
    "same-rank": _rank,
    "same-host": _host,
    "same-group": _group,
    "job": _job,
}
#: Those that tie what happens on different hosts.
ACROSS_HOSTS = frozenset({"same-group", "job"})
