"""The checks of the lint, each on a rule that breaks it and on one that nearly does; silences; the command."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
import yaml

from neuron_doctor.engine.checks import CHECKS
from neuron_doctor.engine.errors import RuleError
from neuron_doctor.engine.packfiles import PackFile
from neuron_doctor.lint.ordinary import SIZE, ordinary_text
from neuron_doctor.lint.run import problems_of

TODAY = date(2026, 11, 22)
CAUSES = PackFile(
    "my/causes.yaml",
    b'f:\n  bug: {by: user, is: "x"}\n  worn: {by: hardware, is: "y"}\n  noise: {by: none, is: "z"}\n',
)
RULE = """\
id: {id}
title: The volume is full
cause: {cause}
severity: error
trust: [F]
at: {at}
patterns:
  {id}-text: {pattern}
{more}when: {when}
actions: [{{action: collect-more, note: "{note}"}}]
explanation: The volume is full.
references: [{reference}]
examples:
  positive: [{{name: p, text: "{positive}"}}]
  negative: [{{name: n, text: "all is well"}}]
"""


def rule(name: str = "acme", **parts: str) -> str:
    usual = {
        "id": name,
        "cause": "bug",
        "at": "process",
        "pattern": f"{{regex: '{name}d: no room for (?P<bytes>\\d{{1,9}}) (?P<kind>foo|bar)'}}",
        "when": f"{name}-text",
        "note": "look at {host}",
        "reference": "https://wiki.example/acme",
        "positive": f"{name}d: no room for 3 foo",
        "more": "",
    }
    return RULE.format(**{**usual, **parts})


def declaring(parameters: str, **parts: str) -> str:
    return rule(**parts).replace("patterns:\n", f"parameters: {parameters}\npatterns:\n", 1)


def linted(*rules: str, today: date = TODAY, names: tuple[str, ...] = ()) -> list[RuleError]:
    stems = names or tuple(text.partition("id: ")[2].partition("\n")[0] for text in rules)
    files = [PackFile(f"my/{stem}.yaml", text.encode()) for stem, text in zip(stems, rules, strict=True)]
    problems, usable = problems_of([CAUSES, *files], today)
    assert usable, [str(problem) for problem in problems]
    return problems


def checks(*rules: str, names: tuple[str, ...] = ()) -> list[str]:
    return [problem.check for problem in linted(*rules, names=names)]


def without(text: str, key: str) -> str:
    return yaml.safe_dump({k: v for k, v in yaml.safe_load(text).items() if k != key}, sort_keys=False)


def test_a_good_rule_has_no_problem() -> None:
    assert checks(rule()) == []
    assert checks(rule("acme"), rule("other")) == []


@pytest.mark.parametrize(
    ("check", "text"),
    [
        ("no-examples", without(rule(), "examples")),
        ("no-action", without(rule(), "actions")),
        ("no-reference", rule(reference="TODO")),
        ("unknown-slot", rule(note="look at {kinds}")),
        ("style", rule().replace("is full\ncause", "is full.\ncause")),
        ("style", rule().replace("The volume is full\n", "x" * 91 + "\n")),
        ("style", rule().replace("full.\n", "full and\n")),
        ("explains-itself", rule().replace("expl", "explains: [{causes: [bug], relation: same-process}]\nexpl", 1)),
        ("unused-pattern", rule(more="  acme-other: {regex: 'never asked for'}\n")),
        ("unused-parameter", declaring("{least: {type: int, default: 3, description: a number}}")),
        ("no-literal", rule(pattern=r"{regex: 'a\d{1,3}'}", positive="a3")),
        ("costly-pattern", rule(pattern="{regex: 'INFO'}", positive="INFO")),
        ("ruinous-pattern", rule(pattern=r"{regex: '[a-z]{4}|[0-9]{2}'}", positive="x")),
        ("unknown-slot", rule(note="look at {bytes of {host}")),
        ("style", rule().replace("The volume is full\n", "It is bug #12 of acme.\n").replace(" #12", "# 12")),
        ("cut-off", rule().replace("The volume is full\n", "Bug #12 of acme\n")),
        ("over-place", rule(when="{over: {each: rank, quantifier: any, have: acme-text}}")),
        ("never-matches", rule(pattern="{regex: 'acme: begin$ (?P<bytes>a)'}")),
        ("never-matches", rule(pattern="{regex: 'acme: ^begin (?P<bytes>a)'}")),
        ("never-matches", rule(pattern="{regex: 'acme: begin $many (?P<bytes>a)'}")),
        ("never-matches", rule(pattern="{regex: 'acme: begin (?P<bytes>[a-z]{1,9})', fields: {bytes: int}}")),
        ("never-matches", rule(pattern="{regex: 'acme: begin (?P<rank>[a-z]{1,9})'}")),
        ("never-matches", rule(pattern="{regex: '/acme: (?P<bytes>a) full/'}")),
        ("never-matches", rule(pattern="{regex: '/acme: (?P<bytes>a) full/i'}")),
        ("lost-capture", rule(pattern="{regex: 'acmed: of (?P<sise>a)', emits: memory-request}", when="memory-request", note="")),
        ("capped-confidence", rule(more="status: experimental\nconfidence: 0.7\n")),
        ("one-name", rule(positive='acmed: no room for 3 foo"}, {name: p, text: "acmed: no room for 4 foo')),
        ("never-fires", rule(when='acme-text where kind == "fox"')),
        ("never-fires", rule(when='acme-text where kind == "foo" and kind == "bar"')),
        ("never-fires", rule(when='acme-text where kind in ["foo"] and kind != "foo"')),
        ("never-fires", rule(when="acme-text where rank > 5 and rank < 3")),
        ("never-fires", rule(when="acme-text where rank > 3 and rank <= 3")),
        ("never-fires", rule(when="acme-text where not rank is known and rank == 3")),
        ("never-fires", rule(when="{none: [{record: acme-text}]}")),
        ("never-fires", rule(when="{all: [{record: acme-text}, {none: [{record: acme-text}]}]}")),
        ("never-fires", rule(when="{at_least: 3, of: [{record: acme-text}, {record: acme-text where rank == 1}]}")),
    ],
)  # fmt: skip
def test_a_rule_that_breaks_a_check_is_told_by_that_check_alone(check: str, text: str) -> None:
    found = checks(text)
    assert check in found
    # What has no literal is mostly costly as well, and what stands alone in a pattern.
    assert set(found) <= {check, "costly-pattern", "ruinous-pattern", "no-literal"}


@pytest.mark.parametrize(
    "text",
    [
        rule(note="{bytes} {kind} {host} {instance_id} {rank}"),
        rule(pattern="{regex: '/var/acme/(?P<bytes>a) is full/'}"),
        rule(pattern="{regex: '/acme(?P<bytes>a)full/'}"),
        rule(
            pattern="{regex: 'acmed: of (?P<size>a) (?P<rank>\\d{1,3})', emits: memory-request}",
            when="memory-request",
            note="",
        ),
        rule().replace("negative: [{name: n", "negative: [{name: p"),
        rule(more="status: experimental\nconfidence: 0.6\n"),
        rule(more="status: experimental\n"),
        rule(more="confidence: 0.95\n"),
        rule(note="awk '{{print $1}}'".replace("{{", "{").replace("}}", "}")),
        rule(when='acme-text where kind == "foo" or kind == "bar"'),
        declaring("{least: {type: int, default: 3, description: a number}}", when="acme-text where rank >= $least"),
        rule(when='acme-text where kind == "foo" and kind != "bar"'),
        rule(when="acme-text where rank >= 3 and rank <= 3"),
        rule(when="acme-text where rank > 3 and rank < 5"),
        rule(when="{all: [{record: acme-text}, {none: [{record: acme-text where rank == 1}]}]}"),
        rule(when='{none: [{record: acme-text where kind == "fox"}], all: null}'.replace(", all: null", ""))
        .replace("when: {none", "when: {all: [{record: acme-text}, {none")
        .replace('"fox"}]}', '"fox"}]}]}'),
        rule(pattern=r"{regex: 'acmed (?P<kind>\S{1,9}) full'}", when='acme-text where kind == "any"'),
        rule(pattern="{regex: '(?i)acmed (?P<kind>FOO) full'}", when='acme-text where kind == "foo"'),
    ],
)
def test_what_only_looks_wrong_is_no_problem(text: str) -> None:
    assert checks(text) == []


def test_a_file_is_called_as_its_rule() -> None:
    assert checks(rule(), names=("other",)) == ["style"]


def test_two_rules_with_one_condition_are_told_once() -> None:
    assert checks(rule("a1"), rule("b1", when="a1-text", more="")) == ["unused-pattern", "duplicate-rule"]
    assert checks(rule("a1"), rule("b1", when="{any: [{record: a1-text}, {record: b1-text}]}")) == []


def test_two_patterns_that_look_for_one_text_are_told_once() -> None:
    same = "{regex: 'the same text'}"
    assert "duplicate-pattern" in checks(rule("a1", pattern=same), rule("b1", pattern=same))


def hidden(general: str, precise: str, at: str = "process") -> list[str]:
    wide = rule("wide", when=general, at=at).replace("explanation", "supersedes: [narrow]\nexplanation", 1)
    return checks(rule("narrow", when=precise), wide)


def test_a_rule_that_another_one_always_hides_is_told() -> None:
    assert "shadowed-rule" in hidden("narrow-text", "narrow-text where rank == 1")
    assert "shadowed-rule" in hidden("{any: [{record: narrow-text}, {record: wide-text}]}", "narrow-text")
    assert "shadowed-rule" not in hidden("wide-text", "narrow-text")
    assert "shadowed-rule" not in hidden("narrow-text where rank == 1", "narrow-text")
    assert "shadowed-rule" not in hidden("narrow-text", "narrow-text where rank == 1", at="device")


def test_two_causes_for_one_line_are_told_if_neither_rule_knows_the_other() -> None:
    general = rule("wide", cause="worn", pattern="{regex: 'no room for'}", positive="no room for it")
    assert checks(rule("narrow"), general) == ["overlapping-patterns"]
    assert checks(rule("narrow").replace("expl", "supersedes: [wide]\nexpl", 1), general) == []
    assert checks(rule("narrow"), general.replace("cause: worn", "cause: bug")) == []
    assert checks(rule("narrow"), general.replace("cause: worn", "cause: noise")) == []


def test_the_ordinary_text_is_always_the_same_and_of_many_forms() -> None:
    text = ordinary_text()
    assert len(text) == SIZE
    assert text.isascii()
    assert len({line[:20] for line in text.splitlines()}) > 100


def test_every_check_is_described_by_its_id() -> None:
    assert all(check.id == name and check.what and check.why and check.fix for name, check in CHECKS.items())


def test_a_parameter_in_a_pattern_is_told_as_one() -> None:
    [problem] = linted(rule(pattern="{regex: 'acme: begin $many (?P<bytes>a)'}"))
    assert (problem.hint, problem.location.width) == ("a parameter never stands in a pattern", 1)


# --- silences ------------------------------------------------------------------------------------------------------

SILENCE = "# lint: silence {} until {}: the logs are small"
COSTLY = rule(pattern="{regex: 'INFO'}", positive="INFO")


def above(text: str, line: str, comment: str) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    assert line in text
    return text.replace(line, f"{indent}{comment}\n{line}", 1)


@pytest.mark.parametrize("line", ["  acme-text:", "patterns:", "id: acme"])
def test_a_silence_holds_for_what_is_below_it(line: str) -> None:
    assert checks(COSTLY) == ["costly-pattern"]
    assert checks(above(COSTLY, line, SILENCE.format("costly-pattern", "2026-11-22"))) == []


def test_a_silence_holds_for_nothing_else() -> None:
    text = above(COSTLY, "when:", SILENCE.format("costly-pattern", "2026-11-22"))
    assert sorted(checks(text)) == ["costly-pattern", "silence-unused"]
    other = above(COSTLY, "patterns:", SILENCE.format("style", "2026-11-22"))
    assert sorted(checks(other)) == ["costly-pattern", "silence-unused"]


def test_a_silence_ends_with_its_day() -> None:
    text = above(COSTLY, "patterns:", SILENCE.format("costly-pattern", "2026-11-22"))
    assert [problem.check for problem in linted(text, today=date(2026, 11, 23))] == [
        "silence-expired",
        "costly-pattern",
    ]


@pytest.mark.parametrize(
    "comment",
    [
        "# lint: silence costly-pattern",
        "# lint: silence costly-pattern until 2026-12-01",
        "# lint: silence costly-pattern until tomorrow: small",
        "# lint: silence costly-pattern until 2026-02-31: small",
        "# lint: silence costly-patern until 2026-12-01: small",
        "# lint: silence yaml until 2026-12-01: small",
        "# lint: silence silence-unused until 2026-12-01: small",
    ],
)
def test_a_silence_that_is_none_is_told_and_silences_nothing(comment: str) -> None:
    assert checks(above(COSTLY, "patterns:", comment)) == ["silence-unclear", "costly-pattern"]


# --- the command ---------------------------------------------------------------------------------------------------


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    packs = args if "--rules" in args else ("--rules", "my", *args)
    command = [sys.executable, "-m", "neuron_doctor", "rules", "lint", *packs]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        (rule(cause="disk-full"), 0, ""),
        (rule(cause="disk-full", reference="TODO"), 1, "my/acme.yaml,line=12,col=14,endColumn=17,title=no-reference"),
        (rule(cause="disk-ful"), 2, "my/acme.yaml,line=3,col=8,endColumn=15,title=name"),
    ],
)
def test_the_exit_status_says_whether_rules_are_good_bad_or_of_no_use(
    tmp_path: Path, text: str, status: int, said: str
) -> None:
    (tmp_path / "my").mkdir()
    (tmp_path / "my" / "acme.yaml").write_text(text)
    done = run(tmp_path, "--format", "github")
    assert done.returncode == status, done.stdout
    assert said in done.stdout
    assert done.stdout.count("\n") == bool(said)


def test_people_are_told_where_a_file_is_from_where_they_stand(tmp_path: Path) -> None:
    (tmp_path / "packs" / "my").mkdir(parents=True)
    (tmp_path / "packs" / "my" / "acme.yaml").write_text(rule(cause="disk-ful"))
    done = run(tmp_path, "--rules", "packs/my")
    assert done.stdout.startswith("packs/my/acme.yaml:3:8: error: ")


def test_the_hook_for_pre_commit_runs_the_command() -> None:
    [hook] = yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text())
    assert hook["entry"] == "neuron-doctor rules lint"
    assert hook["id"] in (Path(__file__).parents[2] / "docs" / "lint.md").read_text()
