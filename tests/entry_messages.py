"""The entries of the fact sheet as recorded in tests/rules/entries: what each one's messages must be diagnosed as, and the dress
in which logs show them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec
import yaml

FOLDER = Path(__file__).parent / "rules" / "entries"
IDS = FOLDER / "ids.yaml"
_STAMP = "2026-May-01 12:00:31.067150 4242:4243 ERROR  "
#: Lines that a runtime does not print even where it prints those around them.
_FOREIGN = re.compile(
    r"\s|Traceback |[\w.]*(?:Error|Exception|error):|\d{4}-|[A-Z][a-z]{2} +\d|\[(?!ND|MLA|LNC|nec_dev)|python3?:|\w+\[\d+\]:|\$ "
)
_COMPONENT = re.compile(r"(?:NRT|TDRV|NMGR|HAL|ENCD?|NLOG|RUST|NDL|CCOM):\w+")
_RAISED = re.compile(r"[A-Za-z][\w.]*(?:Error|Exception): ")
_TRACEBACK = 'Traceback (most recent call last):\n  File "/opt/ml/train.py", line 10, in <module>\n    main()\n'


class Expected(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What must come of it; one of the five. `cause`: of the first root. `risk`: of a finding that is no failure yet."""

    cause: str | None = None
    risk: str | None = None
    benign: bool = False
    victim: bool = False
    unknown: bool = False
    rules: list[str] = []


class Message(Expected, forbid_unknown_fields=True, kw_only=True):
    """A line or block as it appears in `file`, or several `files`, with what it must give if not what its entry says."""

    text: str = ""
    file: str = "run.log"
    files: dict[str, str] = {}
    by: Literal["framework", "runtime", "kernel"] | None = None


class Entry(Expected, forbid_unknown_fields=True, kw_only=True):
    """One entry. `by`: who prints its messages, which decides what they are dressed in."""

    id: str
    by: Literal["framework", "runtime", "kernel"] = "framework"
    messages: list[str | Message] = []
    excused: str = ""


class Case(msgspec.Struct, frozen=True):
    """One input to diagnose."""

    name: str
    entry: str
    files: Mapping[str, str]
    expected: Expected


def ids() -> Mapping[str, list[str]]:
    """The ids of the sheet by the letter of their family."""
    return msgspec.convert(yaml.safe_load(IDS.read_text(encoding="utf-8")), dict[str, list[str]])


def families() -> list[str]:
    """The families that are recorded."""
    return sorted(file.stem for file in FOLDER.glob("?.yaml"))


def entries(family: str) -> list[Entry]:
    return msgspec.convert(yaml.safe_load((FOLDER / f"{family}.yaml").read_text(encoding="utf-8")), list[Entry])


def cases(entry: Entry) -> Iterator[Case]:
    """Each message of an entry in each of its dresses."""
    for number, message in enumerate(entry.messages, 1):
        said = Message(text=message) if isinstance(message, str) else message
        expected = said if _says(said) else entry
        rules = said.rules if _says(said) else said.rules or entry.rules
        expected = _only_expected(expected, rules)
        for dress, files in dressed(said, said.by or entry.by):
            yield Case(f"{entry.id}-{number}-{dress}", entry.id, files, expected)


def _only_expected(expected: Expected, rules: list[str]) -> Expected:
    values = {field: getattr(expected, field) for field in Expected.__struct_fields__}
    return Expected(**values | {"rules": rules})


def _says(expected: Expected) -> bool:
    return bool(expected.cause or expected.risk or expected.benign or expected.victim or expected.unknown)


def dressed(message: Message, by: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The files of a message in each dress, with the name of the dress."""
    if message.files:
        yield "files", message.files
        return
    lines = message.text.rstrip("\n").split("\n")
    texts = {"bare": lines}
    if by == "kernel":
        # Without a clock only a file that is called so is taken for a kernel log.
        texts = {"dmesg": [f"[31329.616847] {line}" for line in lines]}
        texts["syslog"] = [f"May  1 12:00:31 ip-10-0-3-7 kernel: {line}" for line in texts["dmesg"]]
    elif by == "runtime":
        texts["runtime"] = [_of_the_runtime(line) for line in lines]
        texts["launcher"] = [f"[rank3]: {line}" for line in texts["runtime"]]
    else:
        texts["launcher"] = [f"[rank3]: {line}" for line in lines]
        if len(lines) == 1 and _RAISED.match(lines[0]):
            texts["traceback"] = [*_TRACEBACK.splitlines(), *lines]
    for dress, text in texts.items():
        yield dress, {message.file: "\n".join(text) + "\n"}


def _of_the_runtime(line: str) -> str:
    if _COMPONENT.match(line):
        return _STAMP + line
    return line if not line or _FOREIGN.match(line) else f"{_STAMP}TDRV:some_function                      {line}"
