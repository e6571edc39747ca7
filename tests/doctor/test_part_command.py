"""`neuron-doctor part`, and parts among the paths of `diagnose` and `facts`, as a user meets them."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from neuron_doctor.cli import app

DEMO = Path(__file__).parents[2] / "corpus" / "demo" / "input"


def run(*arguments: object, code: int = 0) -> bytes:
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.stdout_bytes


def report(*arguments: object) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(run("diagnose", "--exit-zero", "-f", "json", *arguments))
    return found


@pytest.fixture
def nodes(tmp_path: Path) -> list[Path]:
    """The directories of two hosts."""
    shutil.copytree(DEMO, tmp_path / "input")
    return sorted(path for path in (tmp_path / "input").iterdir() if path.is_dir())


def labels(nodes: Sequence[Path]) -> list[object]:
    return [part for node in nodes for part in ("--label", f"job/{node.name}={node}")]


@pytest.mark.heavy
def test_parts_of_nodes_are_diagnosed_as_their_directories_are(nodes: list[Path], tmp_path: Path) -> None:
    raw = report(*nodes, *labels(nodes))
    parts = []
    for node in nodes:
        parts.append(tmp_path / f"{node.name}.part")
        run("part", "-o", parts[-1], *labels([node]))
    assert raw["root_causes"]
    assert report(*parts) == raw
    assert report(parts[1], parts[0]) == raw
    assert report(parts[0], nodes[1], *labels(nodes[1:])) == raw, "a part and a directory"
    assert report(*parts, nodes[0], *labels(nodes[:1])) == raw, "what is there twice counts once"
    run("part", *parts, "-o", tmp_path / "all.part")
    assert report(tmp_path / "all.part") == raw
    with tarfile.open(tmp_path / "all.tar.gz", "w:gz") as archive:
        archive.add(parts[0], "parts/one")
        archive.add(parts[1], "parts/two.txt")
    assert report(tmp_path / "all.tar.gz") == raw, "found by content, in an archive"


def test_facts_of_a_part_are_those_of_its_directory(nodes: list[Path], tmp_path: Path) -> None:
    run("part", nodes[0], "-o", tmp_path / "x.part")
    assert run("facts", tmp_path / "x.part") == run("facts", nodes[0])


def test_the_same_input_gives_the_same_bytes_on_a_file_and_on_stdout(nodes: list[Path], tmp_path: Path) -> None:
    for name in ("a", "b"):
        run("part", nodes[0], "-o", tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == run("part", nodes[0], "-o", "-")


def test_a_part_written_where_it_reads_does_not_read_itself(nodes: list[Path]) -> None:
    out = nodes[0] / "node.part"
    run("part", nodes[0], "-o", out)
    first = out.read_bytes()
    (nodes[0] / "rank_0.log").write_text("another day, another log\n")
    run("part", nodes[0], "-o", out)
    assert out.read_bytes() != first
    run("part", nodes[0], "-o", "-")
    assert sorted(path.name for path in nodes[0].iterdir() if path.name.startswith(".")) == []


def test_a_torn_part_is_a_problem_and_the_rest_is_diagnosed(nodes: list[Path], tmp_path: Path) -> None:
    run("part", nodes[1], "-o", tmp_path / "torn.part")
    whole = (tmp_path / "torn.part").read_bytes()
    (tmp_path / "torn.part").write_bytes(whole[: len(whole) - 9])
    found = report(nodes[0], tmp_path / "torn.part")
    (torn,) = [source for source in found["sources"] if source["kind"] == "part"]
    assert torn["problems"][0]["what"].startswith("cut off")
    assert any(source["path"].startswith(str(nodes[0])) for source in found["sources"])


def test_exit_statuses(nodes: list[Path], tmp_path: Path) -> None:
    run("part", tmp_path / "missing", "-o", tmp_path / "x", code=2)
    run("part", nodes[0], "-o", tmp_path / "no" / "folder" / "x", code=2)
    run("part", nodes[0], code=2)
    run("part", "-o", tmp_path / "x", code=2)
    empty = tmp_path / "empty"
    empty.mkdir()
    run("part", empty, "-o", tmp_path / "nothing.part", code=3)
    assert report(tmp_path / "nothing.part")["verdict"]["status"] == "not-evaluable"


def test_what_was_written_is_said_if_asked_for(nodes: list[Path], tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["part", "-v", str(nodes[0]), "-o", str(tmp_path / "x")])
    assert result.stderr.startswith(f"{tmp_path / 'x'}: ")
    assert result.stderr.endswith(f" {(tmp_path / 'x').stat().st_size} bytes\n")
