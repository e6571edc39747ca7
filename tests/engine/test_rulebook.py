"""Loading packs: what is linked, and what is said of what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import pack, rule

from neuron_doctor.engine.errors import RulebookError
from neuron_doctor.engine.rule_loader import load_rulebook


def errors_of(folder: Path, *rules: str, **files: str) -> list[str]:
    with pytest.raises(RulebookError) as caught:
        pack(folder, *rules, **files)
    return [str(error) for error in caught.value.errors]


def test_a_rule_takes_its_role_from_its_cause(tmp_path: Path) -> None:
    causes = ("bug", "stuck", "noise")
    book = pack(tmp_path, *(rule(f"r-{c}", f"record: p-{c}", cause=c, patterns=(f"p-{c}",)) for c in causes))
    assert {r.cause.id: r.role for r in book.rules} == {"bug": "root", "stuck": "victim", "noise": "benign"}


def test_all_errors_of_all_files_come_at_once_with_their_places(tmp_path: Path) -> None:
    found = errors_of(
        tmp_path,
        rule("one", "record: p where whot == 3", patterns=("p",)),
        rule("two", "record: missing", patterns=("q",)),
        rule("three", "record: r", patterns=("r",), cause="bugg"),
    )
    assert len(found) == 3
    assert "rule0.yaml:15:19: p has no field 'whot'" in found[0]
    assert "did you mean 'what'?" in found[0]
    assert "there is no pattern or kind of fact 'missing'" in found[1]
    assert "there is no cause 'bugg' (did you mean 'bug'?)" in found[2]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id: x\n\tcause: y", "not valid YAML"),
        ("id: x\nid: y", "the key 'id' stands here twice"),
        ("id: &a x\ncause: *a", "anchors and aliases are not allowed"),
        ("id: !!python/object:os.system x", "reads as a"),
        ("id: 2026-01-01", "put it in quotes"),
        ("- a\n- b", "the file wants keys with values"),
    ],
)
def test_yaml_that_is_not_plain_data_is_refused_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    [error] = errors_of(tmp_path, text)
    assert said in error
    assert "rule0.yaml:" in error


def test_an_unknown_key_is_an_error_with_a_suggestion(tmp_path: Path) -> None:
    [error] = errors_of(tmp_path, rule("one", "record: p", patterns=("p",)).replace("severity:", "severty:"))
    assert "severty" in error
    assert "did you mean 'severity'?" in error


@pytest.mark.parametrize("when", ["{}", "{record: p, all: []}", "{at_least: 2}", "{all: []}"])
def test_a_condition_must_be_one_condition(tmp_path: Path, when: str) -> None:
    assert errors_of(tmp_path, rule("one", when, patterns=("p",)))


def test_a_window_without_a_unit_is_an_error(tmp_path: Path) -> None:
    [error] = errors_of(tmp_path, rule("one", "count: {of: p, at_least: 2, within: '30'}", patterns=("p",)))
    assert "within" in error or "regex" in error


def test_two_rules_of_one_id_and_two_patterns_of_one_id_are_errors(tmp_path: Path) -> None:
    [found] = errors_of(tmp_path, rule("one", "record: p", patterns=("p",)), rule("one", "record: p", patterns=("p",)))
    assert "rule 'one' stands at" in found  # its pattern is as double as the rule, and not told beside it
    [found] = errors_of(tmp_path, rule("one", "record: p", patterns=("p",)), rule("two", "record: p", patterns=("p",)))
    assert "'p' is taken" in found


def test_a_circle_of_references_is_an_error(tmp_path: Path) -> None:
    found = errors_of(tmp_path, rule("one", "finding: two"), rule("two", "finding: one"))
    assert any("ask for each other's findings" in error for error in found)


def test_referenced_rules_come_before_their_users(tmp_path: Path) -> None:
    book = pack(tmp_path, rule("a-user", "finding: z-used"), rule("z-used", "record: p", patterns=("p",)))
    assert [r.id for r in book.rules] == ["z-used", "a-user"]


def test_named_sets_of_causes_stand_for_their_members(tmp_path: Path) -> None:
    more = "explains: [{causes: [victims], relation: job, within: 1h}]"
    book = pack(
        tmp_path, rule("one", "record: p", patterns=("p",), more=more), terms="causes:\n  victims: [stuck, noise]\n"
    )
    assert book.rules[0].explains[0].causes == {"stuck", "noise"}


def test_the_digest_names_the_content_not_the_place(tmp_path: Path) -> None:
    one = pack(tmp_path / "x", rule("one", "record: p", patterns=("p",)))
    two = pack(tmp_path / "y", rule("one", "record: p", patterns=("p",)))
    three = pack(tmp_path / "z", rule("two", "record: p", patterns=("p",)))
    assert one.sha256 == two.sha256 != three.sha256


def test_a_pattern_that_is_no_regular_expression_is_an_error(tmp_path: Path) -> None:
    text = rule("one", "record: p", patterns=("p",)).replace("message p", "message (p")
    assert any("not a regular expression" in error for error in errors_of(tmp_path, text))


def test_an_empty_pack_is_an_empty_rulebook(tmp_path: Path) -> None:
    assert load_rulebook([tmp_path]).rules == ()
