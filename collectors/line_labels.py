"""What stands before nearly all lines of a log, as a launcher, a parallel shell or a script around them puts it, though in no
form that one of these is known for: `[lambda4:12] `, `[c3n1] [3] `, `nvx2: [r10] `, `nvx2|r10> `, `c3n1 | `, `[r10] `
or `c3n1 ` before a time.

One such line says nothing: the word may be the name of a logger, the number that of a process. The beginning of the file as a
whole does. Where nine of ten lines have a label of one form,

- its words are hosts if there are two at least, with numbers in them and alike but for these, and none of the words by which
  programs number what they are made of, and if behind the names of half of them stands what a program logs (a time, an
  exception): lists of devices look alike. Any word may be the name of an experiment (`llama2`): where they have not the shape of
  hosts, nor ranks of the whole job stand with them, and where they are short (`n1`), something else must know each for a host;
- words with nothing but a blank behind them (`node-a  NRT error`), which all text begins with, are hosts only if two at least
  stand before several lines each, before nearly all lines together, and have the shape of hosts with numbers, or something else
  knows them for hosts. Then they look alike, or mostly the same stands behind each;
- its numbers are ranks if they are all from 0 to the last, and each stands with one host; if each host has them all, from 0
  on, they are local ranks; others (Open MPI's `[host:pid]`) are left alone. A log with ranks alone has no gap in them either.
  They are none where a record says another rank of itself behind the label: then its tasks are launchers.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from neuron_doctor.collectors.base import HEAD, Input
from neuron_doctor.collectors.hints import has_shape_of_host
from neuron_doctor.collectors.line_forms import BEGINNING
from neuron_doctor.collectors.no_host_words import NO_HOST_OF_LINES, words_of
from neuron_doctor.collectors.prefixes import cleaned
from neuron_doctor.engine.facts import Fact, Place, Span, span_of
from neuron_doctor.engine.proven import unique
from neuron_doctor.engine.regexes import regex

KIND = "line-label"
_NAME = r"[A-Za-z][\w.-]{0,62}"
_LABEL = regex(
    rf"(?:[\[(<]?(?P<marked>{_NAME}) ?[|/,:] ?[Rr](?:ank)?[-_ :=]?(?P<of_marked>\d{{1,6}})[\])>|:]"
    rf"|\[(?P<pair>{_NAME}):(?P<of_pair>\d{{1,10}})\]|(?!\[[Rr](?:ank)?\d{{1,6}}\])\[(?P<bracket>{_NAME})\]|(?P<colon>{_NAME}):"
    rf"|(?P<pipe>{_NAME}) {{0,40}}\||(?P<space>{_NAME})(?= (?:\d\d:\d\d:\d\d\b|{BEGINNING.pattern}))|(?P<bare>{_NAME})(?=[ \t]))?"
    r"(?: {0,2}\[(?:[Rr](?:ank)?[ :=]?)?(?P<number>\d{1,6})\])?(?=[\s:]|$)"
)
#: The form of a name that only a blank follows, and those of which a log of such names has lines.
_BARE = "bare"
_BLANK_BEHIND = (_BARE, "space")
_RANK_ITSELF = regex(r"(?:rank|default)[-_.:]?\d")
#: The number of a task of srun or mpirun, between the host that somebody put before a line and the line.
_TASK = regex(r"^\d{1,6}: {1,2}")
_CLOCK = regex(r"\[?\d\d:\d\d:\d\d\b")
_NUMBER, _WORD = regex(r"\d{1,20}"), regex(r"[a-z]{1,63}")
#: A letter that counts as a number does: `trn-a`, `trn-b`.
_SINGLE = regex(r"(?<=[-_])[a-z](?![a-z\d])")
#: What a worker says of its rank behind its label.
_INTRODUCES = regex(r"(?i)(?<![a-z\d_])(?:global[ _])?rank[ =:]{1,3}(?P<rank>\d{1,7})(?![\d.])")
#: So many that do so are no accident.
_INTRODUCED = 2
#: So many are those of a host.
_ON_A_HOST = 8
#: Below so many lines, or so few in a hundred, nothing is said of a file; no job starts more workers than that on its hosts.
_FEWEST, _SHARE, _MOST = 8, 90, 65536
#: So many names are those of several hosts.
_SEVERAL = 2
#: So many lines may stand around those of a short log.
_AROUND = 3
#: After so many lines a log without labels is left alone.
_GLANCE = 24


class _Seen(Struct, frozen=True):
    """A label: its form, the name and the number in it."""

    form: str
    name: str
    number: int | None


class _Look(Struct):
    """What a beginning shows: how often each label stands there (they are read once, by their text), the names behind which
    a program logs, and the lines behind names that only a blank follows."""

    seen: Counter[_Seen] = field(default_factory=Counter)
    logging: set[str] = field(default_factory=set)
    ranks: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    known: dict[str, _Seen | None] = field(default_factory=dict)
    behind: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def see(self, text: str) -> _Seen | None:
        """The label of one more line."""
        found = _LABEL.match(text)
        if found is None:
            return None
        if found[0] not in self.known:
            self.known[found[0]] = _seen(found)
        if label := self.known[found[0]]:
            if label.form in _BLANK_BEHIND:
                self.behind[label.name].append(_NUMBER.sub("#", text[found.end() :]))
            if label.form != _BARE:
                self.seen[label] += 1
            if label.number is not None and (told := _INTRODUCES.search(text, found.end())):
                self.ranks[label.number].add(int(told["rank"]))
            if label.name not in self.logging and _logs(text[found.end() :]):
                self.logging.add(label.name)
        return label

    def repeated(self) -> dict[str, list[str]]:
        """The names with a blank that several lines begin with, and what stands behind them."""
        return {name: lines for name, lines in self.behind.items() if len(lines) > 1}

    def of_the_usual_form(self) -> Counter[_Seen]:
        """The labels of the form that most have."""
        forms = Counter[str]()
        for label, count in self.seen.items():
            forms[label.form] += count
        usual = max(forms, key=forms.__getitem__, default="")
        return Counter({label: count for label, count in self.seen.items() if label.form == usual})


def line_labels(inp: Input) -> Iterator[Fact]:
    """A fact for each name that the lines of the first 64 KiB are labelled with, or one for labels without names."""
    head, offset = inp.head(), 0
    look, lines = _Look(), 0
    first: dict[str, Span] = {}
    for number, raw in enumerate(head.split(b"\n"), 1):
        if raw.strip() and offset + len(raw) < HEAD:
            lines += 1
            # a label begins with a letter or a bracket: most lines begin with a date
            label = None if raw[:1].isdigit() else look.see(cleaned(raw[:200].decode("utf-8", "replace")))
            if label and label.name not in first:
                first[label.name] = span_of(inp.path, raw.rstrip(b"\r"), offset, number, 1)
        offset += len(raw) + 1
        if lines == _GLANCE and max(look.seen.total(), _lines_of(look.repeated())) * 2 < lines:
            return  # most logs: their first lines tell
    seen = look.of_the_usual_form()
    if lines < _FEWEST:
        return
    if not _are_most(seen.total(), lines):
        bare = look.repeated()
        if _are_most(_lines_of(bare), lines) and _may_be_bare_hosts(bare):
            yield from _labels(inp, _BARE, "", {name: first[name] for name in bare}, sure=_are_numbered_hosts(bare))
        return
    form, numbers = next(iter(seen)).form, _introduced(look.ranks) or _meaning(seen)
    names = {label.name for label in seen}
    if names == {""} and numbers:
        yield Fact(KIND, _data(form, "", numbers, sure=True), inp.place, first[""], inp.source_id or inp.path)
    elif _are_hosts(names) and len(names & look.logging) * 2 >= len(names):
        sure = all(has_shape_of_host(name) or (numbers == "rank" and not _is_short(name)) for name in names)
        yield from _labels(inp, form, numbers, {name: first[name] for name in names}, sure=sure)


def _labels(inp: Input, form: str, numbers: str, first: Mapping[str, Span], *, sure: bool) -> Iterator[Fact]:
    """A fact for each name, where it stands first."""
    for name, span in sorted(first.items()):
        place = Place(host=name) if sure and inp.place.host is None else Place()
        yield Fact(KIND, _data(form, name, numbers, sure=sure), place, span, inp.source_id or inp.path)


def _data(form: str, name: str, numbers: str, *, sure: bool) -> dict[str, str | bool]:
    return {"form": form, "name": name, "numbers": numbers, "sure": sure}


def read_label(text: str) -> _Seen | None:
    """The label that a line begins with, if it has one."""
    found = _LABEL.match(text)
    return _seen(found) if found else None


def _seen(found: re.Match[str]) -> _Seen | None:
    if not found.end() or _RANK_ITSELF.match(found.string.lstrip("[")):
        return None
    form = next(
        (name for name in ("marked", "pair", "bracket", "colon", "pipe", "space", _BARE) if found[name]), "number"
    )
    number = found["of_marked"] or found["of_pair"] or found["number"]
    return _Seen(form, found[form] if form != "number" else "", int(number) if number else None)


def _logs(behind: str) -> bool:
    """Whether what is behind a label is a line of a program's log."""
    rest = _TASK.sub("", behind.lstrip(": "), count=1)
    return bool(BEGINNING.match(rest) or _CLOCK.match(rest))


