"""What came closest to a condition that does not hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pytest
from builders import hit, source
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.engine import conditions as cond
from neuron_doctor.engine.answers import Answers
from neuron_doctor.engine.evaluate import Scene, evaluate
from neuron_doctor.engine.facts import Fact, Place, Source
from neuron_doctor.engine.nearest import Reason, Surroundings, reason, unmet
from neuron_doctor.engine.patterns import Pattern
from neuron_doctor.engine.query_parser import parse_query

S = 1_000_000_000
PATTERNS = {name: Pattern(name, name, channel="kernel" if name == "k" else "log") for name in "abk"}


def told(
    condition: cond.Condition,
    *here: Fact,
    elsewhere: tuple[Fact, ...] = (),
    sources: tuple[Source, ...] = (),
    known: tuple[int, ...] = (),
    findings: dict[str, tuple[Place, ...]] | None = None,
) -> Reason:
    answers = Answers(here)
    scene = Scene(
        {query: answers.of(query) for query in cond.queries(condition)},
        {one.id: one for one in sources},
        {"rank": known},
    )
    around = Surroundings(_by_name(here), _by_name((*here, *elsewhere)), PATTERNS, {"log": 2}, findings or {})
    return reason(condition, scene, around)


def _by_name(facts: tuple[Fact, ...]) -> dict[str, list[Fact]]:
    named: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        named[fact.name].append(fact)
    return named


def record(text: str) -> cond.Record:
    return cond.Record(parse_query(text))


def a(number: int = 0, at: float | None = None, **place: object) -> Fact:
    return hit("a", at=at, offset=number, data={"n": number}, **place)


@pytest.mark.parametrize(
    ("condition", "here", "elsewhere", "said", "shown"),
    [
        ("a where n == 9", (a(1), a(8), a(30)), (), "closest: n is 8", [8]),
        ("a where n == 9 and rank == 2", (a(8, rank=2), a(9, rank=3)), (), "closest: n is 8", [8]),
        ("a where n in [1, 90]", (a(40), a(80)), (), "closest: n is 80", [80]),
        ("a where not (n == 1 or n == 2)", (a(1),), (), "closest: n is 1", [1]),
        ("a where rank == 2", (a(1),), (), "closest: rank is not known", [1]),
        ("a where n == 9", (), (a(9), a(3)), "not at this place; 1 elsewhere", [9]),
        ("a where n == 9", (), (a(3), a(7)), "closest, at another place: n is 7", [7]),
        ("a", (), (), "no such record in any source that could show it (2 log)", []),
        ("k", (), (), "nothing that could show it was collected: kernel", []),
    ],
)
def test_of_a_record_that_is_not_there(
    condition: str, here: tuple[Fact, ...], elsewhere: tuple[Fact, ...], said: str, shown: list[int]
) -> None:
    found = told(record(condition), *here, elsewhere=elsewhere)
    assert (found.held, found.said, [fact.span.offset for fact in found.facts]) == (False, said, shown)


def test_texts_that_have_more_in_common_are_closer() -> None:
    facts = [hit("a", offset=at, data={"name": name}) for at, name in enumerate(["other", "hbm_ue_error", "x"])]
    assert told(record('a where name == "hbm_ue_errors"'), *facts).said == 'closest: name is "hbm_ue_error"'


@pytest.mark.parametrize(
    ("condition", "facts", "said"),
    [
        (cond.Count(parse_query("a"), 3), (a(1), a(2)), "2 of 3 records"),
        (cond.Count(parse_query("a"), 2, None, "n"), (a(1), a(1)), "1 of 2 distinct values of n"),
        (cond.Count(parse_query("a"), 3, 60 * S), (a(1, 0), a(2, 10), a(3, 90)), "2 of 3 records; so many take 90s"),
        (cond.Count(parse_query("a"), 2, 60 * S), (a(1), a(2)), "0 of 2 records: none of 2 has a time"),
        (cond.Count(parse_query("a"), 9, 60 * S), (a(1, 0),), "1 of 9 records"),
        (cond.Count(parse_query("a where n > 5"), 1), (a(4),), "closest: n is 4"),
    ],
)
def test_of_a_count_that_is_too_small(condition: cond.Count, facts: tuple[Fact, ...], said: str) -> None:
    assert told(condition, *facts).said == said


AB = cond.Sequence((parse_query("a"), parse_query("b")), 60 * S)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ((a(0, 0), hit("b", at=100, offset=9)), "in this order, but it took 100s"),
        ((a(0, 50), hit("b", at=10, offset=9)), "step 2, b: none after step 1 by a clock that can be compared"),
        ((a(0, 0),), "step 2, b: no such record in any source that could show it (2 log)"),
        ((hit("b", at=10),), "step 1, a: no such record in any source that could show it (2 log)"),
    ],
)
def test_of_a_sequence_that_breaks_off(facts: tuple[Fact, ...], said: str) -> None:
    assert told(AB, *facts).said == said


NO_B = cond.Absent(parse_query("b"), parse_query("a"), 60 * S)


@pytest.mark.parametrize(
    ("facts", "held", "said"),
    [
        ((a(0, 0), hit("b", at=30, offset=9)), False, "b came 30s after it"),
        ((a(0, 70),), None, "not proven: the source ends 30s after it"),
        ((a(0),), None, "not proven: the source does not tell until when it was written"),
        ((), False, "a: no such record in any source that could show it (2 log)"),
    ],
)
def test_of_an_absence_that_is_none(facts: tuple[Fact, ...], held: bool | None, said: str) -> None:
    found = told(NO_B, *facts, sources=(source("s", last=100),))
    assert (found.held, found.said) == (held, said)


def test_of_a_quantifier_who_has_it_and_who_not() -> None:
    over = cond.Over("rank", "all", parse_query("a"))
    found = told(over, a(0, rank=0), a(1, rank=2), known=(0, 1, 2, 3))
    assert found.said == "0, 2 have it; 1, 3 have it not"
    assert told(over).said == "no rank is known"


def test_of_a_finding_where_it_is_instead() -> None:
    places = {"r": (Place(host="x", device=3),)}
    assert told(cond.FindingRef("r")).said == "it does not fire anywhere"
    assert told(cond.FindingRef("r"), findings=places).said == "it fires at host x, device 3: not at this place"
    said = told(cond.FindingRef("r", elsewhere=True), findings=places).said
    assert said == "it fires at host x, device 3: at no other place"


def conditions() -> st.SearchStrategy[cond.Condition]:
    query = st.sampled_from(["a", "b", "a where n > 2", "a where not (n == 1)", "b where rank is known"]).map(
        parse_query
    )
    window = st.sampled_from([1, 10]).map(lambda seconds: seconds * S)
    leaf = st.one_of(
        st.builds(cond.Record, query),
        st.builds(cond.Count, query, st.integers(1, 3), st.none() | window, st.sampled_from([None, "n"])),
        st.builds(lambda one, two, within: cond.Sequence((one, two), within), query, query, window),
        st.builds(cond.Absent, query, query, window),
        st.builds(cond.Over, st.just("rank"), st.sampled_from(["all", "any", "none", "odd-one-out"]), query),
    )
    return st.recursive(
        leaf,
        lambda part: st.builds(
            cond.Combination,
            st.sampled_from(["all", "any", "none", "at-least"]),
            st.lists(part, min_size=1, max_size=3).map(tuple),
            st.just(1),
        ),
        max_leaves=4,
    )


FACTS = st.lists(
    st.builds(
        lambda name, number, at, rank: hit(name, at=at, offset=number, data={"n": number}, rank=rank),
        st.sampled_from("ab"),
        st.integers(0, 4),
        st.none() | st.integers(0, 12),
        st.none() | st.integers(0, 2),
    ),
    max_size=6,
)


def nodes(found: Reason) -> Iterator[Reason]:
    yield found
    for child in found.children:
        yield from nodes(child)


@given(conditions(), FACTS)
def test_a_reason_says_what_the_proof_says_and_every_failure_is_explained(
    condition: cond.Condition, facts: list[Fact]
) -> None:
    found = told(condition, *facts, known=(0, 1, 2))
    answers = Answers(facts)
    scene = Scene({query: answers.of(query) for query in cond.queries(condition)}, known={"rank": (0, 1, 2)})
    assert found.held is evaluate(condition, scene).held
    assert all(node.children or node.held or node.said for node in nodes(found))


def test_what_holds_has_nothing_unmet() -> None:
    assert unmet(parse_query("a where n == 1").where, a(1)) == []
