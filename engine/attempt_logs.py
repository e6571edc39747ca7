"""The logs of attempts that were made good, by what they are called: after the log that the list of attempts names, with marks
for the slashes in it (`train_default_try1-main.log`), and, of a node that the list leaves out, as those beside it but for the
node, if the next attempt has such a log, too (`train_default_try1-node3.log` beside `train_default_try2-node3.log`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

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
    """The sources that are logs of attempts which a later one made good; `attempts` are the facts of that kind."""
    if not any(one.data["made_good"] for one in attempts):
        return set()
    paths = ((source.id, _NAME.fullmatch(source.path)) for source in sources)
    names = {name: _Name(found["folder"] or "", found["stem"]) for name, found in paths if found}
    earlier = set[_Name]()
    for failed, good in _turns(attempts):
        for one, other in _listed(names.values(), failed, good):
            earlier |= {one, *(_beside(names.values(), one, other))}
    return {source for source, name in names.items() if name in earlier}


def _turns(attempts: Iterable[Fact]) -> Iterator[tuple[str, str]]:
    """The log of each attempt that was made good, with that of the one that was good."""
    units: dict[str, list[Fact]] = defaultdict(list)
    for one in attempts:
        units[str(one.data["unit"])].append(one)
    for listed in units.values():
        good = {str(one.data["stream"]) for one in listed if not one.data["failed"]}
        for one in listed:
            if one.data["made_good"] and str(one.data["stream"]) not in good:
                yield from ((str(one.data["stream"]), stream) for stream in good)


def _listed(names: Iterable[_Name], failed: str, good: str) -> Iterator[tuple[_Name, _Name]]:
    """The logs of two attempts that are called after these, alike but for that."""
    there = set(names)
    for name in there:
        if _is_called(name.stem, failed):
            other = _Name(name.folder, name.stem[: -len(failed)] + good)
            if other in there:
                yield name, other


def _is_called(stem: str, stream: str) -> bool:
    """Whether a log is called after a stream, of a name of several words: one word is looked for elsewhere."""
    telling = len(stream) > _TELLING and len(_WORD.findall(stream)) > 1
    return telling and stem.endswith(stream) and not stem[: -len(stream)][-1:].isalnum()


def _beside(names: Iterable[_Name], one: _Name, other: _Name) -> Iterator[_Name]:
    """The logs beside these two that are called as the one but for their last word, and of which there is one as the other."""
    there = set(names)
    head, other_head = (name.words[:-1] for name in (one, other))
    if one.words[-1] != other.words[-1] or sum(a != b for a, b in zip(head, other_head, strict=False)) != 1:
        return
    others = {name.words for name in there if name.folder == one.folder}
    for name in there:
        alike = name.folder == one.folder and name.words[:-1] == head
        if alike and (*other_head, name.words[-1]) in others:
            yield name
