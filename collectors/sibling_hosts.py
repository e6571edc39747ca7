"""Whether files or directories with names of one shape, side by side, are those of the hosts of one job."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import pairwise

from msgspec import Struct, field

from neuron_doctor.engine.facts import Clock, Fact, Source, ranks_of
from neuron_doctor.engine.regexes import regex

#: Sources that are made once on a host, not once for a process or a job.
HOST_KINDS = frozenset(
    {
        "kernel",
        "neuron-ls",
        "neuron-monitor",
        "sysfs",
        "lspci",
        "lsmod",
        "modinfo",
        "uname",
        "hostname",
        "df",
        "clock-report",
    }
)
#: Facts that a source tells of its own ranks, and of any other as well.
_OF_OTHERS = frozenset({"launcher-failure", "slurm-job", "pod", "k8s-event", "process-groups"})
_ONE_JOB = frozenset({"NEURON_RT_ROOT_COMM_ID", "TORCHELASTIC_RUN_ID", "SLURM_JOB_ID"})
_SAYS_NOTHING = frozenset({"", "none", "<masked>"})
_DIGITS = regex(r"\d+", re.ASCII)
_NUMBERED = regex(r"\d{1,5}\.(?:log|out|err|txt)", re.ASCII)
#: Wall clocks: those of two hosts of one job agree to the second, mostly.
_WALL_CLOCKS = frozenset({Clock.UTC, Clock.HOST_LOCAL, Clock.YEARLESS})

#: Blocks of so many ranks are those of hosts: fewer may be of anything, and no instance has more cores.
_LEAST_ON_A_HOST, _MOST_ON_A_HOST = 8, 128
#: But so many even blocks of fewer ranks, from rank 0 on, are no accident.
_DEALT = 3

#: So many words side by side are hosts where each has such files, whatever they mean.
_WORDS_ENOUGH = 3
#: No second run of a job has started and failed so soon after the first one ended.
_SLACK_NS = 10 * 10**9
_SECOND_NS = 10**9

Interval = tuple[int, int]


class Proof(IntEnum):
    """What shows that siblings are hosts, the stronger the greater."""

    NONE = 0
    JOB = 1  # they share one job among them
    MACHINE = 2  # one holds what only a host writes
    NAME = 3  # one is a host by its name


class Telling(Struct):
    """What a source, or all sources of one member, tells of its ranks, its host and its job."""

    ranks: set[tuple[int | None, int]] = field(default_factory=set)  # with their attempts
    local_ranks: set[int] = field(default_factory=set)
    worlds: set[int] = field(default_factory=set)
    nodes: set[int] = field(default_factory=set)  # the numbers that launchers gave their nodes
    jobs: set[tuple[str, str]] = field(default_factory=set)
    machines: set[str] = field(default_factory=set)
    intervals: dict[Clock, Interval] = field(default_factory=dict)
    ahead_ns: int = 0  # of true time, as the host's time service says
    of_a_host: bool = False
    of_others: bool = False  # there is also a source of another kind

    def add(self, other: Telling) -> None:
        """Tell also what `other` tells."""
        self.ranks |= other.ranks
        self.local_ranks |= other.local_ranks
        self.worlds |= other.worlds
        self.nodes |= other.nodes
        self.jobs |= other.jobs
        self.machines |= other.machines
        self.of_a_host |= other.of_a_host
        self.of_others |= other.of_others
        self.ahead_ns = self.ahead_ns or other.ahead_ns
        for clock, (first, last) in other.intervals.items():
            known = self.intervals.get(clock, (first, last))
            self.intervals[clock] = (min(known[0], first), max(known[1], last))


def telling(source: Source, facts: Sequence[Fact], rank_above: int | None) -> Telling:
    """What one source tells. `rank_above` is a rank that the name of a directory around everything seems to say: it is no
    rank of this source."""
    told = Telling(of_a_host=source.kind in HOST_KINDS, of_others=source.kind not in HOST_KINDS)
    places = [source.place]
    for fact in facts:
        if fact.kind not in _OF_OTHERS and not (fact.kind == "stand" and fact.data.get("named")):
            places.append(fact.place)
        _add_said(told, fact)
    told.machines |= _prompting(facts)
    for place in places:
        told.ranks |= {(place.attempt, rank) for rank in ranks_of(place) if not place.ranks and rank != rank_above}
        told.local_ranks |= {place.local_rank} if place.local_rank is not None else set()
    first, last = source.first, source.last
    if first and last and first.clock == last.clock and first.clock in _WALL_CLOCKS:
        told.intervals[first.clock] = (
            min(first.ns, last.ns, *_waiting_since(facts, first.clock)),
            max(first.ns, last.ns),
        )
    return told


def _prompting(facts: Iterable[Fact]) -> set[str]:
    """The hosts that prompt in a terminal, which shows both their names and the variable."""
    variables = {fact.span.offset for fact in facts if fact.kind == "env" and fact.data.get("name") == "HOSTNAME"}
    names = (f.data.get("hostname") for f in facts if f.kind == "identity" and f.span.offset in variables)
    return {str(name).casefold() for name in names if name}


def _waiting_since(facts: Iterable[Fact], clock: Clock) -> Iterator[int]:
    """When processes were there already that say how long they have waited."""
    for fact in facts:
        waited = fact.data.get("waited_s") if fact.instant and fact.instant.clock is clock else None
        if fact.instant and isinstance(waited, int):
            yield fact.instant.ns - waited * _SECOND_NS


def _add_said(told: Telling, fact: Fact) -> None:
    """Worlds, jobs, and the names of the machine."""
    value = str(fact.data.get("value", ""))
    if fact.kind == "world" and isinstance(size := fact.data.get("size"), int):
        told.worlds.add(size)
    elif fact.kind == "node-rank" and isinstance(number := fact.data.get("number"), int):
        told.nodes.add(number)
    elif fact.kind == "env" and fact.data.get("name") in _ONE_JOB and value not in _SAYS_NOTHING:
        told.jobs.add((str(fact.data["name"]), value))
    elif fact.kind == "clock-error" and isinstance(ahead := fact.data.get("ahead_s"), float):
        told.ahead_ns = int(ahead * _SECOND_NS)
    elif fact.kind == "identity" and told.of_a_host:
        said = (fact.data.get("hostname"), fact.data.get("instance_id"), fact.place.instance_id)
        told.machines |= {str(name).casefold() for name in said if name}
    if told.of_a_host and fact.place.host:
        told.machines.add(fact.place.host.casefold())


class Member(Struct):
    """One of the siblings: a directory with all below it (`files`: the names below, without their numbers), or a file."""

    told: Telling = field(default_factory=Telling)
    files: set[str] = field(default_factory=set)
    of_host: set[str] = field(default_factory=set)  # files in it of a kind that is made once on a host
    numbers: set[int] = field(default_factory=set)  # that files have for a name, as those of ranks do
    is_directory: bool = False

    def add(self, below: Sequence[str], told: Telling, kind: str) -> None:
        """One more source of this kind: `below` are the parts of its path after the member's own."""
        self.told.add(told)
        self.is_directory |= bool(below)
        name = {_DIGITS.sub("#", "/".join(below))} if below else set()
        self.files |= name
        if told.of_a_host and len(below) < 2:  # noqa: PLR2004 - in the directory itself, or a file beside the log of its name
            self.of_host |= name or {kind}
        number = _NUMBERED.fullmatch(below[-1]) if below else None
        self.numbers |= {int(number[0].partition(".")[0])} if number else set()


