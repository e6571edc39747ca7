"""What a diagnosis consists of: findings with their proofs, roles and edges, and the verdict over them."""

from __future__ import annotations

from msgspec import Struct

from neuron_doctor.engine.facts import Fact, Instant, Place, Source, Span
from neuron_doctor.engine.grades import ActionKind, EdgeType, Role, Severity, Status
from neuron_doctor.engine.rulebook import Pack
from neuron_doctor.engine.site import Silence, Site

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


class Action(Struct, frozen=True):
    """One step to take. `command` has its places filled in; `precondition` must hold before it is taken, `note` says how to
    take it or what to look for, `destroys` what is lost by it; `by_site`: the site file has it, not the rule."""

    action: ActionKind
    target: str = ""
    command: str = ""
    precondition: str = ""
    note: str = ""
    destroys: str = ""
    by_site: bool = False


class Alternative(Struct, frozen=True):
    """Another cause that the evidence leaves open, and what would tell the two apart."""

    cause: str
    confidence: float
    place: Place
    tell_apart: str


class Proof(Struct, frozen=True):
    """One node of a proof tree. `held` is None where the inputs to decide were never collected; `subjects` are the
    ranks, hosts or devices that a quantifier singles out."""

    op: str
    held: bool | None
    facts: tuple[Fact, ...] = ()
    children: tuple[Proof, ...] = ()
    omitted: int = 0
    subjects: tuple[str | int, ...] = ()


class Finding(Struct, frozen=True):
    """A rule that held at a place over an interval, with the proof of it. `explanation` is of the rule, `observed` says
    in sentences what was seen here. `sums_up`: findings that it tells something of together, without cause or effect.
    `silenced`: by what the site hides it."""

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
    silenced: Silence | None = None


class Edge(Struct, frozen=True):
    """`source` is the effect, `target` its cause (ids of findings)."""

    source: str
    target: str
    type: EdgeType
    why: str


class NotEvaluable(Struct, frozen=True):
    """A rule that neither passed nor fired: what it `needs` (kinds of source) was not collected, or what it looks for was not
    looked for in some sources, as `lacks` says in words."""

    rule: str
    needs: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


class Verdict(Struct, frozen=True):
    """The word, the sentence, and whether everything that was given could be considered; `replaces` is the sentence of a
    provisional verdict that was another."""

    status: Status
    headline: str
    complete: bool
    replaces: str = ""


class Counterfactual(Struct, frozen=True):
    """What the verdict becomes without the sources of these paths, all of one kind; `flips` where its roots are others."""

    kind: str
    without: tuple[str, ...]
    flips: bool
    verdict: Verdict


class ClockOffset(Struct, frozen=True):
    """One clock of a host (`kernel-local`: the wall clock as its kernel log shows it) is `offset_s` seconds ahead of
    `reference`, give or take `error_s`, by these witnesses. All three are None where the witnesses contradict each other."""

    host: str | None
    clock: str
    reference: str | None
    offset_s: float | None
    error_s: float | None
    witnesses: tuple[str, ...]


class Plugin(Struct, frozen=True):
    """A collector that an installed package brought: the name of its entry point, and the package with its version."""

    name: str
    package: str
    version: str


class Diagnosis(Struct, frozen=True):
    """Everything that a report shows; findings stand in their canonical order, roots by `root_causes`. `packs`: those whose
    rules were applied; `site`: what the site file says, if there is one; `plugins`: what read the inputs beside our own
    collectors."""

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
    packs: tuple[Pack, ...] = ()
    site: Site | None = None
    plugins: tuple[Plugin, ...] = ()