def _are_hosts(names: set[str]) -> bool:
    """Whether the names look like those of hosts beside each other."""
    shapes = {_SINGLE.sub("@", _NUMBER.sub("#", name.lower())) for name in names}
    # of a name with its domain the first label alone tells what is numbered: that of `ml5.dc2.example.org` is no data center
    first = [name.partition(".")[0] if has_shape_of_host(name) else name for name in names]
    words = {word for name in first for word in _WORD.findall(name.lower())}
    named = all({"#", "@"} & set(shape) for shape in shapes)
    return len(names) > 1 and len(shapes) == 1 and named and not words & NO_HOST_OF_LINES


def _lines_of(behind: Mapping[str, Sequence[str]]) -> int:
    return sum(map(len, behind.values()))


def _may_be_bare_hosts(behind: Mapping[str, Sequence[str]]) -> bool:
    """Whether names that only blanks follow may be hosts: they look alike, or most of what one says another one says, too."""
    if len(behind) < _SEVERAL:
        return False
    of = unique((line, name) for name, lines in behind.items() for line in lines)
    shared = sum(1 for lines in behind.values() for line in lines if line not in of)
    alike = shared * 2 > _lines_of(behind) and not any(words_of(name) & NO_HOST_OF_LINES for name in behind)
    return alike or _are_hosts(set(behind))


