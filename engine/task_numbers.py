"""Numbers of srun's tasks that are no ranks. `srun --label` writes the number of the task before each line, and srun names it
when a task ends. Where a task is a worker that is its rank. Where it is a launcher that starts the workers of its node
(torchrun), it is the number of the node, and nobody's rank.

It is no rank in a log in which

- a worker says another rank behind the label (`2: [rank64]: ...`), and none, from task 1 on, says the same (`3: [rank3]: ...`):
  then each node was given a step of its own, or its task is a launcher;
- or torchrun reports the ends of workers, and srun those of its tasks; or it reports behind the label a worker that is not the
  first of its host;
- or two processes speak behind one label of different cores, within seconds: a task that was started again takes longer;
- or srun reports the end of a task on a host on which, as another log says, torchrun reports one of another rank;
- or srun names tasks 0, 1, 2 ... on as many hosts, one on each, and a worker speaks whose rank is greater.

Then the label still tells which lines are of one node: what one of them says of its host holds for all. And where one task alone
ended of itself, and one worker's end alone is reported, it is that task's launcher which reports it, if the worker's rank can be
one of that node: torchrun numbers workers by nodes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place, ranks_of
from neuron_doctor.engine.proven import unique
from neuron_doctor.engine.regexes import regex
from neuron_doctor.engine.topology import told_width

#: No task is started anew, and speaks of its devices, within so long.
_AT_ONCE_NS = 5 * 10**9
#: The label, and the rank that torch (torch.distributed.elastic, PyTorch 2.4 and later) or a program writes behind it, perhaps
#: after the time.
_LABELLED = regex(r" {0,6}(?P<task>\d{1,6}): {1,2}(?:[^\[\n]{0,40}\[rank ?(?P<rank>\d{1,6})\])?")


def without_tasks_for_ranks(facts: Sequence[Fact]) -> Sequence[Fact]:
    """The facts, without ranks that are numbers of tasks, and at the hosts of these tasks."""
    of: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.kind == "launcher-failure" or _LABELLED.match(fact.span.text):
            of[fact.source].append(fact)
    started, greatest = _by_torchrun(facts), _greatest_ranks(facts)
    launchers = {
        source
        for source, told in of.items()
        if _are_launchers(told) or _are_on(told, started) or _are_one_a_host(told, greatest.get(source, 0))
    }
    if not launchers:
        return facts
    hosts = {source: unique(_hosts(of[source])) for source in launchers}
    width = told_width(facts)
    reporting = {source: _reporting(of[source], width) for source in launchers}
    return [
        _corrected(fact, hosts[fact.source], reporting[fact.source]) if fact.source in launchers else fact
        for fact in facts
    ]


def _are_launchers(told: Iterable[Fact]) -> bool:
    """Whether the tasks of a log are launchers, by its labelled records and its reports of ends."""
    pairs, reports = set(), set()
    told = list(told)
    for fact in told:
        if fact.kind == "launcher-failure":
            reports.add(fact.data.get("launcher"))
        if (found := _LABELLED.match(fact.span.text)) and found["rank"]:
            pairs.add((int(found["task"]), int(found["rank"])))
    others, same = any(task != rank for task, rank in pairs), any(task == rank > 0 for task, rank in pairs)
    return (others and not same) or {"srun", "torchrun"} <= reports or _have_workers(told)


def _have_workers(told: Iterable[Fact]) -> bool:
    """Whether a task reports a worker that is not the first of its host, or several processes of different cores speak behind
    one label at once."""
    speaking: dict[int, list[tuple[int, int | None, tuple[int | None, int | None]]]] = defaultdict(list)
    for fact in told:
        found, place = _LABELLED.match(fact.span.text), fact.place
        if found is None:
            continue
        if fact.data.get("launcher") == "torchrun" and place.local_rank:
            return True
        if place.pid is not None and fact.instant and (place.device, place.core) != (None, None):
            speaking[int(found["task"])].append((fact.instant.ns, place.pid, (place.device, place.core)))
    return any(_at_once(sorted(lines, key=lambda line: line[0])) for lines in speaking.values())


def _at_once(lines: Iterable[tuple[int, int | None, tuple[int | None, int | None]]]) -> bool:
    return any(
        then - at < _AT_ONCE_NS and pid != other and core != another
        for (at, pid, core), (then, other, another) in pairwise(lines)
    )


def _by_torchrun(facts: Iterable[Fact]) -> Mapping[str, set[int]]:
    """The ranks that torchrun started on each host, as far as its reports say."""
    started: dict[str, set[int]] = defaultdict(set)
    for fact in facts:
        if fact.data.get("launcher") == "torchrun" and fact.place.host and fact.place.rank is not None:
            started[fact.place.host].add(fact.place.rank)
    return started


def _are_on(told: Iterable[Fact], started: Mapping[str, set[int]]) -> bool:
    """Whether tasks of a log are on hosts where torchrun started workers, none of which has a task's number."""
    tasks = {
        (fact.place.host, fact.place.rank)
        for fact in told
        if fact.data.get("launcher") == "srun" and fact.place.host in started
    }
    return bool(tasks) and any(task not in started[str(host)] for host, task in tasks)


