"""The names of hosts that the content of a collection states, by which parts of paths are recognised."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from neuron_doctor.collectors.no_host_words import NO_HOST_OF_LINES, may_name_a_host, words_of
from neuron_doctor.collectors.own_names import is_called, names_in
from neuron_doctor.engine.facts import Collection, Fact
from neuron_doctor.engine.nodelists import nodes_of
from neuron_doctor.engine.proven import unique
from neuron_doctor.engine.regexes import regex

_NUMBER = regex(r"\d+", re.ASCII)
#: What the first line of a file calls the host (the pattern `heading-own-host`).
HEADING = "HOST_HEADING"
#: What every machine calls itself says nothing.
ANYBODY = frozenset({"localhost", "localhost.localdomain", "ip6-localhost"})

#: Variables that Slurm sets for the processes of a job.
_NODE_LISTS = frozenset({"SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_STEP_NODELIST"})

#: What else those are called after at which ranks of a job meet.
_SERVICES = frozenset({"master", "head", "headless", "launcher", "svc", "rdzv", "etcd", "leader"})


def known_hosts(collection: Collection) -> dict[str, str]:
    """The names that facts and hints state for hosts, by how they read in lower case; also by their first label, where
    one name alone has it. Names of pods and containers are none."""
    no_hosts = set(_pods(collection.facts))
    stated = (
        {s.place.host for s in collection.sources} | set(stated_names(collection.facts)) | _told_alike(collection.facts)
    )
    logins = {name for f in collection.facts if f.kind == "login" and _NUMBER.search(name := str(f.data["name"]))}
    stated |= _heading_alike(collection.facts)
    stated |= logins & {name for source in collection.sources if logins for name in names_in(source.path)}
    names = sorted(name for name in stated if name and name.casefold() not in no_hosts | ANYBODY)
    short = unique((label.casefold(), label) for label in map(_first_label, names) if label)
    return {**_alone(short, names), **{name.casefold(): name for name in reversed(names)}}


def _alone(short: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """The first labels that only one full name has."""
    full = unique((_first_label(name).casefold(), name.casefold()) for name in names if _first_label(name))
    return {label: name for label, name in short.items() if label in full}


def _first_label(name: str) -> str:
    """`node3` of `node3.cluster.local`; nothing of an address and of a name without domain."""
    label, dot, _ = name.partition(".")
    return label if dot and label and not label[0].isdigit() else ""


def stated_names(facts: Iterable[Fact], at: str | None = None) -> Iterator[str]:
    """The names that facts state for hosts. That they are of a source that is `at` a host by its path states nothing of it."""
    for fact in facts:
        if fact.place.host and fact.place.host != at:
            yield fact.place.host
        if fact.kind == "identity":
            yield from (str(fact.data[key]) for key in ("hostname", "address") if fact.data.get(key))
        elif fact.kind == "node":
            yield str(fact.data.get("name") or "")
        elif fact.kind == "meeting-host" and _may_meet_at(name := str(fact.data["name"])):
            yield name
        elif fact.kind in ("slurm-job", "listed-nodes", "named-hosts"):
            yield from nodes_of(str(fact.data.get("nodes") or ""))
        elif fact.kind == "env" and fact.data.get("name") in _NODE_LISTS:
            yield from nodes_of(str(fact.data.get("value") or ""))


def _may_meet_at(name: str) -> bool:
    """Whether ranks that meet there meet at a host, and not at a pod or a service, which are called after the job."""
    return bool(_NUMBER.search(name)) and may_name_a_host(name) and not words_of(name) & (NO_HOST_OF_LINES | _SERVICES)


def _told_alike(facts: Iterable[Fact]) -> set[str]:
    """The words by which sources are called that say them of themselves, in the same way, and each another one: `rank 3 started
    on danube` in `danube/3.log`, `rank 40 started on elbe` in `elbe/8.log`."""
    alike: dict[str, set[str]] = defaultdict(set)
    for fact in facts:
        word = str(fact.data.get("word") or "") if fact.kind == "identity" else ""
        if word and is_called(fact.span.path, word):
            alike[_NUMBER.sub("#", fact.span.text.partition(word)[0])].add(word)
    return {word for words in alike.values() if len(words) > 1 for word in words}


def _heading_alike(facts: Iterable[Fact]) -> set[str]:
    """The names that the first lines of several files give their hosts, each another one, by their numbers (`host: neu-n3`)."""
    alike: dict[str, set[str]] = defaultdict(set)
    for fact in facts:
        name = str(fact.data.get("value") or "") if fact.data.get("name") == HEADING and fact.kind == "env" else ""
        if name and fact.span.offset == 0 and _may_meet_at(name):
            alike[_NUMBER.sub("#", name)].add(name)
    return {name for names in alike.values() if len(names) > 1 for name in names}


def _pods(facts: Iterable[Fact]) -> Iterator[str]:
    for fact in facts:
        if fact.place.container:
            yield from fact.place.container.casefold().split("/")
        named = fact.data.get("name") if fact.kind == "pod" else fact.data.get("pod") if fact.kind == "identity" else ""
        if named:
            yield str(named).casefold()
