"""The documents: what they show is what the program does, and they name everything that there is."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from markdown_it import MarkdownIt

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.expressions import PLACE_FIELDS
from neuron_doctor.engine.kinds import FieldType
from neuron_doctor.engine.patterns import Channel
from neuron_doctor.engine.rulebook import Rulebook, load_rulebook
from neuron_doctor.engine.rulefile import (
    AbsentDoc,
    ActionDoc,
    AlternativeDoc,
    ConditionDoc,
    CountDoc,
    ExampleDoc,
    ExpectDoc,
    ExplainsDoc,
    OverDoc,
    PatternDoc,
    Relation,
    RuleDoc,
    Scope,
    SequenceDoc,
    Trust,
)
from neuron_doctor.engine.verdict import EdgeType, Role, Severity
from neuron_doctor.pipeline import Engine, builtin_pack, collect_inputs
from neuron_doctor.ruletest import check_rule, inputs_of

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WRITTEN = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("[a-z]*.md"))]


@dataclass(frozen=True)
class Fence:
    """A block of code: its language, the file that it is (if it says so), its text."""

    language: str
    file: str
    text: str


def fences(page: Path) -> list[Fence]:
    tokens = MarkdownIt().parse(page.read_text("utf-8"))
    infos = [(token.info.partition(" "), token.content) for token in tokens if token.type == "fence"]
    return [Fence(language, file, text) for (language, _, file), text in infos]


@cache
def builtin() -> Rulebook:
    return load_rulebook([builtin_pack()])


def write_files(page: Path, folder: Path) -> None:
    for fence in fences(page):
        if fence.file:
            file = folder / fence.file
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(fence.text, "utf-8")


# --- what the pages show -------------------------------------------------------------------------------------------


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output that follows it."""
    parts = re.split(r"^\$ (.*)\n", text, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def ran(command: str, folder: Path, status: int) -> subprocess.CompletedProcess[str]:
    """The command in a shell whose `$?` is `status`, with the installed program on its path and nothing else set."""
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    return subprocess.run(
        ["/bin/bash", "-c", f"(exit {status}); {command}"],
        cwd=folder,
        env={"PATH": path, "LC_ALL": "C.UTF-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("page", [ROOT / "README.md", DOCS / "tutorial.md"], ids=lambda page: page.name)
def test_a_page_shows_what_the_program_prints(page: Path, tmp_path: Path) -> None:
    """`...` stands for anything. Files of the page are written first; what differs is shown whole."""
    write_files(page, tmp_path)
    (tmp_path / "corpus").symlink_to(ROOT / "corpus")
    status, seen = 0, 0
    for fence in fences(page):
        for command, expected in commands(fence.text) if fence.language == "console" else ():
            done = ran(command, tmp_path, status)
            status, seen = done.returncode, seen + 1
            if not doctest.OutputChecker().check_output(expected, done.stdout, doctest.ELLIPSIS):
                pytest.fail(f"{page.name}: $ {command}\n{done.stdout}\n--- but the page says\n{expected}")
    assert seen >= 2


@pytest.mark.parametrize("page", [ROOT / "README.md", DOCS / "tutorial.md"], ids=lambda page: page.name)
def test_the_rule_of_a_page_fires_as_a_root_on_its_own_example(page: Path, tmp_path: Path) -> None:
    write_files(page, tmp_path)
    [file] = (tmp_path / "my-rules").iterdir()
    rulebook = load_rulebook([builtin_pack(), file.parent])
    [rule] = [rule for rule in rulebook.rules if rule.id == file.stem]
    engine = Engine.of(rulebook)
    assert list(check_rule(rule, rulebook, engine)) == []
    assert rule.examples is not None
    for example in rule.examples.positive:
        files = example.files or {"run.log": example.text or ""}
        diagnosis = diagnose(rulebook, collect_inputs(inputs_of(files), engine))
        assert [finding.rule for finding in diagnosis.findings if finding.role is Role.ROOT] == [rule.id]


def test_the_rule_of_the_readme_has_at_most_twenty_lines() -> None:
    [rule] = [fence for fence in fences(ROOT / "README.md") if fence.language == "yaml"]
    assert len(rule.text.splitlines()) <= 20


def test_the_commands_that_the_readme_begins_with_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    targets = re.findall(r"\bmake ([a-z-]+)", readme)
    assert targets[:2] == ["demo", "test"]
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
    assert "corpus/demo/input" in makefile


# --- the rule language ---------------------------------------------------------------------------------------------

LANGUAGE = DOCS / "rule-language.md"
RULE = "id: {}\ntitle: t\ncause: disk-full\nseverity: error\ntrust: [INF]\nexplanation: e\nreferences: [r]\n"


def language_pack(folder: Path) -> Rulebook:
    """The examples of the page as one pack: a whole rule or file as it is, a condition in a rule that says nothing else."""
    write_files(LANGUAGE, folder)
    examples = [fence.text for fence in fences(LANGUAGE) if fence.language == "yaml" and not fence.file]
    for number, text in enumerate(examples):
        head = RULE.format(f"example-{number}") if text.startswith("when:") else ""
        (folder / f"example-{number}.yaml").write_text(head + text)
    return load_rulebook([builtin_pack(), folder], only_terms=[builtin_pack()])


def test_every_example_of_the_rule_language_loads(tmp_path: Path) -> None:
    rulebook = language_pack(tmp_path)
    conditions = [fence for fence in fences(LANGUAGE) if fence.text.startswith("when:")]
    assert len(conditions) >= 5
    assert len(rulebook.rules) == len(conditions) + 2


def test_the_rule_of_the_rule_language_passes_its_own_examples(tmp_path: Path) -> None:
    rulebook = language_pack(tmp_path)
    [rule] = [rule for rule in rulebook.rules if rule.examples]
    assert list(check_rule(rule, rulebook, Engine.of(rulebook))) == []


def words_of(shape: type[msgspec.Struct]) -> set[str]:
    return set(shape.__struct_fields__)


def test_every_word_of_the_rule_language_is_on_its_page() -> None:
    shapes = (RuleDoc, PatternDoc, ConditionDoc, CountDoc, SequenceDoc, AbsentDoc, OverDoc, ExplainsDoc, ActionDoc)
    words = set().union(*map(words_of, (*shapes, AlternativeDoc, ExampleDoc, ExpectDoc)))
    words |= {*get_args(Scope), *get_args(Relation), *get_args(Trust), *get_args(Channel), *get_args(FieldType)}
    words |= {"all", "any", "none", "odd-one-out", "all-but-few", "contains", "starts with", "is known"}
    words |= {*EdgeType, *Severity, *PLACE_FIELDS} - {"ranks"}
    text = LANGUAGE.read_text("utf-8")
    assert sorted(word for word in words if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text)) == []
