"""Which files of a folder are a pack's rules, and what a seal is about."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pack_builders import write_pack

from neuron_doctor.engine.errors import RulebookError
from neuron_doctor.engine.packfiles import read_packs, root_of
from neuron_doctor.packs import files_of, load
from neuron_doctor.request import Packs
from neuron_doctor.seal import sealed


def inner_of(folder: Path) -> dict[str, str]:
    """The files that a pack consists of, each with what is wrong with it."""
    return {file.inner: file.fault for file in read_packs([root_of(folder)])}


@pytest.mark.parametrize(
    "examples",
    [
        "examples:\n  positive:\n    - {name: a, directory: tried/a}\n  negative:\n    - {name: b, directory: ../given}\n",
        "'examples': {positive: [{name: a, 'directory' : tried}], negative: [{name: b, directory: ../given/}]}\n",
    ],
)
def test_what_examples_are_tried_on_is_no_rule(tmp_path: Path, examples: str) -> None:
    """Kubernetes says what it knows in YAML, and so does many a program's configuration."""
    for name in ("rules/tried/a/pods.yaml", "given/jobs/job.yml", "incident/input/pods.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("kind: Pod\nexamples: {positive: [{directory: ../../../other}]}\n")
    (tmp_path / "rules/odd.yaml").write_text(f"id: odd\n{examples}")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/even.yaml").write_text("id: even\n")
    assert inner_of(tmp_path) == {"other/even.yaml": "", "rules/odd.yaml": ""}


def test_a_log_that_tells_of_a_directory_hides_no_rules(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more/even.yaml").write_text("id: even\n")
    text = "id: odd\nexamples:\n  positive:\n    - name: a\n      text: |\n        cannot open directory: more\n"
    (tmp_path / "odd.yaml").write_text(text)
    own = "id: own\nexamples: {positive: [{name: a, directory: .}]}\n"  # which the lint has something to say about
    (tmp_path / "own.yaml").write_text(own)
    assert list(inner_of(tmp_path)) == ["more/even.yaml", "odd.yaml", "own.yaml"]


def test_what_is_hidden_is_no_rule_and_what_is_misnamed_is_told(tmp_path: Path) -> None:
    for name in (".pre-commit-config.yaml", ".git/x.yaml", "odd.yaml", "even.yml", "Upper.YAML", "notes.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("a: b\n")
    (tmp_path / ".#odd.yaml").symlink_to("somebody@host.4711")  # as Emacs locks a file
    (tmp_path / "gone.yaml").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe.yaml")
    assert inner_of(tmp_path) == {
        "Upper.YAML": "files of a pack end with .yaml: call it Upper.yaml, or move it elsewhere",
        "even.yml": "files of a pack end with .yaml: call it even.yaml, or move it elsewhere",
        "gone.yaml": "cannot be read: No such file or directory",
        "odd.yaml": "",
        "pipe.yaml": "cannot be read: it is no regular file",
    }


def test_a_folder_that_is_named_and_has_no_rules_is_told(tmp_path: Path) -> None:
    only = files_of(Packs((tmp_path,), isolated=True))[-1]
    assert only.fault == "there are no rules here: no file ends with .yaml"


def test_a_folder_that_is_named_twice_is_one_pack(tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "given", "giv")
    assert load(Packs((folder, folder), isolated=True)).sha256 == load(Packs((folder,), isolated=True)).sha256


def test_a_seal_is_about_rules_and_not_about_what_they_are_tried_on(tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "given", "giv")
    (folder / "tried").mkdir()
    (folder / "tried/run.log").write_text("odd 1\n")
    (folder / "tried/pods.yaml").write_text("kind: Pod\n")
    rule = folder / "giv-odd.yaml"
    example = "examples: {positive: [{name: a, directory: tried}], negative: [{name: b, text: even}]}\n"
    rule.write_text(rule.read_text().partition("examples:")[0] + example)
    sealed(folder)
    (folder / "tried/run.log").write_text("odd 2\n")
    (folder / "tried/pods.yaml").write_text("kind: Job\n")
    assert load(Packs((folder,), isolated=True)).packs[-1].name == "giv"
    rule.write_text(rule.read_text() + "# changed\n")
    with pytest.raises(RulebookError, match="the files of the pack are not those of this digest"):
        load(Packs((folder,), isolated=True))
