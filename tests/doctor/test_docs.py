"""The documents: what they show is what the program does, and they name everything that there is."""

from __future__ import annotations

import doctest
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import get_args

import msgspec
import pytest
import typer
from markdown_it import MarkdownIt

from neuron_doctor.cli import app
from neuron_doctor.collectors.catalogue import collectors_for
from neuron_doctor.commands.diagnose import FORMATS
from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.expressions import PLACE_FIELDS
from neuron_doctor.engine.grades import EdgeType, Role, Severity, Status
from neuron_doctor.engine.kinds import FieldType
from neuron_doctor.engine.matcher import build_matcher
from neuron_doctor.engine.parameters import ParameterType
from neuron_doctor.engine.patterns import Channel, PatternSet
from neuron_doctor.engine.rule_loader import load_rulebook
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.rulefile import (
    AbsentDoc,
    ActionDoc,
    AlternativeDoc,
    ConditionDoc,
    CountDoc,
    ExampleDoc,
    ExpectDoc,
    ExplainsDoc,
    MeasureDoc,
    OverDoc,
    ParameterDoc,
    PatternDoc,
    Relation,
    RuleDoc,
    Scope,
    SequenceDoc,
    Trust,
)
from neuron_doctor.examples import inputs_of
from neuron_doctor.exits import Exit, Nagios
from neuron_doctor.packs import builtin_pack
from neuron_doctor.pipeline import collect_inputs
from neuron_doctor.ruledocs import pages
from neuron_doctor.ruletest import check_rule
from neuron_doctor.scan import Engine

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


@cache
def made_pages() -> dict[str, str]:
    """The text of each page that is generated, by its name."""
    return dict(pages(builtin()))


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


@pytest.fixture
def page(request: pytest.FixtureRequest) -> Path:
    """A page whose rule is not yet merged, as the tutorial says at its end: then what it shows is no more as it was."""
    page: Path = request.param
    rules = {Path(name).stem for fence in fences(page) if (name := fence.file).endswith(".yaml")}
    if rules & {path.stem for path in (ROOT / "rules").rglob("*.yaml")}:
        pytest.skip("the rule of this page is merged")
    return page


@pytest.mark.parametrize(
    "page",
    [ROOT / "README.md", pytest.param(DOCS / "tutorial.md", marks=pytest.mark.heavy)],
    ids=lambda page: page.name,
    indirect=True,
)
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


@pytest.mark.parametrize("page", [ROOT / "README.md", DOCS / "tutorial.md"], ids=lambda page: page.name, indirect=True)
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
    assert len(rulebook.rules) == len(conditions) + 3


def test_the_rule_of_the_rule_language_passes_its_own_examples(tmp_path: Path) -> None:
    rulebook = language_pack(tmp_path)
    [rule] = [rule for rule in rulebook.rules if rule.examples]
    assert list(check_rule(rule, rulebook, Engine.of(rulebook))) == []


def words_of(shape: type[msgspec.Struct]) -> set[str]:
    return set(shape.__struct_fields__)


def test_every_word_of_the_rule_language_is_on_its_page() -> None:
    shapes = (
        RuleDoc,
        PatternDoc,
        ConditionDoc,
        CountDoc,
        MeasureDoc,
        SequenceDoc,
        AbsentDoc,
        OverDoc,
        ExplainsDoc,
        ActionDoc,
        ParameterDoc,
    )
    words = set().union(*map(words_of, (*shapes, AlternativeDoc, ExampleDoc, ExpectDoc)))
    words |= {*get_args(Scope), *get_args(Relation), *get_args(Trust), *get_args(Channel), *get_args(FieldType)}
    words |= {*get_args(ParameterType)}
    words |= {
        "all",
        "any",
        "none",
        "exactly",
        "all-but",
        "majority",
        "odd-one-out",
        "all-but-few",
        "peer",
        "contains",
        "starts with",
        "is known",
    }
    words |= {*EdgeType, *Severity, *PLACE_FIELDS} - {"ranks"}
    text = LANGUAGE.read_text("utf-8")
    assert sorted(word for word in words if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text)) == []


