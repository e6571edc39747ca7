"""Which attempts failed and were made good: who runs a job lists them, and a later one of the same step ended well.

An attempt is known by where it stands in the list, by the last part of the name of its log, or of the folder of that (the id of
its task, the number of its pod), and by the number in that name where the logs of all attempts of a step lie beside each other
(Airflow's `task_id=train/attempt=1.log`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from neuron_doctor.engine.facts import Fact, Source
from neuron_doctor.engine.regexes import regex

KIND = "attempt"
_WORD = regex(r"[A-Za-z0-9]+")
#: A name that tells one attempt from all others is no word, and no small number.
_TELLING = 6
#: The log of an attempt, beside those of the others.
_NUMBERED = regex(r"(?P<before>.*[/!])(?:attempt|try)(?P<sign>[=_-])(?P<number>\d{1,4})\.log(?:\.\w{1,8})?")


class MadeGood(Struct, frozen=True):
    """The places in their lists, by source, as where they begin and end; the names of their logs; and the sources that are
    such logs."""

    spans: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)
    streams: frozenset[str] = frozenset()
    logs: frozenset[str] = frozenset()

    def holds(self, fact: Fact) -> bool:
        """Whether a fact is of such an attempt."""
        if fact.source in self.logs:
            return True
        spans = self.spans.get(fact.source, ())
        at = bisect_right(spans, (fact.span.offset, 1 << 62)) - 1
        if at >= 0 and fact.span.offset < spans[at][1]:
            return True
        return bool(self.streams) and not self.streams.isdisjoint(
            word for name in (fact.place.container, fact.place.host) for word in _WORD.findall(name or "")
        )


def made_good(facts: Iterable[Fact], sources: Iterable[Source], ended: Iterable[str]) -> MadeGood:
    """What these facts tell; `ended` are the sources that say themselves that they came to a good end."""
    spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
    good, others = set[str](), set[str]()
    for fact in facts:
        if fact.kind != KIND:
            continue
        if fact.data["made_good"]:
            spans[fact.source].append((fact.span.offset, fact.span.offset + fact.span.length))
        (good if fact.data["made_good"] else others).add(str(fact.data["stream"]))
    streams = frozenset(name for name in good - others if len(name) >= _TELLING)
    sources = tuple(sources)
    logs = {s.id for s in sources if streams and not streams.isdisjoint(_WORD.findall(s.path))}
    logs |= _earlier(sources, frozenset(ended))
    return MadeGood({source: sorted(found) for source, found in spans.items()}, streams, frozenset(logs))


def _earlier(sources: Iterable[Source], ended: frozenset[str]) -> set[str]:
    """The logs of attempts before the last one of their step, which ended well."""
    steps: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    for source in sources:
        if numbered := _NUMBERED.fullmatch(source.path):
            steps[numbered["before"], numbered["sign"]].append((int(numbered["number"]), source.id))
    found = set[str]()
    for attempts in steps.values():
        last, log = max(attempts)
        found |= {one for number, one in attempts if number < last} if log in ended else set()
    return found
