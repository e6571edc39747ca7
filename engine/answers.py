"""Which facts answer a query: looked up once, however many rules and places ask."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, KeysView, Mapping, Sequence

from neuron_doctor.engine.expressions import Expression, RecordQuery, Test, Version, field_of, holds
from neuron_doctor.engine.facts import Fact, Value


class Answers:
    """The facts of a diagnosis, by the queries that they answer for sure."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._by_name: dict[str, list[Fact]] = defaultdict(list)
        for fact in facts:
            self._by_name[fact.name].append(fact)
        self._by_value: dict[tuple[str, str], Mapping[Value, Sequence[int]]] = {}
        self._found: dict[RecordQuery, Sequence[Fact]] = {}

    @property
    def names(self) -> KeysView[str]:
        """The names that the facts have."""
        return self._by_name.keys()

    def of(self, query: RecordQuery) -> Sequence[Fact]:
        """The facts that answer it, in their order."""
        found = self._found.get(query)
        if found is None:
            found = [fact for fact in self._candidates(query) if holds(query.where, fact)]
            self._found[query] = found
        return found

    def _candidates(self, query: RecordQuery) -> Iterable[Fact]:
        """The facts of its name; of the many counters of a fleet only those that it names."""
        named, key = self._by_name.get(query.name, ()), _key(query.where)
        if not named or key is None:
            return named
        name, values = key
        index = self._by_value.get((query.name, name))
        if index is None:
            index = self._by_value[query.name, name] = _by_value(named, name)
        return (named[at] for at in sorted(at for value in dict.fromkeys(values) for at in index.get(value, ())))


def _key(where: Expression | None) -> tuple[str, tuple[Value, ...]] | None:
    """A field and the values of which it must have one, or `where` does not hold."""
    if isinstance(where, Test):
        if where.op not in ("==", "in") or isinstance(where.value, Version):  # many texts are of one version
            return None
        return where.field, where.value if isinstance(where.value, tuple) else (where.value,)
    parts = where.parts if where is not None and where.op == "and" else ()
    return next((key for part in parts if (key := _key(part)) is not None), None)


def _by_value(facts: Iterable[Fact], name: str) -> Mapping[Value, Sequence[int]]:
    found: dict[Value, list[int]] = defaultdict(list)
    for at, fact in enumerate(facts):
        value = field_of(fact, name)
        if not isinstance(value, tuple | list):  # no rule compares one with a list
            found[value].append(at)
    return found
