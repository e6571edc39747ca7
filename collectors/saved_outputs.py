"""What a terminal shows to have been saved in another file: `$ kubectl logs sft-worker-1 > w1.txt`, `$ ssh n12 dmesg > d.txt`,
`[root@n12 /]# neuron-ls -j > /tmp/nls.json`. The name of such a file tells nothing; the command tells of which pod or host it is.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec.structs import replace

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.prefixes import without_escapes
from neuron_doctor.collectors.snapshot import Line, command_of, fact, lines_of
from neuron_doctor.engine.facts import NOWHERE, Fact, Place
from neuron_doctor.engine.regexes import regex

KIND = "saved-output"
_MARKS = (b">", b"| tee ", b"|tee ")
#: What the rest of a command is written to. A name that a shell still has to fill in is none.
_SAVED = regex(r"(?:\d?>>?|&>|\| ?tee(?: -a)?) ?(?P<file>[\w./+:@%-]{1,400})(?= *(?:$|;|&|\d>&\d|\|))")
_NO_FILE = "/dev/null"
_OPTIONS_WITH_VALUES = frozenset(
    {
        "-n",
        "--namespace",
        "-c",
        "--container",
        "--context",
        "--since",
        "--since-time",
        "--tail",
        "--kubeconfig",
        "--cluster",
    }
)
#: What shows the machine on which it is called, and nothing of others.
_OF_ITS_MACHINE = frozenset(
    {"dmesg", "journalctl", "neuron-ls", "neuron-monitor", "neuron-top", "lspci", "lsmod", "free", "ps", "df", "top"}
)
_SSH_WITH_VALUES = frozenset({"-o", "-i", "-p", "-l", "-F", "-J"})


def saved_outputs(inp: Input, head: bytes) -> Iterator[Fact]:
    """A fact for each such file that the commands in a head name, at the pod or host that it is of."""
    if b"\0" in head or not _may_save(head):
        return
    for line in lines_of(head):
        command = command_of(line.text)
        saved = _SAVED.search(command) if command and "$" not in command else None
        if command and saved and saved["file"] != _NO_FILE:
            place = _shown(_words(command[: saved.start()]), line)
            if place is not NOWHERE:
                told = fact(inp, line, KIND, {"file": saved["file"].rpartition("/")[2]})
                yield replace(told, place=place)


def _may_save(head: bytes) -> bool:
    """Whether a line may be such a command. Most logs have none, and are looked at once only."""
    marks = [mark for mark in _MARKS if mark in head]
    told = (raw for raw in (head.splitlines() if marks else ()) for mark in marks if mark in raw)
    return any(command_of(without_escapes(raw.decode("utf-8", "replace"))) is not None for raw in told)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # a quotation that goes on below
        return []


def _shown(words: Sequence[str], line: Line) -> Place:
    """Whose output the command shows."""
    words = words[1:] if words[:1] == ["sudo"] else words
    tool = words[0].rpartition("/")[2] if words else ""
    if tool in ("kubectl", "oc", "k") and any(verb in words for verb in ("logs", "exec")):
        return _of_pod(words)
    if tool == "ssh":
        host = next(iter(_arguments(words[1:], _SSH_WITH_VALUES)), "").rpartition("@")[2]
        return Place(host=host) if host else NOWHERE
    return Place(host=line.host) if tool in _OF_ITS_MACHINE and line.host else NOWHERE


def _of_pod(words: Sequence[str]) -> Place:
    """The pod that `kubectl logs` or `exec` is told, with the container, if one is."""
    told = [*_arguments(words[1:], _OPTIONS_WITH_VALUES)]
    pod = next((word for word in told if word not in ("logs", "exec")), "").removeprefix("pod/").removeprefix("pods/")
    container = next((value for option, value in pairwise(words) if option in ("-c", "--container")), "")
    if not pod or "/" in pod or any(word in ("-l", "--selector", "--all-containers") for word in words):
        return NOWHERE
    return Place(container=f"{pod}/{container}" if container else pod)


def _arguments(words: Sequence[str], with_values: frozenset[str]) -> Iterator[str]:
    """What of the words is neither an option nor the value of one."""
    before = ""
    for word in words:
        if not word.startswith("-") and before not in with_values:
            yield word
        before = word
