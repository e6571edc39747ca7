"""The one machine that a whole collection is of: its journal, or its `hostname`, names it, and what lies beside it (a listing of
devices, the kernel's log, lspci) was taken there, though nothing says so.

That holds only while nothing at all speaks of a further machine: no other name of a host, address or instance, no list of nodes
with more than one, no meeting place elsewhere, no job of several nodes, no ranks of more than one host, and nothing of a cluster
that moves pods about. Two logs of kernels, or two of another kind that is taken once, may be of two machines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from neuron_doctor.collectors.known_hosts import known_hosts
from neuron_doctor.collectors.sibling_hosts import HOST_KINDS
from neuron_doctor.engine.facts import Collection, Fact, Source
from neuron_doctor.engine.regexes import regex

#: The head of a line as the system's logger writes it: time, host, program.
_OF_LOGGER = regex(
    r"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S{0,16}) (?P<host>[\w.-]{1,255}) "
    r"[^\s:\[\]]{1,80}(?:\[\d{1,10}\])?: "
)
#: What tells of several nodes where its value is above one, and of another machine where it names one.
_COUNTS = frozenset(
    {"NNODES", "SLURM_NNODES", "SLURM_JOB_NUM_NODES", "GROUP_WORLD_SIZE", "AWS_BATCH_JOB_NUM_NODES", "NUM_NODES"}
)
_MEETING = frozenset({"MASTER_ADDR", "NEURON_RT_ROOT_COMM_ID", "COORDINATOR_ADDRESS", "PET_MASTER_ADDR"})
_HERE = regex(r"(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|0\.0\.0\.0)(?::\d{1,5})?")
_OF_CLUSTERS = frozenset({"kubectl"})
#: What only a job of several processes says, wherever its others are.
_OF_OTHERS = frozenset({"collective", "process-groups", "lost-host"})


#: No machine has more cores to run ranks on.
_CORES = 128


def lone_machine(collection: Collection) -> str | None:
    """The name of the one machine, if it is known that there is no other."""
    names = {name.partition(".")[0].casefold(): name for name in known_hosts(collection).values()}
    own = set(_named_by_itself(collection))
    if len(names) != 1 or len(own) != 1 or any(source.kind in _OF_CLUSTERS for source in collection.sources):
        return None
    [name] = own
    others = any(_speaks_of_another(fact, name) for fact in collection.facts) or _several(collection.sources)
    instances = {fact.place.instance_id for fact in collection.facts} | {
        s.place.instance_id for s in collection.sources
    }
    return None if others or len(instances - {None}) > 1 else name


def taken_on_it(sources: Iterable[Source]) -> frozenset[str]:
    """The paths of the sources without a host that are of a kind which is made once on a host."""
    return frozenset(s.path for s in sources if s.kind in HOST_KINDS and not (s.place.host or s.place.container))


def _named_by_itself(collection: Collection) -> Iterator[str]:
    kinds = {source.path: source.kind for source in collection.sources}
    for fact in collection.facts:
        if fact.place.host and (
            kinds.get(fact.span.path) == "hostname"
            or ((found := _OF_LOGGER.match(fact.span.text)) and found["host"] == fact.place.host)
        ):
            yield fact.place.host


def _speaks_of_another(fact: Fact, name: str) -> bool:
    place = fact.place
    if fact.kind in _OF_OTHERS or place.container is not None or len(place.ranks) > 1:
        return True
    if place.rank is not None and (place.rank >= _CORES or place.local_rank not in (None, place.rank)):
        return True
    if fact.kind == "env":
        variable, value = str(fact.data.get("name")), str(fact.data.get("value") or "")
        if variable in _COUNTS:
            return value not in ("", "0", "1")
        return variable in _MEETING and not _HERE.fullmatch(value) and value.partition(":")[0] != name
    return fact.kind == "slurm-job" and not fact.data.get("nodes")


def _several(sources: Sequence[Source]) -> bool:
    """Whether two captures of one kind are of different machines, for all that is known."""
    kernels = Counter(source.kind for source in sources if source.path in taken_on_it(sources))
    return any(count > 1 for kind, count in kernels.items() if kind in ("kernel", "hostname", "uname", "lspci"))