def proof(members: Mapping[str, Member], is_host: Mapping[str, str], *, short: bool) -> Proof:
    """What shows that these siblings are hosts; `is_host` has the known names, in lower case. Names that are `short` (one
    letter and a number) need more than one sign: ranks of their own, or the machines' own names."""
    told = [member.told for member in members.values()]
    if len(members) > 1 and any(name.casefold() in is_host for name in members):
        return Proof.NAME
    if on_each_machine(members):
        return Proof.MACHINE
    if len(members) <= 1 or _one_machine(told):
        return Proof.NONE
    apart = _each_its_own(_in_common_attempts(told))
    if not apart and (_same_ranks(told) or _one_after_another(told)):
        return Proof.NONE
    if _from_machines(members.values()) and (apart or not short or _several_machines(members.values())):
        return Proof.MACHINE
    return Proof.JOB if not short and _alike(members.values()) and (apart or _one_job(members.values())) else Proof.NONE


def proof_of_mixed(members: Mapping[str, Member], is_host: Mapping[str, str]) -> Proof:
    """The same of siblings that are each called by another word, with a number (`kestrel3 merlin4`) or without, as people call
    machines and hardly runs. Each has what is made once on a host, whenever that was; or, as no parts of programs are
    numbered so, all have numbers and ranks of their own; or they are directories with files of the same names, which were written
    at once, or tell of ranks of their own, and content states one of them as a host."""
    told = [member.told for member in members.values()]
    numbered = all(name[-1].isdigit() for name in members)
    what = proof(members, is_host, short=True) if numbered else Proof.NONE
    if what or len(members) <= 1 or _one_machine(told) or _same_ranks(told):
        return what
    if set.intersection(*(member.of_host for member in members.values())):
        return Proof.MACHINE if numbered or len(members) >= _WORDS_ENOUGH else Proof.NONE
    if not _alike(members.values()):
        return Proof.NONE
    stated = any(name.casefold() in is_host for name in members) and all(
        member.is_directory for member in members.values()
    )
    apart = numbered and _each_its_own(_in_common_attempts(told))
    return Proof.JOB if apart or (stated and (beside_each_other(told) or share_an_attempt(told))) else Proof.NONE


