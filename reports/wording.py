"""The words of the reports for people: statuses, actions, roles, places, amounts, and how sure we are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from neuron_doctor.engine.facts import Place, Span
from neuron_doctor.engine.facts import ranks_of as ranks_of_place
from neuron_doctor.engine.grades import ActionKind, EdgeType, Role, Status
from neuron_doctor.engine.verdict import Action, ClockOffset, Diagnosis, Finding
from neuron_doctor.reports.escape import visible
from neuron_doctor.reports.lines import cells
from neuron_doctor.reports.ranges import host_list, ranges
from neuron_doctor.reports.summary import hosts_of, ranks_of

#: The verdict in capitals, and what it does and does not say.
STATUS: Mapping[Status, tuple[str, str]] = MappingProxyType(
    {
        Status.ROOT_CAUSE: ("ROOT CAUSE", ""),
        Status.VICTIMS_ONLY: (
            "VICTIMS ONLY",
            (
                "Everything that failed here waited for something else, or was stopped by it. Do not drain, reset or "
                "replace these hosts: the fault lies elsewhere."
            ),
        ),
        Status.UNKNOWN_FAILURE: (
            "UNKNOWN FAILURE",
            "What stands out is listed below; it is where to look, not a cause.",
        ),
        Status.NOT_EVALUABLE: (
            "NOT EVALUABLE",
            "This says nothing about the job or its hosts.",
        ),
        Status.BENIGN: ("HARMLESS AS FAR AS SEEN", "Only what was collected was checked."),
        Status.HEALTHY: ("HEALTHY AS FAR AS SEEN", "Only what was collected was checked."),
    }
)

ACTION: Mapping[ActionKind, str] = MappingProxyType(
    {
        ActionKind.NONE: "nothing to do",
        ActionKind.FIX_CONFIG: "fix the configuration",
        ActionKind.FIX_INPUT: "fix the input",
        ActionKind.FIX_ENVIRONMENT: "fix the environment",
        ActionKind.WAIT: "wait",
        ActionKind.RESTART: "restart the job",
        ActionKind.RESTART_FROM_CHECKPOINT: "restart the job from its last checkpoint",
        ActionKind.RESTART_ELSEWHERE: "restart the job on other hosts",
        ActionKind.KILL_PROCESS: "kill the process",
        ActionKind.RELOAD_DRIVER: "reload the Neuron driver",
        ActionKind.RESET_DEVICE: "reset the device",
        ActionKind.REBOOT: "reboot the host",
        ActionKind.REPLACE_INSTANCE: "replace the instance",
        ActionKind.COLLECT_MORE: "collect more evidence",
        ActionKind.OPEN_TICKET: "open a support ticket",
    }
)

ROLE: Mapping[Role, str] = MappingProxyType(
    {
        Role.ROOT: "Root causes",
        Role.CONFIRMATION: "Confirmations: the same fault, seen by another source",
        Role.CASCADE: "Cascades: failed because of another finding",
        Role.TEARDOWN: "Teardown: noise of the job being stopped",
        Role.BENIGN: "Benign: known to be harmless",
        Role.CONTEXT: "Context: no failure by itself",
        Role.SURVIVED: "Survived: errors after which the job went on",
    }
)

EDGE: Mapping[EdgeType, str] = MappingProxyType(
    {
        EdgeType.CAUSED_BY: "was caused by",
        EdgeType.BLOCKED_ON: "was blocked on",
        EdgeType.KILLED_BY: "was killed by",
        EdgeType.TIMED_OUT_WAITING_FOR: "timed out waiting for",
    }
)

_SURE = ((0.95, "nearly certain"), (0.8, "very likely"), (0.6, "likely"), (0.4, "possible"), (0.0, "a guess"))


#: So many hosts are named in a sentence; of more, only their number.
_FEW = 4

_KILO = 1000
_THE_JOB = "the job"


def status_words(diagnosis: Diagnosis) -> tuple[str, str]:
    """The verdict in capitals, and what it does and does not say (empty for a root cause)."""
    label, meaning = STATUS[diagnosis.verdict.status]
    meaning = meaning if diagnosis.verdict.complete else ""
    found = len(diagnosis.root_causes)
    return (f"{found:,} ROOT CAUSES" if found > 1 else label), meaning


def how_sure(confidence: float) -> str:
    """A confidence in words and as a number: `very likely (0.87)`."""
    words = next((words for least, words in _SURE if confidence >= least), _SURE[-1][1])
    return f"{words} ({confidence:.2f})"


def counted(number: int, noun: str) -> str:
    """`1 host`, `2,048 ranks`, `2 kinds of input`: `noun`, which is in the singular, takes an s where it must."""
    first, of, rest = noun.partition(" of ")
    return f"{number:,} {first}{'' if number == 1 else 's'}{of}{rest}"


def place_of(finding: Finding) -> str:
    """Where a finding is, in words."""
    return place_words(finding.place, hosts_of(finding), ranks_of(finding))


def place_words(place: Place, hosts: Sequence[str] = (), ranks: Sequence[int] = ()) -> str:
    """A place in words, from the outside in: `node-13 (i-0592), device 5, core 2, rank 402`; or nothing."""
    numbers = ("device", place.device), ("core", place.core), ("pid", place.pid)
    texts = ("group", place.group), ("container", place.container), ("job", place.job)
    parts = [_hosts(place, hosts or ((place.host,) if place.host else ()))]
    parts += [f"{name} {number}" for name, number in numbers if number is not None]
    parts.append(rank_words(ranks or ranks_of_place(place)))
    parts += [f"{name} {text}" for name, text in texts if text and text != parts[0]]
    parts.append(f"attempt {place.attempt}" if place.attempt is not None else "")
    return ", ".join(part for part in parts if part)


def _hosts(place: Place, hosts: Sequence[str]) -> str:
    if len(hosts) > 1:
        return host_words(hosts)
    names = [name for name in (*hosts, place.instance_id) if name]
    return f"{names[0]} ({names[1]})" if len(names) > 1 and names[0] != names[1] else "".join(names[:1])


def host_words(hosts: Sequence[str]) -> str:
    """One host by its name, several by number and names."""
    return f"{len(hosts):,} hosts: {host_list(hosts)}" if len(hosts) > 1 else "".join(hosts)


def rank_words(ranks: Sequence[int]) -> str:
    """`rank 3`, `ranks 0-31,40`, or nothing."""
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {ranges(ranks)}" if ranks else ""


def spread_words(hosts: Sequence[str], ranks: Sequence[int]) -> str:
    """Over which ranks and hosts: `ranks 0-31 on node-01`, `ranks 0-2047 on 64 hosts`; names only of a few."""
    on = host_list(hosts) if len(hosts) <= _FEW else counted(len(hosts), "host")
    return " on ".join(part for part in (rank_words(ranks), on) if part)


def middle_shortened(path: str, room: int) -> str:
    """A path of at most `room` cells, its middle left out: for prose, never where one must be able to open it."""
    text = visible(path)
    if cells(text) <= room:
        return text
    side = max((room - 3) // (2 if text.isascii() else 4), 1)
    return f"{text[:side]}...{text[-side:]}"


def where(span: Span) -> str:
    """Where evidence stands, as an editor opens it: `path:line`, for what is not text the byte. A blank at the beginning of
    the path shows, or it would be taken for the indentation."""
    path = f"\\x20{span.path[1:]}" if span.path.startswith(" ") else span.path
    return f"{path}:{span.line}" if span.line is not None else f"{path} (byte {span.offset:,})"


def action_words(action: Action) -> str:
    """What to do to what, in words; the job is named once."""
    what, target = ACTION[action.action], action.target
    if _THE_JOB in what:
        target = target.removeprefix(_THE_JOB).removeprefix(", ")
    return what + (f": {target}" if target else "")


def steps_words(actions: Sequence[Action]) -> str:
    """What to do in short, each step once: `replace the instance, then restart the job`."""
    return ", then ".join(dict.fromkeys(ACTION[action.action] for action in actions))


def size_words(size: int) -> str:
    """Bytes with the unit that suits, powers of 1000: `1.2 MB`."""
    amount, units = float(size), ["B", "kB", "MB", "GB", "TB"]
    while round(amount) >= _KILO and len(units) > 1:
        amount, units = amount / _KILO, units[1:]
    return f"{amount:.3g} {units[0]}"


def clock_words(clock: ClockOffset) -> str:
    """How far a clock is ahead of another, and how that is known."""
    name = f"{clock.host} {clock.clock}" if clock.host else clock.clock
    if clock.offset_s is None or clock.error_s is None:
        return f"{name}: its witnesses contradict each other ({', '.join(clock.witnesses)}); no order rests on it"
    way = "ahead of" if clock.offset_s >= 0 else "behind"
    known = f"known to {clock.error_s:,.3f} s by {', '.join(clock.witnesses)}"
    return f"{name} is {abs(clock.offset_s):,.3f} s {way} {clock.reference}, {known}"
