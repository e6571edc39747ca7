"""The rule language as a whole: the engine agrees with the plain evaluator, and with the fixtures of each construct."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from builders import CAUSES, hit, source
from hypothesis import given
from hypothesis import strategies as st
from plain_evaluator import Job, true

from neuron_doctor.engine import conditions as cond
from neuron_doctor.engine.answers import Answers
from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.errors import RulebookError
from neuron_doctor.engine.evaluate import Scene, evaluate
from neuron_doctor.engine.facts import NOWHERE, Collection, Fact, Span
from neuron_doctor.engine.query_parser import parse_query
from neuron_doctor.engine.rule_loader import load_rulebook

S = 1_000_000_000
QUERIES = [
    "a",
    "b",
    "a where n >= 2",
    "a where n in [0, 3] or rank == 1",
    "b where not (n == 1 and rank is known)",
    'b where host == "x"',
]
TAKES = ["sum", "mean", "min", "max", "increase", "rate", "p50", "p90"]
PLAIN = ["all", "any", "none", "majority", "odd-one-out", "all-but-few"]


def conditions() -> st.SearchStrategy[cond.Condition]:
    query = st.sampled_from(QUERIES).map(parse_query)
    window = st.integers(0, 6).map(lambda seconds: seconds * S)
    limit = st.integers(0, 6).map(float)
    measure = st.builds(
        lambda query, take, within, low, value: cond.Measure(
            query, take, "n", within, value if low else None, None if low else value, S if take == "rate" else None
        ),
        query,
        st.sampled_from(TAKES),
        window,
        st.booleans(),
        limit,
    )
    sequence = st.builds(
        cond.Sequence,
        st.lists(query, min_size=2, max_size=3).map(tuple),
        window,
        st.sampled_from([None, "n", "rank"]),
        st.none() | st.just(parse_query("c")),
    )
    over = st.one_of(
        st.builds(cond.Over, st.sampled_from(["rank", "peer"]), st.sampled_from(PLAIN), query),
        st.builds(
            cond.Over, st.just("rank"), st.sampled_from(["exactly", "all-but"]), query, st.none(), st.integers(1, 3)
        ),
        st.builds(cond.Over, st.just("rank"), st.sampled_from(PLAIN), query, st.just("n")),
    )
    leaf = st.one_of(
        st.builds(cond.Record, query),
        st.builds(cond.Count, query, st.integers(1, 4), st.none() | window, st.sampled_from([None, "n"])),
        measure,
        sequence,
        over,
    )
    return st.recursive(
        leaf,
        lambda part: st.builds(
            cond.Combination,
            st.sampled_from(["all", "any", "none", "at-least"]),
            st.lists(part, min_size=1, max_size=3).map(tuple),
            st.integers(1, 2),
        ),
        max_leaves=4,
    )


@st.composite
def jobs(draw: st.DrawFn) -> list[Fact]:
    return [
        hit(
            draw(st.sampled_from("aabbc")),
            at=draw(st.integers(0, 8)),
            offset=100 * number,
            source=draw(st.sampled_from(["s", "t"])),
            repeats=draw(st.sampled_from([0, 0, 2])),
            data=draw(st.one_of(st.just({}), st.integers(0, 4).map(lambda n: {"n": n}))),
            host=draw(st.sampled_from("xxy")),
            rank=draw(st.sampled_from([None, 0, 1, 2, 3])),
        )
        for number in range(draw(st.integers(0, 7)))
    ]


RANKS, GROUPS = (0, 1, 2, 3), (frozenset({0, 1}), frozenset({1, 2, 3}))


@given(conditions(), jobs())
def test_the_engine_means_what_the_plain_evaluator_says(condition: cond.Condition, facts: list[Fact]) -> None:
    answers = Answers(facts)
    found = {query: answers.of(query) for query in cond.queries(condition)}
    scene = Scene(found, known={"rank": RANKS}, groups=GROUPS)
    assert evaluate(condition, scene).held is true(condition, Job(facts, RANKS, GROUPS))


# --- the fixtures --------------------------------------------------------------------------------------------------

FIXTURES = sorted((Path(__file__).parent / "language").glob("*.yaml"))
CASES = [(file, case) for file in FIXTURES for case in yaml.safe_load(file.read_text())["cases"]]
ERRORS = [(file, case) for file in FIXTURES for case in yaml.safe_load(file.read_text())["errors"]]
RULE = """
id: tried
title: tried
cause: bug
severity: error
at: {at}
trust: [F]
parameters: {parameters}
patterns:
  a: {{regex: 'alpha (?P<n>\\d+) (?P<name>\\w+) (?P<version>\\S+)', fields: {{n: int}}}}
  b: {{regex: 'bravo (?P<n>\\d+) (?P<name>\\w+) (?P<version>\\S+)', fields: {{n: int}}}}
  c: {{regex: 'charlie (?P<n>\\d+)', fields: {{n: int}}}}
