"""The walls of the house: who may import whom, what gets installed, and the style that a machine can check."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("doctor", "engine", "collectors", "reports", "rules", "corpus")
MAY_IMPORT = {
    "doctor": set(ROOMS),
    "engine": {"engine"},
    "collectors": {"collectors", "engine"},
    "reports": {"reports", "engine"},
    "corpus": {"corpus"},
}
BROAD_EXCEPT_ALLOWED = {"doctor/scan.py": 1, "doctor/cli.py": 1, "doctor/plugins.py": 1}
LONGEST_FILE = 500


def python_files(*folders: str) -> list[Path]:
    found = (file for folder in folders for file in (ROOT / folder).rglob("*.py"))
    return sorted(file for file in found if not is_evidence(file))


def is_evidence(file: Path) -> bool:
    """Whether somebody collected it with an incident: it is no code of ours."""
    parts = file.relative_to(ROOT).parts
    return parts[0] == "corpus" and "input" in parts


def shown(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"), str(file))


def room_of(module: str) -> str | None:
    """The room that a dotted name of ours stands in; None for what is not ours."""
    head, *rest = module.split(".")
    if head != "neuron_doctor":
        return None
    return rest[0] if rest and rest[0] in ROOMS else "doctor"


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)


def is_broad(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(name, ast.Name) and name.id in {"Exception", "BaseException"} for name in caught)


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_the_rooms_that_it_may(room: str) -> None:
    wrong = [
        f"{shown(file)} imports {name}"
        for file in python_files(room)
        for name in imported(parsed(file))
        if room_of(name) not in {None, *MAY_IMPORT[room]}
    ]
    assert wrong == []


def test_every_import_of_ours_is_absolute_and_by_the_package_name() -> None:
    bare = {room for room in ROOMS if room not in sys.stdlib_module_names}
    wrong = [
        f"{shown(file)} imports {name}"
        for file in python_files(*ROOMS, "tests", "benchmarks")
        for name in imported(parsed(file))
        if name.split(".")[0] in {"", *bare}
    ]
    assert wrong == []


def test_the_rules_hold_no_code() -> None:
    assert [shown(file) for file in python_files("rules")] == []


def test_no_module_of_doctor_shadows_a_room() -> None:
    names = {path.stem for path in (ROOT / "doctor").iterdir() if path.name != "__pycache__"}
    assert names & set(ROOMS) == set()


def test_nothing_is_installed_under_a_bare_name() -> None:
    assert (distribution("neuron-doctor").read_text("top_level.txt") or "").split() == ["neuron_doctor"]
    look = f"from importlib.util import find_spec; print([n for n in {ROOMS} if find_spec(n)])"
    answer = subprocess.run([sys.executable, "-I", "-c", look], capture_output=True, text=True, check=True, cwd=ROOT)
    assert answer.stdout.strip() == "[]"


def test_every_folder_with_modules_is_a_package_that_gets_installed() -> None:
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["packages"]
    folders = {file.parent.relative_to(ROOT) for file in python_files(*ROOMS)}
    names = {".".join(("neuron_doctor", *folder.parts)).removesuffix(".doctor") for folder in folders}
    names = {name.replace("neuron_doctor.doctor.", "neuron_doctor.") for name in names}
    assert names <= set(packages)


def test_nothing_here_reads_the_folders_beside_the_repository() -> None:
    beside = re.compile(r"(\.\./|/work/)" + "shared")
    readers = [*python_files("tests", "benchmarks", *ROOMS), ROOT / "Makefile", *(ROOT / ".ci").iterdir()]
    assert [shown(file) for file in readers if beside.search(file.read_text("utf-8"))] == []


def test_every_module_says_in_its_first_line_what_it_is_about() -> None:
    silent = [
        shown(file)
        for file in python_files(*ROOMS, "tests", "benchmarks")
        if not (ast.get_docstring(parsed(file)) or "").split("\n")[0].strip()
    ]
    assert silent == []


def test_no_file_is_longer_than_the_limit() -> None:
    files = python_files(*ROOMS, "tests", "benchmarks")
    lengths = {shown(file): len(file.read_text("utf-8").splitlines()) for file in files}
    assert {file: length for file, length in lengths.items() if length > LONGEST_FILE} == {}


def test_everything_is_caught_only_at_the_three_boundaries() -> None:
    handlers = Counter(
        shown(file)
        for file in python_files(*ROOMS)
        for node in ast.walk(parsed(file))
        if isinstance(node, ast.ExceptHandler) and is_broad(node)
    )
    assert handlers - Counter(BROAD_EXCEPT_ALLOWED) == Counter()


def files_of_a_wheel(source: Path) -> set[str]:
    """The files that a wheel built from `source` must hold: every room, of the corpus its modules and the demo."""
    files = set()
    for room in ROOMS:
        target = "neuron_doctor" if room == "doctor" else f"neuron_doctor/{room}"
        files |= {
            f"{target}/{p.relative_to(source / room).as_posix()}" for p in (source / room).rglob("*") if p.is_file()
        }
    return {
        file
        for file in files
        if not file.startswith("neuron_doctor/corpus/")
        or "/corpus/demo/" in file
        or (file.endswith(".py") and "/input/" not in file)
    }


@pytest.mark.heavy
def test_a_wheel_holds_every_room_under_one_top_level_name_and_nothing_else(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for room in ROOMS:
        shutil.copytree(ROOT / room, source / room, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    expected = files_of_a_wheel(source)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(source)]
    subprocess.run(command, check=True, timeout=300)
    (wheel,) = tmp_path.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == expected