def _greatest_ranks(facts: Iterable[Fact]) -> dict[str, int]:
    """The greatest rank that speaks in each log, of which a launcher does not only report the end."""
    greatest: dict[str, int] = {}
    for fact in facts:
        if fact.place.rank is not None and fact.kind != "launcher-failure":
            greatest[fact.source] = max(fact.place.rank, greatest.get(fact.source, 0))
    return greatest


def _are_one_a_host(told: Iterable[Fact], greatest: int) -> bool:
    """Whether srun names one task on each of several hosts, from the first on, and a worker has a greater rank than any."""
    tasks = {
        (fact.place.host, task)
        for fact in told
        if fact.data.get("launcher") == "srun" and fact.place.host
        for task in ranks_of(fact.place)
    }
    hosts = {host for host, _ in tasks}
    return 1 < len(hosts) == len(tasks) <= greatest and {task for _, task in tasks} == set(range(len(tasks)))


def _reporting(told: Iterable[Fact], width: int | None) -> str | None:
    """The host of the one task that ended of itself, if the end of one worker is reported, and not where. Each node has `width`
    workers, if that is known."""
    ends = [fact for fact in told if fact.data.get("launcher") == "srun" and not fact.data.get("signal")]
    reports = [fact for fact in told if fact.data.get("launcher") == "torchrun"]
    alone = len(ends) == len(reports) == 1 and reports[0].place.host is None
    return ends[0].place.host if alone and _is_of_node(reports[0].place, ends[0].place.rank, width) else None


def _is_of_node(worker: Place, node: int | None, width: int | None) -> bool:
    """Whether the node of this number has the worker, by its rank and its local rank."""
    if node is None or worker.rank is None:
        return False
    if width:
        return worker.rank // width == node
    if worker.local_rank is None:
        return False
    first = worker.rank - worker.local_rank
    return first == 0 if node == 0 else first % node == 0 and worker.local_rank < first // node


def _task(fact: Fact) -> int | None:
    """The task of a record: by its label, or that whose end srun reports."""
    if fact.data.get("launcher") == "srun":
        return fact.place.rank
    found = _LABELLED.match(fact.span.text)
    return int(found["task"]) if found else None


def _hosts(told: Iterable[Fact]) -> Iterable[tuple[int, str]]:
    for fact in told:
        task, host = _task(fact), fact.place.host or fact.data.get("hostname")
        if task is not None and isinstance(host, str) and host:
            yield task, host


def _corrected(fact: Fact, host_of: Mapping[int, str], reporting: str | None) -> Fact:
    task = _task(fact)
    if task is None:
        mine = fact.data.get("launcher") == "torchrun" and reporting is not None
        return replace(fact, place=fact.place.over(Place(host=reporting))) if mine else fact
    found = _LABELLED.match(fact.span.text)
    own = fact.place.rank if fact.place.rank != task or (found and found["rank"]) else None
    place = replace(fact.place, rank=own, ranks=() if fact.data.get("launcher") == "srun" else fact.place.ranks)
    return replace(fact, place=place.over(Place(host=host_of.get(task))))
