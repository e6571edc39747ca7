"""What machines call themselves, by what nobody else writes for them, and where that is the name of what only has a nickname.

Whoever collects numbers the hosts of a job in the names of files (`node2_terminal.txt`, `w3/`), or says in words what a machine
does (`decode_host/`). The machine calls itself something else, and says so

- in its own `hostname` or `uname -a`, or below the command `hostname` that whoever collected asked first;
- in the kernel's line about a fault (`NEURON_HW_ERR=... instance-id=i-0... hostname=ip-10-3-1-114`);
- at the head of each line that its logger wrote (`Nov 17 07:41:07 ip-10-3-1-114 kernel: ...`);
- in the prompts of a terminal in which nothing else was looked at than the machine itself, and at which nobody sits to look at
  others (a login host).

Where there are pods, a shell's word for where it is may be that of a pod: only names that EC2 gives count there. What a program
says of a peer, where it meets others, or what a launcher tells of its workers is none of these. Where the files of one nickname
state two names they are of two machines, or of one that looked at another: the nickname stays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from neuron_doctor.collectors.hints import bare, is_name_of_ec2
from neuron_doctor.collectors.known_hosts import ANYBODY
from neuron_doctor.collectors.line_forms import host_of_logger
from neuron_doctor.collectors.lone_machine import is_entry
from neuron_doctor.collectors.no_host_words import NO_HOST, OF_ANOTHER_HOST, words_of
from neuron_doctor.collectors.own_words import prompts_among_others
from neuron_doctor.collectors.prompts import PROMPT, SESSION
from neuron_doctor.collectors.text import is_of_kernel
from neuron_doctor.engine.bystanders import CONTROLLERS
from neuron_doctor.engine.facts import Fact, Source
from neuron_doctor.engine.hostnames import instance_in
from neuron_doctor.engine.regexes import regex

#: Kinds of sources that are nothing but a machine's word for itself.
_NAMING = frozenset({"hostname", "uname"})
#: Who calls a directory so says that it is of one machine, and by a further word or number which.
_A_MACHINE = frozenset({"host", "node", "box", "vm"})
_COUNTS = """
multi single dual one two three four six eight many all both each every any per cross inter intra same whole full half
"""
#: A further word that says how many machines, or of what sort, and not which.
_HOW_MANY = frozenset(_COUNTS.split())
_CONTAINER = regex(r"[\da-f]{12}|[\da-f]{64}")
#: Beside the word for a machine one more, or a number behind it (`box 2`, `host-b`; a number before it counts them).
_PART = regex(r"[a-z]+|\d+")
_ONE_MORE = 2


def own_names(source: Source, facts: Sequence[Fact], *, pods: bool) -> Iterator[tuple[str, Fact]]:
    """The names that the machine which wrote a source states for itself, each with a record that says so. `pods`:
    there are some."""
    if source.place.container or source.kind in CONTROLLERS:
        return
    looked_elsewhere = prompts_among_others(facts)
    for fact in facts:
        name = _own_name(source, fact, looked_elsewhere)
        if (
            name
            and name.casefold() not in ANYBODY
            and not _CONTAINER.fullmatch(name)
            and (not pods or _is_of_ec2(name))
        ):
            yield name, fact


def hosts_of_directories(sources: Sequence[Source], facts: Mapping[str, Sequence[Fact]]) -> dict[str, str]:
    """The host of each path without one in a directory that is said to be of one machine, or among files that are called after it
    (`decode_host_dmesg.txt`), where what lies there states one name, once at least, and nothing is known to be anywhere else."""
    pods = has_pods(sources)
    within: dict[tuple[str, ...], list[Source]] = defaultdict(list)
    for source in sources:
        parts = source.path.replace("!", "/").split("/")
        for depth, name in enumerate(map(bare, parts)):
            if _is_of_a_machine(name):
                within[*parts[:depth], name if depth == len(parts) - 1 else parts[depth]].append(source)
    found: dict[str, str] = {}
    for _, members in sorted(within.items()):
        told = {s.path: {f.place.host for f in facts.get(s.path, ()) if f.place.host} for s in members}
        names = {name for s in members for name, _ in own_names(s, facts.get(s.path, ()), pods=pods)}
        others = {s.place.host for s in members if s.place.host}.union(*told.values())
        if len({first_label(name) for name in names}) == 1 == len({first_label(name) for name in names | others}):
            host = min(names, key=lambda name: (-len(name), name))
            found.update({s.path: host for s in members if _may_be_there(s)})
    return found


def has_pods(sources: Sequence[Source]) -> bool:
    """Whether anything is of a pod, or tells of some."""
    return any(source.place.container or source.kind == "kubectl" for source in sources)


def _is_of_ec2(name: str) -> bool:
    return is_name_of_ec2(name) or instance_in(name) is not None


def first_label(name: str) -> str:
    """A name without its domain, as it reads in lower case; an address is whole."""
    return name.casefold() if name[:1].isdigit() else name.partition(".")[0].casefold()


def _own_name(source: Source, fact: Fact, looked_elsewhere: frozenset[int]) -> str | None:
    if fact.kind == "identity" and (stated := fact.data.get("hostname")):
        of_kernel = fact.place.instance_id and fact.place.pid is None and is_of_kernel(fact.span.text.encode())
        return str(stated) if source.kind in _NAMING or of_kernel else None
    if fact.kind == "section":
        name = str(fact.data["name"]) if fact.data["form"] in (PROMPT, SESSION) else ""
        return name if fact.span.offset not in looked_elsewhere and not is_entry(name) else None
    return host_of_logger(fact.span.text)


@lru_cache(maxsize=4096)
def _is_of_a_machine(name: str) -> bool:
    """Whether it is called after one machine, not after all, nor after another than that of which the rest is. What stands in
    brackets behind it says more of it."""
    name = name.partition("(")[0]
    parts = _PART.findall(name.casefold())
    if len(parts) != _ONE_MORE or len(_A_MACHINE.intersection(parts)) != 1 or parts[0].isdigit():
        return False
    return _HOW_MANY.isdisjoint(parts) and words_of(name).isdisjoint((NO_HOST | OF_ANOTHER_HOST) - _A_MACHINE)


def _may_be_there(source: Source) -> bool:
    """Whether a source that has no host is of that in whose directory it lies."""
    return not (source.place.host or source.place.container or source.place.job or source.kind in CONTROLLERS)
