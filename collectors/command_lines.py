"""A line that a shell was given, cut into its commands: what stands before and around each of them is looked through.

`sudo timeout 60 ssh -p 22 n7 'dmesg | tail' 2>/dev/null` is one command, `ssh`, and what it hands on is a line again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from shlex import shlex

from msgspec import Struct

from neuron_doctor.engine.regexes import regex

_NESTED, _REDIRECTED, _BETWEEN = regex(r"[<>&|;]*[()][()<>&|;]*"), regex(r"[&|]*[<>][<>&|]*"), regex(r"[;&|]+")
_ASSIGNED = regex(r"[A-Za-z_]\w{0,100}=")


class Wrapper(Struct, frozen=True):
    """What runs the command behind it: its options that a value follows, and how many words stand before the command."""

    valued: frozenset[str] = frozenset()
    before: int = 0


_OF_SUDO = "-u -g -h -p -C -r -t -T -D -R --user --group --host --chdir"
_WRAPPERS = {
    "sudo": Wrapper(frozenset(_OF_SUDO.split())),
    "time": Wrapper(frozenset({"-f", "-o"})),
    "timeout": Wrapper(frozenset({"-s", "-k", "--signal", "--kill-after"}), before=1),
    "nohup": Wrapper(),
    "watch": Wrapper(frozenset({"-n", "--interval"})),
    "env": Wrapper(frozenset({"-u", "-C", "--unset", "--chdir"})),
    "nice": Wrapper(frozenset({"-n"})),
    "ionice": Wrapper(frozenset({"-c", "-n"})),
    "stdbuf": Wrapper(frozenset({"-i", "-o", "-e"})),
    "taskset": Wrapper(before=1),
    "numactl": Wrapper(frozenset({"-N", "-m", "-C", "-i", "-p"})),
    "setsid": Wrapper(),
    "exec": Wrapper(),
    "command": Wrapper(),
}
_SHELLS = frozenset({"sh", "bash", "dash", "zsh"})
_SSH = Wrapper(frozenset(f"-{letter}" for letter in "BbcDEeFIiJLlmOopQRSWw"))


class Pipeline(Struct, frozen=True):
    """One command, the names of what filters its output, and whether it reads from a file, or writes what it says into one."""

    words: tuple[str, ...]
    filters: tuple[str, ...] = ()
    reads: bool = False
    writes: bool = False


def pipelines(line: str) -> Iterator[Pipeline]:
    """What stands on a line. Raises ValueError for one that is not closed, or runs commands within others."""
    tokens = shlex(line.removesuffix("\\"), posix=True, punctuation_chars=True)
    tokens.whitespace_split = True
    commands: list[list[str]] = [[]]
    redirected, reads, writes = "", False, False
    for token in (*tokens, ";"):
        if redirected:
            redirected = ""
        elif _NESTED.fullmatch(token):
            raise ValueError(token)
        elif _REDIRECTED.fullmatch(token):
            redirected = token
            stream = commands[-1].pop() if commands[-1][-1:] in (["1"], ["2"]) else "1"  # 2> errors
            reads |= "<" in token
            writes |= ">" in token and stream == "1"
        elif token in ("|", "|&"):
            commands.append([])
        elif _BETWEEN.fullmatch(token):
            if words := _unwrapped(commands[0]):
                filters = tuple(tool_of(_unwrapped(after)) for after in commands[1:])
                yield Pipeline(tuple(words), filters, reads, writes)
            commands, reads, writes = [[]], False, False
        else:
            commands[-1].append(token)


def tool_of(words: Sequence[str]) -> str:
    """The name of the program that a command calls."""
    return words[0].rpartition("/")[2] if words else ""


def arguments(words: Iterable[str], valued: frozenset[str] = frozenset()) -> Iterator[str]:
    """What of the words is neither an option nor the value of one."""
    before = ""
    for word in words:
        if not word.startswith("-") and before not in valued:
            yield word
        before = word


def handed_on(words: Sequence[str]) -> str | None:
    """The line that a shell is given as a word (`bash -lc 'dmesg | tail'`, `watch 'dmesg | tail'`); None for other commands."""
    if len(words) == 1 and " " in words[0]:
        return words[0]
    tool, options = tool_of(words), [word for word in words[1:2] if word.startswith("-") and word.endswith("c")]
    return words[2] if tool in _SHELLS and options and words[2:] else None


def script_of(words: Sequence[str]) -> Sequence[str]:
    """The script that a shell runs, with its arguments; the words themselves for other commands."""
    return _behind(words[1:], Wrapper()) if tool_of(words) in _SHELLS else words


def asked_by_ssh(words: Sequence[str]) -> tuple[str, str] | None:
    """The host to which a command logs in, and the line that it runs there; None where it is no such command."""
    behind = _behind(words[1:], _SSH) if tool_of(words) == "ssh" else ()
    if len(behind) <= 1:
        return None
    host, *line = behind
    return host.rpartition("@")[2], " ".join(_behind(line, _SSH))


def _unwrapped(words: Sequence[str]) -> Sequence[str]:
    while words:
        words = words[next((n for n, word in enumerate(words) if not _ASSIGNED.match(word)), len(words)) :]
        wrapper = _WRAPPERS.get(tool_of(words))
        if wrapper is None:
            break
        behind = _behind(words[1:], wrapper)
        if not behind and tool_of(words) == "env":
            return words[:1]
        words = behind
    return words


def _behind(words: Sequence[str], wrapper: Wrapper) -> Sequence[str]:
    """The command behind the options, and the words before it, of what runs it."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in wrapper.valued else 1
    return words[at + wrapper.before :]
