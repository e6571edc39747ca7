"""Regular expressions that are kept between runs are those that `re` makes, and what cannot be kept is made anew."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from builtin_rules import rulebook

from neuron_doctor import expressions
from neuron_doctor.engine.regexes import Compiler, Expression
from neuron_doctor.expressions import KeptExpressions, code_of, pattern_of
from neuron_doctor.keep import keep_of_user

SOME: tuple[Expression, ...] = (
    (r"(?P<host>ip-\d{1,3}) (?:a|b){2,5}?(\w+)", 0),
    (r"(?x) a  # the first letter \n  (?P<rest>[^\n]*)", 0),
    (r"(?i)timed out (?P<what>\S+) (?P=what)", re.ASCII),
    (rb"\x80{1,9}(?P<pid>\d+)", re.MULTILINE),
    ("", 0),
    ("…", 0),
)


def recalled(expression: Expression) -> re.Pattern[str] | None:
    code = code_of(expression)
    assert code is not None
    return pattern_of(expression, code)


@pytest.mark.parametrize("expression", SOME)
def test_a_pattern_made_of_kept_code_is_the_one_that_re_makes(expression: Expression) -> None:
    assert recalled(expression) == re.compile(*expression)


def test_so_it_is_for_all_patterns_of_the_catalogue() -> None:
    patterns = rulebook().patterns.patterns
    for expression in [(text, 0) for one in patterns for text in (one.regex, one.search)]:
        made, expected = recalled(expression), re.compile(*expression)
        assert made == expected
        assert made.groupindex == expected.groupindex
        assert made.flags == expected.flags


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NEURON_DOCTOR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def run(wanted: tuple[Expression, ...]) -> list[Expression]:
    """One run of the program that uses these expressions; which of them were kept before."""
    kept, compiled = KeptExpressions(), Compiler()
    compiled.recall = kept.recall
    found = [one for one in wanted if kept.recall(one) is not None]
    assert [compiled(*one) for one in wanted] == [re.compile(*one) for one in wanted]
    kept.remember(compiled.made)
    return found


def test_what_a_run_compiles_is_there_for_later_runs(cache: Path) -> None:
    assert run(SOME[:3]) == []
    assert run(SOME) == list(SOME[:3])
    assert run(SOME) == list(SOME)


def test_bytes_and_text_of_the_same_letters_are_two_expressions(cache: Path) -> None:
    both: tuple[Expression, ...] = (("abc", 0), (b"abc", 0))
    run(both)
    assert run(both) == list(both)


def test_nothing_is_written_where_nothing_is_new(cache: Path) -> None:
    run(SOME)
    [file] = cache.iterdir()
    before = file.stat().st_mtime_ns
    run(SOME[:2])
    assert file.stat().st_mtime_ns == before


def test_expressions_that_nobody_asks_for_any_more_are_forgotten(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(SOME)
    monkeypatch.setattr(expressions, "_MOST", len(SOME))
    run((("another", 0),))
    assert run((*SOME, ("another", 0))) == [("another", 0)]


def test_what_was_kept_and_is_damaged_is_compiled_anew(cache: Path) -> None:
    run(SOME)
    [file] = cache.iterdir()
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    assert run(SOME) == []


def test_without_a_directory_everything_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEURON_DOCTOR_CACHE", "off")
    assert run(SOME) == []
    assert run(SOME) == []


def test_code_that_re_refuses_makes_no_pattern() -> None:
    code = code_of(("a+", 0))
    assert code is not None
    for words in ([999, 1, 2], [-1], [1 << 70]):
        assert pattern_of(("a+", 0), (code[0], words, 0, [None])) is None


def test_code_that_is_none_is_made_and_kept_anew(cache: Path) -> None:
    run(SOME)
    [file] = cache.iterdir()
    sort, _, key = file.name.partition("-")
    rows = msgspec.msgpack.decode(keep_of_user().get(sort, key) or b"")
    keep_of_user().put(sort, key, msgspec.msgpack.encode([[*row[:3], "none"] for row in rows]))
    assert run(SOME) == []
    assert run(SOME) == list(SOME)


def test_what_cannot_be_written_down_is_not_kept(cache: Path) -> None:
    run((("\ud800", 0),))
    assert run((("\ud800", 0),)) == []


def test_a_python_with_other_parts_compiles_as_ever(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(name: str) -> None:
        raise ImportError(name)

    run(SOME)
    monkeypatch.setattr(expressions, "import_module", gone)
    assert run(SOME) == []
    assert code_of(("a", 0)) is None
