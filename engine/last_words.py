"""The last words of a run: what each log that tells of one says lowest of it, that it is done, or that it went on, or failed."""

from __future__ import annotations

from collections.abc import Iterable

from neuron_doctor.engine.facts import Fact

#: What a log tells of a run.
OF_RUNS = frozenset({"progress", "hang-report", "launcher-failure", "restart", "status", "completion"})


def last_words(facts: Iterable[Fact]) -> dict[str, Fact]:
    """By source, of the facts that tell of a run the one that stands lowest; of two at one place the one that says that a
    process exited."""
    last: dict[str, Fact] = {}
    for fact in facts:
        if fact.kind in OF_RUNS:
            last[fact.source] = max(last.get(fact.source, fact), fact, key=_at_and_exited)
    return last


def _at_and_exited(fact: Fact) -> tuple[int, bool]:
    return fact.span.offset, bool(fact.data.get("exited"))
