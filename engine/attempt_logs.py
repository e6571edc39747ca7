"""The logs of attempts that were made good, by what they are called: after the log that the list of attempts names, with marks
for the slashes in it (`train_default_try1-main.log`), and, of a node that the list leaves out, as those beside it but for the
node, if the next attempt has such a log, too (`train_default_try1-node3.log` beside `train_default_try2-node3.log`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from msgspec import Struct

from neuron_doctor.engine.facts import Fact, Source
from neuron_doctor.engine.regexes import regex

#: A name of a log that tells it from all others is longer than this.
_TELLING = 6
_WORD = regex(r"[A-Za-z0-9]+")
_NAME = regex(r"(?P<folder>.*[/!])?(?P<stem>[^/!]{1,250}?)\.(?:log|txt)(?:\.[a-z]\w{1,3})?")  # train.log, train.log.gz


class _Name(Struct, frozen=True):
    folder: str
    stem: str

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(_WORD.findall(self.stem))


def logs_of_attempts(attempts: Sequence[Fact], sources: Iterable[Source]) -> set[str]:
    """The sources that are logs of attempts which a later one made good; `attempts` are the facts of that kind. Linear in
    the logs."""
    if not any(one.data["made_good"] for one in attempts):
        return set()
    paths = ((source.id, _NAME.fullmatch(source.path)) for source in sources)
    names = {name: _Name(found["folder"] or "", found["stem"]) for name, found in paths if found}
    pairs = list(_listed(set(names.values()), _turns(attempts)))
    earlier = {one for one, _ in pairs}
    if pairs:
        earlier |= _beside(set(names.values()), pairs)
    return {source for source, name in names.items() if name in earlier}


def _turns(attempts: Iterable[Fact]) -> dict[str, set[str]]:
    """For the log of each attempt that was made good, those that were good."""
    units: dict[str, list[Fact]] = defaultdict(list)
    for one in attempts:
        units[str(one.data["unit"])].append(one)
    turns: dict[str, set[str]] = defaultdict(set)
    for listed in units.values():
        good = {str(one.data["stream"]) for one in listed if not one.data["failed"]}
        for stream in {str(one.data["stream"]) for one in listed if one.data["made_good"]} - good:
            turns[stream] |= good
    return turns


def _listed(there: Set[_Name], turns: Mapping[str, Set[str]]) -> Iterator[tuple[_Name, _Name]]:
    """The logs that are called after an attempt, each with that of a good one, alike but for that."""
    for name in there:
        for stream in _may_be_streams(name.stem):
            for good in turns.get(stream, ()):
                other = _Name(name.folder, name.stem[: -len(stream)] + good)
                if other in there:
                    yield name, other


def _may_be_streams(stem: str) -> Iterator[str]:
    """The streams after which a log may be called, of several words: one word is looked for elsewhere."""
    for at in range(len(stem) - _TELLING):
        if (at == 0 or not stem[at - 1].isalnum()) and len(_WORD.findall(stem, at)) > 1:
            yield stem[at:]


def _beside(there: Set[_Name], pairs: Iterable[tuple[_Name, _Name]]) -> set[_Name]:
    """The logs beside these that are called as the first of a pair but for their last word, and of which there is one as the
    second."""
    called: dict[tuple[str, tuple[str, ...]], list[_Name]] = defaultdict(list)
    for name in there:
        called[name.folder, name.words].append(name)
    rows: dict[tuple[str, tuple[str, ...]], set[str]] = defaultdict(set)
    for folder, words in called:
        rows[folder, words[:-1]].update(words[-1:])
    heads = {(one.folder, one.words[:-1], other.words[:-1]) for one, other in pairs if _are_of_a_row(one, other)}
    return {
        name
        for folder, head, other_head in heads
        for last in rows[folder, head] & rows[folder, other_head]
        for name in called[folder, (*head, last)]
    }


def _are_of_a_row(one: _Name, other: _Name) -> bool:
    """Whether two names differ in one word, which is not their last."""
    words, others = one.words, other.words
    differing = sum(a != b for a, b in zip(words[:-1], others[:-1], strict=False))
    return words[-1] == others[-1] and differing == 1
