"""Which parts of a rule's condition its examples exercise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from neuron_doctor.engine import conditions as cond
from neuron_doctor.engine.evaluate import Scene, evaluate
from neuron_doctor.engine.expressions import Junction, Test, holds
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.match import scenes
from neuron_doctor.engine.rulebook import Rule
from neuron_doctor.examples import Exhibit
from neuron_doctor.ruleparts import (
    ConditionPart,
    ExpressionPart,
    Keys,
    QueryPart,
    conditions_of,
    expressions_of,
    queries_of,
    written,
)


class Leaf(Struct, frozen=True):
    """A condition that is no combination, or a comparison of its `where`, and why it is not exercised, in words. It is when it is
    as the rule wants it where the rule fires in a positive, and somewhere in the examples alone keeps the rule from firing
    (a comparison: a record from answering)."""

    keys: Keys
    what: str
    gaps: tuple[str, ...]

    def __str__(self) -> str:
        return f"`{self.what}`: {'; '.join(self.gaps)}"


class _Looks(Struct, frozen=True):
    """The places at which the rule fires in positives, those at which it does not fire in any example, and all facts."""

    fired: Sequence[Scene]
    missed: Sequence[Scene]
    facts: Sequence[Fact]


def coverage(rule: Rule, exhibits: Iterable[Exhibit]) -> Iterator[Leaf]:
    """Every leaf of the rule's condition, and how its examples exercise it."""
    looks = _looks(rule, exhibits)
    for part in conditions_of(rule):
        if not isinstance(part.node, cond.Combination):
            yield _of_condition(part, looks)
            for query in queries_of(part):
                for expression in expressions_of(query.node.where, query.keys):
                    if isinstance(expression.node, Test):
                        yield _of_comparison(query, expression, looks)


def _looks(rule: Rule, exhibits: Iterable[Exhibit]) -> _Looks:
    fired: list[Scene] = []
    missed: list[Scene] = []
    facts: list[Fact] = []
    for exhibit in exhibits:
        nothing = Scene({}, exhibit.ground.sources, exhibit.ground.known)
        for scene in [scene for _, scene in scenes(rule, exhibit.ground, exhibit.earlier)] or [nothing]:
            if not evaluate(rule.when, scene).held:
                missed.append(scene)
            elif exhibit.positive:
                fired.append(scene)
        facts += exhibit.facts
    return _Looks(fired, missed, facts)


def _of_condition(part: ConditionPart, looks: _Looks) -> Leaf:
    forced = part.instead(
        cond.Combination("all" if part.wanted else "any", ())
    )  # nothing to be met, nothing to meet it
    gaps = {
        "no positive that fires meets it": any(evaluate(part.node, scene).held is part.wanted for scene in looks.fired),
        "no example hangs on it alone": any(evaluate(forced, scene).held for scene in looks.missed),
    }
    return Leaf(part.keys, evaluate(part.node, Scene({})).op, _not_met(gaps))


def _of_comparison(query: QueryPart, part: ExpressionPart, looks: _Looks) -> Leaf:
    """Of a query whose records the rule wants to be absent, those of any example count."""
    where, named = query.node.where, [fact for fact in looks.facts if fact.name == query.node.name]
    if query.wanted:
        answering = [fact for scene in looks.fired for fact in scene.answers(query.node)]
    else:
        answering = [fact for fact in named if holds(where, fact)]
    forced = part.instead(Junction("and" if part.wanted else "or", ()))
    gaps = {
        f"no record of {'a positive that fires' if query.wanted else 'an example'} meets it": any(
            holds(part.node, fact) is part.wanted for fact in answering
        ),
        "no record hangs on it alone": any(holds(forced, fact) and not holds(where, fact) for fact in named),
    }
    return Leaf(part.keys, written(part.node), _not_met(gaps))


def _not_met(gaps: Mapping[str, bool]) -> tuple[str, ...]:
    return tuple(gap for gap, met in gaps.items() if not met)
