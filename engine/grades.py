"""The closed lists of words that a verdict uses: how bad, in which role, of what kind. The command line needs no more of it."""

from __future__ import annotations

from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is, as in `--fail-on`."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 for info, 3 for critical."""
        return list(Severity).index(self)


class Complaint(StrEnum):
    """What people come with, before anything is known: the value is how `causes.yaml` calls it."""

    HANGS = "hangs"
    SLOW = "slow"
    ENDS = "ends"
    START = "start"
    MEMORY = "memory"
    LOAD = "load"
    COMPILE = "compile"
    EXECUTION = "execution"
    WRONG = "wrong"
    HARDWARE = "hardware"
    NETWORK = "network"
    CLUSTER = "cluster"
    NOISE = "noise"


class Role(StrEnum):
    """What a finding is in the story of the job."""

    ROOT = "root"
    CONFIRMATION = "confirmation"
    CASCADE = "cascade"
    TEARDOWN = "teardown"
    BENIGN = "benign"
    CONTEXT = "context"
    SURVIVED = "survived"


class EdgeType(StrEnum):
    """How an effect hangs on its cause."""

    CAUSED_BY = "caused-by"
    BLOCKED_ON = "blocked-on"
    KILLED_BY = "killed-by"
    TIMED_OUT_WAITING_FOR = "timed-out-waiting-for"


class ActionKind(StrEnum):
    """What to do, from nothing to replacing the instance."""

    NONE = "none"
    FIX_CONFIG = "fix-config"
    FIX_INPUT = "fix-input"
    FIX_ENVIRONMENT = "fix-environment"
    WAIT = "wait"
    RESTART = "restart"
    RESTART_FROM_CHECKPOINT = "restart-from-checkpoint"
    RESTART_ELSEWHERE = "restart-elsewhere"
    KILL_PROCESS = "kill-process"
    RELOAD_DRIVER = "reload-driver"
    RESET_DEVICE = "reset-device"
    REBOOT = "reboot"
    REPLACE_INSTANCE = "replace-instance"
    COLLECT_MORE = "collect-more"
    OPEN_TICKET = "open-ticket"


class Status(StrEnum):
    """The verdict in one word (contract of the JSON report)."""

    ROOT_CAUSE = "root-cause"
    VICTIMS_ONLY = "victims-only"
    UNKNOWN_FAILURE = "unknown-failure"
    NOT_EVALUABLE = "not-evaluable"
    BENIGN = "benign"
    HEALTHY = "healthy"
