"""Names of hosts behind words for what ran there, as those who sort logs write them: `worker-trn-06.out`, `task_trn-07/err.log`.

Beside each other stand several such names with the same words, and of what remains one at least is the name of a host that
content states: then what remains of the others, if it has the same shape, is one too. Words that tell of something else than of a
program (`ping-trn-06.txt`, `from-trn-06.log`) prove nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from neuron_doctor.collectors.no_host_words import BEFORE_A_HOST
from neuron_doctor.engine.regexes import regex

_NUMBER = regex(r"\d+")
_ENDS = "-_."


def hosts_behind_words(names: Iterable[tuple[tuple[str, ...], str]], known: Mapping[str, str]) -> dict[str, str]:
    """The hosts by the names, in lower case, of files and directories, of which each is given with what it lies in. `known` has
    the names of hosts that content states by how they read in lower case."""
    siblings: dict[tuple[tuple[str, ...], str, str], set[str]] = defaultdict(set)
    for above, name in sorted(set(names)):
        for words, rest in _splits(name):
            siblings[above, words.casefold(), _NUMBER.sub("#", rest.casefold())].add(rest)
    found: dict[str, str] = {}
    for (_, words, shape), rests in siblings.items():
        of_hosts = {f"{words}{rest.casefold()}": known.get(rest.casefold(), rest) for rest in rests}
        stated = any(rest.casefold() in known for rest in rests) and known.keys().isdisjoint(of_hosts)
        if len(rests) > 1 and "#" in shape and stated:
            found |= of_hosts
    return found


def _splits(name: str) -> Iterator[tuple[str, str]]:
    """The ways to cut a name into words for programs and what remains, which is more than a letter and a number."""
    at = 0
    while (end := min((found for mark in _ENDS if (found := name.find(mark, at)) > 0), default=0)) and (
        name[at:end].casefold() in BEFORE_A_HOST
    ):
        at = end + 1
        if len(_NUMBER.sub("", name[at:]).strip(_ENDS)) > 1:
            yield name[:at], name[at:]
