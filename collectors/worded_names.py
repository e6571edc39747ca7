"""Names of hosts behind words for what ran there, as those who sort logs write them: `worker-trn-06.out`, `task_trn-07/err.log`.

Beside each other stand several such names with the same words, and of what remains one at least is the name of a host that
content states: then what remains of the others, if it has the same shape, is one too. Words that tell of something else than of a
program (`ping-trn-06.txt`, `from-trn-06.log`) prove nothing.

The words may have a number, of the task or the rank (`log-7-trn-08.out` of Slurm's `log-%t-%N.out`), in each name its own.

Whatever else stands before them, alike in all of them, may be the name of the job (`llama70b_0505.sn7c21.log`): where each of
several such names ends in a host that content states, each file is of that host. Where the number of a job ends it
(`prof-90311-q2-a.log` of Slurm's `%x-%j-%N.log`), one will do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from neuron_doctor.collectors.no_host_words import BEFORE_A_HOST, OF_ANOTHER_HOST, words_of
from neuron_doctor.engine.regexes import regex

_NUMBER = regex(r"\d+")
#: A letter by which hosts are told apart, at the end of their names.
_LETTER = regex(r"(?<=[-_.\d])[a-z]\Z")
#: Words that end with the number of a job, which is longer than that of a try and no date.
_OF_JOB = regex(r"[A-Za-z][-_.][1-9]\d{4,9}[-_.]\Z")
_ENDS = "-_."
_BETWEEN = regex(r"[-_.]")
#: What asks a host from another one.
_ASKS = frozenset(
    {"ping", "iperf", "traceroute", "tracepath", "telnet", "curl", "nc", "ncat", "probe", "reach", "tcpdump", "mtr"}
)


def hosts_behind_words(names: Iterable[tuple[tuple[str, ...], str]], known: Mapping[str, str]) -> dict[str, str]:
    """The hosts by the names, in lower case, of files and directories, of which each is given with what it lies in. `known` has
    the names of hosts that content states by how they read in lower case."""
    siblings: dict[tuple[tuple[str, ...], str, str], set[tuple[str, str]]] = defaultdict(set)
    for above, name in sorted(set(names)):
        for words, rest in _splits(name):
            siblings[above, _shape(words), _shape(rest)].add((words, rest))
    found: dict[str, str] = {}
    for (_, words, shape), members in siblings.items():
        rests = {rest for _, rest in members}
        of_hosts = {f"{before}{rest}".casefold(): known.get(rest.casefold(), rest) for before, rest in members}
        heads = {before for before, _ in members}
        of_job = len(heads) == 1 and _OF_JOB.search(min(heads)) is not None
        count = any if of_job or _are_of_programs(words) else all
        stated = count(rest.casefold() in known for rest in rests) and known.keys().isdisjoint(of_hosts)
        pairs = shape in words  # `probe-trn-05-trn-06.log`
        if len(rests) > 1 and "#" in shape and stated and not pairs:
            found |= of_hosts
    return found


def _shape(text: str) -> str:
    return _LETTER.sub("@", _NUMBER.sub("#", text.casefold()))


def _are_of_programs(words: str) -> bool:
    return {word for word in _BETWEEN.split(words) if word.strip("#")} <= BEFORE_A_HOST


def _splits(name: str) -> Iterator[tuple[str, str]]:
    """The ways to cut a name into what stands before and what remains, which is more than a letter and a number."""
    for mark in _BETWEEN.finditer(name):
        words, rest = name[: mark.end()], name[mark.end() :]
        if words_of(words) & (OF_ANOTHER_HOST | _ASKS):
            return
        if len(_NUMBER.sub("", rest).strip(_ENDS)) > 1:
            yield words, rest
