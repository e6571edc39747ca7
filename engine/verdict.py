"""What a diagnosis consists of: findings with their proofs, roles and edges, and the verdict over them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from neuron_doctor.engine.facts import Fact, Instant, Place, Source, Span


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


#: Actions that take a node out of work or interrupt others on it.
NODE_ACTIONS = frozenset(
    {
        ActionKind.RELOAD_DRIVER,
        ActionKind.RESET_DEVICE,
        ActionKind.REBOOT,
        ActionKind.REPLACE_INSTANCE,
        ActionKind.RESTART_ELSEWHERE,
    }
)


@dataclass(frozen=True, slots=True)
class Action:
    """One step to take. `command` has its places filled in; `destroys` says what is lost by it."""

    action: ActionKind
    target: str = ""
    command: str = ""
    precondition: str = ""
    destroys: str = ""


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another cause that the evidence leaves open, and what would tell the two apart."""

    cause: str
    confidence: float
    place: Place
    tell_apart: str


@dataclass(frozen=True, slots=True)
class Proof:
    """One node of a proof tree. `held` is None where the inputs to decide were never collected; `subjects` are the
    ranks, hosts or devices that a quantifier singles out."""

    op: str
    held: bool | None
    facts: tuple[Fact, ...] = ()
    children: tuple[Proof, ...] = ()
    omitted: int = 0
    subjects: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that held at a place over an interval, with the proof of it. `explanation` is of the rule, `observed` says
    in sentences what was seen here. `sums_up`: findings that it tells something of together, without cause or effect."""

    id: str
    rule: str
    cause: str
    title: str
    severity: Severity
    role: Role
    confidence: float
    count: int
    place: Place
    hosts: tuple[str, ...]
    first: Instant | None
    last: Instant | None
    evidence: tuple[Span, ...]
    proof: Proof
    observed: tuple[str, ...] = ()
    explanation: str = ""
    explains: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    actions: tuple[Action, ...] = ()
    references: tuple[str, ...] = ()
    sums_up: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """`source` is the effect, `target` its cause (ids of findings)."""

    source: str
    target: str
    type: EdgeType
    why: str


@dataclass(frozen=True, slots=True)
class NotEvaluable:
    """A rule that neither passed nor fired, because what it needs was not collected."""

    rule: str
    needs: tuple[str, ...]


class Status(StrEnum):
    """The verdict in one word (contract of the JSON report)."""

    ROOT_CAUSE = "root-cause"
    VICTIMS_ONLY = "victims-only"
    UNKNOWN_FAILURE = "unknown-failure"
    NOT_EVALUABLE = "not-evaluable"
    BENIGN = "benign"
    HEALTHY = "healthy"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The word, the sentence, and whether everything that was given could be considered; `replaces` is the sentence of a
    provisional verdict that was another."""

    status: Status
    headline: str
    complete: bool
    replaces: str = ""


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """What the verdict becomes without the sources of these paths, all of one kind; `flips` where its roots are others."""

    kind: str
    without: tuple[str, ...]
    flips: bool
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """One clock of a host (`kernel-local`: the wall clock as its kernel log shows it) is `offset_s` seconds ahead of
    `reference`, give or take `error_s`, by these witnesses. All three are None where the witnesses contradict each other."""

    host: str | None
    clock: str
    reference: str | None
    offset_s: float | None
    error_s: float | None
    witnesses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything that a report shows; findings stand in their canonical order, roots by `root_causes`."""

    verdict: Verdict
    sources: tuple[Source, ...]
    root_causes: tuple[str, ...]
    findings: tuple[Finding, ...]
    edges: tuple[Edge, ...]
    not_evaluable: tuple[NotEvaluable, ...]
    unexplained: tuple[str, ...]
    rulebook_sha256: str
    rulebook_rules: int
    missing: tuple[str, ...] = ()
    counterfactuals: tuple[Counterfactual, ...] = ()
    clocks: tuple[ClockOffset, ...] = ()
