"""Parts that another rulebook has read: what it never looked for is neither there nor absent."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from neuron_doctor.collectors.walk import find
from neuron_doctor.engine.diagnosis import diagnose_once
from neuron_doctor.engine.patterns import PatternSet
from neuron_doctor.engine.readings import Reading, gathered, merged
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.searched import searched_by, understood
from neuron_doctor.engine.verdict import Diagnosis
from neuron_doctor.packs import load
from neuron_doctor.reports.json_report import report_object
from neuron_doctor.reports.markdown import render_markdown
from neuron_doctor.reports.text import render_text
from neuron_doctor.request import Packs
from neuron_doctor.scan import Engine
from neuron_doctor.shards import Shard, readings, scan

RULES = """
id: alarm
title: The pump failed
cause: application-exception
severity: error
at: host
when: {record: pump-failed}
explanation: It says so.
references: [made up]
trust: [D]
patterns:
  pump-failed: {regex: 'pump failed with (?P<code>\\d+)', fields: {code: int}}
---
id: quiet
title: A valve closed and no pump started
cause: application-exception
severity: error
at: host
when: {all: [{record: valve-closed}, {none: [{record: pump-started}]}]}
explanation: It says so.
references: [made up]
trust: [D]
patterns:
  valve-closed: {regex: 'valve closed'}
  pump-started: {regex: 'pump started'}
"""


def packs(folder: Path, replaced: str = "", by: str = "") -> Packs:
    folder.mkdir()
    for number, rule in enumerate(RULES.replace(replaced, by).split("---")):
        (folder / f"{number}.yaml").write_text(rule)
    return Packs((folder,), builtin=False)


@cache
def book(of: Packs) -> Rulebook:
    return load(of)


def without(rulebook: Rulebook, *names: str) -> Rulebook:
    """As it was before these patterns were added."""
    left = tuple(pattern for pattern in rulebook.patterns.patterns if pattern.id not in names)
    return replace(rulebook, patterns=PatternSet(left))


def read(folder: Path, rulebook: Rulebook, *, as_part: bool = True) -> list[Reading]:
    engine = Engine.of(rulebook)
    found = list(readings([scan(Shard((file,)), engine) for file in find([str(folder)], {str(folder): folder.name})]))
    if not as_part:
        return found
    searched = searched_by(rulebook)
    return [replace(one, source=replace(one.source, searched=searched)) for one in found]


def diagnosed(rulebook: Rulebook, *some: Iterable[Reading]) -> Diagnosis:
    all_of_them = merged(reading for one in some for reading in one)
    return diagnose_once(rulebook, gathered(understood(all_of_them, rulebook)))


def node(tmp_path: Path, name: str, *lines: str) -> Path:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "job.log").write_text("".join(f"2026-01-01 00:00:0{n} {line}\n" for n, line in enumerate(lines)))
    return folder


def not_evaluable(found: Diagnosis) -> dict[str, tuple[str, ...]]:
    return {rule.rule: rule.lacks for rule in found.not_evaluable}


def fired(found: Diagnosis) -> set[tuple[str, tuple[str, ...]]]:
    return {(finding.rule, finding.hosts) for finding in found.findings}


def test_a_rule_whose_pattern_was_not_looked_for_is_not_evaluable_there(tmp_path: Path) -> None:
    rules = book(packs(tmp_path / "rules"))
    part = read(node(tmp_path, "node1", "pump failed with 7"), without(rules, "pump-failed"))
    found = diagnosed(rules, part)
    assert fired(found) == set()
    expected = ("pump-failed was not looked for in node1/job.log, read with another rulebook",)
    assert not_evaluable(found) == {"alarm": expected}
    told = {
        rule["rule"]: rule.get("lacks") for rule in report_object(found, exit_status=0, version="x")["not_evaluable"]
    }  # type: ignore[union-attr, index, call-overload]
    assert told == {"alarm": [*expected]}
    for text in (render_text(found, width=120, colour=False, verbose=False), render_markdown(found)):
        assert "1 rule could not be checked everywhere: alarm" in " ".join(text.replace("\\", "").split())


def test_a_rule_that_fires_elsewhere_still_fires(tmp_path: Path) -> None:
    rules = book(packs(tmp_path / "rules"))
    old = read(node(tmp_path, "node1", "pump failed with 7"), without(rules, "pump-failed"))
    new = read(node(tmp_path, "node2", "pump failed with 7"), rules)
    found = diagnosed(rules, old, new)
    assert fired(found) == {("alarm", ("node2",))}
    assert "alarm" not in not_evaluable(found)


def test_nothing_follows_from_the_absence_of_what_was_not_looked_for(tmp_path: Path) -> None:
    rules = book(packs(tmp_path / "rules"))
    closed = node(tmp_path, "node1", "valve closed")
    assert fired(diagnosed(rules, read(closed, rules))) == {("quiet", ("node1",))}
    found = diagnosed(rules, read(closed, without(rules, "pump-started")))
    assert fired(found) == set()
    assert list(not_evaluable(found)) == ["quiet"]
    also = diagnosed(
        rules, read(closed, without(rules, "pump-started")), read(node(tmp_path, "node2", "valve closed"), rules)
    )
    assert fired(also) == {("quiet", ("node2",))}, "the other host was looked through"


def test_a_rule_that_cannot_hold_whatever_was_overlooked_has_passed(tmp_path: Path) -> None:
    rules = book(packs(tmp_path / "rules"))
    found = diagnosed(rules, read(node(tmp_path, "node1", "nothing of note"), without(rules, "pump-started")))
    assert not_evaluable(found) == {}


def test_hits_of_a_pattern_that_meant_something_else_are_left_out(tmp_path: Path) -> None:
    rules = book(packs(tmp_path / "rules"))
    other = book(packs(tmp_path / "others", "pump failed with", "pump (?:failed|was stopped) with"))
    part = read(node(tmp_path, "node1", "pump was stopped with 7"), other)
    assert fired(diagnosed(other, part)) == {("alarm", ("node1",))}
    found = diagnosed(rules, part)
    assert fired(found) == set()
    assert list(not_evaluable(found)) == ["alarm"]


def test_hits_of_a_pattern_that_is_not_known_here_are_left_out(tmp_path: Path) -> None:
    rules = book(packs(tmp_path / "rules"))
    part = read(node(tmp_path, "node1", "pump failed with 7"), rules)
    less = replace(without(rules, "pump-failed"), rules=tuple(r for r in rules.rules if r.id != "alarm"))
    assert fired(diagnosed(less, part)) == set()


def test_the_sources_themselves_count_before_an_older_part_of_them(tmp_path: Path) -> None:
    rules = book(packs(tmp_path / "rules"))
    folder = node(tmp_path, "node1", "pump failed with 7")
    old, raw = read(folder, without(rules, "pump-failed")), read(folder, rules, as_part=False)
    for some in ((old, raw), (raw, old)):
        found = diagnosed(rules, *some)
        assert fired(found) == {("alarm", ("node1",))}
        assert found == diagnosed(rules, raw)


def test_what_was_looked_for_is_told_apart_by_what_it_means(tmp_path: Path) -> None:
    rules = book(packs(tmp_path / "rules"))
    same = book(packs(tmp_path / "same"))
    other = book(packs(tmp_path / "others", "code: int", "code: str"))
    assert searched_by(rules) == searched_by(same)
    assert searched_by(rules) != searched_by(other)
    assert searched_by(rules) != searched_by(without(rules, "pump-failed"))
