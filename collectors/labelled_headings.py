"""The hosts of tasks that each begin with the name of their host as a heading, behind the number by which srun and mpirun tell
them apart: `3: ### trn-07`, `[1,3]<stdout>:=== trn-07 ===`. What stands behind the same number is of that host, wherever in the
log: lines of several tasks come in any order.

Every number must stand with one host, and every host with one number, or the headings are of something else: a task may ask
several hosts in turn. What is listed of a device there (no process says it) is of the host, and of no rank.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.collectors.hints import has_shape_of_host
from neuron_doctor.collectors.sections import KIND
from neuron_doctor.engine.facts import Fact, Place
from neuron_doctor.engine.regexes import regex

_LABEL = regex(r" {0,6}(?P<srun>\d{1,6}): |\[\d{1,5},(?P<mpirun>\d{1,6})\]<std(?:out|err)>:")


def headed_by_labels(facts: Sequence[Fact], known: Mapping[str, str]) -> dict[int, Place]:
    """The places of those records of one log without a host, by their numbers, whose label is that of such a heading. `known` has
    the names of hosts by how they read in lower case."""
    hosts = _hosts((fact for fact in facts if fact.kind == KIND), known)
    found: dict[int, Place] = {}
    for number, fact in enumerate(facts) if hosts else ():
        task = _task(fact)
        if task in hosts and fact.kind != KIND and fact.place.host is None and fact.place.container is None:
            place = replace(fact.place, host=hosts[task])
            listed = place.device is not None and place.pid is None and place.rank == task
            found[number] = replace(place, rank=None) if listed else place
    return found


def _hosts(headings: Iterable[Fact], known: Mapping[str, str]) -> dict[int, str]:
    """The host of each task, nothing where one is not sure."""
    named: dict[int, set[str]] = defaultdict(set)
    for heading in headings:
        task, name = _task(heading), str(heading.data["name"])
        if task is not None and (name.casefold() in known or has_shape_of_host(name.casefold())):
            named[task].add(known.get(name.casefold(), name))
    hosts = {name for names in named.values() for name in names}
    sure = all(len(names) == 1 for names in named.values()) and 1 < len(named) == len(hosts)
    return {task: names.pop() for task, names in named.items()} if sure else {}


def _task(fact: Fact) -> int | None:
    found = _LABEL.match(fact.span.text)
    return int(found["srun"] or found["mpirun"]) if found else None
