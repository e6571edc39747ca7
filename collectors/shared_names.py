"""Names that files bear which are made once on a host, and that logs bear which lie elsewhere: `dmesg/hera dmesg/iris` beside
`process_0_hera.log process_1_iris.log`, or `kernel/hera.txt kernel/iris.txt` beside `logs/hera/train.log logs/iris/train.log`.

Either alone may be anything. Two names at least of one directory, of files of one kind (or of directories with such files of one
name), that stand alike in the names of logs, before or behind nothing but numbers and words for what ran there, are hosts if
these logs ran beside each other and no two of the files are of one machine: no log tells of a rank that another one's tells of.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from neuron_doctor.collectors.no_host_words import BEFORE_A_HOST, OF_A_STORY, OF_ANOTHER_HOST, may_name_a_host, words_of
from neuron_doctor.collectors.sibling_hosts import HOST_KINDS, Telling, beside_each_other, telling
from neuron_doctor.engine.facts import Fact, Source
from neuron_doctor.engine.regexes import regex

_NUMBER = regex(r"\d+", re.ASCII)
_BETWEEN = regex(r"[-_.]+")

Facts = Mapping[str, Sequence[Fact]]
#: The names that files of one kind bear in one directory, in lower case, each with its files.
_Made = Mapping[str, Sequence[Source]]


class _Called(Struct, frozen=True):
    """A log that may be called after a host: what it is called, the host as it stands there, where, and what else does."""

    log: Source
    name: str
    host: str
    form: tuple[str, ...]


def hosts_of_shared_names(
    sources: Iterable[Source], facts: Facts, below: Mapping[str, Sequence[str]], name_of: Callable[[str], str]
) -> dict[str, str]:
    """The hosts by what parts of paths are called, in lower case. `below` has the parts of each path that may be hosts, and
    `name_of` tells the name that a part has if it is one."""
    sources = list(sources)
    called: dict[str, list[_Called]] = defaultdict(list)
    families = list(_made(sources, below, name_of))
    for source in sources if families else ():
        for one in _readings(source, below[source.path], name_of) if source.kind not in HOST_KINDS else ():
            called[one.host.casefold()].append(one)
    return {name: host for made in families for name, host in _called_after(made, called, facts)}


def _made(
    sources: Iterable[Source], below: Mapping[str, Sequence[str]], name_of: Callable[[str], str]
) -> Iterator[_Made]:
    """The names in each directory that files of one kind bear, or directories with such files of one name: two at least."""
    families: dict[tuple[str, ...], dict[str, list[Source]]] = defaultdict(lambda: defaultdict(list))
    for source in sources:
        if source.kind in HOST_KINDS and below[source.path]:
            *above, last = below[source.path]
            families["files", source.kind, *above][name_of(last).casefold()].append(source)
            if above:
                at = ("directories", source.kind, _NUMBER.sub("#", last), *above[:-1])
                families[at][name_of(above[-1]).casefold()].append(source)
    for names in families.values():
        hosts = {name: files for name, files in names.items() if _may_be_host(name)}
        if len(hosts) > 1:
            yield hosts


def _may_be_host(name: str) -> bool:
    return bool(name) and may_name_a_host(name) and name not in OF_A_STORY and not words_of(name) & OF_ANOTHER_HOST


def _readings(log: Source, parts: Sequence[str], name_of: Callable[[str], str]) -> Iterator[_Called]:
    """The hosts that the log may be called after: what a part of its path is called, with or without numbers and words for what
    ran there at one end."""
    for number, part in enumerate(parts):
        name = name_of(part)
        above = tuple(_NUMBER.sub("#", one) for one in parts[:number])
        if name:
            yield _Called(log, name, name, (*above, "*"))
        for cut in _BETWEEN.finditer(name):
            before, after = name[: cut.start()], name[cut.end() :]
            if _says_no_host(before):
                yield _Called(log, name, after, (*above, f"{_NUMBER.sub('#', before.casefold())}*"))
            if _says_no_host(after):
                yield _Called(log, name, before, (*above, f"*{_NUMBER.sub('#', after.casefold())}"))


def _says_no_host(rest: str) -> bool:
    words = (_NUMBER.sub("", word) for word in _BETWEEN.split(rest.casefold()))
    return all(not word or word in BEFORE_A_HOST for word in words)


def _called_after(made: _Made, called: Mapping[str, Sequence[_Called]], facts: Facts) -> Iterator[tuple[str, str]]:
    """What logs are called that bear these names alike, and the names themselves, each with the host."""
    alike: dict[tuple[str, ...], list[_Called]] = defaultdict(list)
    for name in made:
        for one in called.get(name, ()):
            alike[one.form].append(one)
    for logs in alike.values():
        hosts = {one.host.casefold(): one.host for one in logs}
        if len(hosts) > 1 and beside_each_other(list(_told(made, logs, facts))):
            yield from hosts.items()
            yield from ((one.name.casefold(), one.host) for one in logs)


def _told(made: _Made, logs: Iterable[_Called], facts: Facts) -> Iterator[Telling]:
    """What the logs of each name tell, with what the files say of the machine that they were made on."""
    told: dict[str, Telling] = defaultdict(Telling)
    for one in logs:
        told[one.host.casefold()].add(telling(one.log, facts.get(one.log.path, ()), None))
    for name, of_logs in told.items():
        for source in made[name]:
            of_logs.machines |= telling(source, facts.get(source.path, ()), None).machines
        yield of_logs
