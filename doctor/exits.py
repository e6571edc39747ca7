"""The exit status of a diagnosis: disease and tool failure are never the same number."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from neuron_doctor.engine.grades import Role, Severity, Status

if TYPE_CHECKING:
    from neuron_doctor.engine.verdict import Diagnosis


class Exit(IntEnum):
    """What `diagnose` returns (shared contract)."""

    NOTHING = 0
    FOUND = 1
    USAGE = 2
    NOT_EVALUABLE = 3
    INTERNAL = 4
    OUT_OF_TIME = 124


class Nagios(IntEnum):
    """What `diagnose --nagios` returns."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


_TROUBLE = (Role.ROOT, Role.CONFIRMATION, Role.CASCADE, Role.TEARDOWN)


def exit_status(diagnosis: Diagnosis, *, fail_on: Severity, exit_zero: bool = False, nagios: bool = False) -> int:
    """The status for a finished diagnosis."""
    worst = max((f.severity.rank for f in diagnosis.findings if f.role in _TROUBLE), default=-1)
    if nagios:
        return _nagios(diagnosis, worst)
    if exit_zero:
        return Exit.NOTHING
    if not diagnosis.verdict.complete:
        return Exit.OUT_OF_TIME
    if diagnosis.verdict.status is Status.NOT_EVALUABLE:
        return Exit.NOT_EVALUABLE
    return Exit.FOUND if worst >= fail_on.rank else Exit.NOTHING


def _nagios(diagnosis: Diagnosis, worst: int) -> int:
    if diagnosis.verdict.status is Status.NOT_EVALUABLE:
        return Nagios.UNKNOWN
    if worst >= Severity.ERROR.rank:
        return Nagios.CRITICAL
    if not diagnosis.verdict.complete:
        return Nagios.UNKNOWN
    risks = max((f.severity.rank for f in diagnosis.findings if not f.silenced), default=-1)
    return Nagios.WARNING if max(worst, risks) >= Severity.WARNING.rank else Nagios.OK
