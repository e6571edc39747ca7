"""What a terminal shows to have been saved in another file: `$ kubectl logs sft-worker-1 > w1.txt`, `$ ssh n12 dmesg > d.txt`,
`[root@n12 /]# neuron-ls -j > /tmp/nls.json`. The name of such a file tells nothing; the command tells of which pod or host it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.command_lines import pipelines
from neuron_doctor.collectors.pod_sections import executed_by
from neuron_doctor.collectors.pod_sections import shown_by as shown_by_pod
from neuron_doctor.collectors.prefixes import without_escapes
from neuron_doctor.collectors.shown_machines import Shows, shown_by
from neuron_doctor.collectors.snapshot import Line, command_of, fact, lines_of
from neuron_doctor.engine.facts import NOWHERE, Fact, Place
from neuron_doctor.engine.regexes import regex

KIND = "saved-output"
_MARKS = (b">", b"| tee ", b"|tee ")
#: What the rest of a command is written to. A name that a shell still has to fill in is none.
_SAVED = regex(r"(?:\d?>>?|&>|\| ?tee(?: -a)?) ?(?P<file>[\w./+:@%-]{1,400})(?= *(?:$|;|&|\d>&\d|\|))")
_NO_FILE = "/dev/null"
_OF_ITS_MACHINE = frozenset({Shows.KERNEL, Shows.STATE, Shows.LOG})


def saved_outputs(inp: Input, head: bytes) -> Iterator[Fact]:
    """A fact for each such file that the commands in a head name, at the pod or host that it is of."""
    if b"\0" in head or not _may_save(head):
        return
    for line in lines_of(head):
        command = command_of(line.text)
        saved = _SAVED.search(command) if command and "$" not in command else None
        if command and saved and saved["file"] != _NO_FILE:
            place = _shown(command[: saved.start()], line)
            if place is not NOWHERE:
                told = fact(inp, line, KIND, {"file": saved["file"].rpartition("/")[2]})
                yield replace(told, place=place)


def _may_save(head: bytes) -> bool:
    """Whether a line may be such a command. Most logs have none, and are looked at once only."""
    marks = [mark for mark in _MARKS if mark in head]
    told = (raw for raw in (head.splitlines() if marks else ()) for mark in marks if mark in raw)
    return any(command_of(without_escapes(raw.decode("utf-8", "replace"))) is not None for raw in told)


def _shown(command: str, line: Line) -> Place:
    """Whose output the command shows. What a job said is of all hosts that it has, wherever it was started."""
    if pod := shown_by_pod(command):
        return Place(container=pod.container)
    if ran := _run_in_a_pod(command):
        return Place(container=ran)
    shown = shown_by(command, line.called_on or "")
    return Place(host=shown.host) if shown.host and shown.what in _OF_ITS_MACHINE else NOWHERE


def _run_in_a_pod(command: str) -> str | None:
    """The container, where a command in it shows the node on which it runs."""
    try:
        [pipeline] = pipelines(command)
    except ValueError:  # none, several, or a quotation that goes on below
        return None
    container, words = executed_by(pipeline.words) or ("", ())
    return container if container and shown_by(" ".join(words)).what in _OF_ITS_MACHINE else None
