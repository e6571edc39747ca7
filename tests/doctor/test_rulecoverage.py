"""Which parts of a condition examples exercise, and where those parts stand."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from small_packs import rulebook_of

from neuron_doctor.engine import expressions
from neuron_doctor.engine.diagnosis import diagnose_once
from neuron_doctor.engine.expressions import Expression, Junction
from neuron_doctor.engine.query_parser import parse_query
from neuron_doctor.engine.rulebook import Rule
from neuron_doctor.examples import exhibits_of
from neuron_doctor.packs import directories, load_with_examples
from neuron_doctor.request import Packs
from neuron_doctor.rulecoverage import coverage
from neuron_doctor.rulefiles import document_of
from neuron_doctor.ruleparts import conditions_of, expressions_of, queries_of, with_where
from neuron_doctor.scan import Engine

RULEBOOK = load_with_examples(Packs())
ENGINE = Engine.of(RULEBOOK)
RULE = """\
id: acme-failed
title: t
cause: disk-full
severity: error
trust: [F]
patterns:
  acme-failed-text:
    regex: 'acme: failed (?P<errno>\\d{{1,3}}) after (?P<tries>\\d{{1,3}})'
    fields: {{errno: int, tries: int}}
  acme-healed: {{regex: 'acme: healed'}}
