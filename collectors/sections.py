"""The hosts that headings in a log name above what they said, as a script puts them that asks several hosts in turn:
`=== tn-east-3 dmesg -T ===`, `----- trn-07 -----`, `+ ssh trn-07 sudo dmesg`, `$ ssh trn-07 tail /var/log/messages`. Unlike files
that are made of such blocks and nothing else (`host_blocks`), the log may be anything before, between and behind them.

A word in a heading is anything (`=== epoch 3 ===`). It is a host if content states that it is one, or its shape alone says so,
or headings alike name at least two such words, with numbers in them, above lines of the kernel or with a command that reads the
kernel's log. Of what stands below, up to the next heading or prompt of whatever kind, the lines of the kernel are the host's, and
all lines are where the command shows a log or a state of the host (`shown_machines`), or where the command above the headings is
a loop that asks each host for such (`for h in a b; do echo "## $h"; ssh $h lsmod; done`).

Below the heading of a host, and below what `hostname` said under one of its own, headings that are commands (`===== dmesg -T
=====`) are of that host where such a command shows its machine; so are commands that a script echoes behind `$ ` right below it.

Below a prompt that names its host stands what its command shows of this host, and nothing where it shows anything else: of the
kernel's log its lines, up to the first other one; of a state no line of a log, and only the next few where no prompt follows.
A file that is called after a host is of that one. The output of a job is of the host where prompts of several hosts show: there
each has its own; or where nothing tells of a further machine (`lone_machine`).

A shell whose prompt names no host (`sh-5.2$ `, as a session of AWS Systems Manager has it) is on the one that `hostname` showed
in it, until it is left or another prompt shows: so are the lines of the kernel there, and the processes that `ps` lists.

Names before the lines of the same log (`tn-east-3 | step 118`) that look like the names of containers are hosts if such headings
have names of this shape.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.collectors.command_lines import asked_by_ssh, pipelines, tool_of
from neuron_doctor.collectors.hints import has_shape_of_host
from neuron_doctor.collectors.loops import EACH, loop_of
from neuron_doctor.collectors.no_host_words import may_name_a_host
from neuron_doctor.collectors.prompts import ECHO, PROMPT, SESSION
from neuron_doctor.collectors.shell_prompts import prompt_of
from neuron_doctor.collectors.shown_machines import Shown, Shows, name_of_file, shown_by
from neuron_doctor.collectors.text import is_of_kernel
from neuron_doctor.engine.facts import Fact, Place
from neuron_doctor.engine.proven import unique
from neuron_doctor.engine.regexes import regex

KIND = "section"
#: What headings have in common that are commands below those of hosts.
_PARTS = "parts"
#: The same of commands that a script echoes right below them.
_ECHOED = "echoed"
_NUMBER = regex(r"\d+")
#: What may leave a shell, or begin another one within it.
_LEAVING = """
exit logout mosh srun salloc kubectl oc docker podman nerdctl crictl aws gcloud screen tmux nsenter chroot su machinectl lxc
"""
_LEAVERS = frozenset(_LEAVING.split())
_CLOCK = regex(r"\W{0,2}\d\d:\d\d:\d\d\b")
#: How unsure a time is that is not the line's own (nanoseconds), unless the line has a time of day.
_UNSURE_NS = 10**9
#: What ends a line.
_NEWLINE = 2
#: The listing of a state below the last prompt of a terminal reaches no farther (bytes).
_LISTING = 512
_SAYS_WHICH = regex(rf"\b(?:echo|printf) [^;|]{{0,200}}{EACH}")


class _Heading(Struct, frozen=True):
    """What stands at `offset` above other lines: the host, if `name` is one, and what is shown of it. `own`: what the commands at
    a prompt of the host itself show; `at`: the host that prompts, if one does; `group`: what headings alike have in common."""

    offset: int
    name: str = ""
    what: Shows | None = None
    own: bool = False
    sure: bool = False
    at: str | None = None
    group: object = None


def sectioned(facts: Sequence[Fact], known: Mapping[str, str], *, alone: bool = False) -> dict[int, Place]:
    """The places of those records of one log without a host, by their numbers, that stand below such a heading, or whose label
    is a host by it. `known` has the names of hosts by how they read in lower case; `alone`: there is no other."""
    headings = list(_headings(sorted((f for f in facts if f.kind == KIND), key=_in_order), known))
    hosts = _hosts(headings, facts, known)
    if not hosts:
        return {}
    several = alone or (
        len({heading.at for heading in headings if heading.at and heading.at.casefold() in known.keys() | hosts.keys()})
        > 1
    )
    offsets, shapes = [heading.offset for heading in headings], {_shape(name) for name in hosts}
    ended: set[int] = set()
    found: dict[int, Place] = {}
    for number, fact in sorted(enumerate(facts), key=lambda numbered: numbered[1].span.offset):
        label = fact.place.container
        if label and _shape(label.casefold()) in shapes and fact.place.host in (None, label):
            found[number] = replace(fact.place, host=label, container=None)
        elif fact.kind != KIND and fact.place.host is None and label is None:
            at = bisect_left(offsets, fact.span.offset)
            itself = at < len(headings) and offsets[at] == fact.span.offset and headings[at].at is not None
            at -= not itself
            host = hosts.get(headings[at].name.casefold()) if at >= 0 and at not in ended else None
            if host and _is_shown(fact, headings[at], headings[at + 1 : at + 2], several=several, itself=itself):
                found[number] = replace(fact.place, host=host)
            elif not itself and at >= 0 and headings[at].at is not None:
                ended.add(at)
    return found


def _in_order(heading: Fact) -> tuple[int, bool]:
    """Where it stands. Of two readings of one line that of the prompt counts."""
    return heading.span.offset, heading.data["form"] == PROMPT


def _are_of_a_script(facts: Sequence[Fact]) -> bool:
    """Whether prompts are what a script writes below its headings: none is above all of these, and the first below each stands
    right below it. (Below what a loop at a prompt printed, the next one is that of the shell which ran it.)"""
    below, scripted = -1, False
    for fact in facts:
        if fact.data["form"] != PROMPT:
            below, scripted = fact.span.offset + fact.span.length, False
            continue
        scripted = scripted or (below >= 0 and 0 <= fact.span.offset - below <= _NEWLINE)
        if not scripted:
            return False
    return True


def _headings(facts: Sequence[Fact], known: Mapping[str, str]) -> Iterator[_Heading]:
    """The headings, in the order of the log. What a shell echoes goes on with what the command above it shows."""
    session, above, loop, headed = "", _Heading(-1), None, ""
    scripted = _are_of_a_script(facts)
    for fact in facts:
        name, command = str(fact.data["name"]), str(fact.data.get("command") or "")
        offset, form = fact.span.offset, fact.data["form"]
        if form == SESSION:
            session = headed = name
            yield _Heading(offset, name, sure=True, group=form)
        elif form == PROMPT:
            prompt = prompt_of(fact.span.text)
            plain = bool(prompt and prompt.plain)
            session = session if plain and not _leaves(command) else ""
            loop = _loop(command)
            if scripted and headed and not (name or session) and (part := _part(offset, command, headed)):
                yield replace(part, group=(_ECHOED, _shape(headed.casefold())))
                continue
            above = _at_prompt(offset, command, name or session, known, plain=plain)
            yield above
        elif form == ECHO:
            session, shown = "", _by_files(shown_by(command, above.name), known)
            above = _echoed(offset, command, shown, above)
            yield above
            above = above if above.own else _Heading(offset)
        elif headed and (part := _part(offset, f"{name} {command}", headed)):
            yield part
        else:
            headed = name if name.casefold() in known or (_NUMBER.search(name) and may_name_a_host(name)) else headed
            what = _of_loop(name, loop)
            sure = what is not None
            shown = _by_files(shown_by(command, name, asked=True), known)
            what = what or (shown.what if shown.host in ("", name) else Shows.OTHERS)
            yield _Heading(offset, name, what, sure=sure, group=(form, command, _shape(name.casefold())))


def _part(offset: int, command: str, host: str) -> _Heading | None:
    """The heading of what a command showed, below that of the host on which a script asked for it; None where it is none."""
    shown = shown_by(command, host, asked=True)
    if shown.host != host or shown.what is Shows.JOB:
        return None
    return _Heading(offset, host, shown.what, group=(_PARTS, _shape(host.casefold())))


def _leaves(command: str) -> bool:
    """Whether another shell may prompt below a command."""
    try:
        commands = [pipeline.words for pipeline in pipelines(command)]
    except ValueError:
        return True
    return any(
        tool_of(words) in _LEAVERS or (tool_of(words) == "ssh" and not asked_by_ssh(words)) for words in commands
    )


def _at_prompt(offset: int, command: str, host: str, known: Mapping[str, str], *, plain: bool) -> _Heading:
    shown = _by_files(shown_by(command, host), known)
    at = "" if plain else host
    if not shown.host:
        return _Heading(offset, at=at)
    if shown.host != host:
        group = (PROMPT, command.replace(shown.host, ""), _shape(shown.host.casefold()))
        return _Heading(offset, shown.host, shown.what, at=at, group=group)
    return _Heading(offset, host, None if plain else shown.what, own=not plain, sure=plain, at=at, group=PROMPT)


def _echoed(offset: int, command: str, shown: Shown, above: _Heading) -> _Heading:
    if shown.host and shown.host != above.name:
        group = (ECHO, command.replace(shown.host, ""), _shape(shown.host.casefold()))
        return _Heading(offset, shown.host, shown.what, group=group)
    return replace(above, offset=offset, at=None) if above.own and shown.what is not Shows.OTHERS else _Heading(offset)


def _by_files(shown: Shown, known: Mapping[str, str]) -> Shown:
    """What a command shows; files that are all called after one host are of it, and those below a directory of another one are
    not of the host that shows them."""
    named = {known[part] for file in shown.files for part in map(name_of_file, file.split("/")) if part in known}
    called = {known.get(name_of_file(file)) for file in shown.files}
    if len(called) == 1 and (host := called.pop()):
        return Shown(Shows.LOG, host)
    return Shown(Shows.OTHERS) if named - {shown.host, known.get(shown.host.casefold())} else shown


def _loop(command: str) -> tuple[Shows, tuple[str, ...]] | None:
    """What of each host a loop shows that asks one after the other and says which, and the hosts, where it names them."""
    loop = loop_of(command)
    shown = shown_by(loop.body) if loop else Shown(Shows.NOTHING)
    if loop is None or not _SAYS_WHICH.search(loop.body) or EACH not in shown.host:
        return None
    return shown.what, loop.words


def _of_loop(name: str, loop: tuple[Shows, tuple[str, ...]] | None) -> Shows | None:
    """What a loop shows below a heading, if that names one of its hosts."""
    if loop is None:
        return None
    what, words = loop
    alike = (name == word or name.startswith(f"{word}.") or name.endswith(word) for word in words)
    return what if not words or any(alike) else None


def _hosts(headings: Sequence[_Heading], facts: Iterable[Fact], known: Mapping[str, str]) -> dict[str, str]:
    """How the names are written that are hosts, by how they read in lower case: in full where one full name begins so."""
    found: dict[str, str] = {}
    alike: dict[object, dict[str, _Heading]] = defaultdict(dict)
    for heading in headings:
        name = heading.name.casefold()
        if name in known or has_shape_of_host(name) or heading.sure or heading.own:
            found[name] = known.get(name, heading.name)
        elif _NUMBER.search(name) and not heading.own and may_name_a_host(name):
            alike[heading.group].setdefault(name, heading)
    several = [named for named in alike.values() if len(named) > 1]
    kernels = set(_above_kernels(headings, facts)) if several else set()
    for named in several:
        shown = any(heading.what is Shows.KERNEL or _is_asked(heading) for heading in named.values())
        if shown or named.keys() <= kernels:
            found |= {name: heading.name for name, heading in named.items()}
    full = unique((name.partition(".")[0], shown) for name, shown in found.items() if "." in name)
    return {name: full.get(name) or shown for name, shown in found.items()}


def _is_asked(heading: _Heading) -> bool:
    """Whether a script echoes what it asks the machine of this name for."""
    return isinstance(heading.group, tuple) and heading.group[0] == _ECHOED


def _above_kernels(headings: Iterable[_Heading], facts: Iterable[Fact]) -> Iterator[str]:
    """The names in headings below which the first record is the kernel's."""
    told = ((h.offset, 0, h.name.casefold(), "") for h in headings)
    ordered = sorted([*told, *((f.span.offset, 1, "", f.span.text) for f in facts if f.kind != KIND)])
    for (_, is_fact, name, _), (_, below, _, text) in pairwise(ordered):
        if not is_fact and below and is_of_kernel(text.encode()):
            yield name


