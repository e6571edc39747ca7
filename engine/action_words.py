"""What a rule says with slots in it, filled in with the places and captures of one finding: actions and headlines."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.grades import ActionKind
from neuron_doctor.engine.match import Match
from neuron_doctor.engine.recorder import ranks_text
from neuron_doctor.engine.regexes import regex
from neuron_doctor.engine.rulefile import ActionDoc
from neuron_doctor.engine.sitefile import SiteActionDoc
from neuron_doctor.engine.verdict import Action

#: An action names so many ranks and processes at most, and a headline quotes so many characters.
RANKS_NAMED, PIDS_NAMED, QUOTED = 8, 64, 100
_SLOT = regex(r"\{(\w+)\}")
#: A slot with the word for what it names, which stands alone where the name is not known.
_NAMED_SLOT = regex(r"(?:\b(?P<noun>host|rank|device|process) )?\{(?P<slot>\w+)\}")
#: What a command takes as several arguments.
_NUMBERS = regex(r"\d+(?: \d+)*")
_PRONOUNS = {"host": "that host", "rank": "that rank", "device": "that device", "pid": "that process"}
#: What is done to a host as a whole.
_OF_A_HOST = frozenset(
    {ActionKind.REPLACE_INSTANCE, ActionKind.REBOOT, ActionKind.RESET_DEVICE, ActionKind.RELOAD_DRIVER}
)
_FIND_HOST = "it is known which host that is: nothing that was collected names it"


class Words(Struct, frozen=True):
    """What is known of a finding, by slot; `whereabouts` says of which host it is where that has no name, and `unknown` what
    must be found out before anything is done to it."""

    values: Mapping[str, str] = field(default_factory=dict)
    whereabouts: str = "the host"
    unknown: str = _FIND_HOST

    def prose(self, text: str) -> str:
        """The text for people: what is not known is said in words."""
        return _NAMED_SLOT.sub(self._said, text)

    def _said(self, slot: re.Match[str]) -> str:
        noun, name = slot["noun"], slot["slot"]
        known = self.values.get(name)
        if known is not None:
            return f"{noun} {known}" if noun else known
        if noun:
            return self.whereabouts if name == "host" else f"the {noun}"
        return _PRONOUNS.get(name, f"<{name.replace('_', '-')}>")

    def command(self, text: str) -> str:
        """The text for a shell, or nothing where it needs the name of a host that is not known. What comes from a log is
        quoted."""
        if "host" not in self.values and "{host}" in text:
            return ""
        return _SLOT.sub(lambda slot: self._quoted(slot[1]), text)

    def _quoted(self, name: str) -> str:
        known = self.values.get(name)
        if known is None:
            return f"<{name.replace('_', '-')}>"
        return known if _NUMBERS.fullmatch(known) else shlex.quote(known)


def words_of(match: Match, pods: Sequence[str], pids: Sequence[int] = ()) -> Words:
    """What the records and the place of a match say; `pods` are those (or log streams) that its records are from, `pids` the
    processes at fault where there are several."""
    place = match.place
    values = {**_captures(match.facts), **{k: _text(v) for k, v in place.known().items()}}
    if place.ranks:
        more = len(place.ranks) > RANKS_NAMED
        values["rank"] = ",".join(map(str, place.ranks[:RANKS_NAMED])) + (",..." if more else "")
    if place.pid is None and 1 < len(pids) <= PIDS_NAMED:
        values["pid"] = " ".join(map(str, pids))
    if match.hosts and "host" not in values:
        values["host"] = ",".join(match.hosts)
    if len(pods) == 1:
        told = f"it is known on which host {pods[0]} ran (a pod: kubectl get pod {pods[0]} -o wide)"
        return Words(values, f"the host that ran {pods[0]}", told)
    return Words(values, _whereabouts(match.facts))


def action(doc: ActionDoc, words: Words) -> Action:
    """An action of a rule for one finding. What is done to a host has to wait until its name is known."""
    precondition = words.prose(doc.precondition)
    if "host" not in words.values and doc.action in _OF_A_HOST and "{host}" in doc.target:
        precondition = f"{words.unknown}; {precondition}" if precondition else words.unknown
    return Action(
        doc.action,
        target=words.prose(doc.target),
        command=words.command(doc.command),
        precondition=precondition,
        note=words.prose(doc.note),
        destroys=words.prose(doc.destroys),
        by_site=isinstance(doc, SiteActionDoc),
    )


def headline(text: str, title: str, facts: Sequence[Fact], words: Words) -> str:
    """The headline of a rule with what the records say in it, as `{record}` the first of them; its plain title where they
    do not all begin alike, or where a slot is not known."""
    said = [fact.span.text[(fact.span.column or 1) - 1 :].strip() for fact in facts]
    alike = len({one.partition(":")[0] for one in said}) == 1 and bool(said[0])
    values = {**words.values, **({"record": _shortened(said[0])} if alike else {})}
    if not text or any(slot not in values for slot in _SLOT.findall(text)):
        return title
    return _SLOT.sub(lambda slot: values[slot[1]], text)


def _shortened(text: str) -> str:
    line = " ".join(text.partition("\n")[0].split())
    if len(line) <= QUOTED:
        return line
    words = line[:QUOTED].rpartition(" ")[0]
    return (words if len(words) > QUOTED // 2 else line[:QUOTED]) + " ..."


def _whereabouts(facts: Sequence[Fact]) -> str:
    """How a host is told that has no name: by what it wrote."""
    spans = sorted({(fact.span.path, fact.span.line) for fact in facts}, key=lambda span: (span[0], span[1] or 0))
    if len({path for path, _ in spans}) != 1:
        return "the host (nothing that was collected names it)"
    path, line = spans[0]
    return f"the host that wrote line {line} of {path}" if line else f"the host that wrote {path}"


def _captures(facts: Iterable[Fact]) -> dict[str, str]:
    """What the records themselves name (a package, a file, a limit); the first of each."""
    found: dict[str, str] = {}
    for fact in facts:
        for name, value in fact.data.items():
            if said := _text(value):
                found.setdefault(name, said)
    return found


def _text(value: object) -> str:
    """A value in a sentence; a list of numbers is one of ranks. Empty for what cannot be said in one."""
    if isinstance(value, tuple):
        return ranks_text(value) if all(isinstance(one, int) for one in value) else ""
    return str(value) if isinstance(value, str | int | float) else ""
