"""The generated pages: what is in them, what stays readable, and what is removed."""

from __future__ import annotations

import re
from pathlib import Path

from builtin_rules import rulebook

from neuron_doctor.engine.grades import Complaint
from neuron_doctor.engine.rule_loader import load_rulebook
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.ruledocs import pages, write_pages

CAUSES = """
devices:
  broken: {by: hardware, is: "a device | broke"}
  unseen: {by: none, is: "no rule finds it"}
"""
RULE = r"""
id: broken-axle
title: Axle | broken
cause: broken
severity: error
trust: [S]
confidence: 0.75
patterns:
  axle-text:
    regex: 'axle (?P<axle>\d{1,3}) (?:cracked|broke)'
  axle-well:
    regex: 'axle \d{1,3} is well'
when:
  all:
    - record: axle-text
    - record: status where code in [5, 1004] and not (code == 1201)
    - none: [{record: axle-well}, {record: status where code == 1202}]
explains:
  - {causes: [unseen], relation: same-host, within: 90s}
actions:
  - {action: replace-instance, target: "{host}", command: "echo `x` | cat", destroys: everything}
explanation: It broke.
references: [somewhere]
examples:
  positive:
    - name: a line with a fence and an escape in it
      text: "```\n2026-05-01 12:00:00 axle 7 cracked\e[31m\n"
  negative: [{name: near, text: axle 7 is well}]
"""


def made(folder: Path, **rules: str) -> Rulebook:
    folder.mkdir()
    (folder / "causes.yaml").write_text(CAUSES)
    for name, text in rules.items():
        (folder / f"{name}.yaml").write_text(text)
    return load_rulebook([folder])


def page(rulebook: Rulebook, name: str) -> str:
    return dict(pages(rulebook))[name]


def test_every_rule_has_a_page_and_stands_in_every_index(tmp_path: Path) -> None:
    found = dict(pages(made(tmp_path / "pack", axle=RULE)))
    assert sorted(found) == [
        "facts.md",
        "lint.md",
        "rules/broken-axle.md",
        "rules/by-cause.md",
        "rules/by-message.md",
        "rules/by-what-you-see.md",
        "rules/index.md",
        "rules/parameters.md",
    ]
    for name in ("by-cause", "by-message", "by-what-you-see", "index"):
        assert "[broken-axle](broken-axle.md)" in found[f"rules/{name}.md"]


def test_messages_are_shown_as_an_example_has_them_and_codes_by_what_makes_the_rule_fire(tmp_path: Path) -> None:
    text = page(made(tmp_path / "pack", axle=RULE), "rules/by-message.md")
    assert "| `axle 7 cracked` | [broken-axle](broken-axle.md) |" in text
    assert "is well" not in text
    assert "| 5 | `NRT_TIMEOUT` | [broken-axle](broken-axle.md) |" in text
    assert "| 1201 | `NRT_EXEC_HW_ERR_HBM_UE` | none yet |" in text
    assert "| 1202 | `NRT_EXEC_HW_ERR_NC_UE` | none yet |" in text


def test_parameters_stand_on_the_page_of_the_rule_and_on_their_own(tmp_path: Path) -> None:
    declared = "parameters: {lag: {type: duration, default: 90s, at_least: 1s, description: a time}}\npatterns:"
    rule = RULE.replace("patterns:", declared, 1).replace("within: 90s", "within: $lag")
    rulebook = made(tmp_path / "pack", axle=rule)
    row = "| `broken-axle.lag` | duration | `'90s'` | a time (at least 1s) |"
    assert (
        f"## What a site may set\n\n| parameter | type | value | what it is |\n| --- | --- | --- | --- |\n{row}\n"
        in page(rulebook, "rules/broken-axle.md")
    )
    assert f"{row} [broken-axle](broken-axle.md) |" in page(rulebook, "rules/parameters.md")
    assert "What a site may set" not in page(made(tmp_path / "other", axle=RULE), "rules/broken-axle.md")


def test_a_rule_of_a_pack_says_which_version_it_is_from(tmp_path: Path) -> None:
    pack = tmp_path / "pack"
    assert "| from |" not in page(made(pack, axle=RULE), "rules/broken-axle.md")
    (pack / "pack.yaml").write_text("name: axles\nversion: '1.2'\nminimum_engine: '0.1'\n")
    assert "| from | pack axles 1.2 |" in page(load_rulebook([pack]), "rules/broken-axle.md")


def test_what_people_see_leads_to_causes_and_every_heading_can_be_reached() -> None:
    text = page(rulebook(), "rules/by-what-you-see.md")
    anchors = re.findall(r"\]\(#([^)]+)\)", text)
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert len(anchors) == len(headings) == len(Complaint), "every built-in cause says what people see of it"
    assert "Anything else" not in headings
    hangs = text.partition("## The job hangs")[2].partition("## ")[0]
    assert hangs.index("`collectives-rank-missing`") < hangs.index("`collectives-hang`"), "who is at fault comes first"


def test_causes_without_a_rule_are_told(tmp_path: Path) -> None:
    assert "| `unseen` | none | no rule finds it | none yet |" in page(
        made(tmp_path / "p", axle=RULE), "rules/by-cause.md"
    )


def test_nothing_in_a_rule_breaks_out_of_its_table_or_code(tmp_path: Path) -> None:
    rulebook = made(tmp_path / "pack", axle=RULE)
    assert r"| Axle \| broken |" in page(rulebook, "rules/index.md")
    text = page(rulebook, "rules/broken-axle.md")
    assert "````text\n```\n2026-05-01 12:00:00 axle 7 cracked\\x1b[31m\n````" in text
    assert "``echo `x` | cat``" in text
    assert "- same-host, within 90s, as caused-by: `unseen`" in text
    assert "| confidence | 75% |" in text


def test_the_page_of_a_rule_that_is_no_more_is_removed_and_nothing_else(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    write_pages(made(tmp_path / "one", axle=RULE), docs)
    (docs / "rules" / "by-hand.md").write_text("# Mine\n")
    write_pages(made(tmp_path / "two"), docs)
    assert sorted(file.name for file in (docs / "rules").iterdir()) == [
        "by-cause.md",
        "by-hand.md",
        "by-message.md",
        "by-what-you-see.md",
        "index.md",
        "parameters.md",
    ]
