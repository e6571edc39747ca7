"""`rules test`: what examples may expect, where their input is from, and what is told of those that fail."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import parse

import pytest
from small_packs import rulebook_of

from neuron_doctor.engine.errors import RulebookError
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.ruletest import check_rule
from neuron_doctor.scan import Engine

RULE = """\
id: acme-full
title: The disk is full
cause: disk-full
severity: error
trust: [F]
patterns:
  acme-full-text: {{regex: 'acme: no room on (?P<volume>\\S{{1,100}})'}}
when: acme-full-text
actions:
  - {{action: fix-environment, target: "{{volume}}"}}
  - {{action: restart}}
explanation: e
references: [r]
examples:
  positive:
    - {{name: full, {positive}}}
  negative:
    - {{name: near, {negative}}}
"""
LINE = "files: {ip-10-0-0-1/rank_3.log: '2026-05-01 12:00:05 acme: no room on /a'}"


def pack(folder: Path, positive: str = LINE, negative: str = "text: 'acme: room on /a'") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "acme-full.yaml").write_text(RULE.format(positive=positive, negative=negative))
    return folder


def faults(folder: Path) -> list[str]:
    rulebook: Rulebook = rulebook_of(folder)
    engine = Engine.of(rulebook)
    return [one.fault for rule in rulebook.rules for one in check_rule(rule, rulebook, engine)]


def run(*args: str | Path) -> subprocess.CompletedProcess[str]:
    command: Sequence[str] = [sys.executable, "-m", "neuron_doctor", "rules", "test", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd="/")


@pytest.mark.parametrize(
    ("expect", "fault"),
    [
        ("{}", ""),
        (
            "{role: root, cause: disk-full, place: {host: ip-10-0-0-1, ranks: [3]}, actions: [fix-environment, restart]}",
            "",
        ),
        ("{role: cascade}", "role root, not cascade"),
        ("{cause: host-oom}", "cause disk-full, not host-oom"),
        ("{place: {ranks: [4]}}", "ranks [3], not [4]"),
        ("{place: {device: 4}}", "device not known, not 4"),
        ("{actions: [restart, fix-environment]}", "actions [fix-environment, restart], not [restart, fix-environment]"),
        ("{actions: [fix-environment]}", "actions [fix-environment, restart], not [fix-environment]"),
        ("{actions: []}", "actions [fix-environment, restart], not []"),
        ("{role: benign, cause: host-oom}", "role root, not benign; cause disk-full, not host-oom"),
    ],
)
def test_a_finding_must_be_what_its_example_expects(expect: str, fault: str, tmp_path: Path) -> None:
    told = [f"it fires, but with {fault}"] if fault else []
    assert faults(pack(tmp_path / "p", f"{LINE}, expect: {expect}")) == told


def test_of_several_findings_one_must_be_as_expected_and_the_nearest_is_told(tmp_path: Path) -> None:
    lines = "files: {attempt_0/rank_3.log: 'acme: no room on /a', attempt_1/rank_4.log: 'acme: no room on /a'}"
    assert faults(pack(tmp_path / "p", f"{lines}, expect: {{place: {{attempt: 1, ranks: [4]}}}}")) == []
    told = faults(pack(tmp_path / "p", f"{lines}, expect: {{place: {{attempt: 1, ranks: [5]}}}}"))
    assert told == ["it fires, but with ranks [4], not [5]"]


def test_a_positive_that_does_not_fire_and_a_near_miss_that_does_are_told(tmp_path: Path) -> None:
    told = faults(pack(tmp_path / "p", "text: 'acme: room on /a'", LINE))
    assert told == ["the rule does not fire", "the rule fires on this near miss"]


def test_a_positive_whose_finding_another_rule_replaces_fails(tmp_path: Path) -> None:
    folder = pack(tmp_path / "p")
    (folder / "acme-fuller.yaml").write_text(
        "id: acme-fuller\ntitle: t\ncause: disk-full\nseverity: error\ntrust: [F]\nsupersedes: [acme-full]\n"
        "when: acme-full-text\nexplanation: e\nreferences: [r]\n"
    )
    assert faults(folder) == ["the rule holds, but another one takes its place"]


# --- directories ---------------------------------------------------------------------------------------------------


def test_an_example_may_be_a_directory_beside_the_file_of_its_rule(tmp_path: Path) -> None:
    (tmp_path / "rank_9").mkdir()
    folder = pack(
        tmp_path / "rank_9" / "p",
        "directory: full, expect: {place: {host: ip-10-0-0-1, ranks: [3]}}",
        "directory: near",
    )
    for example, line in (("full", "acme: no room on /a\n"), ("near", "acme: room on /a\n")):
        (folder / example / "ip-10-0-0-1").mkdir(parents=True)
        (folder / example / "ip-10-0-0-1" / "rank_3.log").write_text(line)
    assert faults(folder) == []
    assert run("--no-builtin-rules", "--rules", folder).returncode == 0
    (folder / "near" / "ip-10-0-0-1" / "rank_4.log").write_text("acme: no room on /b\n")
    assert faults(folder) == ["the rule fires on this near miss"]


def test_a_directory_that_is_not_there_is_an_error_of_the_rule_at_its_place(tmp_path: Path) -> None:
    folder = pack(tmp_path / "p", "directory: ful")
    with pytest.raises(RulebookError) as raised:
        faults(folder)
    [error] = raised.value.errors
    assert str(error).startswith("p/acme-full.yaml:16:31: ")
    assert "no directory 'ful' beside it" in str(error)


def test_an_example_has_its_input_once(tmp_path: Path) -> None:
    with pytest.raises(RulebookError, match="more than one of text, files and directory"):
        faults(pack(tmp_path / "p", f"{LINE}, text: 'acme: no room on /a'"))


@pytest.mark.parametrize(
    ("positive", "negative", "where", "said"),
    [
        ("text: ''", "text: 'acme: room'", "16:14", "example 'full' of rule 'acme-full' has no input"),
        (LINE, "expect: {}", "18:14", "example 'near' of rule 'acme-full' has no input"),
        (LINE, "text: a, expect: {role: root}", "18:29", "is a near miss: there is no finding"),
        (f"{LINE}, expect: {{place: {{rnk: 3}}}}", "text: a", "16:118", "a place has no 'rnk' (did you mean 'rank'?)"),
        (LINE, "name: full, text: a", "", "the key 'name' stands here twice"),
        ("directory: .", "text: a", "16:31", "holds the rule itself"),
    ],
)
def test_an_example_that_cannot_be_meant_is_told_where_it_stands(
    positive: str, negative: str, where: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(RulebookError) as raised:
        faults(pack(tmp_path / "p", positive, negative))
    [error] = raised.value.errors
    assert said in str(error)
    assert str(error).startswith(f"p/acme-full.yaml:{where}")


# --- JUnit ---------------------------------------------------------------------------------------------------------


def test_junit_has_a_suite_for_each_rule_and_a_case_for_each_example(tmp_path: Path) -> None:
    folder = pack(tmp_path / "p", "text: 'acme: room on /a <&\"'", "text: 'acme: room \\x1b'")
    file = tmp_path / "out.xml"
    done = run("--no-builtin-rules", "--rules", folder, "--junit", file)
    assert done.returncode == 1
    assert done.stdout == "p/acme-full.yaml:16:14: acme-full: example 'full': the rule does not fire\n"
    root = parse(file).getroot()
    assert (root.tag, root.get("tests"), root.get("failures")) == ("testsuites", "2", "1")
    [suite] = root
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("acme-full", "2", "1")
    assert [(case.get("name"), case.get("file"), [f.get("message") for f in case]) for case in suite] == [
        ("full", "p/acme-full.yaml", ["the rule does not fire"]),
        ("near", "p/acme-full.yaml", []),
    ]


def test_a_junit_file_that_cannot_be_written_is_wrong_usage(tmp_path: Path) -> None:
    done = run("--no-builtin-rules", "--rules", pack(tmp_path / "p"), "--junit", tmp_path / "nowhere" / "out.xml")
    assert done.returncode == 2
    assert "cannot be written: No such file or directory" in done.stderr
