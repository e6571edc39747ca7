"""The host on which a terminal was recorded (script(1), a pane of tmux, what was copied from a window): its prompts name it
(`shell_prompts`).

A worker that was started by hand got its numbers in front of the command (`$ RANK=5 LOCAL_RANK=1 python train.py`): where all
commands of a terminal that give any give the same, what is shown up to the next prompt is of that rank; where the command goes on
behind it, or what it sets does, up to a launcher, which gives its workers other numbers.

Each prompt, and each command that a script echoes, is told as a heading of what stands below it; whose that is, `sections` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.environment import place_of_environment
from neuron_doctor.collectors.loops import hosts_asked
from neuron_doctor.collectors.masking import without_secrets
from neuron_doctor.collectors.matches import Candidate
from neuron_doctor.collectors.shell_prompts import ENDS_IN_BYTES, Prompt, prompt_of, prompt_on
from neuron_doctor.engine.facts import Fact, Place, Span, Value, span_of
from neuron_doctor.engine.patterns import Pattern
from neuron_doctor.engine.regexes import regex

#: The forms of the heading that a prompt is, of that which a script echoes, and of that which says where a shell is.
PROMPT, ECHO, SESSION = "prompt", "shell", "session"
#: A variable that is set for one command, or for all that follow.
_SETTING = regex(r"(?:^|[\s;&])(?P<name>(?:LOCAL_)?RANK)=(?P<value>[^\s;&]{0,40})")
#: What starts workers itself, and counts hosts by this variable.
_LAUNCHERS = regex(r"\b(?:torchrun|torch\.distributed\.(?:run|launch)|srun|mpirun|mpiexec|accelerate launch)\b")
#: What goes on behind the next prompt: a variable that is set for all that follow, and a command in the background.
_GOES_ON = regex(r"(?:^|[\s;&])export\s|(?<!&)&\s*$")
#: What a shell echoes that was told to (`set -x`) behind the time or the label of a log, where sums and lists stand as well.
_TELLING = (
    r"(?:ssh|dmesg|journalctl|echo|exit|date|sleep|wait|scp|rsync|tar|mkdir|sbatch|squeue|sinfo|sacct|scontrol|kubectl|aws|ansible"
    r"|ansible-playbook|pdsh|clush|cat|tail|head|less|grep|ls|cd|for|python3?|torchrun|srun|mpirun|sudo|timeout"
    r"|zcat|zless|zgrep|xzcat|zstdcat|sed|awk|docker|podman|env|nohup|bash|sh|mpiexec|pssh|parallel-ssh|/[\w./-]{1,80})\b"
)
_ECHOED = regex(r"(?:\+{1,3} (?=[A-Za-z_./])|# (?=(?:sudo )?ssh ))(?P<command>[^\n]*)")
#: What is looked for beside the patterns of the rules: how prompts end, and echoes begin, at the start of a line or further on.
SHELL_LINE = Pattern(
    "shell-line", rf"{ENDS_IN_BYTES}|\n\+{{1,3}} [A-Za-z_./]|\+ {_TELLING}|# (?:sudo )?ssh ", emits="section"
)
#: What may be a prompt or an echo behind a time or a label.
_WITHIN = regex(rb"(?:\+|[$#]) (?:sudo )?[A-Za-z_./]")
_ASKS_WHERE, _NAME = regex(r"hostname(?: -[sf])?"), regex(r"[A-Za-z\d][\w.-]{0,252}")
#: An end of a prompt.
_MARK = regex(rb"[$#%](?=[ \t\r\n\x1b]|\Z)")


def prompted_hosts(inp: Input) -> Iterator[Fact]:
    """For each host that prompts in the first 64 KiB name: that it is one, and the variable which they show; and the rank that
    all commands give, if they give one, for each of these commands."""
    seen: set[str] = set()
    commands: list[tuple[str, Span]] = []
    for prompt, raw, offset, number in _prompts(inp.head()):
        span = span_of(inp.path, raw, offset, number, 1)
        commands.append((prompt.command if prompt.host or prompt.container else "", span))
        if prompt.host and prompt.host not in seen:
            seen.add(prompt.host)
            for kind, data in (
                ("identity", {"hostname": prompt.host}),
                ("env", {"name": "HOSTNAME", "value": prompt.host}),
            ):
                yield Fact(kind, data, inp.place, span, inp.source_id or inp.path)
    started = [(_place_of(command), span, until) for command, span, until in _ended(commands) if "RANK=" in command]
    for place, span, until in started if len({place for place, *_ in started}) == 1 else ():
        if place.rank is not None:
            said: dict[str, Value] = {"name": "RANK", "value": str(place.rank), "until": until}
            yield Fact("env", said, place.over(inp.place), span, inp.source_id or inp.path)


def shell_line(candidate: Candidate, inp: Input) -> Iterator[Fact]:
    """A heading for a prompt, or for a command that a shell echoes; one for the name that a shell shows which prompts none."""
    block, (begin, end) = candidate.lines.block, candidate.reach
    raw = block.data[begin:end].rstrip(b"\r")
    prompt, form = prompt_on(raw), PROMPT
    if prompt is None and _WITHIN.search(raw):
        message = candidate.lines.gist(begin, end).message
        behind, echoed = prompt_of(message), _ECHOED.match(message)
        prompt = Prompt(behind.command) if behind else Prompt(echoed["command"]) if echoed else None
        form = PROMPT if behind else ECHO
    if prompt is not None:
        span = span_of(inp.path, raw, block.base + begin, block.line_number(begin), 1)
        data = {"form": form, "name": prompt.host, "command": without_secrets(prompt.command)}
        span = replace(span, text=without_secrets(span.text))
        yield Fact("section", data, inp.place, span, inp.source_id or inp.path)
        for name in (*([prompt.word] if prompt.word else ()), *hosts_asked(prompt.command)):
            yield Fact("login", {"name": name}, inp.place, span, inp.source_id or inp.path)
        if prompt.plain and _ASKS_WHERE.fullmatch(prompt.command.rstrip()):
            below = (candidate.lines.gist(*bounds).message for bounds in candidate.lines.below(end, 1))
            for name in filter(_NAME.fullmatch, below):
                yield Fact("section", {"form": SESSION, "name": name}, inp.place, span, inp.source_id or inp.path)


def _prompts(head: bytes) -> Iterator[tuple[Prompt, bytes, int, int]]:
    """The prompts in a head, with the line on which each stands, its offset and its number. Nothing but the ends of prompts is
    looked for: most logs have none."""
    begin = end = 0
    number = 1
    for mark in _MARK.finditer(head) if b"@" in head or b":~" in head or b":/" in head else ():
        if mark.start() < end:
            continue
        last, begin = begin, head.rfind(b"\n", 0, mark.start()) + 1
        number += head.count(b"\n", last, begin)
        end = head.find(b"\n", mark.start())
        end = len(head) if end < 0 else end
        if prompt := prompt_on(raw := head[begin:end].rstrip(b"\r")):
            yield prompt, raw, begin, number


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
