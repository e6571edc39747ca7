"""Labelled incidents: an `expect.yaml` beside an `input`, and in what a diagnosis differs from it.

Two forms are read: that of corpus/README.md (exactly these roots), and a looser one for published excerpts, of which less
is known: `expect_any_of` (one of these causes is a root; `healthy` and `not-neuron` allow silence), `must_not`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from neuron_doctor.engine.grades import ActionKind
from neuron_doctor.engine.verdict import Diagnosis, Finding

_SILENCE = frozenset({"healthy", "not-neuron"})


class LabelError(Exception):
    """An expect.yaml that says nothing that could be checked."""


@dataclass(frozen=True, slots=True)
class ExpectedRoot:
    """A root cause that must be there: acceptable causes, what its place must be, acceptable first actions."""

    causes: tuple[str, ...]
    place: Mapping[str, object] = field(default_factory=dict)
    actions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Label:
    """What a report has to say. `roots` None: any will do that is among `any_of`."""

    statuses: tuple[str, ...] = ()
    roots: tuple[ExpectedRoot, ...] | None = None
    any_of: frozenset[str] = frozenset()
    must_not: frozenset[str] = frozenset()
    no_action_on: Mapping[str, frozenset[str]] = field(default_factory=dict)


def labelled(folder: Path) -> list[Path]:
    """The incidents below a folder: each directory that has an `expect.yaml` and an `input`."""
    return sorted(file.parent for file in folder.rglob("expect.yaml") if (file.parent / "input").exists())


def read_label(incident: Path) -> Label:
    """The label of an incident. Raises LabelError."""
    document: Any = yaml.safe_load((incident / "expect.yaml").read_text("utf-8"))
    if not isinstance(document, dict) or not {"roots", "expect_any_of"} & set(document):
        raise LabelError(f"{incident}/expect.yaml has neither `roots` nor `expect_any_of`")
    status = document.get("status", [])
    return Label(
        statuses=(status,) if isinstance(status, str) else tuple(status),
        roots=tuple(_root(root) for root in document["roots"]) if "roots" in document else None,
        any_of=frozenset(document.get("expect_any_of", ())),
        must_not=frozenset(document.get("must_not", ())),
        no_action_on={action: frozenset(hosts) for action, hosts in document.get("no_action_on", {}).items()},
    )


def _root(document: Mapping[str, Any]) -> ExpectedRoot:
    return ExpectedRoot(tuple(document["cause"]), document.get("place", {}), tuple(document.get("actions", ())))


def mistakes(label: Label, diagnosis: Diagnosis) -> list[str]:
    """In what a diagnosis differs from its label, in words; empty if in nothing."""
    roots = [finding for finding in diagnosis.findings if finding.id in diagnosis.root_causes]
    return [*_status(label, diagnosis), *_causes(label, roots), *_named(label, roots), *_actions(label, roots)]


def _status(label: Label, diagnosis: Diagnosis) -> Iterator[str]:
    if label.statuses and diagnosis.verdict.status not in label.statuses:
        yield f"the status is {diagnosis.verdict.status}, not {' or '.join(label.statuses)}"


def _causes(label: Label, roots: Sequence[Finding]) -> Iterator[str]:
    causes = {root.cause for root in roots}
    yield from (f"{cause} must not be a root cause" for cause in sorted(causes & label.must_not))
    silent = not {cause for cause in causes - _SILENCE if not cause.startswith("benign-")}
    if label.any_of and not (label.any_of & causes or (silent and label.any_of & _SILENCE)):
        yield f"no root cause is {' or '.join(sorted(label.any_of))}"


def _named(label: Label, roots: Sequence[Finding]) -> Iterator[str]:
    if label.roots is None:
        return
    left = list(roots)
    for wanted in label.roots:
        match = next((root for root in left if _fits(wanted, root)), None)
        if match is None:
            yield f"no root cause is {' or '.join(wanted.causes)} at {dict(wanted.place)}"
        else:
            left.remove(match)
    yield from (f"{root.rule} is a root cause too many" for root in left)


def _fits(wanted: ExpectedRoot, root: Finding) -> bool:
    place = {**root.place.known(), "ranks": list(root.place.ranks), "hosts": list(root.hosts)}
    place.setdefault("host", root.hosts[0] if len(root.hosts) == 1 else "")
    advised = root.actions[0].action if root.actions else ActionKind.NONE
    return (
        root.cause in wanted.causes
        and all(place.get(name) == value for name, value in wanted.place.items())
        and (not wanted.actions or advised in wanted.actions)
    )


def _actions(label: Label, roots: Sequence[Finding]) -> Iterator[str]:
    for action, hosts in label.no_action_on.items():
        aimed = {host for root in roots for step in root.actions if step.action == action for host in root.hosts}
        yield from (f"{action} is proposed for {host}" for host in sorted(aimed & hosts))
