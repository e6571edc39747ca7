"""Labels of workers that are no hosts. A parallel shell (pdsh, clush) writes the name of the host and a colon before each
line, and so do programs and entry scripts with a name that they give their workers (`g105: Traceback ...`).

Labels of one shape (`g105`, `g19`: numbers aside) are names of workers where

- files of two hosts at least have such labels, and no label stands in the files of both: a shell is run from one place;
- in the files of two hosts at least a process of the host writes lines without a label too: a shell labels every line;
- nothing else, neither a file's place nor another record, knows a host by any of these names.

What such a line says is of the host whose file it stands in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Source
from neuron_doctor.engine.regexes import regex

_NUMBER = regex(r"\d+")


def without_labels_for_hosts(facts: Sequence[Fact], sources: Iterable[Source]) -> Sequence[Fact]:
    """The facts; those whose host is the label of a worker are at the host of their source."""
    host_of = {source.id: source.place.host for source in sources if source.place.host}
    labelled = [fact for fact in facts if _is_labelled(fact, host_of)]
    if not labelled:
        return facts
    shapes = _shapes_of_workers(facts, labelled, host_of)
    return [
        _at_home(fact, host_of) if _is_labelled(fact, host_of) and _shape(fact) in shapes else fact for fact in facts
    ]


def _is_labelled(fact: Fact, host_of: Mapping[str, str]) -> bool:
    """Whether the host of a record is the label before it, in the file of another host."""
    host = fact.place.host
    if not host or host_of.get(fact.source, host) == host:
        return False
    return fact.span.text.startswith(f"{host}: ") or f'"{host}: ' in fact.span.text  # or within a JSON envelope


def _shape(fact: Fact) -> str:
    return _NUMBER.sub("#", fact.place.host or "")


def _shapes_of_workers(facts: Iterable[Fact], labelled: Sequence[Fact], host_of: Mapping[str, str]) -> set[str]:
    """The shapes of labels that are shown to be workers, as above."""
    known: set[object] = set(host_of.values())
    speaking: set[str] = set()
    for fact in facts:
        if not _is_labelled(fact, host_of):
            known |= {fact.place.host, fact.data.get("hostname")}
            speaking |= {fact.source} if fact.place.pid is not None else set()
    homes: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for fact in labelled:
        homes[_shape(fact)][fact.place.host or ""].add(host_of[fact.source])
    beside = {(_shape(fact), host_of[fact.source]) for fact in labelled if fact.source in speaking}
    return {
        shape
        for shape, names in homes.items()
        if known.isdisjoint(names)
        and all(len(hosts) == 1 for hosts in names.values())
        and sum(told == shape for told, _ in beside) > 1
    }


def _at_home(fact: Fact, host_of: Mapping[str, str]) -> Fact:
    return replace(fact, place=replace(fact.place, host=host_of[fact.source]))
