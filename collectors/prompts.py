"""The host on which a terminal was recorded (script(1), a pane of tmux, what was copied from a window): its prompts name it.

Shells show the name of their host before each command: Debian and Ubuntu `user@host:dir$ ` (and, as the title of the window,
`user@host: dir`), Red Hat and Amazon Linux `[user@host dir]$ `. A command names other hosts the same way (`scp x u@b:/tmp`),
so only the beginning of a line counts.

A worker that was started by hand got its numbers in front of the command (`$ RANK=5 LOCAL_RANK=1 python train.py`): where all
commands of a terminal that give any give the same, it is the terminal of that rank.
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_doctor.collectors.base import HEAD, Input
from neuron_doctor.collectors.environment import place_of_environment
from neuron_doctor.collectors.prefixes import cleaned
from neuron_doctor.engine.facts import Fact, Place, Span, span_of
from neuron_doctor.engine.regexes import regex

_USER_AND_HOST = r"[a-z_][\w.-]{0,31}@(?P<host>[A-Za-z][\w.-]{0,252})"
#: A prompt with the directory that every shell has: `~`, one below it, or an absolute one.
_PROMPTS = (
    regex(rf"(?:\([\w.-]{{1,40}}\) )?{_USER_AND_HOST}:[~/][^\s$#]{{0,200}}[$#](?:$| )"),
    regex(rf"(?:\([\w.-]{{1,40}}\) )?\[{_USER_AND_HOST} [^\s\]]{{1,200}}\][$#](?:$| )"),
)
#: What Docker calls a container that was given no name.
_CONTAINER = regex(r"[\da-f]{12}")


#: A variable that is set for one command, or for all that follow.
_SETTING = regex(r"(?:^|[\s;&])(?P<name>(?:LOCAL_)?RANK)=(?P<value>[^\s;&]{0,40})")
#: What starts workers itself, and counts hosts by this variable.
_LAUNCHERS = regex(r"\b(?:torchrun|torch\.distributed\.(?:run|launch)|srun|mpirun|mpiexec|accelerate launch)\b")


def prompted_hosts(inp: Input) -> Iterator[Fact]:
    """For each host that prompts in the first 64 KiB name: that it is one, and the variable which they show; and the rank
    that all commands give, if they give one."""
    seen: set[str] = set()
    started: dict[Place, Span] = {}
    head, offset = inp.stream.peek(HEAD)[:HEAD], 0
    for number, raw in enumerate(head.split(b"\n") if b"@" in head else (), 1):
        if b"@" in raw and (prompt := _prompted(raw)):
            host, command = prompt
            span = span_of(inp.path, raw.rstrip(b"\r"), offset, number, 1)
            if host not in seen:
                seen.add(host)
                for kind, data in (("identity", {"hostname": host}), ("env", {"name": "HOSTNAME", "value": host})):
                    yield Fact(kind, data, inp.place, span, inp.source_id or inp.path)
            if "RANK=" in command:
                started.setdefault(_place_of(command), span)
        offset += len(raw) + 1
    for place, span in started.items():
        if len(started) == 1 and place.rank is not None:
            said = {"name": "RANK", "value": str(place.rank)}
            yield Fact("env", said, place.over(inp.place), span, inp.source_id or inp.path)


def _place_of(command: str) -> Place:
    """The rank that a command gives to the one worker that it starts."""
    settings = [(found["name"], found["value"]) for found in _SETTING.finditer(command)]
    alone = len(dict(settings)) == len(settings) and not _LAUNCHERS.search(command)
    return place_of_environment(dict(settings)) if alone else Place()


def _prompted(raw: bytes) -> tuple[str, str] | None:
    """The host of the last prompt on a line, on which a terminal may have written several times, and the command behind it."""
    texts = reversed(cleaned(raw.decode("utf-8", "replace")).split("\r"))
    found = ((match["host"], text[match.end() :]) for text in texts for one in _PROMPTS if (match := one.match(text)))
    return next((prompt for prompt in found if not _CONTAINER.fullmatch(prompt[0])), None)
