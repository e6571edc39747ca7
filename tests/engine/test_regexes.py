"""Regular expressions that are compiled when first used: the same answers, and every one of the program's is right."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import re
from collections.abc import Iterator

from neuron_doctor.engine.regexes import regex


def modules() -> Iterator[object]:
    for room in ("engine", "collectors", "reports"):
        package = importlib.import_module(f"neuron_doctor.{room}")
        for found in pkgutil.iter_modules(package.__path__, f"neuron_doctor.{room}."):
            yield importlib.import_module(found.name)


def test_it_answers_as_the_pattern_does() -> None:
    late, now = regex(r"(?P<a>\d+)-B", re.IGNORECASE), re.compile(r"(?P<a>\d+)-B", re.IGNORECASE)
    for text in ("x 12-b 3-B", "none"):
        for name in ("match", "search", "findall", "split"):
            found, expected = getattr(late, name)(text), getattr(now, name)(text)
            assert str(found) == str(expected)
    assert (late.pattern, late.groupindex, late.flags) == (now.pattern, now.groupindex, now.flags)
    assert late.sub("-", "1-b") == "-"


def test_it_travels_to_another_process() -> None:
    late = regex(r"\d+")
    assert late.search("a 1")
    copy = pickle.loads(pickle.dumps(late))
    match = copy.search("b 22")
    assert match
    assert match[0] == "22"


def test_every_expression_of_every_module_can_be_compiled() -> None:
    unborn = type(regex(""))
    held = [thing for module in modules() for thing in vars(module).values() if type(thing) is unborn]
    assert len(held) > 100
    for expression in held:
        assert expression.fullmatch  # compiles it
