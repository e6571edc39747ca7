"""Containers that ended, as Docker and its likes list them: `docker ps -a`, and what `docker inspect` was asked for with a
template (`-f '{{.State.OOMKilled}} {{.State.ExitCode}}'`) or cut down to (`| grep -E 'OOMKilled|ExitCode'`).

Source: Docker CLI 20 to 28, Podman 4 and 5, nerdctl 1 and 2 (`Exited (137) 5 minutes ago`: hours up to 47, then days). A state
that is shown as a whole is read as text (rules/patterns/orchestration.yaml). Of a list, only those count whose names, images or
commands say that they compute or serve, and that ended less than two days ago: a machine keeps all that nobody removed. What was
inspected counts by its name and image alone; what ended days before the last that is shown beside it does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta

from msgspec import Struct

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.command_lines import pipelines, tool_of
from neuron_doctor.collectors.kube import ending
from neuron_doctor.collectors.snapshot import (
    Line,
    command_of,
    fact,
    first_line,
    from_lines,
    has_more_commands,
    head_lines,
    opening,
    output,
)
from neuron_doctor.engine.facts import Fact, Place, Value
from neuron_doctor.engine.regexes import regex

_TOOLS = frozenset({"docker", "podman", "nerdctl", "finch"})
_TITLE = regex(r"(?=.*\bSTATUS\b)(?=.*\bNAMES\b)(?:CONTAINER ID|NAMES|STATUS|IMAGE)\b[A-Z\t ]*$")
_STATUS = r"(?:Exited \((?P<code>\d{1,3})\) (?P<age>[A-Za-z\d ]{1,40} ago)|Up |Created\b|Restarting \(|Dead\b|Paused\b|Removal )"
_ROW = regex(rf"(?P<before>(?:\S[^\n]{{0,600}}?[\s:|,])?){_STATUS}(?P<behind>[^\n]{{0,400}})$")
#: Docker's words for less than two days.
_RECENT = regex(r"(?:Less than a second|About an? (?:minute|hour)|\d{1,2} (?:second|minute|hour)s?) ago")
#: What computes or serves, by the names of containers, images and commands; and what runs beside it.
_WORK = regex(
    r"(?<![a-z])(?:(?:pre|re)?train|infer|(?:sft|dpo|serve|serving|(?:ro|distil)?bert|worker)(?![a-z])|rank[-_]?\d)"
    r"|torch|neuron|nxd|finetun|fine-tun|vllm|llama|llm|accelerate"
)
_ASIDE = regex(
    r"monitor|exporter|prom(?:etheus)?\b|grafana|dashboard|tensorboard|jupyter|agent|fluent|registry|device-plugin"
    r"|mysql|mariadb|postgres|mongo|redis|rabbitmq|nginx|haproxy|celery|traefik|envoy|(?<![a-z])httpd?(?![a-z])"
)
#: Where a template shows the image.
_IMAGES = ("Config_Image", "Image")
_GAP = regex(r"\s{2,}|\t|: | ?\| ?")
_ID = regex(r"[\da-f]{12,64}")

#: A member of a state in JSON that stands alone on its line, as `grep` leaves it.
_MEMBER = regex(
    r"\s*\"(?P<key>OOMKilled|ExitCode|FinishedAt|StartedAt|Status|Error|Name|Dead|Pid|Running)\":\s*\"?(?P<value>.*?)\"?,?\s*$"
)
_PLACEHOLDER = regex(r"\{\{\s*(?:json )?\.(?:State\.)?(?P<key>[A-Z][\w.]{0,60})\s*\}\}")
#: Of so long a template nothing is read.
_LONGEST = 400
#: Nor of so long a line of what it printed.
_LONGEST_LINE = 1000
#: Docker has the year 1 for what never was.
_DAY = regex(r"(?!0001)\d{4}-\d\d-\d\d")
#: What ended so long before the last of what was inspected is no part of its story.
_EARLIER = timedelta(days=2)


class _Asked(Struct, frozen=True):
    """What a command asks `inspect` for: the template, if it has one, and the containers that it names."""

    template: str = ""
    names: tuple[str, ...] = ()


def _sniff(head: bytes, _name: str) -> bool:
    if b"Exited (" in head:
        first = opening(head)
        return (_TITLE.match(first) or _ROW.match(first)) is not None and _is_list(head)
    asked = _asked(first_line(head)) if b"inspect" in head[:_LONGEST] else None
    if asked is None or has_more_commands(head):
        return False
    lines = head_lines(head)
    if asked.template:
        form = _form(asked.template)
        return form is not None and bool(lines) and all(_printed(form, line) is not None for line in lines)
    return bool(lines) and all(map(_MEMBER.match, lines)) and b'"ExitCode"' in head


def _is_list(head: bytes) -> bool:
    """Whether all lines are rows of such a list: below its title, or below the command that makes one."""
    lines = head_lines(head)
    titled = bool(lines) and _TITLE.match(lines[0]) is not None
    rows = lines[1:] if titled else lines
    return bool(rows) and (titled or _lists(first_line(head))) and all(map(_ROW.match, rows))


def _lists(text: str) -> bool:
    words = _words(text)
    return words[:1] == ("ps",) or words[:2] in (("container", "ls"), ("container", "ps"))


def _words(text: str) -> tuple[str, ...]:
    """What one of these tools is told on a line that calls it."""
    try:
        calls = [one.words for one in pipelines(command_of(text) or "") if tool_of(one.words) in _TOOLS]
    except ValueError:
        return ()
    return calls[0][1:] if len(calls) == 1 else ()


def _asked(text: str) -> _Asked | None:
    words = _words(text)
    words = words[1:] if words[:1] == ("container",) else words
    if words[:1] != ("inspect",):
        return None
    template, names, before = "", list[str](), ""
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if before in ("-f", "--format"):
            template = word
        elif name in ("-f", "--format") and equals:
            template = value
        elif not word.startswith("-") and before != "--type":
            names.append(word)
        before = word
    return _Asked(template, tuple(names))


def _form(template: str) -> re.Pattern[str] | None:
    """What the template prints, with a group for each member; None where it shows no code, or asks for more than members, or
    where nothing parts two of them. A member ends where what follows it begins: only an error may have blanks in it."""
    found = list(_PLACEHOLDER.finditer(template)) if len(template) <= _LONGEST else []
    keys = [one["key"] for one in found]
    rest = _PLACEHOLDER.sub("", template)
    if "ExitCode" not in keys or len(set(keys)) != len(keys) or "{{" in rest or "\n" in rest.strip("\n"):
        return None
    ends = [one.end() for one in found]
    between = [template[a:b] for a, b in zip([0, *ends], [*(one.start() for one in found), len(template)], strict=True)]
    if not all(between[1:-1]):
        return None
    text = re.escape(between[0])
    for key, behind in zip(keys, [*between[1:-1], between[-1].rstrip()], strict=True):
        text += f"(?P<{key.replace('.', '_')}>{_value(key, behind)}){re.escape(behind)}"
    return re.compile(rf"\s{{0,20}}'?{text}'?\s{{0,20}}")


def _value(key: str, behind: str) -> str:
    if key in ("ExitCode", "Error"):
        return r"\d{1,3}" if key == "ExitCode" else r"[^\n]{0,300}?"
    return rf"[^\s{re.escape(behind[:1])}']{{0,300}}"


def _printed(form: re.Pattern[str], line: str) -> re.Match[str] | None:
    return form.fullmatch(line) if len(line) <= _LONGEST_LINE else None


def parse(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """A `launcher-failure` for each container that ended with an error."""
    rows = output(lines)
    if not rows:
        return
    asked = _asked(lines[0].text)
    if asked is None:
        yield from _of_list(inp, rows)
    elif asked.template:
        yield from _of_template(inp, rows, asked)
    else:
        yield from _of_members(inp, rows, asked)


def _of_list(inp: Input, rows: Sequence[Line]) -> Iterator[Fact]:
    titled = _TITLE.match(rows[0].text) is not None and not rows[0].text.startswith("NAMES")
    for line in rows:
        row = _ROW.match(line.text)
        if row is None or not row["code"] or int(row["code"]) == 0 or not _RECENT.fullmatch(row["age"]):
            continue
        if not _computes(line.text):
            continue
        cells = _GAP.split(line.text.strip())
        name = cells[-1] if titled or _ID.fullmatch(cells[0]) else cells[0]
        yield _failure(inp, line, name, {"ExitCode": row["code"]})


def _of_template(inp: Input, rows: Sequence[Line], asked: _Asked) -> Iterator[Fact]:
    form = _form(asked.template)
    found = [_printed(form, line.text) if form else None for line in rows]
    yield from _of_states(
        inp, [(one.groupdict() if one else {}, line) for one, line in zip(found, rows, strict=True)], asked
    )


def _of_members(inp: Input, rows: Sequence[Line], asked: _Asked) -> Iterator[Fact]:
    """A member that comes again is the next container's."""
    states: list[tuple[dict[str, str], Line]] = []
    for line in rows:
        member = _MEMBER.match(line.text)
        if member is None:
            continue
        if not states or member["key"] in states[-1][0]:
            states.append(({}, line))
        states[-1][0][member["key"]] = member["value"]
        if member["key"] == "ExitCode":
            states[-1] = (states[-1][0], line)
    yield from _of_states(inp, states, asked)


