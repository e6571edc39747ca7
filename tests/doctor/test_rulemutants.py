"""Mutants of rules: which there are, which examples notice them, and what the command prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from small_packs import rulebook_of

from neuron_doctor.engine.rulebook import Rule
from neuron_doctor.examples import exhibits_of
from neuron_doctor.mutation import tried
from neuron_doctor.packs import load_with_examples
from neuron_doctor.request import Packs
from neuron_doctor.rulemutants import mutants
from neuron_doctor.ruletest import fault_of
from neuron_doctor.scan import Engine

RULEBOOK = load_with_examples(Packs())
ENGINE = Engine.of(RULEBOOK)
HEAD = """\
id: acme-failed
title: t
cause: disk-full
severity: error
at: host
trust: [F]
patterns:
  acme-failed-text:
    regex: 'acme: failed (?P<errno>\\d{1,3}) on (?P<path>\\S{1,100})'
    fields: {errno: int}
  acme-begin: {regex: 'acme: begin'}
  acme-done: {regex: 'acme: done'}
explanation: e
references: [r]
"""


def pack(folder: Path, when: str, examples: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "acme-failed.yaml").write_text(f"{HEAD}when: {when}\n{examples}")
    return folder


def rule_of(folder: Path) -> Rule:
    [rule] = rulebook_of(folder).rules
    return rule


def examples(positive: list[str], negative: list[str]) -> str:
    def listed(texts: list[str]) -> str:
        return "".join(f'    - {{name: n, text: "{text}"}}\n' for text in texts)

    return f"examples:\n  positive:\n{listed(positive)}  negative:\n{listed(negative)}"


def survivors(folder: Path) -> list[str]:
    rulebook = rulebook_of(folder)
    [rule] = rulebook.rules
    exhibits = list(exhibits_of(rule, rulebook, Engine.of(rulebook)))
    return [mutant.what for mutant, noticed in tried(rule, exhibits) if not noticed]


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ("acme-begin", []),
        ("acme-failed-text where errno == 5", ["without `errno == 5`", "`errno != 5` for `errno == 5`"]),
        (
            "acme-failed-text where not (errno >= 5)",
            ["without `not errno >= 5`", "`errno > 5` for `errno >= 5`", "not `errno >= 5`"],
        ),
        (
            'acme-failed-text where errno in [5, 9] or path starts with "/a"',
            [
                "without `errno in [5, 9]`",
                'without `path starts with "/a"`',
                'and for or in `errno in [5, 9] or path starts with "/a"`',
                "not `errno in [5, 9]`",
                'not `path starts with "/a"`',
            ],
        ),
        (
            "{all: [{record: acme-begin}, {none: [{record: acme-done}]}]}",
            ["without `record acme-begin`", "without `none of 1`", "any for all"],
        ),
        (
            "{at_least: 2, of: [{record: acme-begin}, {record: acme-done}, {record: acme-failed-text}]}",
            [
                "without `record acme-begin`",
                "without `record acme-done`",
                "without `record acme-failed-text`",
                "at_least 1 for 2",
                "at_least 3 for 2",
            ],
        ),
        (
            "{count: {of: acme-failed-text, at_least: 2, within: 1m, distinct: path}}",
            ["at_least 1 for 2", "at_least 3 for 2", "10m for 1m", "6s for 1m", "records for distinct values"],
        ),
        ("{count: {of: acme-begin, at_least: 1}}", ["at_least 2 for 1"]),
        (
            "{sequence: {steps: [acme-begin, acme-done], within: 10s}}",
            ["100s for 10s", "1s for 10s", "without `acme-begin`", "without `acme-done`"],
        ),
        (
            "{sequence: {steps: [acme-failed-text, acme-failed-text], within: 10s, by: path, until: acme-done}}",
            [
                "100s for 10s",
                "1s for 10s",
                "without until `acme-done`",
                "whatever `path` is",
                "without `acme-failed-text`",
            ],
        ),
        (
            "{measure: {of: acme-failed-text where errno > 3, take: max, field: errno, at_least: 9, within: 1m}}",
            ["10m for 1m", "6s for 1m", "without `errno > 3`", "`errno >= 3` for `errno > 3`", "not `errno > 3`"],
        ),
        (
            "{absent: {record: acme-done, after: acme-begin, within: 30m}}",
            ["only `acme-begin`, whatever comes after", "5h for 30m", "3m for 30m"],
        ),
        ("{over: {each: rank, quantifier: all-but-few, have: acme-done}}", ["odd-one-out for all-but-few"]),
    ],
)
def test_a_rule_is_changed_in_one_thing_at_a_time(when: str, expected: list[str], tmp_path: Path) -> None:
    assert [mutant.what for mutant in mutants(rule_of(pack(tmp_path / "p", when)))] == expected


@pytest.mark.parametrize("rule", RULEBOOK.rules, ids=lambda rule: rule.id)
def test_mutants_differ_from_their_rule_and_from_each_other(rule: Rule) -> None:
    found = [mutant.when for mutant in mutants(rule)]
    assert rule.when not in found
    assert len(set(found)) == len(found)


def test_examples_with_a_near_miss_for_each_part_notice_every_mutant(tmp_path: Path) -> None:
    when = "{all: [{record: acme-failed-text where errno < 9}, {none: [{record: acme-done}]}]}"
    shown = examples(
        ["acme: failed 8 on /a"], ["acme: failed 9 on /a", "acme: failed 8 on /a\\nacme: done", "acme: begin"]
    )
    assert survivors(pack(tmp_path / "p", when, shown)) == []


def test_a_mutant_that_no_example_could_notice_survives(tmp_path: Path) -> None:
    when = "acme-failed-text where errno == 5 and errno is known"
    shown = examples(["acme: failed 5 on /a"], ["acme: failed 6 on /a"])
    assert survivors(pack(tmp_path / "p", when, shown)) == ["without `errno is known`"]


def test_a_boundary_that_no_example_stands_on_survives(tmp_path: Path) -> None:
    shown = examples(["acme: failed 5 on /a"], ["acme: failed 99 on /a"])
    assert survivors(pack(tmp_path / "p", "acme-failed-text where errno < 9", shown)) == [
        "`errno <= 9` for `errno < 9`"
    ]


def test_a_mutant_that_fires_elsewhere_is_noticed_only_where_the_place_is_expected(tmp_path: Path) -> None:
    when = "{any: [{record: acme-begin}, {record: acme-failed-text}]}"
    files = "files: {rank_1.log: 'acme: begin', rank_2.log: 'acme: failed 5 on /a'}"
    negative = "negative: [{name: n, text: 'acme: done'}]"
    loose = f"examples:\n  positive: [{{name: n, {files}}}]\n  {negative}\n"
    exact = f"examples:\n  positive: [{{name: n, {files}, expect: {{place: {{ranks: [1, 2]}}}}}}]\n  {negative}\n"
    assert "without `record acme-begin`" in survivors(pack(tmp_path / "p", when, loose))
    assert "without `record acme-begin`" not in survivors(pack(tmp_path / "p", when, exact))


def test_what_is_not_looked_at_whole_would_come_out_the_same() -> None:
    """An example is not diagnosed again where a mutant holds at the same places by the same facts."""
    for rule in RULEBOOK.rules[::25]:
        exhibits = list(exhibits_of(rule, RULEBOOK, ENGINE))
        for mutant, noticed in tried(rule, exhibits):
            changed = replace(rule, when=mutant.when)
            assert noticed is any(fault_of(exhibit, changed) for exhibit in exhibits)


# --- the command ---------------------------------------------------------------------------------------------------


def run(*args: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "neuron_doctor", "rules", "test", "--no-builtin-rules", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd="/")


def test_what_is_lacking_is_told_at_its_place_and_all_of_it_as_a_share(tmp_path: Path) -> None:
    when = "\n  all:\n    - record: acme-failed-text where errno < 9\n    - none:\n        - record: acme-done"
    shown = examples(["acme: failed 5 on /a"], ["acme: failed 99 on /a"])
    done = run("--rules", pack(tmp_path / "p", when, shown), "--coverage", "--mutate")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "p/acme-failed.yaml:19:11: acme-failed: `record acme-done`: no example hangs on it alone",
        "p/acme-failed.yaml:18:7: acme-failed: no example notices: without `none of 1`",
        "p/acme-failed.yaml:16:3: acme-failed: no example notices: any for all",
        "p/acme-failed.yaml:17:7: acme-failed: no example notices: `errno <= 9` for `errno < 9`",
    ]
    assert done.stderr.splitlines() == [
        "coverage: 2 of 3 parts of the conditions are exercised (66.7%)",
        "mutants: 3 of 6 are noticed (50.0%)",
        "0 failures in 1 rule",
    ]


def test_quiet_prints_the_shares_and_the_failures(tmp_path: Path) -> None:
    folder = pack(tmp_path / "p", "acme-begin", examples(["acme: failed 5 on /a"], ["acme: done"]))
    done = run("--rules", folder, "--coverage", "--mutate", "--quiet")
    assert done.returncode == 1
    assert done.stdout == "p/acme-failed.yaml:18:14: acme-failed: example 'n': the rule does not fire\n"
    assert done.stderr.splitlines()[0] == "coverage: 0 of 1 parts of the conditions are exercised (0.0%)"
