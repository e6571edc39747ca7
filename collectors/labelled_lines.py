"""Hosts whose names stand before the lines of a log, as a launcher or a parallel shell puts them: `[merlin:1] step 118`,
`merlin: step 118`, `merlin | step 118`. A word before a line is anything, until something else bears it that is made once on
a host: with `dmesg.merlin dmesg.kestrel` beside it, the words are hosts, the files are theirs and so are the lines. A list of
machines that has them with their addresses (/etc/hosts, EC2's of its instances) knows them for hosts as well.

Two such names at least are needed: one kernel log may be called after what was looked for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection as Sized
from collections.abc import Iterable, Mapping, Sequence

from neuron_doctor.collectors.line_labels import KIND
from neuron_doctor.collectors.sibling_hosts import HOST_KINDS
from neuron_doctor.engine.facts import Fact, Source
from neuron_doctor.engine.regexes import regex

#: The number behind the name is that of a process, of a rank or of nothing.
_LABEL = regex(
    r"(?:\[(?P<bracketed>[A-Za-z][\w.-]{0,62})(?::\d{1,10})?\]|(?P<bare>[A-Za-z][\w.-]{0,62}) {0,40}[:|])(?:\s|$)"
)


def label_of(fact: Fact) -> str:
    """The word before the line of this record, in lower case, or nothing. One that nothing but a blank sets apart is known where
    nearly all lines of its log begin so (`line_labels`)."""
    if fact.kind == KIND:
        return str(fact.data["name"]).casefold()
    found = _LABEL.match(fact.span.text)
    return (found["bracketed"] or found["bare"]).casefold() if found else ""


def hosts_of_labels(
    sources: Iterable[Source], facts: Mapping[str, Sequence[Fact]], names: Mapping[str, str]
) -> dict[str, str]:
    """The names, by how they read in lower case, that files bear which are made once on a host, or that a list of machines has,
    and that lines of one log begin with. `names` has what the file of each path may be called after."""
    made = {
        str(f.data["hostname"]).casefold(): str(f.data["hostname"])
        for told in facts.values()
        for f in told
        if _lists(f)
    }
    labels: dict[str, set[str]] = defaultdict(set)
    for source in sources:
        if source.kind in HOST_KINDS:
            made[names[source.path].casefold()] = names[source.path]
        elif source.kind == "log" and not source.place.host:
            labels[source.path] |= {label_of(fact) for fact in facts.get(source.path, ())}
    shared = [made.keys() & said - {""} for said in labels.values()]
    return {name: made[name] for some in shared if len(some) > 1 for name in some}


def _lists(fact: Fact) -> bool:
    """Whether this is an entry of a list of machines, with a name and an address."""
    return fact.kind == "identity" and all(fact.data.get(key) for key in ("listed", "hostname", "address"))


def labelled(facts: Sequence[Fact], hosts: Sized[str]) -> dict[int, str]:
    """Of the records of one log without a host, by their numbers: the name of a host before the line, where at least two of
    these hosts label lines of it."""
    found = {number: label for number, fact in enumerate(facts) if (label := label_of(fact)) in hosts}
    return found if len(set(found.values())) > 1 else {}
