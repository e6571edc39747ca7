"""Collectors of installed packages: how they are found, asked and guarded, and that the example of the documents works."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from builtin_rules import rulebook
from markdown_it import MarkdownIt
from pack_builders import install, run

from neuron_doctor.plugins import engine_for, plugins_of
from neuron_doctor.request import Packs, UsageError
from neuron_doctor.workers import release_of

pytestmark = pytest.mark.heavy

DOCS = Path(__file__).parents[2] / "docs"
HEADER = """
from neuron_doctor.collectors.base import Collector
from neuron_doctor.collectors.snapshot import fact, from_lines

def sniff(head, name):
    return head.startswith(b"acme")

def parse(inp, lines):
    for line in lines:
        yield fact(inp, line, "unhealthy-component", {"component": line.text})

"""
GOOD = HEADER + "C = Collector('acme-bmc', 'event log', sniff, from_lines(parse))\n"


def plugin(place: Path, module: str, code: str, value: str = "", name: str = "bmc") -> None:
    """An installed package with one module."""
    folder = install(place, module, f"[neuron_doctor.collectors]\n{name} = {value or f'{module}:C'}\n")
    (folder / "__init__.py").write_text(code)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "site"
    place.mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(place)])
    return place


def fault(packs: Packs | None = None) -> str:
    with pytest.raises(UsageError) as raised:
        engine_for(packs or Packs(), rulebook())
    return str(raised.value)


def test_plug_ins_are_asked_after_ours_and_before_the_one_for_text(site: Path) -> None:
    plugin(
        site,
        "acme_one",
        HEADER + "C = (Collector('acme-a', 'a', sniff, parse), Collector('acme-b', 'b', sniff, parse))\n",
    )
    plugin(site, "acme_two", GOOD.replace("acme-bmc", "acme-c"), name="other")
    kinds = [one.kind for one in engine_for(Packs(), rulebook()).collectors]
    assert kinds[-4:] == ["acme-a", "acme-b", "acme-c", "log"]
    assert [one.package for one in plugins_of(Packs())] == ["acme_one", "acme_two"]
    assert release_of(Packs()).endswith(", acme_one 1.0, acme_two 1.0")
    for packs in (Packs(plugins=False), Packs(isolated=True)):
        assert [one.kind for one in engine_for(packs, rulebook()).collectors][-2:] != ["acme-c", "log"]
        assert plugins_of(packs) == ()


@pytest.mark.parametrize(
    ("code", "value", "said"),
    [
        ("raise ValueError('no licence')", "", "cannot be imported: ValueError: no licence"),
        ("raise SystemExit(3)", "", "cannot be imported: SystemExit: 3"),
        ("import acme_nowhere", "", "cannot be imported: ModuleNotFoundError"),
        ("D = 1", "", "cannot be imported: AttributeError"),
        ("C = 1", "", "acme_wrong:C is no Collector, nor several"),
        ("C = ()", "", "acme_wrong:C is no Collector, nor several"),
        (GOOD, "acme_wrong", "it names 'acme_wrong', not module:attribute"),
        (GOOD.replace("acme-bmc", "log"), "", "the kind 'log' is one of neuron-doctor's own"),
        (GOOD.replace("acme-bmc", "lspci"), "", "the kind 'lspci' is one of neuron-doctor's own"),
        (GOOD.replace("acme-bmc", "Acme BMC"), "", "the kind 'Acme BMC' is not a name"),
        (GOOD.replace("from_lines(parse))", "from_lines(parse), divisible=True)"), "", "it cannot be divisible"),
        (GOOD + "C = (C, C)\n", "", "the kind 'acme-bmc' is that of package acme_wrong 1.0 (entry point bmc) too"),
    ],
)
def test_a_plug_in_that_cannot_be_used_is_told_with_the_way_out(site: Path, code: str, value: str, said: str) -> None:
    plugin(site, "acme_wrong", code, value)
    sys.modules.pop("acme_wrong", None)
    told = fault()
    assert told.startswith("package acme_wrong 1.0 (entry point bmc): ")
    assert said in told
    assert told.endswith("; --no-plugins reads without the plug-ins")


def diagnosed(site: Path, folder: Path, *args: str) -> dict[str, object]:
    done = run("diagnose", folder, "--format", "json", *args, PYTHONPATH=str(site))
    assert done.stderr == ""
    report: dict[str, object] = json.loads(done.stdout)
    return report


def source_of(report: dict[str, object], name: str) -> dict[str, object]:
    [source] = [one for one in report["sources"] if str(one["path"]).endswith(name)]  # type: ignore[attr-defined]
    return source  # type: ignore[no-any-return]


def test_what_a_plug_in_raises_ends_at_its_input_and_others_are_asked(tmp_path: Path) -> None:
    plugin(
        tmp_path / "site",
        "acme_odd",
        HEADER
        + "def odd(head, name):\n    if head.startswith(b'step'):\n        raise KeyError(name)\n    return sniff(head, name)\n"
        "def broken(inp):\n    yield from from_lines(parse)(inp)\n    raise RuntimeError('half way')\n"
        "C = Collector('acme-bmc', 'event log', odd, broken)\n",
    )
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "rank_0.log").write_text("step 1 loss=1\n")
    (logs / "bmc").write_text("acme 1\n")
    report = diagnosed(tmp_path / "site", logs)
    log, bmc = source_of(report, "rank_0.log"), source_of(report, "bmc")
    told = "package acme_odd 1.0 (entry point bmc) stopped when it was asked: KeyError: 'rank_0.log'"
    assert (log["kind"], log["problems"][0]["what"]) == ("log", told)  # type: ignore[index]
    assert (bmc["kind"], bmc["problems"][0]["what"]) == ("acme-bmc", "the collector stopped: RuntimeError: half way")  # type: ignore[index]
    assert report["tool"]["plugins"] == [{"name": "bmc", "package": "acme_odd", "version": "1.0"}]  # type: ignore[index]


@pytest.mark.parametrize(
    "wrong",
    [
        "yield None",
        "yield replace(one, kind='acme-event')",
        "yield replace(one, data={'component': 7})",
        "yield replace(one, data={'x': 'y'})",
        "yield replace(one, place='here')",
        "yield replace(one, place=Place(rank='first'))",
        "yield replace(one, instant=12)",
        "yield replace(one, span=replace(one.span, path='/etc/passwd'))",
        "yield replace(one, span=None)",
        "yield replace(one, source=None)",
    ],
)
def test_what_is_no_fact_is_left_out_and_counted(tmp_path: Path, wrong: str) -> None:
    plugin(
        tmp_path / "site",
        "acme_odd",
        HEADER + "from msgspec.structs import replace\nfrom neuron_doctor.engine.facts import Place\n"
        f"def odd(inp):\n    for one in from_lines(parse)(inp):\n        yield one\n        {wrong}\n"
        "C = Collector('acme-bmc', 'event log', sniff, odd)\n",
    )
    (tmp_path / "bmc").write_text("acme 1\nacme 2\n")
    facts = run("facts", tmp_path / "bmc", PYTHONPATH=str(tmp_path / "site"))
    assert [json.loads(line)["kind"] for line in facts.stdout.splitlines()] == ["unhealthy-component"] * 2
    source = source_of(diagnosed(tmp_path / "site", tmp_path / "bmc"), "bmc")
    assert [(one["what"].partition(":")[0], one["count"]) for one in source["problems"]] == [  # type: ignore[attr-defined]
        ("a fact of the plug-in is left out", 2)
    ]


def test_without_plug_ins_nothing_of_them_is_imported(tmp_path: Path) -> None:
    plugin(tmp_path / "site", "acme_bad", "raise SystemExit('imported')")
    (tmp_path / "run.log").write_text("step 1\n")
    log = tmp_path / "run.log"
    assert run("diagnose", log, PYTHONPATH=str(tmp_path / "site")).returncode == 2
    for switch in ("--no-plugins", "--isolated"):
        done = run("diagnose", log, switch, PYTHONPATH=str(tmp_path / "site"))
        assert (done.returncode, done.stderr) == (0, "")
    for command in (("rules", "list"), ("rules", "packs"), ("rules", "lint")):
        assert run(*command, PYTHONPATH=str(tmp_path / "site")).returncode == 0


# --- the example of the documents ----------------------------------------------------------------------------------


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """The files of the page, installed."""
    for token in MarkdownIt().parse((DOCS / "packs.md").read_text("utf-8")):
        _, _, name = token.info.partition(" ") if token.type == "fence" else ("", "", "")
        if name:
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(token.content)
    [entry] = re.findall(r'^bmc = "(.*)"$', (tmp_path / "acme_bmc" / "pyproject.toml").read_text(), re.MULTILINE)
    install(tmp_path / "site", "acme_bmc_meta", f"[neuron_doctor.collectors]\nbmc = {entry}\n", name="acme-bmc")
    return tmp_path


def test_the_collector_of_the_page_finds_the_device(example: Path) -> None:
    env = {"PYTHONPATH": f"{example / 'site'}:{example}"}
    done = run("diagnose", example / "samples", **env)
    assert done.stdout.startswith("ROOT CAUSE: Uncorrectable HBM error: host trn-017, device 5\n")
    assert "with collector bmc of acme-bmc 1.0" in done.stdout
    assert "collector\tbmc\tacme-bmc\t1.0\n" in run("rules", "packs", **env).stdout


def test_the_tests_of_the_page_pass(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(example)
    monkeypatch.syspath_prepend(str(example))
    scope: dict[str, object] = {}
    exec((example / "acme_bmc" / "test_collector.py").read_text(), scope)
    scope["test_the_collector_keeps_its_promises"]()  # type: ignore[operator]


def test_the_site_file_and_the_manifest_of_the_page_are_right(example: Path) -> None:
    (example / "acme-rules" / "none.yaml").write_text("patterns: {}\n")
    packs = run("rules", "packs", "--rules", example / "acme-rules", "--site", example / "site.yaml")
    assert "\npack\tacme\t1.4.0\t0\t" in packs.stdout
    assert "\nsite\tacme-west\t" in packs.stdout
    linted = run("rules", "lint", "--site", example / "site.yaml")
    assert (linted.returncode, linted.stdout) == (0, "")