def may_be_hosts(members: Mapping[str, Member]) -> bool:
    """Nothing that these siblings tell shows that they are runs or copies."""
    told = [member.told for member in members.values()]
    return not (_one_machine(told) or _same_ranks(told) or _one_after_another(told, _SLACK_NS))


def on_each_machine(members: Mapping[str, Member]) -> bool:
    """Each is a directory with a file of the same name of a kind that is made once on a host, or a name that a file of the
    same such kind and a log bear; and they ran beside each other. Then any names will do."""
    if len(members) <= 1 or not set.intersection(*(member.of_host for member in members.values())):
        return False
    pairs = all(member.is_directory or member.told.of_others for member in members.values())
    return pairs and beside_each_other([member.told for member in members.values()])


def paired_with_a_machine(members: Mapping[str, Member]) -> dict[str, Member]:
    """Of names of one shape that logs bear which ran beside each other: those that a file bears as well of a kind that is
    made once on a host. (The others may be ranks of one host.)"""
    logs = {name: member for name, member in members.items() if member.told.of_others and not member.is_directory}
    if len(logs) <= 1 or not beside_each_other([member.told for member in logs.values()]):
        return {}
    return {name: member for name, member in logs.items() if member.of_host}


def in_blocks_of_ranks(members: Mapping[str, Member]) -> dict[str, Member]:
    """Those of the directories that tell of ranks, if these are the blocks of hosts: as many each, in a row, and each block
    begins at a multiple of their number. Where every eighth rank of all writes, say, its number is that among these."""
    found = {name: one for name, one in members.items() if one.is_directory and one.told.ranks}
    ranks_of = [sorted({rank for _, rank in one.told.ranks}) for one in found.values()]
    every = _stride(ranks_of)
    blocks = [[rank // every for rank in ranks] for ranks in ranks_of]
    size = len(blocks[0]) if len(blocks) > 1 else 0
    rows = all(len(ranks) == size and ranks[-1] - ranks[0] == size - 1 and not ranks[0] % size for ranks in blocks)
    told = [one.told for one in found.values()]
    alike = bool(found) and bool(set.intersection(*(one.files for one in found.values())))
    apart = not (_one_machine(told) or _same_ranks(told)) and (not _clocks(told) or _at_once(told, _SLACK_NS))
    large = _LEAST_ON_A_HOST <= size * every <= _MOST_ON_A_HOST
    enough = (large or _dealt_out(blocks, told)) if every == 1 else (large and len(blocks) >= _DEALT)
    return found if rows and alike and apart and enough else {}


def of_each_node(members: Mapping[str, Member]) -> dict[str, Member]:
    """Those whose launchers say of what node they are: another one each, and ranks that no other has. A clock that is wrong, and
    ranks that said nothing, are no matter."""
    found = {name: one for name, one in members.items() if one.told.nodes}
    told = [one.told for one in found.values()]
    each_another = all(len(one.nodes) == 1 and one.ranks for one in told) and len(
        set().union(*(one.nodes for one in told))
    ) == len(told)
    apart = not (_one_machine(told) or _same_ranks(told))
    return found if len(told) > 1 and each_another and apart and _alike(found.values()) else {}


def _stride(blocks: Sequence[Sequence[int]]) -> int:
    """What lies between each rank and the next of all, from rank 0 on; 1 where that differs."""
    ranks = sorted(rank for block in blocks for rank in block)
    step = ranks[1] - ranks[0] if len(ranks) > 1 else 1
    return step if step > 1 and ranks == list(range(0, step * len(ranks), step)) else 1


def _dealt_out(blocks: Sequence[Sequence[int]], told: Sequence[Telling]) -> bool:
    """Blocks that begin with rank 0 and follow one another without a gap, of sources that surely ran at once."""
    firsts, size = sorted(ranks[0] for ranks in blocks), len(blocks[0]) if blocks else 0
    return (
        len(blocks) >= _DEALT
        and size > 1
        and firsts == [n * size for n in range(len(blocks))]
        and beside_each_other(told)
    )


def beside_each_other(told: Sequence[Telling]) -> bool:
    """They are of several machines, as far as they say, tell of no rank twice, and were there at the same time."""
    return not _one_machine(told) and not _same_ranks(told) and _at_once(told, _SLACK_NS)


def share_an_attempt(told: Sequence[Telling]) -> bool:
    """The same for those of one attempt, if each tells of ranks of its own: a program that stamps nothing but errors seems to
    have been there when they came."""
    return not _one_machine(told) and not _same_ranks(told) and all(one.ranks for one in told)


def _one_machine(told: Iterable[Telling]) -> bool:
    """Two siblings were taken on the same machine."""
    return any(count > 1 for count in Counter(name for one in told for name in one.machines).values())


def _several_machines(members: Iterable[Member]) -> bool:
    """Two directories at least say which machine they were taken on."""
    return sum(member.is_directory and bool(member.told.machines) for member in members) > 1


def _in_common_attempts(told: Sequence[Telling]) -> list[set[tuple[int | None, int]]]:
    """Their ranks in attempts that several tell of: a rank may move between attempts."""
    times = Counter(attempt for one in told for attempt in {attempt for attempt, _ in one.ranks})
    return [{(attempt, rank) for attempt, rank in one.ranks if times[attempt] > 1} for one in told]


def _each_its_own(numbers: Sequence[Collection[object]]) -> bool:
    """Each that has numbers has two at least that no sibling has, and more of those than of others."""
    times = Counter(number for some in numbers for number in some)
    own = [(sum(times[number] == 1 for number in some), len(some)) for some in numbers if some]
    return len(own) > 1 and all(count > 1 and 2 * count > of for count, of in own)


def _same_ranks(told: Iterable[Telling]) -> bool:
    """A rank runs on one host: siblings that tell of the same ranks are runs, or copies."""
    return any(count > 1 for count in Counter(rank for one in told for rank in one.ranks).values())


def _clocks(told: Iterable[Telling]) -> list[list[Interval]]:
    """The intervals that siblings cover, those of one kind of clock together, without the error that a clock has."""
    kinds = sorted(_WALL_CLOCKS)
    groups = [[_true(one, clock) for one in told if clock in one.intervals] for clock in kinds]
    return [sorted(group) for group in groups if len(group) > 1]


def _true(told: Telling, clock: Clock) -> Interval:
    first, last = told.intervals[clock]
    return first - told.ahead_ns, last - told.ahead_ns


def _at_once(told: Sequence[Telling], slack: int = 0) -> bool:
    groups = _clocks(told)
    return bool(groups) and all(max(f for f, _ in group) <= min(last for _, last in group) + slack for group in groups)


def _one_after_another(told: Sequence[Telling], slack: int = 0) -> bool:
    """No two of those that have times of one clock ran at the same time."""
    groups = _clocks(told)
    apart = (a[1] + slack < b[0] for group in groups for a, b in pairwise(group))
    return bool(groups) and all(apart)


def _from_machines(members: Iterable[Member]) -> bool:
    """A directory holds what only a host writes; of files, two at least are of such a kind."""
    of_hosts = [member for member in members if member.told.of_a_host]
    return len(of_hosts) > 1 or any(member.is_directory for member in of_hosts)


def _alike(members: Iterable[Member]) -> bool:
    """Two directories hold a file of the same name but for its numbers; or all are files."""
    names = Counter(name for member in members for name in member.files)
    return not names or any(count > 1 for count in names.values())


def _one_job(members: Collection[Member]) -> bool:
    """They ran at the same time, and number their files through, state one job, or state one world that has room for the
    local ranks of them all."""
    told = [member.told for member in members]
    jobs = Counter(job for one in told for job in one.jobs)
    if not _at_once(told) or len({name for name, _ in jobs}) < len(jobs):
        return False
    local = [len(one.local_ranks) for one in told]
    worlds = [one.worlds for one in told if one.worlds]
    roomy = len(worlds) > 1 and len(set.union(*worlds)) == 1 and min(worlds[0]) >= sum(local) > max(local)
    return roomy or any(count > 1 for count in jobs.values()) or _each_its_own([member.numbers for member in members])
