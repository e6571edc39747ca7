"""The hosts that headings in a log name above what they said, as a script puts them that asks several hosts in turn:
`=== tn-east-3 dmesg -T ===`, `----- trn-07 -----`, `+ ssh trn-07 sudo dmesg`, `$ ssh trn-07 tail /var/log/messages`. Unlike files
that are made of such blocks and nothing else (`host_blocks`), the log may be anything before, between and behind them.

A word in a heading is anything (`=== epoch 3 ===`). It is a host if content states that it is one, or its shape alone says so,
or headings alike name at least two such words, with numbers in them, above lines of the kernel or with a command that reads what
a host has (`dmesg`, `journalctl -k`). Of what stands below, up to the next heading or command of whatever kind, the lines of the
kernel are the host's, and all lines are where the heading has a command that shows a file or a state of the host, or where the
command above the headings is a loop that asks each host (`for h in a b; do echo "## $h"; ssh $h lsmod; done`).

A shell whose prompt names no host (`sh-5.2$ `, as a session of AWS Systems Manager has it) is on the one that `hostname` showed
in it, until it is left or another prompt shows: so are the lines of the kernel there, and the processes that `ps` lists.

Below a prompt that names its host, where prompts name several, all is of it but what the command shows of others (`prompts`).

Names before the lines of the same log (`tn-east-3 | step 118`) that look like the names of containers are hosts if such headings
have names of this shape.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec.structs import replace

from neuron_doctor.collectors.hints import has_shape_of_host
from neuron_doctor.collectors.prompts import OF_OTHERS
from neuron_doctor.collectors.text import is_of_kernel
from neuron_doctor.engine.facts import Fact, Place
from neuron_doctor.engine.regexes import regex

KIND = "section"
PROMPT = "prompt"
SESSION = "session"
_NUMBER = regex(r"\d+")
#: What a shell prompts that was told nothing else, and what leaves it.
_NAMELESS = regex(r"(?:ba|da)?sh-\d\.\d{1,2}[$#] {1,2}(?P<leaves>(?:exit|logout)\b)?")
#: What shows what a host has, and nothing of other hosts.
_OF_KERNEL = regex(r"\b(?:dmesg|journalctl -k|kern\.log)\b")
_READS = regex(
    r"(?:['\"]|sudo |-n )*(?:dmesg|journalctl|(?:z?cat|tail|head|less|grep|egrep|zgrep) .{0,200}/(?:var/log|tmp|proc|sys|run)/"
    r"|df|free|uptime|uname|neuron-ls|lspci|lsmod|ulimit)\b"
)
_ECHOED = regex(r"\+{1,3} ")
#: A loop that logs in to one host after the other.
_ASKS_EACH = regex(r"\bfor \w{1,40} in\b[^\n]{0,2000}\bssh [^\n;|]{0,200}\$\{?\w")


def sectioned(facts: Sequence[Fact], known: Mapping[str, str]) -> dict[int, Place]:
    """The places of those records of one log without a host, by their numbers, that stand below such a heading, or whose label
    is a host by it. `known` has the names of hosts by how they read in lower case."""
    headings = sorted((fact for fact in facts if fact.kind == KIND), key=_in_order)
    in_loop = _in_loops(headings)
    hosts = _hosts(headings, facts, known)
    hosts |= {
        _name(one): str(one.data["name"])
        for one, each in zip(headings, in_loop, strict=True)
        if each and _name(one) not in hosts
    }
    if not hosts:
        return {}
    offsets, above = [heading.span.offset for heading in headings], list(_above(headings))
    shapes = {_shape(name) for name in hosts}
    found: dict[int, Place] = {}
    for number, fact in enumerate(facts):
        label = fact.place.container
        if label and _shape(label.casefold()) in shapes and fact.place.host in (None, label):
            found[number] = replace(fact.place, host=label, container=None)
        elif fact.kind != KIND and fact.place.host is None and label is None:
            at = bisect_left(offsets, fact.span.offset) - 1
            name, whole = above[at] if at >= 0 else ("", False)
            host = hosts.get(name)
            if host and (whole or in_loop[at] or _is_the_hosts(fact, headings[at])):
                found[number] = replace(fact.place, host=host)
    return found


def _in_order(heading: Fact) -> tuple[int, bool, bool]:
    """Where it stands. Of two readings of one line the last one counts: that of another host, else that of the prompt."""
    return heading.span.offset, bool(_name(heading)) and heading.data["form"] != PROMPT, heading.data["form"] == PROMPT


def _in_loops(headings: Sequence[Fact]) -> list[bool]:
    """Which of the headings the loop of the last command wrote."""
    found, asks = [], False
    for heading in headings:
        by_shell = heading.data["form"] == "shell"
        asks = _ASKS_EACH.search(heading.span.text) is not None if by_shell else asks
        found.append(asks and not by_shell)
    return found


def _above(headings: Iterable[Fact]) -> Iterator[tuple[str, bool]]:
    """The name that each heading has, or the session or the prompt in which it is a command; and whether all below is of that
    host, whatever it is. What a shell echoes (`+ torchrun ...`) goes on with what the command above it shows."""
    session = prompt = ""
    for heading in headings:
        nameless, name = _NAMELESS.match(heading.span.text), _name(heading)
        if heading.data["form"] == SESSION:
            session = name
        elif heading.data["form"] == PROMPT:
            prompt = name
        elif heading.data["form"] == "shell" and (nameless is None or nameless["leaves"]):
            session = ""
            prompt = prompt if not name and _ECHOED.match(heading.span.text) and not _speaks_for_others(heading) else ""
        yield name or (session if nameless else prompt), bool(prompt) and (name or prompt) == prompt


def _speaks_for_others(heading: Fact) -> bool:
    """Whether a shell echoes a command that shows what others say."""
    echoed = _ECHOED.match(heading.span.text)
    return echoed is not None and OF_OTHERS.match(heading.span.text, echoed.end()) is not None


def _hosts(headings: Iterable[Fact], facts: Iterable[Fact], known: Mapping[str, str]) -> dict[str, str]:
    """How the names are written that are hosts, by how they read in lower case."""
    found: dict[str, str] = {}
    alike: dict[object, dict[str, Fact]] = defaultdict(dict)
    for heading in headings:
        name = _name(heading)
        if name in known or has_shape_of_host(name) or (name and heading.data["form"] in (SESSION, PROMPT)):
            found[name] = known.get(name, str(heading.data["name"]))
        elif _NUMBER.search(name):
            alike[heading.data["form"], heading.data.get("command"), _shape(name)].setdefault(name, heading)
    several = [named for named in alike.values() if len(named) > 1]
    kernels = set(_above_kernels(headings, facts)) if several else set()
    for named in several:
        if (
            any(_OF_KERNEL.search(str(heading.data.get("command", ""))) for heading in named.values())
            or named.keys() <= kernels
        ):
            found |= {name: str(heading.data["name"]) for name, heading in named.items()}
    return found


def _above_kernels(headings: Iterable[Fact], facts: Iterable[Fact]) -> Iterator[str]:
    """The names in headings below which the first record is the kernel's."""
    ordered = sorted([*headings, *(f for f in facts if f.kind != KIND)], key=lambda fact: fact.span.offset)
    for above, below in pairwise(ordered):
        if above.kind == KIND and below.kind != KIND and is_of_kernel(below.span.text.encode()):
            yield _name(above)


def _is_the_hosts(fact: Fact, heading: Fact) -> bool:
    command = heading.data.get("command")
    if heading.data["form"] == SESSION and fact.kind == "process":
        return True
    return is_of_kernel(fact.span.text.encode()) or (isinstance(command, str) and _READS.match(command) is not None)


def _name(heading: Fact) -> str:
    return str(heading.data["name"]).casefold()


def _shape(name: str) -> str:
    return _NUMBER.sub("#", name)
