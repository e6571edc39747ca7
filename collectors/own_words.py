"""The host of a stream that has no name of its own, by what it says of itself: `HOSTNAME=ip-10-0-3-7` in its first lines.

CloudWatch calls a stream by a hash, and what a user saved it as need not say more. The entry script of a container or a
batch script prints where it runs, as environment (`env`, `set -x`) or in words; an infodump says it too, but of one process.
The log of a whole job says so as well, of the host of its launcher alone. So a source is at the host that it names only if

- it names one host, and no infodump in it names another one, unless that shows the instance after which the host is called
  (`hyperpod-i-0abc...`): a pod has a name of its own; it is no pod's, and not the output of a whole Slurm job;
- torchrun names it where it reports how its own workers ended; or a rank is said to be on it, or it is the label before the
  settings of one (`[heron2] SLURM_PROCID=42`), and known for a host; or the name is known for a host or has the shape of one
  (a container's id and a pod's name are none), or the variable is one that never names anything else (`SLURMD_NODENAME`); or
  the program calls it a host among its own settings (`host=hera node_rank=2 world=128`), the word is none that a container or
  a part of a program is called by, and there are no pods; whoever saved the log may have said it in its first line (`# node:
  ip-10-0-3-7`, or a heading, `##### trn-w2 #####`, and no other host heads anything below); the prompts of a terminal do,
  where all that stands below them may be what their own host showed;
- sources that name another host ran at the same time, or did so in each attempt (or tell all of ranks in it), tell of no rank
  that it tells of, and two hosts at least tell of processes of their own. What one `mpirun` says for all has no such neighbour.

Where the path has said a host already, what the source says is another name of it (`own_words_at_hosts`); so is what all the
infodumps in it say, which one process of the host writes.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection as Sized
from collections.abc import Iterable, Iterator, Mapping, Sequence

from neuron_doctor.collectors.hints import has_shape_of_host, is_name_of_ec2
from neuron_doctor.collectors.known_hosts import HEADING as HOST_HEADING
from neuron_doctor.collectors.no_host_words import GROUPINGS, NO_HOST_OF_LINES, may_name_a_host, words_of
from neuron_doctor.collectors.prompts import ECHO, PROMPT
from neuron_doctor.collectors.sections import KIND as HEADING
from neuron_doctor.collectors.sections import is_of_log
from neuron_doctor.collectors.shown_machines import Shows, shown_by
from neuron_doctor.collectors.sibling_hosts import Telling, beside_each_other, share_an_attempt, telling
from neuron_doctor.collectors.text import is_of_kernel
from neuron_doctor.engine.facts import Fact, Source
from neuron_doctor.engine.hostnames import instance_in
from neuron_doctor.engine.pod_names import SUFFIX
from neuron_doctor.engine.regexes import regex

#: Variables whose value is the name of the host itself, wherever they stand.
_NODE_VARIABLES = frozenset({"SLURMD_NODENAME", "NODE_NAME", "MY_NODE_NAME", "K8S_NODE_NAME", "SM_CURRENT_HOST"})
#: All by which a source says where it runs.
_OWN_VARIABLES = _NODE_VARIABLES | {"HOSTNAME", "HOST", HOST_HEADING}
#: What the program calls its host, beside its rank or process (the pattern `settings-own-host`).
_SETTING = "HOST"
#: Ids of containers, and what Kubernetes gives a pod of a deployment or a job for an end.
_OF_CONTAINER = regex(rf"[\da-f]{{8,64}}|.{{1,200}}-{SUFFIX}|.{{1,200}}-[a-z\d]{{8,10}}-[a-z\d]{{4,6}}", re.ASCII)


def hosts_in_own_words(
    sources: Iterable[Source], facts: Mapping[str, Sequence[Fact]], known: Sized[str]
) -> dict[str, str]:
    """The host of each path whose source says where it runs, by the rules above. `known` are names of hosts in lower case."""
    sources = list(sources)
    pods = any(source.place.container or source.kind == "kubectl" for source in sources)
    said = {
        source.path: name
        for source in sources
        if not source.place.container
        and not source.place.job
        and (name := _own_host(facts.get(source.path, ()), known, pods=pods)) is not None
    }
    # a node that was replaced between two attempts was never there at the same time as the one after it
    attempts: dict[int | None, dict[str, Telling]] = defaultdict(lambda: defaultdict(Telling))
    with_processes = set()
    for source in sources:
        if source.path in said:
            told = facts.get(source.path, ())
            attempts[source.place.attempt][said[source.path].casefold()].add(telling(source, told, None))
            with_processes |= {said[source.path].casefold() for fact in told if _is_of_a_process(fact)}
    proven = all(
        beside_each_other(told) or (attempt is not None and share_an_attempt(told))
        for attempt, by_host in attempts.items()
        for told in [list(by_host.values())]
    )
    return said if proven and len(with_processes) > 1 else {}


def own_words_at_hosts(
    sources: Iterable[Source], facts: Mapping[str, Sequence[Fact]]
) -> Iterator[tuple[str, str, Fact]]:
    """Each source that is at a host by its path and names one of another name for its own: both names, and where it says so."""
    sources = list(sources)
    pods = any(source.place.container or source.kind == "kubectl" for source in sources)
    for source in sources:
        host, told = source.place.host, facts.get(source.path, ())
        if not host or source.place.container:
            continue
        name = _own_host(told, (), pods=pods, at=host)
        where = next((f for f in told if f.kind == "env" and f.data.get("value") == name), None) if name else None
        where = where or _infodump(told, at=host)
        name = str(where.data.get("value") or where.data["hostname"]) if where else ""
        if where and name.casefold() != host.casefold():
            yield host, name, where


def _infodump(facts: Sequence[Fact], *, at: str) -> Fact | None:
    """The first infodump of a log, if all are of one host, by the name that EC2 gave it (a pod has its own), and nothing else
    says where it runs."""
    dumps = [
        fact for fact in facts if fact.kind == "identity" and fact.place.pid is not None and fact.data.get("hostname")
    ]
    names = {str(fact.data["hostname"]) for fact in dumps}
    says = any(fact.kind == "env" and fact.data.get("name") in _OWN_VARIABLES for fact in facts)
    alone = len(names) == 1 and not says and all(fact.place.host in (None, at) for fact in dumps)
    return dumps[0] if alone and all(map(is_name_of_ec2, names)) else None


def _own_host(facts: Iterable[Fact], known: Sized[str], *, pods: bool, at: str | None = None) -> str | None:
    """The one host that a source names for its own. Where there are `pods`, a word may be the name of one. `at`: where the source
    is by its path."""
    facts = list(facts)
    own, others, instances = _heading(facts, known), set[str](), set[str]()
    prompts = prompts_among_others(facts)
    for fact in facts:
        if fact.kind == "env" and fact.span.offset in prompts:
            continue
        if fact.kind == "env" and fact.place.host in (None, at) and (name := str(fact.data.get("value") or "")):
            variable = fact.data.get("name")
            said = variable in ("HOSTNAME", _SETTING) or (variable == HOST_HEADING and fact.span.offset == 0)
            if variable in _NODE_VARIABLES or (said and _is_host(name, known)):
                own.add(name)
            elif variable == _SETTING:
                own.add(name if not pods and _may_be_host(name) else "")
        elif fact.kind == "identity" and str(fact.data.get("word", "")).casefold() in known:
            own.add(str(fact.data["word"]))
        elif _is_reported_by_its_agent(fact) and fact.place.host:
            own.add(fact.place.host if _is_host(fact.place.host, known) else "")
        elif fact.kind == "identity" and fact.data.get("hostname"):
            others.add(str(fact.data["hostname"]).casefold())
        if fact.kind == "identity" and (instance := fact.data.get("instance_id") or fact.place.instance_id):
            instances.add(str(instance))
    if len(own) != 1:
        return None
    [name] = own
    itself = instances == {instance_in(name)} and len(others) == 1
    return (name or None) if itself or not others - {name.casefold()} else None


def _heading(facts: Iterable[Fact], known: Sized[str]) -> set[str]:
    """The host in the heading that a file begins with, if no other heading in it names another one."""
    headings = [fact for fact in facts if fact.kind == HEADING and fact.data["form"] not in (PROMPT, ECHO)]
    named = {name: fact.span.offset for fact in headings if _is_host(name := str(fact.data["name"]), known)}
    return set(named) if list(named.values()) == [0] else set()


def prompts_among_others(facts: Sequence[Fact]) -> frozenset[int]:
    """Where prompts stand in a terminal that shows anything but its own host: whose the whole is, they do not say. Records of a
    log below a command that shows none are another's."""
    prompts = {f.span.offset: f for f in facts if f.kind == "section" and f.data["form"] == PROMPT}
    offsets = sorted(prompts)
    shown = [shown_by(str(f.data["command"]), str(f.data["name"])).what for _, f in sorted(prompts.items())]
    above = ((fact, bisect_left(offsets, fact.span.offset) - 1) for fact in facts if prompts and is_of_log(fact))
    strange = any(at >= 0 and not _may_show(shown[at], fact) for fact, at in above)
    return frozenset(offsets) if strange or Shows.OTHERS in shown else frozenset()


def _may_show(what: Shows, record: Fact) -> bool:
    return what in (Shows.LOG, Shows.JOB) or (what is Shows.KERNEL and is_of_kernel(record.span.text.encode()))


def _is_host(name: str, known: Sized[str]) -> bool:
    return name.casefold() in known or has_shape_of_host(name)


def _may_be_host(name: str) -> bool:
    parts = words_of(name) & (NO_HOST_OF_LINES - GROUPINGS)
    return not parts and may_name_a_host(name) and not _OF_CONTAINER.fullmatch(name)


def _is_reported_by_its_agent(fact: Fact) -> bool:
    """Whether a worker's end is reported that ran on the host of the launcher that reports it."""
    return fact.kind == "launcher-failure" and fact.data.get("launcher") == "torchrun" and fact.place.rank is not None


def _is_of_a_process(fact: Fact) -> bool:
    return fact.place.rank is not None or fact.place.pid is not None
