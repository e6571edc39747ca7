"""Comments that silence a check for a time: `# lint: silence CHECK until YYYY-MM-DD: reason`.

A silence holds for the line below it with all that is indented under that; at the top of a file, for the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date

from msgspec import Struct

from neuron_doctor.engine.checks import CHECKS
from neuron_doctor.engine.errors import Location, RuleError
from neuron_doctor.engine.regexes import regex
from neuron_doctor.engine.unlinked import near
from neuron_doctor.engine.yamlfaults import LINE_END

_MARK = regex(r"^[ ]*(# ?lint: ?silence\b.*)", 0)
_FORM = regex(r"# ?lint: ?silence (?P<check>[a-z-]+) until (?P<day>\d{4}-\d{2}-\d{2}): ?(?P<reason>\S.*)")
_WRITE = "write `# lint: silence CHECK until YYYY-MM-DD: reason`"


class Silence(Struct, frozen=True):
    """A check that says nothing of lines `first` to `last`, up to the end of a day."""

    check: str
    until: date
    first: int
    last: int
    location: Location

    def covers(self, problem: RuleError) -> bool:
        """Whether this problem is meant."""
        where = problem.location
        inside = where.path == self.location.path and self.first <= max(where.line, 1) <= self.last
        return inside and problem.check == self.check


def heard(problems: Sequence[RuleError], texts: Mapping[str, str], today: date) -> Iterator[RuleError]:
    """The problems that nothing silences, and what is wrong with the silences themselves."""
    silences: list[Silence] = []
    for path, text in texts.items():
        for found in _silences(path, text):
            if isinstance(found, Silence):
                silences.append(found)
            else:
                yield found
    lasting = [silence for silence in silences if silence.until >= today]
    yield from (problem for problem in problems if not any(silence.covers(problem) for silence in lasting))
    for silence in silences:
        if not any(silence.covers(problem) for problem in problems):
            said = f"nothing here breaks {silence.check}"
            yield RuleError(silence.location, said, "remove the silence", "silence-unused")
        elif silence.until < today:
            said = f"this silence of {silence.check} ended with {silence.until.isoformat()}"
            yield RuleError(silence.location, said, "solve the problem, or set another day", "silence-expired")


def _silences(path: str, text: str) -> Iterator[Silence | RuleError]:
    if "lint:" not in text:
        return
    lines = LINE_END.split(text)
    for number, line in enumerate(lines, 1):
        mark = _MARK.match(line)
        if mark is None:
            continue
        where = Location(path, number, mark.start(1) + 1, len(mark[1].rstrip()))
        form = _FORM.fullmatch(mark[1].rstrip())
        fault = _fault(form["check"], form["day"]) if form else ("this silence cannot be understood", _WRITE)
        if form is None or fault:
            yield RuleError(where, *(fault or ("", "")), "silence-unclear")
        else:
            yield Silence(form["check"], date.fromisoformat(form["day"]), *_covered(lines, number), where)


def _fault(check: str, day: str) -> tuple[str, str] | None:
    known = [name for name, one in CHECKS.items() if not one.loading and not name.startswith("silence-")]
    if check in CHECKS and check not in known:
        return f"{check} cannot be silenced", "solve the problem"
    if check not in known:
        return f"there is no check {check!r}", near(check, known) or "docs/lint.md has them"
    try:
        date.fromisoformat(day)
    except ValueError:
        return f"{day} is no day", _WRITE
    return None


def _covered(lines: Sequence[str], number: int) -> tuple[int, int]:
    """The first and the last line that a silence in line `number` is for."""
    below = [i for i in range(number + 1, len(lines) + 1) if _says(lines[i - 1])]
    if not below or not any(map(_says, lines[: number - 1])):
        return 1, len(lines)
    first, indent = below[0], _indent(lines[below[0] - 1])
    deeper = _while_deeper(((i, _indent(lines[i - 1])) for i in below[1:]), indent)
    return first, max((first, *deeper))


def _while_deeper(rest: Iterable[tuple[int, int]], indent: int) -> Iterator[int]:
    for i, depth in rest:
        if depth <= indent:
            return
        yield i


def _says(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
