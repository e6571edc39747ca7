"""Problems of rules as they are shown: the caret under what is meant, JSON, SARIF, annotations."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.engine.errors import Location, RuleError
from neuron_doctor.reports.problems import FORMATS, RuleFile, underlined

FILES = {"my/a.yaml": RuleFile("packs/my/a.yaml", "id: a\ncause: bug\n")}
PROBLEM = RuleError(Location("my/a.yaml", 2, 8, 3), "there is no cause 'bug'", "did you mean 'but'?", "name")
WHOLE = RuleError(Location("my/b.yaml"), "cannot be read: 100%\n", "", "file")


def cells(text: str) -> int:
    """The columns that a terminal needs."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


@pytest.mark.parametrize(
    ("line", "column", "width", "shown", "carets"),
    [
        ("cause: bug", 8, 3, "cause: bug", "       ^^^"),
        ("a:\tbug", 4, 3, "a:      bug", "        ^^^"),
        ("a:\tbug", 3, 1, "a:      bug", "  ^^^^^^"),
        ("漢字: bug", 5, 3, "漢字: bug", "      ^^^"),
        ("漢字: bug", 1, 2, "漢字: bug", "^^^^"),
        ("e\u0301: bug", 5, 3, "e\u0301: bug", "   ^^^"),
        ("a: \x1b[31m", 4, 1, "a: \\x1b[31m", "   ^^^^"),
        ("a: [", 5, 1, "a: [", "    ^"),
        ("", 1, 1, "", "^"),
    ],
)
def test_the_carets_stand_under_what_is_meant(line: str, column: int, width: int, shown: str, carets: str) -> None:
    assert underlined(line, column, width) == (shown, carets)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zl", "Zp"]), min_size=1, max_size=300), st.data())
def test_before_the_carets_stands_what_is_before_them_in_the_line(line: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(line) - 1))
    width = data.draw(st.integers(1, min(20, len(line) - start)))
    shown, carets = underlined(line, start + 1, width)
    assert set(carets) <= {" ", "^"}
    assert cells(shown) <= 2 * 110 * 10
    if len(line) <= 110 and all(c.isprintable() for c in line) and cells(line[start]):
        assert len(carets) - len(carets.lstrip()) == cells(line[:start])


def test_a_long_line_is_cut_around_what_is_meant() -> None:
    line = "x" * 500 + "bug" + "y" * 500
    shown, carets = underlined(line, 501, 3)
    assert len(shown) < 130
    assert shown[carets.index("^") :].startswith("bug")
    assert carets.count("^") == 3


def test_people_see_place_check_line_and_what_to_do() -> None:
    assert FORMATS["text"]([PROBLEM], FILES) == (
        "packs/my/a.yaml:2:8: error: there is no cause 'bug' [name]\n"
        "  2 | cause: bug\n    |        ^^^\n  did you mean 'but'?\n\n"
    )
    assert FORMATS["text"]([WHOLE], FILES) == "my/b.yaml: error: cannot be read: 100%\\n [file]\n\n"


def test_json_has_everything() -> None:
    [one, whole] = json.loads(FORMATS["json"]([PROBLEM, WHOLE], FILES))
    assert (one["check"], one["severity"], one["path"]) == ("name", "error", "packs/my/a.yaml")
    assert (one["line"], one["column"], one["width"]) == (2, 8, 3)
    assert one["page"].endswith("lint.md#name")
    assert whole["line"] is whole["column"] is whole["hint"] is None
    assert json.loads(FORMATS["json"]([], FILES)) == []


def test_sarif_names_each_rule_once_and_its_place() -> None:
    log = json.loads(FORMATS["sarif"]([PROBLEM, PROBLEM, WHOLE], FILES))
    [run] = log["runs"]
    assert log["version"] == "2.1.0"
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["file", "name"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == ["name", "name", "file"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "packs/my/a.yaml"
    assert place["region"] == {"startLine": 2, "startColumn": 8, "endColumn": 11}
    assert "region" not in run["results"][2]["locations"][0]["physicalLocation"]


def test_annotations_are_escaped_as_github_wants_it() -> None:
    one, whole = FORMATS["github"]([PROBLEM, WHOLE], FILES).splitlines()
    assert one == (
        "::error file=packs/my/a.yaml,line=2,col=8,endColumn=10,title=name::there is no cause 'bug' (did you mean 'but'?)"
    )
    assert whole == "::error file=my/b.yaml,title=file::cannot be read: 100%25%0A"