when: {when}
explanation: e
references: [r]
examples:
  positive:
{positive}
  negative:
{negative}
"""
BOTH = "{all: [{record: acme-failed-text where errno == 5 and tries > 3}, {none: [{record: acme-healed}]}]}"
FIRES, OTHER, FEW, HEALED = "acme: failed 5 after 4", "acme: failed 6 after 4", "acme: failed 5 after 3", "acme: healed"


def gaps(folder: Path, when: str, positive: list[str], negative: list[str]) -> dict[str, tuple[str, ...]]:
    """Why each leaf is not exercised, for those that are not."""

    def listed(texts: list[str]) -> str:
        return "\n".join(f'    - {{name: n, text: "{text}"}}' for text in texts)

    folder.mkdir(exist_ok=True)
    text = RULE.format(when=when, positive=listed(positive), negative=listed(negative))
    (folder / "acme-failed.yaml").write_text(text)
    rulebook = rulebook_of(folder)
    [rule] = rulebook.rules
    leaves = coverage(rule, list(exhibits_of(rule, rulebook, Engine.of(rulebook))))
    return {leaf.what: leaf.gaps for leaf in leaves if leaf.gaps}


def test_a_rule_with_a_near_miss_for_each_of_its_parts_is_covered_whole(tmp_path: Path) -> None:
    assert gaps(tmp_path / "p", BOTH, [FIRES], [OTHER, FEW, f"{FIRES}\\n{HEALED}"]) == {}


@pytest.mark.parametrize(
    ("negative", "expected"),
    [
        ([FEW, f"{FIRES}\\n{HEALED}"], {"errno == 5": ("no record hangs on it alone",)}),
        ([OTHER, f"{FIRES}\\n{HEALED}"], {"tries > 3": ("no record hangs on it alone",)}),
        ([OTHER, FEW], {"record acme-healed": ("no example hangs on it alone",)}),
        # the record is there, but the rule would not fire without it either
        ([OTHER, FEW, f"{OTHER}\\n{HEALED}"], {"record acme-healed": ("no example hangs on it alone",)}),
    ],
)
def test_a_part_on_which_no_near_miss_hangs_is_told(negative: list[str], expected: object, tmp_path: Path) -> None:
    assert gaps(tmp_path / "p", BOTH, [FIRES], negative) == expected


def test_a_wording_that_no_positive_has_is_told(tmp_path: Path) -> None:
    when = "{any: [{record: acme-healed}, {record: acme-failed-text where errno == 5 or errno == 28}]}"
    assert gaps(tmp_path / "p", when, [FIRES], [OTHER]) == {
        "record acme-healed": ("no positive that fires meets it",),
        "errno == 28": ("no record of a positive that fires meets it",),
    }


def test_a_part_that_only_a_positive_that_does_not_fire_meets_is_told(tmp_path: Path) -> None:
    found = gaps(tmp_path / "p", BOTH, [f"{FIRES}\\n{HEALED}"], [OTHER, FEW])
    assert found["record acme-failed-text where errno == 5 and tries > 3"] == ("no positive that fires meets it",)


def test_what_must_be_absent_needs_a_record_of_any_example(tmp_path: Path) -> None:
    when = "{all: [{record: acme-failed-text where tries > 3}, {none: [{record: acme-failed-text where errno == 9}]}]}"
    both = "acme: failed 5 after 4\\nacme: failed 9 after 4"
    assert gaps(tmp_path / "p", when, [FIRES], [FEW, both]) == {}
    assert gaps(tmp_path / "p", when, [FIRES], [FEW])["errno == 9"] == ("no record of an example meets it",)


def test_a_negation_is_exercised_by_what_it_excludes(tmp_path: Path) -> None:
    when = "acme-failed-text where not (errno == 6)"
    assert gaps(tmp_path / "p", when, [FIRES], [OTHER]) == {}
    assert gaps(tmp_path / "p", when, [FIRES], [HEALED]) == {"errno == 6": ("no record hangs on it alone",)}


# --- the parts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULEBOOK.rules, ids=lambda rule: rule.id)
def test_a_part_in_its_own_stead_leaves_the_condition_as_it_is(rule: Rule) -> None:
    for part in conditions_of(rule):
        assert part.instead(part.node) == rule.when
        for query in queries_of(part):
            assert query.instead(query.node) == rule.when
            for expression in expressions_of(query.node.where, query.keys):
                assert expression.instead(expression.node) == query.node.where


def without_columns(expression: Expression | None) -> object:
    if isinstance(expression, expressions.Test):
        return replace(expression, column=1)
    return expression and Junction(expression.op, tuple(map(without_columns, expression.parts)))  # type: ignore[arg-type]


def test_what_is_written_of_a_query_reads_as_that_query() -> None:
    queries = [q.node for rule in RULEBOOK.rules for part in conditions_of(rule) for q in queries_of(part)]
    assert len(queries) > 800
    for query in queries:
        again = parse_query(with_where(query, query.where).text)
        assert (again.name, without_columns(again.where)) == (query.name, without_columns(query.where))


@pytest.mark.parametrize(
    "where",
    [
        'a == "x y" and not (b < -3 or c in [1, 2.5])',
        'a contains "]" or b starts with "v" or d is known',
        "version >= v2.20.1 and ready == true",
    ],
)
def test_every_sort_of_comparison_is_written_as_it_reads(where: str) -> None:
    query = parse_query(f"identity where {where}")
    again = parse_query(with_where(query, query.where).text)
    assert without_columns(again.where) == without_columns(query.where)


def test_every_part_is_found_in_the_file_of_its_rule(tmp_path: Path) -> None:
    when = """
  all:
    - sequence: {steps: [acme-healed, acme-failed-text], within: 1m, until: acme-healed}
    - any: [{count: {of: acme-healed, at_least: 2}}, {absent: {record: acme-healed, after: acme-failed-text, within: 1m}}]
    - at_least: 1
      of:
        - over: {each: rank, quantifier: any, have: acme-healed}
        - measure: {of: acme-failed-text, take: max, field: errno, at_least: 9}
        - none: [{record: acme-healed}]
"""
    gaps(tmp_path / "p", when, [FIRES], [HEALED])
    [rule] = rulebook_of(tmp_path / "p").rules
    places = document_of(rule, [tmp_path / "p"]).places
    conditions = list(conditions_of(rule))
    asked = [query.keys for part in conditions for query in queries_of(part)]
    assert len(asked) == 9
    assert {*asked, *(part.keys for part in conditions)} - places.keys() == set()


def test_every_condition_of_the_catalogue_has_its_line() -> None:
    for rule in RULEBOOK.rules[::10]:
        document = document_of(rule, directories(Packs()))
        assert all(document.at(*part.keys).line >= document.at("when").line > 0 for part in conditions_of(rule))


def test_the_rules_that_are_left_out_for_an_example_find_nothing_in_it() -> None:
    for rule in RULEBOOK.rules[::12]:
        for exhibit in exhibits_of(rule, RULEBOOK, ENGINE):
            assert len(exhibit.rulebook.rules) < len(RULEBOOK.rules)
            some = diagnose_once(exhibit.rulebook, exhibit.collection).findings
            assert some == diagnose_once(RULEBOOK, exhibit.collection).findings