def _are_numbered_hosts(names: Iterable[str]) -> bool:
    return all(has_shape_of_host(name) and _NUMBER.search(name) for name in names)


def _is_short(name: str) -> bool:
    return all(len(word) == 1 for word in _WORD.findall(name.lower()))


def _meaning(seen: Counter[_Seen]) -> str:
    """What the numbers are: `rank`, `local_rank`, or nothing that is known."""
    numbered = [label for label in seen if label.number is not None]
    if sum(seen[label] for label in numbered) * 100 < seen.total() * _SHARE:
        return ""
    of: dict[str, set[int]] = defaultdict(set)
    for label in numbered:
        of[label.name].add(label.number or 0)
    every = sorted(number for found in of.values() for number in found)
    if 1 < len(every) <= _MOST and every == list(range(len(every))):
        return "rank"
    if len(of) == 1 and _is_block(every):
        return "rank"
    blocks = {tuple(sorted(found)) for found in of.values()}
    return "local_rank" if len(of) > 1 and len(blocks) == 1 and blocks == {tuple(range(len(min(blocks))))} else ""


def _are_most(labelled: int, lines: int) -> bool:
    """Whether nearly all lines are labelled: so many in a hundred, or all but a few that a shell or a scheduler adds."""
    return labelled * 100 >= lines * _SHARE or (labelled >= _FEWEST and lines - labelled <= _AROUND)


def _is_block(numbers: Sequence[int]) -> bool:
    """Whether these are the ranks of a host but the first: as many as hosts have, from a multiple of their number on."""
    count = len(numbers)
    return count >= _ON_A_HOST and numbers == list(range(numbers[0], numbers[0] + count)) and numbers[0] % count == 0


def _introduced(ranks: Mapping[int, set[int]]) -> str:
    """`rank`, if all workers that tell their rank behind their number have this number for it."""
    return "rank" if len(ranks) >= _INTRODUCED and all(told == {number} for number, told in ranks.items()) else ""


def placed_by_labels(facts: Sequence[Fact], known: Mapping[str, str]) -> dict[int, Place]:
    """The places of the records of one log without a host by the labels before their lines, by their numbers. `known` has the
    names of hosts by how they read in lower case."""
    labels = [fact for fact in facts if fact.kind == KIND]
    if not labels:
        return {}
    form, numbers = labels[0].data["form"], str(labels[0].data["numbers"])
    names = {str(label.data["name"]) for label in labels}
    shown = {name: known.get(name.casefold(), name) for name in names}
    told = {name for name in names if name.casefold() in known}
    if not labels[0].data["sure"]:
        if form == _BARE:
            shown = {name: shown[name] for name in told} if len(told) >= _SEVERAL else {}
        elif told != names and (not told or any(map(_is_short, names))):
            shown = {}
    forms = _BLANK_BEHIND if form == _BARE else (form,)
    read = {n: label for n, fact in enumerate(facts) if fact.kind != KIND and (label := read_label(fact.span.text))}
    read = {n: label for n, label in read.items() if label.form in forms and label.name in names}
    others = ((facts[n].place, label.number) for n, label in read.items())
    if any(getattr(place, numbers or "rank") not in (None, number) for place, number in others):
        numbers = ""
    return {n: place for n, label in read.items() if (place := _completed(facts[n], label, shown, numbers)) is not None}


def _completed(fact: Fact, label: _Seen, shown: Mapping[str, str], numbers: str) -> Place | None:
    own = Place(host=shown.get(label.name) if label.name else None)
    if numbers == "rank":
        own = own.over(Place(rank=label.number))
    elif numbers == "local_rank":
        own = own.over(Place(local_rank=label.number))
    return fact.place.over(own) if own != Place() else None
