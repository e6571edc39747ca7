"""Small facts, rules and rulebooks for the tests of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, Source, Span, Value
from neuron_doctor.engine.rule_loader import load_rulebook
from neuron_doctor.engine.rulebook import Rulebook

CAUSES = """
family:
  broken-device: {by: hardware, is: "a device broke"}
  stuck: {by: peer, is: "waits for another"}
  noise: {by: none, is: "harmless"}
  bug: {by: user, is: "the program raised"}
"""


def hit(
    pattern: str,
    *,
    at: float | None = None,
    offset: int = 0,
    source: str = "s",
    clock: Clock = Clock.HOST_LOCAL,
    repeats: int = 0,
    data: Mapping[str, Value] | None = None,
    **place: object,
) -> Fact:
    """A hit at `at` seconds."""
    return Fact(
        kind="hit",
        data={"pattern": pattern, **(data or {})},
        place=Place(**place),  # type: ignore[arg-type]
        span=Span(source, offset, 10, 1, 1, pattern, f"{pattern}{offset}"),
        source=source,
        instant=None if at is None else Instant(round(at * 1e9), clock),
        repeats=repeats,
    )


def progress(*, at: float | None = None, offset: int = 0, source: str = "s", **place: object) -> Fact:
    """A step was taken at `at` seconds."""
    return Fact(
        "progress",
        {"what": "step", "value": 1.0},
        Place(**place),  # type: ignore[arg-type]
        Span(source, offset, 10, 1, 1, "step", f"step{offset}"),
        source,
        None if at is None else Instant(round(at * 1e9), Clock.HOST_LOCAL),
    )


def barrier(
    phase: str, rank: int, *, at: float, size: int | None = None, joined: int | None = None, **place: object
) -> Fact:
    """What a rank says at a barrier of all ranks, at `at` seconds."""
    data: dict[str, Value] = {"name": "key:1", "phase": phase}
    data |= {name: value for name, value in (("size", size), ("joined", joined)) if value is not None}
    span = Span(f"rank{rank}", round(at), 10, 1, 1, phase, f"{phase}{at}")
    instant = Instant(round(at * 1e9), Clock.UTC)
    return Fact("barrier", data, Place(rank=rank, **place), span, f"rank{rank}", instant)  # type: ignore[arg-type]


def source(
    name: str, *, kind: str = "log", first: float | None = None, last: float | None = None, **place: object
) -> Source:
    """A source that covers `first` to `last` seconds."""
    return Source(
        name,
        name,
        kind,
        records=10,
        place=Place(**place),  # type: ignore[arg-type]
        first=None if first is None else Instant(round(first * 1e9), Clock.HOST_LOCAL),
        last=None if last is None else Instant(round(last * 1e9), Clock.HOST_LOCAL),
    )


RULE = """
id: {id}
title: {id} held
cause: {cause}
severity: error
at: {at}
trust: [S]
references: [somewhere]
explanation: because
actions: [{{action: restart}}]
patterns:
{patterns}
when:
{when}
{more}
"""


def rule(
    id_: str, when: str, *, cause: str = "bug", at: str = "process", patterns: tuple[str, ...] = (), more: str = ""
) -> str:
    """The YAML of a rule; each pattern looks for its own name."""
    made = "".join(f"  {name}: {{regex: 'message {name} (?P<what>\\w+)'}}\n" for name in patterns) or "  {}"
    return RULE.format(id=id_, cause=cause, at=at, patterns=made, when="  " + when.replace("\n", "\n  "), more=more)


def pack(folder: Path, *rules: str, **files: str) -> Rulebook:
    """A rulebook of these rules and files."""
    folder.mkdir(exist_ok=True)
    (folder / "causes.yaml").write_text(CAUSES)
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    for number, text in enumerate(rules):
        (folder / f"rule{number}.yaml").write_text(text)
    return load_rulebook([folder])
