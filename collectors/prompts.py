"""The host on which a terminal was recorded (script(1), a pane of tmux, what was copied from a window): its prompts name it.

Shells show the name of their host before each command: Debian and Ubuntu `user@host:dir$ ` (and, as the title of the window,
`user@host: dir`), Red Hat and Amazon Linux `[user@host dir]$ `, who likes it short `host:~/dir$ ` or `[host:~/dir] $ `. A command
names other hosts the same way (`scp x u@b:/tmp`), so only the beginning of a line counts.

A worker that was started by hand got its numbers in front of the command (`$ RANK=5 LOCAL_RANK=1 python train.py`): where all
commands of a terminal that give any give the same, what is shown up to the next prompt is of that rank; where the command goes on
behind it, or what it sets does, up to a launcher, which gives its workers other numbers.

Where prompts name several hosts, what is shown below one is of its host, unless the command shows what others say, or a file that
may be anybody's (see sections).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.environment import place_of_environment
from neuron_doctor.collectors.prefixes import cleaned
from neuron_doctor.engine.facts import Fact, Place, Span, Value, span_of
from neuron_doctor.engine.regexes import regex

_USER_AND_HOST = r"[a-z_][\w.-]{0,31}@(?P<host>[A-Za-z][\w.-]{0,252}|[\da-f]{12})"
#: A prompt with the directory that every shell has: `~`, one below it, or an absolute one.
_PROMPTS = (
    regex(rf"(?:\([\w.-]{{1,40}}\) )?{_USER_AND_HOST}:[~/][^\s$#]{{0,200}}[$#](?:$| )"),
    regex(rf"(?:\([\w.-]{{1,40}}\) )?\[{_USER_AND_HOST} [^\s\]]{{1,200}}\][$#](?:$| )"),
    regex(r"(?:\([\w.-]{1,40}\) )?(?P<host>[A-Za-z][\w.-]{1,62}):~[^\s$#]{0,200}[$#](?:$| )"),
    regex(r"(?:\([\w.-]{1,40}\) )?\[(?P<host>[A-Za-z][\w.-]{1,62}):[~/][^\s\]]{0,200}\] ?[$#%](?:$| )"),
)
#: What Docker calls a container that was given no name.
_CONTAINER = regex(r"[\da-f]{12}")


#: A variable that is set for one command, or for all that follow.
_SETTING = regex(r"(?:^|[\s;&])(?P<name>(?:LOCAL_)?RANK)=(?P<value>[^\s;&]{0,40})")
#: What starts workers itself, and counts hosts by this variable.
_LAUNCHERS = regex(r"\b(?:torchrun|torch\.distributed\.(?:run|launch)|srun|mpirun|mpiexec|accelerate launch)\b")
#: What goes on behind the next prompt: a variable that is set for all that follow, and a command in the background.
_GOES_ON = regex(r"(?:^|[\s;&])export\s|(?<!&)&\s*$")


#: What speaks for others than the machine on which it is called.
OF_OTHERS = regex(
    r"(?:sudo )?(?:\w+=\S* )*(?:ssh|scp|rsync|pdsh|clush|dsh|ansible\S*|kubectl|oc|aws|srun|mpirun|mpiexec|sbatch|docker|tmux"
    r"|screen|s(?:acct|info|queue|control)|for|while|git|curl|python3? -m json"
    r"|(?:z?cat|tail|head|less|more|z?grep|vim?)(?! [^|;]*/(?:var/log|proc|sys)/))\b"
)


def prompted_hosts(inp: Input) -> Iterator[Fact]:
    """For each host that prompts in the first 64 KiB name: that it is one, and the variable which they show; the rank
    that all commands give, if they give one, for each of these commands; and what is below each where hosts are several."""
    seen: set[str] = set()
    commands: list[tuple[str, Span]] = []
    hosts: list[str] = []
    head, offset = inp.head(), 0
    for number, raw in enumerate(head.split(b"\n") if _may_prompt(head) else (), 1):
        if _may_prompt(raw) and (prompt := _prompted(raw)):
            host, command = prompt
            span = span_of(inp.path, raw.rstrip(b"\r"), offset, number, 1)
            commands.append((command, span))
            hosts.append(host)
            if host not in seen and not _CONTAINER.fullmatch(host):
                seen.add(host)
                for kind, data in (("identity", {"hostname": host}), ("env", {"name": "HOSTNAME", "value": host})):
                    yield Fact(kind, data, inp.place, span, inp.source_id or inp.path)
        offset += len(raw) + 1
    for host, (command, span) in zip(hosts, commands, strict=True) if len(seen) > 1 else ():
        told: dict[str, Value] = {"form": "prompt", "name": "" if OF_OTHERS.match(command) else host}
        yield Fact("section", told, inp.place, span, inp.source_id or inp.path)
    started = [(_place_of(command), span, until) for command, span, until in _ended(commands) if "RANK=" in command]
    for place, span, until in started if len({place for place, *_ in started}) == 1 else ():
        if place.rank is not None:
            said: dict[str, Value] = {"name": "RANK", "value": str(place.rank), "until": until}
            yield Fact("env", said, place.over(inp.place), span, inp.source_id or inp.path)


def _may_prompt(raw: bytes) -> bool:
    return b"@" in raw or b":~" in raw or b":/" in raw


def _ended(commands: Sequence[tuple[str, Span]]) -> Iterator[tuple[str, Span, int]]:
    """The commands, each with the offset at which what it started has ended, or others speak beside it; -1 where nothing shows
    that. The last one is first."""
    prompt = launched = -1
    for command, span in reversed(commands):
        yield command, span, launched if _GOES_ON.search(command) else prompt
        prompt = span.offset
        launched = prompt if _LAUNCHERS.search(command) else launched


def _place_of(command: str) -> Place:
    """The rank that a command gives to the one worker that it starts."""
    settings = [(found["name"], found["value"]) for found in _SETTING.finditer(command)]
    alone = len(dict(settings)) == len(settings) and not _LAUNCHERS.search(command)
    return place_of_environment(dict(settings)) if alone else Place()


def _prompted(raw: bytes) -> tuple[str, str] | None:
    """The host, or container, of the last prompt on a line, on which a terminal may have written several times, and the command
    behind it."""
    texts = reversed(cleaned(raw.decode("utf-8", "replace")).split("\r"))
    found = ((match["host"], text[match.end() :]) for text in texts for one in _PROMPTS if (match := one.match(text)))
    return next(found, None)