# --- reports -------------------------------------------------------------------------------------------------------

REPORTS = (DOCS / "reports.md").read_text("utf-8")


def rows(text: str, heading: str) -> dict[str, str]:
    """The table below a heading: the first cell of each row, the rest."""
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    cells = [line.strip("| ").split(" | ", 1) for line in section.splitlines() if line.startswith("| ")]
    return dict(cells[1:])


def test_the_page_on_reports_names_every_option_of_diagnose_and_no_other() -> None:
    parameters = typer.main.get_command(app).commands["diagnose"].params  # type: ignore[attr-defined]
    options = {name for parameter in parameters for name in parameter.opts if name.startswith("-")}
    named = {name for cell in rows(REPORTS, "Options") for name in re.findall(r"`(--?[a-z-]+)`", cell)}
    assert named == options


def test_the_page_on_reports_names_every_format_and_exit_status() -> None:
    assert all(f"`{name}`" in rows(REPORTS, "Options")["`--format`, `-f`"] for name in FORMATS)
    assert [int(number) for number in rows(REPORTS, "Exit status")] == list(Exit)
    nagios = {
        Nagios.OK: "0 ok",
        Nagios.WARNING: "1 warning",
        Nagios.CRITICAL: "2 critical",
        Nagios.UNKNOWN: "3 unknown",
    }
    assert all(words in REPORTS for words in nagios.values())


def test_the_page_on_reports_names_every_status_role_and_key() -> None:
    schema = json.loads((DOCS / "report.schema.json").read_text("utf-8"))
    keys = set(schema["properties"]) - {"schema"}
    assert keys == {name.strip("`") for name in rows(REPORTS, "JSON")}
    assert all(f"`{word}`" in REPORTS for word in (*Status, *Role))


# --- the other pages -----------------------------------------------------------------------------------------------


def test_what_was_tried_speaks_of_every_kind_of_source() -> None:
    kinds = {collector.kind for collector in collectors_for(PatternSet(()), partial(build_matcher, pure=True))} | {
        "kernel"
    }
    told = " ".join(rows((DOCS / "what-was-tried.md").read_text("utf-8"), "Formats"))
    assert sorted(kind for kind in kinds if f"`{kind}`" not in told) == []


def test_the_architecture_speaks_of_every_room() -> None:
    text = (DOCS / "architecture.md").read_text("utf-8")
    rooms = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists() and path.name != "tests"}
    assert rooms | {"rules"} <= set(re.findall(r"^\*\*`(\w+)/`\*\*", text, re.MULTILINE))


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_every_file_that_a_page_names_in_code_exists(page: Path) -> None:
    """Paths below our own folders; a name with an asterisk or a placeholder stands for many."""
    named = re.findall(r"`((?:engine|collectors|doctor|reports|tests|corpus|docs)/[\w./-]+)`", page.read_text("utf-8"))
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", [*WRITTEN, DOCS / "README.md"], ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    """Generated pages count as there: another test holds them to the rules."""
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8"))
    targets = [page.parent / link.partition("#")[0] for link in links if "://" not in link and not link.startswith("#")]
    made = {(DOCS / name).resolve() for name in made_pages()}
    assert [str(file) for file in targets if not file.exists() and file.resolve() not in made] == []


def test_the_index_leads_to_every_page() -> None:
    index = (DOCS / "README.md").read_text("utf-8")
    named = {link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", index)}
    assert {page.name for page in DOCS.iterdir() if page.is_file() and page.name != "README.md"} <= named


def test_the_generated_pages_are_those_of_the_rules() -> None:
    """If this fails: make docs."""
    made = made_pages()
    there = {"facts.md", "lint.md", *(f"rules/{file.name}" for file in (DOCS / "rules").glob("*.md"))}
    assert sorted(there ^ made.keys()) == []
    assert sorted(name for name, text in made.items() if (DOCS / name).read_text("utf-8") != text) == []
