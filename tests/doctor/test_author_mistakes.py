"""The mistakes that authors make, in every rule of the catalogue: each is told, where it is, in few words and with no crash."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_doctor.engine.errors import RulebookError, RuleError
from neuron_doctor.engine.packfiles import PackFile
from neuron_doctor.engine.rule_loader import compile_rulebook
from neuron_doctor.lint.run import problems_of
from neuron_doctor.packs import files_of
from neuron_doctor.request import Packs

FILES = files_of(Packs())
SHARED = [file for file in FILES if "/patterns/" in file.shown or file.shown.count("/") == 1]
RULES = [file for file in FILES if file not in SHARED]
#: A rule that stands for itself, for mistakes whose message is looked at word by word.
RULE = """\
id: acme-full
title: The volume is full
cause: disk-full
severity: error
trust: [F]
patterns:
  acme-full-text:
    regex: 'acme: no room for (?P<bytes>\\d{1,9}) bytes'
    fields: {bytes: int}
when:
  count: {of: acme-full-text where bytes > 3, at_least: 2, within: 30s}
explains:
  - {causes: [own-process], relation: same-process, within: 10m}
explanation: The volume is full.
references: [https://wiki.example/acme]
"""


def errors_of(*files: PackFile) -> list[RuleError]:
    try:
        compile_rulebook(files)
    except RulebookError as error:
        return list(error.errors)
    return []


def alone(text: str) -> list[RuleError]:
    return errors_of(*SHARED, PackFile("my/acme-full.yaml", text.encode()))


def test_the_rule_is_right_before_anything_is_done_to_it() -> None:
    assert alone(RULE) == []


@pytest.mark.parametrize(
    ("right", "wrong", "where", "message", "hint"),
    [
        ("  count:", "\tcount:", (11, 1), "a tab stands before the text", "spaces"),
        ("within: 30s", "within: 30", (11, 68), "within: 30 is not a number with its unit", ""),
        ("within: 30s", "within: '30'", (11, 68), "within: '30' is not a number with its unit", ""),
        ("within: 30s", "within: 30 s", (11, 68), "within: '30 s' is not a number with its unit", ""),
        ("severity:", "severty:", (4, 1), "there is no key 'severty' here", "did you mean 'severity'?"),
        ("severity: error", "severity: eror", (4, 11), "severity: there is no 'eror'", "did you mean 'error'?"),
        ("cause: disk-full", "cause: disk-ful", (3, 8), "there is no cause 'disk-ful'", "did you mean 'disk-full'?"),
        ("own-process", "own-proces", (13, 15), "set of causes 'own-proces'", "did you mean 'own-process'?"),
        ("where bytes", "where byte", (11, 36), "has no field 'byte'", "did you mean 'bytes'?"),
        ("bytes > 3", 'bytes > "3"', (11, 36), "'bytes' is of type int, \"3\" is not", "without quotes"),
        ("bytes > 3", "bytes = 3", (11, 42), "cannot read", "=="),
        ("of: acme-full-text", "of: acme-ful-text", (11, 15), "'acme-ful-text'", "did you mean 'acme-full-text'?"),
        ("at_least: 2", "at_least: two", (11, 57), "at_least wants a whole number, not text", "$two"),
        ("at_least: 2", "at_least: 0", (11, 57), "at_least wants a whole number >= 1", ""),
        ("trust: [F]", "trust: F", (5, 8), "trust wants a list, not text", "put it in brackets: [F]"),
        ("trust: [F]", "trust: [F", (5, 8), "not valid YAML", "not closed"),
        ("title: The", "title: Disk: the", (2, 12), "not valid YAML", "needs quotes"),
        ("title: The", "title: 'The", (2, 8), "this quote goes on", "close it"),
        ("title: The volume is full", "title:", (2, 1), "title: nothing stands behind this key", "write a value"),
        ("title: The volume is full", "title: 2026-01-01", (2, 8), "reads as a timestamp", "quotes"),
        ("title: The volume is full", "title: 42", (2, 8), "title wants text, not a whole number", "'42'"),
        ("title: The volume is full\n", "", (1, 1), "the key is missing: 'title'", "add it"),
        ("severity: error", "severity: error\nseverity: info", (5, 1), "'severity' stands here twice", "line 4"),
        ("id: acme-full", "id: Acme_Full", (1, 5), "'Acme_Full' is not a name of small letters", ""),
        ("bytes>\\d{1,9})", "bytes>\\d{1,9}", (8, 31), "not a regular expression: missing )", "backslash"),
        ("    regex: '", '    regex: "', (8, 41), "unknown escape", "single quotes"),
        ("id: acme-full", "- id: acme-full", (2, 1), "not valid YAML", ""),
        (" full\ncause", " full\n cause", (3, 7), "too far to the right", "indent it"),
        ("  count: {", "count: {", (11, 1), "'count' stands at the wrong depth", "indent it under 'when'"),
        ("within: 30s", "within: 0s", (11, 68), "within: 0s is no time at all", "such as 30s"),
        ("bytes > 3", "bytes > 3 && bytes < 9", (11, 46), "cannot read", "write `and`"),
        ("bytes > 3", "bytes > 3 AND bytes < 9", (11, 46), "cannot read", "small letters"),
        ("bytes > 3", "!(bytes > 3)", (11, 36), "cannot read", "write `not (...)`"),
        ("bytes > 3", 'bytes matches "3"', (11, 42), "cannot read", "is a pattern of its own"),
        ("bytes > 3", "bytes is not known", (11, 45), "cannot read", "not (FIELD is known)"),
        ("bytes > 3", "bytes in [3, 4]", (11, 45), "a bracket stands in text", "put the text in quotes"),
        ("bytes > 3", "bytes > ${most}", (11, 44), "a parameter has no braces", "write $name"),
        ("acme-full-text where bytes > 3", "version where version >= 2.20", (11, 29), "of type str", "as v2.20"),
        ("acme-full-text where bytes > 3", "version where version > 2.20.1", (11, 43), "cannot read", "begins with v"),
        (
            "acme-full-text where bytes > 3",
            "'version where version >= \"2.20\"'",
            (11, 30),
            "letter by letter",
            "without quotes: v2.20",
        ),
        ("{bytes: int}", "{byte: int}", (9, 14), "the pattern has no capture 'byte'", "did you mean 'bytes'?"),
        ("(?P<bytes>", "(?<bytes>", (8, 32), "unknown extension", "(?P<name>...)"),
        ("acme: no", "acme: (?i)no", (8, 19), "global flags", "very beginning"),
        (
            "acme: no",
            "acme: (a+)+ no",
            (8, 19),
            "cannot be matched in linear time: each round",
            "cannot stand within it",
        ),
        (
            "acme: no",
            "acme: .*:.*:.* no",
            (8, 19),
            "cannot be matched in linear time: from here on",
            "bound what repeats",
        ),
        ("acme: no", "acme: (?!no)no", (8, 19), "cannot be matched in linear time: look-around", "(`none`)"),
        ("  count: {of:", "  and: {of:", (11, 3), "there is no key 'and' here", "did you mean 'all'?"),
        ("title: The volume is full", "title: yes", (2, 8), "title wants text, not true or false", "'yes'"),
        ("title: The volume is full", "title: 1.10", (2, 8), "title wants text, not a number", "'1.10'"),
        ("title: The volume is full", "title: {volume} is full", (2, 8), "behind a bracket", "in quotes"),
        ("title: The volume is full", "title: {volume}", (2, 1), "not keys with values", "put it in quotes"),
        ("title: The volume is full", "title: *all* full", (2, 8), "not valid YAML", "put the text in quotes"),
        ("title: The volume is full", "title: 'It's full'", (2, 11), "a quote ends here", "double it"),
        ("title: The volume is full", "title: \u201cfull\u201d", (2, 8), "typographic quotes", "straight"),
        ("cause: disk-full", "cause disk-full", (3, 1), "not valid YAML", "followed by a colon"),
        ("cause: disk-full", "cause:disk-full", (3, 1), "not valid YAML", "a colon and a space"),
        ("cause: disk-full", "<<<<<<< HEAD\ncause: disk-full", (3, 1), "a merge was left", "one of the two sides"),
        ("within: 30s}", "within: 30s}}", (11, 72), "this } closes nothing", "remove it"),
        ("  count: {", "\u00a0 count: {", (11, 1), "(U+00A0)", "ordinary spaces"),
        ("references: [https://wiki.example/acme]\n", "references: []\n", (15, 1), "may not be empty", ""),
        ("trust: [F]", "trust: [F]\nsupersedes: [acme-full]", (6, 14), "does not supersede itself", "general rule"),
        ("explanation:", "---\nexplanation:", (14, 1), "a second document begins here", "a file of its own"),
    ],
)
def test_a_mistake_has_one_message_that_says_where_and_what_to_do(
    right: str, wrong: str, where: tuple[int, int], message: str, hint: str
) -> None:
    assert RULE.count(right) == 1
    [error] = alone(RULE.replace(right, wrong))
    assert (error.location.line, error.location.column) == where
    assert message in error.message
    assert hint in error.hint


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        (b"", "my/acme-full.yaml: the file is empty", "remove it, or write into it"),
        (b"# to do\n", "my/acme-full.yaml: the file is empty", "remove it, or write into it"),
        (b"- a\n", "my/acme-full.yaml:1:1: the file wants keys with values, not a list", "without a dash"),
        (b"hello\n", "my/acme-full.yaml:1:1: the file wants keys with values, not text", "begins with keys"),
        (b"id: a\ntitle: \xe9t\xe9\n", "my/acme-full.yaml:2:8: this is no UTF-8: byte 0xe9", "save it as UTF-8"),
        (RULE.encode("utf-16"), "my/acme-full.yaml:1:1: this is no UTF-8: byte 0xff", "save it as UTF-8"),
        (b"pattern:\n  a-b: {regex: acme}\n", "my/acme-full.yaml:1:1: there is no key 'pattern' here", "'patterns'"),
    ],
)
def test_a_file_that_is_no_rule_at_all_has_one_message_too(content: bytes, message: str, hint: str) -> None:
    """What others say of the rule that should be in it is not told: the name of the file says which one that is."""
    file = PackFile("my/acme-full.yaml", content)
    site = b"name: west\nsilences:\n  - {rules: [acme-full], until: '2099-01-01', reason: known}\n"
    if content.startswith(b"pattern"):
        site = b"name: west\n"
    with pytest.raises(RulebookError) as raised:
        compile_rulebook([*SHARED, file], site=PackFile("site.yaml", site))
    [error] = raised.value.errors
    assert message in str(error)
    assert hint in error.hint


@pytest.mark.parametrize("change", [lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n")])
def test_what_windows_writes_is_read(change: Callable[[str], str]) -> None:
    assert alone(change(RULE)) == []


# --- every rule, many mistakes -------------------------------------------------------------------------------------

Mistake = Callable[[str, st.DataObject], str]


def drawn(data: st.DataObject, text: str, expression: str) -> re.Match[str] | None:
    found = list(re.finditer(expression, text, re.MULTILINE))
    return data.draw(st.sampled_from(found)) if found else None


def replaced(text: str, match: re.Match[str] | None, by: str) -> str:
    return text if match is None else text[: match.start()] + by + text[match.end() :]


def a_tab(text: str, data: st.DataObject) -> str:
    return replaced(text, drawn(data, text, r"^ {2}(?=[a-z_-]+:( |$))"), "\t")


def a_misspelt_key(text: str, data: st.DataObject) -> str:
    match = drawn(data, text, r"^(id|title|cause|severity|when|explanation|references|trust|actions|explains)(?=:)")
    return replaced(text, match, match[0][:-1] + "q" if match else "")


def a_missing_unit(text: str, data: st.DataObject) -> str:
    match = drawn(data, text, r"(?<=within: )\d+[smhd]\b")
    return replaced(text, match, match[0][:-1] if match else "")


def an_unquoted_colon(text: str, data: st.DataObject) -> str:
    match = drawn(data, text, r"^title: [A-Za-z]+ (?!.*['\"])")
    return replaced(text, match, match[0].rstrip() + ": " if match else "")


def a_wrong_type(text: str, data: st.DataObject) -> str:
    match = drawn(data, text, r"^(trust|references|actions|severity|when|explanation|cause):.*\n(?:[ -].*\n)*")
    return replaced(text, match, f"{match[1]}: 7\n" if match else "")


def an_unknown_cause(text: str, data: st.DataObject) -> str:
    return replaced(text, drawn(data, text, r"(?<=^cause: )\S+"), "no-such-cause")


def an_open_bracket(text: str, data: st.DataObject) -> str:
    return replaced(text, drawn(data, text, r"(?<=^trust: \[)([A-Z, ]+)\]"), "F")


def a_key_twice(text: str, data: st.DataObject) -> str:
    match = drawn(data, text, r"^(id|title|cause|severity|trust): .*\n")
    return replaced(text, match, match[0] * 2 if match else "")


def a_wrong_indentation(text: str, data: st.DataObject) -> str:
    match = drawn(data, text, r"^(title|cause|severity|trust|explanation|references|when):")
    return replaced(text, match, f" {match[0]}" if match else "")


def an_open_quote(text: str, data: st.DataObject) -> str:
    match = drawn(data, text, r"(?<=regex: ')(.*)'$")
    return replaced(text, match, match[1] if match else "")


def an_open_group(text: str, data: st.DataObject) -> str:
    match = drawn(data, text, r"(?<=regex: ')")
    return replaced(text, match, "(")


MISTAKES: tuple[Mistake, ...] = (
    a_tab,
    a_misspelt_key,
    a_missing_unit,
    an_unquoted_colon,
    a_wrong_type,
    an_unknown_cause,
    an_open_bracket,
    a_key_twice,
    a_wrong_indentation,
    an_open_quote,
    an_open_group,
)


@pytest.mark.heavy
@settings(max_examples=40, deadline=None)
@given(st.data())
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_a_mistake_in_any_rule_is_told_once_inside_the_file(mistake: Mistake, data: st.DataObject) -> None:
    file = data.draw(st.sampled_from(RULES))
    text = file.content.decode()
    broken = mistake(text, data)
    if broken == text:
        return
    before = errors_of(*SHARED, file)
    errors = [error for error in errors_of(*SHARED, PackFile(file.shown, broken.encode())) if error not in before]
    lines = broken.splitlines()
    told = [error for error in errors if not known_elsewhere(error, before)]
    assert len(told) == 1, [str(error) for error in errors]
    for error in told:
        assert error.location.path == file.shown
        assert 1 <= error.location.line <= len(lines)
        assert 1 <= error.location.column <= len(lines[error.location.line - 1]) + 1
        assert error.message


def known_elsewhere(error: RuleError, before: list[RuleError]) -> bool:
    """Whether the rule alone has this error too, for rules that it names are not there; its line may have moved."""
    return error.message in {other.message for other in before}


@pytest.mark.heavy
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_no_text_at_all_makes_the_lint_crash(data: st.DataObject) -> None:
    file = data.draw(st.sampled_from(RULES))
    text = file.content.decode()
    start = data.draw(st.integers(0, len(text) - 1))
    end = min(len(text), start + data.draw(st.integers(0, 12)))
    broken = (
        text[:start]
        + data.draw(
            st.text(max_size=4) | st.sampled_from(["\t", ": ", "[", "{", "'", '"', "- ", "#", "*", "&a", "!x", "?"])
        )
        + text[end:]
    )
    problems, _ = problems_of(
        [*SHARED, PackFile("my/x.yaml", broken.encode("utf-8", "surrogatepass"))], date(2026, 11, 22)
    )
    assert all(problem.location.path for problem in problems)
