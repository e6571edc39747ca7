"""The one machine that a whole collection is of: its journal, or its `hostname`, names it, and what lies beside it (a listing of
devices, the kernel's log, lspci) was taken there, though nothing says so. A terminal whose prompts name it shows what was started
there, if no command starts anything elsewhere.

That holds only while nothing at all speaks of a further machine: no other name of a host, address or instance, no list of nodes
with more than one, no meeting place elsewhere, no job of several nodes, no more ranks than one host has room for, and nothing of
a cluster that moves pods about. Two captures of a kind that is taken once may be of two machines.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator

from neuron_doctor.collectors.known_hosts import known_hosts
from neuron_doctor.collectors.line_forms import host_of_logger
from neuron_doctor.collectors.prompts import PROMPT, SESSION
from neuron_doctor.collectors.sibling_hosts import HOST_KINDS
from neuron_doctor.engine.facts import Collection, Fact, Source
from neuron_doctor.engine.hostnames import EC2_NAME
from neuron_doctor.engine.regexes import regex

#: What tells of several nodes where its value is above one, or above zero, and of another machine where it names one.
_COUNTS = frozenset(
    {
        "NNODES",
        "PET_NNODES",
        "SLURM_NNODES",
        "SLURM_JOB_NUM_NODES",
        "GROUP_WORLD_SIZE",
        "AWS_BATCH_JOB_NUM_NODES",
        "NUM_NODES",
    }
)
_NUMBERS = frozenset(
    {"NODE_RANK", "PET_NODE_RANK", "GROUP_RANK", "MACHINE_RANK", "SLURM_NODEID", "AWS_BATCH_JOB_NODE_INDEX"}
)
_MEETING = frozenset({"MASTER_ADDR", "NEURON_RT_ROOT_COMM_ID", "COORDINATOR_ADDRESS", "PET_MASTER_ADDR"})
_HERE = regex(r"(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|0\.0\.0\.0)(?::\d{1,5})?")
#: How many ranks there are, and how many of them are on each host.
_SIZES = frozenset({"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"})
_SIZES_HERE = frozenset({"LOCAL_WORLD_SIZE", "NPROC_PER_NODE", "OMPI_COMM_WORLD_LOCAL_SIZE"})
_OF_CLUSTERS = frozenset({"kubectl"})
#: What only a job of several processes says, wherever its others are.
_OF_OTHERS = frozenset({"collective", "process-groups", "lost-host"})

#: Machines from which people work on others are called so.
_ENTRY = frozenset(
    [
        "login",
        "head",
        "bastion",
        "submit",
        "gateway",
        "gw",
        "jump",
        "jumphost",
        "frontend",
        "mgmt",
        "admin",
        "master",
        "controller",
        "laptop",
        "macbook",
        "desktop",
    ]
)
_BETWEEN_WORDS = regex(r"[-_.\d]+")
#: What a shell is told that runs on other machines, or may.
_STARTS_ELSEWHERE = regex(
    r"\b(?:ssh|scp|rsync|srun|sbatch|salloc|qsub|bsub|flux|kubectl|oc|helm|ansible\S{0,12}|pdsh|clush|pssh|parallel-ssh|ray|dask"
    r"|mpirun|mpiexec|orterun|sky|gcloud|aws (?:batch|sagemaker|ecs|eks)|submit\w{0,20}|launch\w{0,20})\b"
    r"|-hosts?\b|host_?(?:file|list)|-hf\b"
    # a script may ask others
    r"|(?:^|[\s;&|])(?:(?:nohup|sudo|time|exec|bash|sh|zsh|source|\.) )*(?:\./|[\w/.-]{0,200}\.sh\b)"
)
#: A file that is called after another machine may be of that one, or tell of it.
_EC2 = regex(rf"(?<![a-z\d]){EC2_NAME}(?![a-z\d])")
#: No machine has more cores to run ranks on.
_CORES = 128
#: Of these a machine has many files: two of them are of two machines only if they tell the same thing.
_IN_PIECES = frozenset({"sysfs", "modinfo", "clock-report"})


def lone_machine(collection: Collection, *, prompting: bool = False) -> str | None:
    """The name of the one machine, if it is known that there is no other. It may be one that only terminals name by `prompting`:
    what they say beside what their commands show is not known to be of it."""
    names = {name.partition(".")[0].casefold(): name for name in known_hosts(collection).values()}
    prompts = [fact for fact in collection.facts if fact.kind == "section"] if prompting else []
    own = set(_named_by_itself(collection))
    own |= {str(prompt.data["name"]) for prompt in prompts if prompt.data["form"] == PROMPT} - {""}
    if prompting and any(map(is_entry, own)):
        return None
    if len(names) != 1 or len(own) != 1 or any(source.kind in _OF_CLUSTERS for source in collection.sources):
        return None
    [name] = own
    others = any(_speaks_of_another(fact, name) for fact in collection.facts) or _is_crowded(collection.facts)
    others |= any(_STARTS_ELSEWHERE.search(str(prompt.data.get("command") or "")) for prompt in prompts)
    others |= any(found[0] != name.partition(".")[0] for s in collection.sources for found in _EC2.finditer(s.path))
    return None if others or _several(collection) or _is_of_another_instance(collection) else name


def is_entry(name: str) -> bool:
    """Whether a machine is called as those are from which people work on others."""
    return not _ENTRY.isdisjoint(_BETWEEN_WORDS.split(name.casefold()))


def taken_on_it(sources: Iterable[Source]) -> frozenset[str]:
    """The paths of the sources without a host that are of a kind which is made once on a host."""
    return frozenset(s.path for s in sources if s.kind in HOST_KINDS and not (s.place.host or s.place.container))


def _named_by_itself(collection: Collection) -> Iterator[str]:
    kinds = {source.path: source.kind for source in collection.sources}
    for fact in collection.facts:
        host = fact.place.host
        if host and (kinds.get(fact.span.path) == "hostname" or host_of_logger(fact.span.text) == host):
            yield host
        elif fact.kind == "section" and fact.data["form"] == SESSION:
            yield str(fact.data["name"])


def _speaks_of_another(fact: Fact, name: str) -> bool:
    place = fact.place
    if fact.kind in _OF_OTHERS or place.container is not None or len(place.ranks) > 1:
        return True
    if place.rank is not None and place.local_rank not in (None, place.rank):
        return True
    if fact.kind == "env":
        variable, value = str(fact.data.get("name")), str(fact.data.get("value") or "")
        if variable in _COUNTS | _NUMBERS:
            return value not in ("", "0", "1" if variable in _COUNTS else "0")
        return variable in _MEETING and not _HERE.fullmatch(value) and value.partition(":")[0] != name
    if fact.kind == "launch":
        return fact.data["nodes"] != 1
    return fact.kind == "slurm-job" and not fact.data.get("nodes")


def _is_crowded(facts: Iterable[Fact]) -> bool:
    """Whether there are more ranks than one machine has room for: those that a job says it has on each, or the cores."""
    ranks, room = 0, _CORES
    for fact in facts:
        name, size = fact.data.get("name"), _number(fact.data.get("value" if fact.kind == "env" else "size"))
        if fact.kind == "world" or (fact.kind == "env" and name in _SIZES):
            ranks = max(ranks, size)
        elif fact.kind == "env" and name in _SIZES_HERE and size:
            room = min(room, size)
        elif fact.kind == "device-count" and (cores := _cores(fact)):
            room = min(room, cores)
        if fact.place.rank is not None:
            ranks = max(ranks, fact.place.rank + 1)
    return ranks > room


def _cores(fact: Fact) -> int:
    """How many cores the machine has, physical ones, with those of devices that it should have; 0 where that is not known."""
    shown, wanted, cores, lnc = (_number(fact.data.get(name)) for name in ("neuron", "expected_neuron", "cores", "lnc"))
    return cores // shown * max(shown, wanted) * max(lnc, 1) if shown else 0


def _number(value: object) -> int:
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() else 0


def _several(collection: Collection) -> bool:
    """Whether two captures of one kind are of different machines, for all that is known."""
    kinds = {s.path: s.kind for s in collection.sources if s.path in taken_on_it(collection.sources)}
    told: dict[Hashable, set[str]] = defaultdict(set)
    for fact in collection.facts:
        if kinds.get(fact.span.path) in _IN_PIECES:
            named = fact.data.get("name") or fact.data.get("component")
            told[fact.kind, named, fact.place.device, fact.place.core].add(fact.span.path)
    return any(len(paths) > 1 for paths in told.values()) or any(
        count > 1 for kind, count in Counter(kinds.values()).items() if kind not in _IN_PIECES
    )


def _is_of_another_instance(collection: Collection) -> bool:
    """Whether an instance is spoken of that may be another machine. Of one alone a listing taken on the machine may say that it
    is the machine, or a record that has its name too."""
    places = [source.place for source in collection.sources] + [fact.place for fact in collection.facts]
    instances = {place.instance_id for place in places if place.instance_id}
    here = taken_on_it(collection.sources)
    own = {f.place.instance_id for f in collection.facts if f.place.host or f.span.path in here}
    return len(instances) > 1 or not instances <= own