def _of_states(inp: Input, states: Sequence[tuple[Mapping[str, str], Line]], asked: _Asked) -> Iterator[Fact]:
    """The failures of what computes by its name or image, and ended about when the last of all did."""
    days = [_day_of(state) for state, _ in states]
    last = max((day for day in days if day), default=None)
    for number, (state, line) in enumerate(states):
        named = asked.names[number] if len(asked.names) == len(states) else ""
        name, day = state.get("Name", "").lstrip("/") or named, days[number]
        of_late = last is None or day is None or last - day < _EARLIER
        if of_late and _computes(" ".join([name, named, *(state.get(key, "") for key in _IMAGES)])):
            yield from _of_state(inp, line, state, name)


def _computes(text: str) -> bool:
    """Whether names, images and commands are of what computes or serves, and not of what runs beside it."""
    return _WORK.search(text.lower()) is not None and _ASIDE.search(text.lower()) is None


def _day_of(state: Mapping[str, str]) -> date | None:
    found = _DAY.match(state.get("FinishedAt", ""))
    try:
        return date.fromisoformat(found[0]) if found else None
    except ValueError:
        return None


def _of_state(inp: Input, line: Line, state: Mapping[str, str], name: str) -> Iterator[Fact]:
    code = state.get("ExitCode", "")
    runs = state.get("Running") == "true" or state.get("Status") in ("running", "restarting", "paused")
    if code.isdigit() and int(code) and not runs:
        yield _failure(inp, line, name, state)


def _failure(inp: Input, line: Line, name: str, state: Mapping[str, str]) -> Fact:
    ended = ending(int(state["ExitCode"]))
    data: dict[str, Value] = {
        "launcher": "docker",
        "exitcode": ended.exit_code,
        **({"message": "OOMKilled"} if state.get("OOMKilled") == "true" else {}),
        **({"day": day[0]} if (day := _DAY.match(state.get("FinishedAt", ""))) else {}),
    }
    # what runs in containers of a machine is asked there
    return fact(inp, line, "launcher-failure", data, Place(host=line.host or line.called_on, container=name or None))


COLLECTORS = (Collector("docker", "containers that ended, as Docker lists them", _sniff, from_lines(parse)),)
