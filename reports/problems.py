"""What is wrong with rules: for people with the line and a caret under the span, as JSON, as SARIF, for GitHub."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.checks import CHECKS
from neuron_doctor.engine.errors import RuleError
from neuron_doctor.engine.yamlfaults import LINE_END
from neuron_doctor.reports.escape import visible

PAGE = "https://github.com/neuron-doctor/neuron-doctor/blob/main/docs/lint.md"
SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_TAB_STOPS = 8
#: Of a long line so many characters are shown, the span among them.
_SHOWN = 110


class RuleFile(Struct, frozen=True):
    """A file of a pack, as errors name it: where it is for others, and its text."""

    path: str
    text: str


Files = Mapping[str, RuleFile]


def text(problems: Sequence[RuleError], files: Files) -> str:
    """One paragraph for each: where, what, which check; the line with carets; what to do."""
    return "".join(_paragraph(problem, files) for problem in problems)


def as_json(problems: Sequence[RuleError], files: Files) -> str:
    """An array of objects; `line` and `column` are null where a whole file is meant."""
    return json.dumps([_plain(problem, files) for problem in problems], indent=2, ensure_ascii=False) + "\n"


def sarif(problems: Sequence[RuleError], files: Files) -> str:
    """SARIF 2.1.0, one run; columns count code points."""
    checks = sorted({problem.check for problem in problems})
    run = {
        "tool": {
            "driver": {
                "name": "neuron-doctor rules lint",
                "informationUri": PAGE,
                "rules": [_sarif_rule(name) for name in checks],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(problem, files, checks) for problem in problems],
    }
    return json.dumps({"$schema": SARIF, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def github(problems: Sequence[RuleError], files: Files) -> str:
    """Workflow commands, a line each, which GitHub shows beside the lines of a pull request."""
    return "".join(_annotation(problem, files) for problem in problems)


FORMATS: Mapping[str, Callable[[Sequence[RuleError], Files], str]] = {
    "text": text,
    "json": as_json,
    "sarif": sarif,
    "github": github,
}


def _paragraph(problem: RuleError, files: Files) -> str:
    where = problem.location
    shown_at = replace(where, path=_path(problem, files))
    lines = [f"{shown_at}: {CHECKS[problem.check].weight}: {visible(problem.message)} [{problem.check}]"]
    source = LINE_END.split(files[where.path].text) if where.path in files else []
    if 0 < where.line <= len(source):
        shown, carets = underlined(source[where.line - 1], where.column, where.width)
        margin = " " * len(str(where.line))
        lines += [f"  {where.line} | {shown}", f"  {margin} | {carets}"]
    if problem.hint:
        lines.append(f"  {visible(problem.hint)}")
    return "\n".join([*lines, "", ""])


def underlined(line: str, column: int, width: int) -> tuple[str, str]:
    """A line, and carets under `width` characters from `column` on: tabs as blanks, wide characters under two carets, what
    has no width under none, what cannot be printed written out."""
    begin = max(0, min(column - 1, column + width // 2 - _SHOWN // 2)) if len(line) > _SHOWN else 0
    cut = line[begin : begin + _SHOWN]
    shown, carets = ("... ", "    ") if begin else ("", "")
    for number, character in enumerate(cut, begin + 1):
        cell = _cells(character, len(carets))
        shown += cell
        carets += ("^" if column <= number < column + width else " ") * sum(map(_columns, cell))
    if begin + _SHOWN < len(line):
        shown += " ..."
    return shown.rstrip(), carets.rstrip() or " " * len(carets) + "^"


def _cells(character: str, at: int) -> str:
    return " " * (_TAB_STOPS - at % _TAB_STOPS) if character == "\t" else _printable(character)


def _printable(character: str) -> str:
    return character if unicodedata.combining(character) else visible(character)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _plain(problem: RuleError, files: Files) -> dict[str, object]:
    where = problem.location
    return {
        "check": problem.check,
        "severity": CHECKS[problem.check].weight,
        "path": _path(problem, files),
        "line": where.line or None,
        "column": where.column or None,
        "width": where.width if where.line else None,
        "message": problem.message,
        "hint": problem.hint or None,
        "page": f"{PAGE}#{problem.check}",
    }


def _path(problem: RuleError, files: Files) -> str:
    known = files.get(problem.location.path)
    return known.path if known else problem.location.path


def _sarif_rule(name: str) -> dict[str, object]:
    check = CHECKS[name]
    return {
        "id": name,
        "shortDescription": {"text": check.what},
        "fullDescription": {"text": f"{check.what} {check.why}"},
        "help": {"text": check.fix},
        "helpUri": f"{PAGE}#{name}",
        "defaultConfiguration": {"level": check.weight},
    }


def _sarif_result(problem: RuleError, files: Files, checks: Sequence[str]) -> dict[str, object]:
    where = problem.location
    place: dict[str, object] = {"artifactLocation": {"uri": _uri(_path(problem, files))}}
    if where.line:
        place["region"] = {
            "startLine": where.line,
            "startColumn": where.column,
            "endColumn": where.column + where.width,
        }
    return {
        "ruleId": problem.check,
        "ruleIndex": checks.index(problem.check),
        "level": CHECKS[problem.check].weight,
        "message": {"text": _sentence(problem)},
        "locations": [{"physicalLocation": place}],
    }


def _uri(path: str) -> str:
    from urllib.parse import quote  # noqa: PLC0415 - only here

    return ("file://" if path.startswith("/") else "") + quote(path)


def _sentence(problem: RuleError) -> str:
    return problem.message + (f" ({problem.hint})" if problem.hint else "")


def _annotation(problem: RuleError, files: Files) -> str:
    where = problem.location
    parts = {"file": _path(problem, files)}
    if where.line:
        parts |= {"line": str(where.line), "col": str(where.column), "endColumn": str(where.column + where.width - 1)}
    parts["title"] = problem.check
    told = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in parts.items())
    return f"::{CHECKS[problem.check].weight} {told}::{_escaped(_sentence(problem))}\n"


def _escaped(said: str, more: str = "") -> str:
    """As the toolkit of GitHub's actions escapes data, and (`more`) properties."""
    for character in "%\r\n" + more:
        said = said.replace(character, f"%{ord(character):02X}")
    return said
