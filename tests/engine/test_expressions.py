"""The record expression: what it accepts, what it means, how it complains."""

from __future__ import annotations

import pytest
from builders import hit
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.engine.expressions import holds, kleene
from neuron_doctor.engine.query_parser import BadExpression, check_types, parse_query

FACT = hit("x", data={"name": "HBM", "code": 5, "note": "half open", "release": "2.20.204.0-4b1c"}, device=3, host="a")


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ('name == "HBM"', True),
        ('name != "HBM"', False),
        ("code >= 5 and code < 6", True),
        ("code in [1, 5]", True),
        ('name in ["SRAM"]', False),
        ("device is known", True),
        ("rank is known", False),
        ("not rank is known", True),
        ('note contains "open"', True),
        ('note starts with "open"', False),
        ('host == "a" and (device == 1 or device == 3)', True),
        ("rank == 3", None),
        ("rank == 3 or device == 3", True),
        ("rank == 3 and device == 4", False),
        ("not rank == 3", None),
        ("release >= v2.20", True),
        ("release < v2.20.204", False),
        ("release == v2.20.204.0.0", True),
        ("release > v2.9", True),
        ("release < v10", True),
        ("name >= v1", None),
    ],
)
def test_a_test_of_a_field_means_what_it_says(where: str, expected: bool | None) -> None:
    query = parse_query(f"x where {where}")
    assert holds(query.where, FACT) is expected


@pytest.mark.parametrize(
    ("text", "column"),
    [("x where code = 3", 14), ("x where", 8), ("x y", 3), ('x where name == "open', 17), ("X", 1), ("x where and", 9)],
)
def test_what_cannot_be_read_is_an_error_with_its_column(text: str, column: int) -> None:
    with pytest.raises(BadExpression) as caught:
        parse_query(text)
    assert caught.value.column == column


def test_a_misspelt_field_is_an_error_that_names_the_right_one() -> None:
    with pytest.raises(BadExpression, match="no field 'cod'") as caught:
        check_types(parse_query("x where cod == 3"), {"code": "int"})
    assert caught.value.hint == "did you mean 'code'?"
    assert caught.value.column == 9


@pytest.mark.parametrize(
    ("where", "said"), [("code >= v2", "compared with text"), ("name in [v1, v2]", "cannot stand in a list")]
)
def test_a_version_is_compared_with_text_alone(where: str, said: str) -> None:
    with pytest.raises(BadExpression, match=said):
        check_types(parse_query(f"x where {where}"), {"code": "int", "name": "str"})


@given(st.lists(st.integers(0, 30), min_size=1, max_size=4), st.lists(st.integers(0, 30), min_size=1, max_size=4))
def test_versions_are_in_the_order_of_their_numbers(one: list[int], other: list[int]) -> None:
    def padded(numbers: list[int]) -> list[int]:
        return numbers + [0] * (4 - len(numbers))

    fact = hit("x", data={"release": ".".join(map(str, one))})
    query = parse_query(f"x where release < v{'.'.join(map(str, other))}")
    assert holds(query.where, fact) is (padded(one) < padded(other))


@pytest.mark.parametrize("where", ['code == "five"', "device == true", 'name in ["a", 3]', "flag == 1"])
def test_a_value_of_the_wrong_type_is_an_error(where: str) -> None:
    with pytest.raises(BadExpression, match="is of type"):
        check_types(parse_query(f"x where {where}"), {"code": "int", "name": "str", "flag": "bool"})


@given(st.lists(st.sampled_from([True, False, None]), min_size=1))
def test_three_valued_logic_obeys_de_morgan(values: list[bool | None]) -> None:
    negated = [kleene("not", [value]) for value in values]
    assert kleene("not", [kleene("and", values)]) is kleene("or", negated)
    assert kleene("not", [kleene("or", values)]) is kleene("and", negated)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_with_a_column(text: str) -> None:
    column = 1
    try:
        parse_query(text)
    except BadExpression as error:
        column = error.column
    assert column >= 1