def _is_shown(fact: Fact, heading: _Heading, following: Sequence[_Heading], *, several: bool, itself: bool) -> bool:
    """Whether a record is of what a heading shows of its host, or the command `itself` tells it. The output of a command that
    shows a state ends where the next prompt is: far below the last one anything may stand."""
    if itself or (heading.own and heading.what is Shows.JOB):
        return heading.own and heading.what is Shows.JOB and several
    if heading.what is Shows.STATE and heading.at is not None:
        ends = bool(following and following[0].at is not None) or fact.span.offset - heading.offset < _LISTING
        return ends and not is_of_log(fact)
    if is_of_kernel(fact.span.text.encode()):
        return True
    if heading.what is Shows.STATE:
        return not is_of_log(fact)
    return heading.what is Shows.LOG or (heading.what is None and fact.kind == "process")


def is_of_log(fact: Fact) -> bool:
    """Whether a record is one of a log: of the kernel, or with a rank or a time of its own, as no listing of a state has one.
    What has no time is given that of the line above, and says that it is not sure of it."""
    timed = fact.instant is not None and (fact.instant.uncertainty_ns < _UNSURE_NS or _CLOCK.match(fact.span.text))
    return bool(timed) or fact.place.rank is not None or is_of_kernel(fact.span.text.encode())


def _shape(name: str) -> str:
    return _NUMBER.sub("#", name)
