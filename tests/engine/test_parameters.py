"""Parameters: a rule with a parameter means what the rule with its value in it means; values keep type and bounds."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from builders import CAUSES
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.engine.errors import Location, RulebookError
from neuron_doctor.engine.packfiles import PackFile
from neuron_doctor.engine.parameters import BadValue, Parameter, ParameterType, Said
from neuron_doctor.engine.rule_loader import compile_rulebook
from neuron_doctor.engine.rulebook import Rule

RULE = """
id: tried
title: tried
cause: bug
severity: error
trust: [F]
parameters: {parameters}
patterns:
  a: {{regex: 'alpha (?P<n>\\d+) (?P<name>\\w+)', fields: {{n: int}}}}
when: {when}
explains: [{{causes: [stuck], relation: job, within: {within}, lead: {lead}}}]
explanation: It is tried.
references: [https://wiki.example]
"""
TEMPLATES = [
    "a where n >= {int0} and (n < {int1} or not name == {str0})",
    "a where n in [{int0}, 3, {int1}] and name contains {str0}",
    "{{count: {{of: a where n != {int0}, at_least: {int1}, within: {time0}}}}}",
    "{{measure: {{of: a, take: rate, field: n, within: {time0}, per: {time1}, at_most: {int0}}}}}",
    "{{all: [a, {{sequence: {{steps: [a, a where n > {int1}], within: {time1}}}}}]}}",
    "{{at_least: {int0}, of: [a, {{absent: {{record: a, after: a, within: {time0}}}}}]}}",
    "{{over: {{each: rank, quantifier: exactly, number: {int0}, have: a}}}}",
]


def ruled(when: str, within: str, lead: str, parameters: Mapping[str, object]) -> Rule:
    text = RULE.format(when=when, within=within, lead=lead, parameters=json.dumps(parameters))
    files = [PackFile("p/causes.yaml", CAUSES.encode()), PackFile("p/tried.yaml", text.encode())]
    [rule] = compile_rulebook(files).rules
    return rule


def quoted(when: str, values: Mapping[str, object]) -> str:
    """A condition with the values in it; the text in the flow of YAML, as YAML has it."""
    filled = when.format(**values)
    return filled if filled.startswith("{") else f"'{filled}'"


def meaning(rule: Rule) -> str:
    """The condition and what it explains, but for the columns in which its comparisons are written."""
    return re.sub(r"column=\d+", "", repr((rule.when, rule.explains)))


@given(
    st.sampled_from(TEMPLATES),
    st.lists(st.integers(1, 99), min_size=2, max_size=2),
    st.from_regex(r"[a-z_/.]{1,8}", fullmatch=True),
    st.lists(st.integers(1, 90).map(lambda s: f"{s}s"), min_size=2, max_size=2),
)
def test_a_parameter_means_what_its_value_means(when: str, numbers: list[int], text: str, times: list[str]) -> None:
    values = {"int0": numbers[0], "int1": numbers[1], "str0": f'"{text}"', "time0": times[0], "time1": times[1]}
    said = {"int0": numbers[0], "int1": numbers[1], "str0": text, "time0": times[0], "time1": times[1]}
    kinds = {"int": "int", "str": "str", "time": "duration"}
    parameters = {
        name: {"type": kinds[name[:-1]], "default": value, "description": "d"} for name, value in said.items()
    }
    plain = ruled(quoted(when, values), times[0], times[1], {})
    referring = ruled(quoted(when, {name: f"${name}" for name in values}), "$time0", "$time1", parameters)
    assert meaning(referring) == meaning(plain)
    assert {f"tried.{name}" for name in values if f"{{{name}}}" in when} <= set(referring.parameters)
    assert plain.parameters == ()


def parameter(kind: ParameterType, default: Said, **bounds: int | float | str) -> Parameter:
    return Parameter("p", kind, default, default, "d", Location("x"), **bounds)


@given(st.integers(), st.integers(), st.integers())
def test_a_number_keeps_its_bounds_and_no_other_is_refused(value: int, low: int, high: int) -> None:
    bounded = parameter("float", low, at_least=low, at_most=high)
    if low <= value <= high:
        bounded.check(value)
    else:
        with pytest.raises(BadValue):
            bounded.check(value)


@pytest.mark.parametrize(
    ("kind", "default", "good", "bad"),
    [
        ("int", 3, [0, -1], [True, 2.5, "3", [3]]),
        ("float", 3, [0.5, 7], [True, "3", float("nan"), float("inf")]),
        ("bool", True, [False], [0, "true"]),
        ("str", "x", ["y z"], ["", 7]),
        ("list", ["x"], [["y", "z"], []], ["x", [1], ["x", 1]]),
        ("list", [1], [[2.5], []], [["x"], 1]),
        ("list", [], [["x"], [1]], [["x", 1]]),
        ("duration", "3s", ["1.5h"], ["3", 3, "3 s", "10min"]),
        ("version", "2.20", ["v3", "2.20.1"], [2.2, "2.x", "newest"]),
    ],
)
def test_a_value_is_of_its_type_or_refused(
    kind: ParameterType, default: Said, good: list[Said], bad: list[Said]
) -> None:
    for value in good:
        parameter(kind, default).check(value)
    for value in bad:
        with pytest.raises(BadValue):
            parameter(kind, default).check(value)


def test_a_duration_keeps_its_bounds_whatever_their_units() -> None:
    bounded = parameter("duration", "1m", at_least="30s", at_most="2h")
    bounded.check("120m")
    with pytest.raises(BadValue, match="'29999ms' is less than 30s"):
        bounded.check("29999ms")
    with pytest.raises(BadValue, match="'121m' is more than 2h"):
        bounded.check("121m")


TUNABLE = """\
id: tried
title: tried
cause: bug
severity: error
trust: [F]
parameters:
  pause: {type: duration, default: 30s, description: a time}
  most: {type: int, default: 3, at_least: 1, description: a number}
patterns:
  a: {regex: 'alpha (?P<n>\\d+)', fields: {n: int}}
when:
  count: {of: a where n > $most, at_least: $most, within: $pause}
explanation: It is tried.
references: [https://wiki.example]
"""


@pytest.mark.parametrize(
    ("right", "wrong", "where", "message", "hint"),
    [
        ("n > $most", "n > $mots", (12, 27, 5), "there is no parameter $mots", "did you mean '$most'?"),
        ("n > $most", "n > $Most", (12, 27, 5), "cannot read 'a where n > $Most'", "a $parameter"),
        ("n > $most", "n > $pause", (12, 27, 6), "$pause is a duration", "make it a float"),
        ("within: $pause", "within: $paus", (12, 59, 5), "there is no parameter $paus", "did you mean '$pause'?"),
        ("within: $pause", "within: $most", (12, 59, 5), "within wants a duration, and $most is of type int", ""),
        ("within: $pause", "within: pause", (12, 59, 5), "within: 'pause' is not a number with its unit", ""),
        ("at_least: $most", "at_least: most", (12, 44, 4), "at_least wants a whole number, not text", ""),
        ("default: 30s", "default: 30", (7, 36, 2), "parameter 'pause': 30 is not a number with its unit", ""),
        ("default: 3,", "default: 0,", (8, 30, 1), "parameter 'most': 0 is less than 1", ""),
        ("at_least: 1,", "at_least: one,", (8, 30, 1), "parameter 'most': 'one' is not a whole number", ""),
        ("type: int", "type: integer", (8, 16, 7), "type: there is no 'integer'", "did you mean 'int'?"),
        (", description: a time", "", (7, 3, 5), "the key is missing: 'description'", "add it"),
        ("parameters:", "parameter:", (6, 1, 9), "there is no key 'parameter' here", "did you mean 'parameters'?"),
    ],
)
def test_a_mistake_has_one_message_that_says_where_and_what_to_do(
    right: str, wrong: str, where: tuple[int, int, int], message: str, hint: str
) -> None:
    assert TUNABLE.count(right) == 1
    files = [
        PackFile("p/causes.yaml", CAUSES.encode()),
        PackFile("p/tried.yaml", TUNABLE.replace(right, wrong).encode()),
    ]
    with pytest.raises(RulebookError) as raised:
        compile_rulebook(files)
    [error] = raised.value.errors
    assert (error.location.line, error.location.column, error.location.width) == where
    assert message in error.message
    assert hint in error.hint


def test_what_is_wrong_in_a_shared_condition_is_told_once_whoever_asks_for_it() -> None:
    terms = b"conditions: {many: a where n > $mots}\nparameters: {most: {type: int, default: 1, description: d}}\n"
    rule = RULE.format(when="{term: many}", within="1s", lead="1s", parameters="{}")
    files = [PackFile("p/causes.yaml", CAUSES.encode()), PackFile("p/terms.yaml", terms)]
    files += [PackFile("p/one.yaml", rule.encode())]
    other = rule.replace("id: tried", "id: other").replace("  a: {", "  b: {")
    files += [PackFile("p/two.yaml", other.encode())]
    with pytest.raises(RulebookError) as raised:
        compile_rulebook(files)
    assert str(raised.value) == "p/terms.yaml:1:32: there is no parameter $mots (did you mean '$most'?)"


def test_names_that_packs_take_twice_are_told_with_the_first_place(tmp_path: Path) -> None:
    terms = (
        b"causes: {both: [bug]}\nconditions: {both: run}\nparameters: {both: {type: int, default: 1, description: d}}\n"
    )
    files = [PackFile("p/causes.yaml", CAUSES.encode()), PackFile("q/causes.yaml", CAUSES.encode())]
    files += [PackFile("p/terms.yaml", terms), PackFile("q/terms.yaml", terms)]
    with pytest.raises(RulebookError) as raised:
        compile_rulebook(files)
    told = [str(error) for error in raised.value.errors]
    assert len(told) == len(["broken-device", "stuck", "noise", "bug", "set", "condition", "parameter"])
    assert "q/causes.yaml:3:3: cause 'broken-device' stands at p/causes.yaml:3:3 already (rename one)" in told
    assert all(error.check == "duplicate-id" for error in raised.value.errors)
    assert {error.location.path for error in raised.value.errors} == {"q/causes.yaml", "q/terms.yaml"}