when: {when}
explanation: It is tried.
references: [https://wiki.example]
"""
OTHER = (
    RULE.format(at="rank", when="c", parameters={}).replace("id: tried", "id: other").partition("parameters:")[0]
    + "when: c\nexplanation: It is another.\nreferences: [https://wiki.example]\n"
)


def flow(data: object) -> str:
    return yaml.safe_dump(data, default_flow_style=True, width=999).removesuffix("...\n").strip()


def book(folder: Path, case: dict[str, object]) -> list[str]:
    """A pack with the rule of a case; what is wrong with it."""
    (folder / "causes.yaml").write_text(CAUSES)
    (folder / "terms.yaml").write_text(yaml.safe_dump(case.get("terms", {})))
    (folder / "tried.yaml").write_text(
        RULE.format(at=case.get("at", "job"), when=flow(case["when"]), parameters=flow(case.get("parameters", {})))
    )
    (folder / "other.yaml").write_text(OTHER)
    try:
        load_rulebook([folder])
    except RulebookError as error:
        return [str(one) for one in error.errors]
    return []


def fact_of(number: int, said: dict[str, object]) -> Fact:
    said = dict(said)
    if kind := said.pop("kind", None):
        return Fact(str(kind), said, NOWHERE, Span("run.log", 100 * number, 10), "run.log")  # type: ignore[arg-type]
    name = str(said.pop("is"))
    data = {key: said.pop(key) for key in ("n", "name", "version") if key in said}
    at, source = said.pop("at", None), str(said.pop("source", "run.log"))
    return hit(name, at=at, offset=100 * number, source=source, repeats=said.pop("repeats", 0), data=data, **said)  # type: ignore[arg-type]


@pytest.mark.parametrize(("file", "case"), CASES, ids=[f"{file.stem}: {case['name']}" for file, case in CASES])
def test_a_fixture_finds_what_it_says(file: Path, case: dict[str, object], tmp_path: Path) -> None:
    assert book(tmp_path, case) == []
    facts = tuple(fact_of(number, said) for number, said in enumerate(case["facts"]))  # type: ignore[arg-type,var-annotated]
    sources = tuple(source(**said) for said in case.get("sources", []))  # type: ignore[attr-defined]
    found = diagnose(load_rulebook([tmp_path]), Collection(sources, facts)).findings
    places = [finding.place.known() | {"hosts": finding.hosts} for finding in found if finding.rule == "tried"]
    wanted = case["finds"]
    assert len(places) == len(wanted), places  # type: ignore[arg-type]
    for place, want in zip(sorted(places, key=str), sorted(wanted, key=str), strict=True):  # type: ignore[call-overload]
        seen = {key: list(value) if isinstance(value, tuple) else value for key, value in place.items()}
        assert {key: seen.get(key) for key in want} == want


@pytest.mark.parametrize(("file", "case"), ERRORS, ids=[f"{file.stem}: {case['says']}" for file, case in ERRORS])
def test_a_mistake_gets_one_message_that_says_what_to_do(file: Path, case: dict[str, object], tmp_path: Path) -> None:
    [error] = book(tmp_path, case)
    assert str(case["says"]) in error
    assert ".yaml:" in error


def test_every_construct_has_a_fixture_and_a_section() -> None:
    from neuron_doctor.engine.rulefile import ConditionDoc  # noqa: PLC0415

    told = {yaml.safe_load(file.read_text())["construct"] for file in FIXTURES}
    assert told >= set(ConditionDoc.__struct_fields__) - {"of"} | {"parameters"}
