"""The shape of rule files, as authors write them; the JSON schema for editors is made from these classes."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from neuron_doctor.engine.grades import ActionKind, Complaint, EdgeType, Role, Severity
from neuron_doctor.engine.kinds import FieldType
from neuron_doctor.engine.parameters import ParameterType, Said
from neuron_doctor.engine.patterns import Channel

Id = Annotated[
    str,
    Meta(
        pattern="^[a-z][a-z0-9]*(-[a-z0-9]+)*$",
        max_length=64,
        description="a name of small letters, digits and hyphens",
    ),
]
ParameterName = Annotated[
    str,
    Meta(
        pattern="^[a-z][a-z0-9_]*$",
        max_length=64,
        description="a name of small letters, digits and underscores",
    ),
]
Reference = Annotated[
    str, Meta(pattern=r"^\$[a-z][a-z0-9_]*$", description="a dollar sign and the name of a parameter")
]
Duration = Annotated[
    str,
    Meta(
        pattern=r"^(\d+(\.\d+)?(ms|s|m|h|d)|\$[a-z][a-z0-9_]*)$",
        description="a number with its unit (ms, s, m, h, d), such as 30s",
    ),
]
Amount = Annotated[int, Meta(ge=1)] | Reference
#: The confidence of a rule that says nothing of it, and the most of an experimental one.
USUAL, TRIED_LITTLE = 0.9, 0.6
Share = Annotated[float, Meta(ge=0, le=1, description="a number from 0 to 1")]
Text = Annotated[str, Meta(min_length=1)]
Query = Annotated[
    str,
    Meta(min_length=1, description="a pattern or fact kind, and what its fields must be: `status where code == 1201`"),
]

Scope = Literal["record", "core", "device", "process", "rank", "container", "host", "job"]
Relation = Literal["same-core", "same-device", "same-process", "same-rank", "same-host", "same-group", "job"]
Trust = Literal["S", "D", "DH", "SRC", "RN", "I", "F", "RE", "INF"]


class ParameterDoc(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A value that a site may set in its site file. Conditions and windows refer to it as `$name`; `at_least` and `at_most`
    are what it may not go beyond."""

    type: ParameterType
    default: Said
    description: Text
    at_least: int | float | str | None = None
    at_most: int | float | str | None = None


class PatternDoc(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A log pattern."""

    regex: Annotated[
        str,
        Meta(
            min_length=3,
            description="a Python regex of three characters or more, on one record; named groups are captures",
        ),
    ]
    channel: Channel = "any"
    fields: dict[str, FieldType] = {}
    emits: str = "hit"
    values: dict[str, str | int | float | bool] = {}
    anchor: Text | None = None
    above: Text | None = None


class CountDoc(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """At least so many records, or distinct values of a field, within a window of event time."""

    of: Query
    at_least: Amount
    within: Duration | None = None
    distinct: str | None = None


class MeasureDoc(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What `take` makes of a number of the records of a window: at least, or at most, so much. `per`: the time that a rate is
    for."""

    of: Query
    take: Annotated[
        str,
        Meta(
            pattern="^(sum|mean|min|max|increase|rate|p[1-9][0-9]?)$",
            description="one of sum, mean, min, max, increase, rate, p1 to p99",
        ),
    ]
    field: str
    within: Duration | None = None
    at_least: float | Reference | None = None
    at_most: float | Reference | None = None
    per: Duration | None = None


class SequenceDoc(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Records in this order in event time, the last at most `within` after the first: all with the same value of `by`, and
    without a record of `until` between the first and the last."""

    steps: Annotated[list[Query], Meta(min_length=2)]
    within: Duration
    by: str | None = None
    until: Query | None = None


class AbsentDoc(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """After a record, no record of another sort for a time that a source proves to cover."""

    record: Query
    after: Query
    within: Duration


class OverDoc(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """How many of the known ranks (hosts, devices; peers of a process group) have a record; `number` is that of `exactly` and
    `all-but`. The finding is about the exceptions for `all-but` and `all-but-few` (at most a quarter, at least two that have
    it), about those that have it otherwise. With `alike`, only those that have a record count, and to have it is to have one
    with the commonest value of that field. With `among`, those that have a record of that query are the known ones."""

    each: Literal["rank", "host", "device", "peer"]
    quantifier: Literal["all", "any", "none", "exactly", "all-but", "majority", "odd-one-out", "all-but-few"]
    have: Query
    alike: str | None = None
    among: Query | None = None
    number: Amount | None = None


class ConditionDoc(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Exactly one of these."""

    record: Query | None = None
    all: list[Query | ConditionDoc] | None = None
    any: list[Query | ConditionDoc] | None = None
    none: list[Query | ConditionDoc] | None = None
    at_least: Amount | None = None
    of: list[Query | ConditionDoc] | None = None
    count: CountDoc | None = None
    measure: MeasureDoc | None = None
    sequence: SequenceDoc | None = None
    absent: AbsentDoc | None = None
    over: OverDoc | None = None
    finding: Id | None = None
    elsewhere: Id | None = None
    term: Id | None = None


class ExplainsDoc(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Findings of these causes (or named sets of causes) are consequences of this rule's findings."""

    causes: Annotated[list[Id], Meta(min_length=1)]
    relation: Relation
    within: Duration = "1h"
    lead: Duration = "5m"
    edge: EdgeType = EdgeType.CAUSED_BY
    unless: Annotated[
        list[Query], Meta(description="findings with one of these records have a reason of their own, and stay")
    ] = []


class FollowsDoc(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """This rule's findings are consequences of failures in this relation to them, whatever their cause but these: of
    findings of role root or victim (`of: root`: root alone) that follow nothing by their own rule. Only where `causes` are
    named, other rules that could follow something are followed too. `unknown`: also where the places do not tell the
    relation."""

    relation: Relation
    of: Literal["any", "root"] = "any"
    causes: list[Id] = []
    but: list[Id] = []
    unknown: bool = False
    within: Duration = "1h"
    lead: Duration = "5m"
    edge: EdgeType = EdgeType.CAUSED_BY


class ActionDoc(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A step to take; `{device}`, `{host}`, `{pid}`, `{instance_id}` and the like are filled in from the place. The
    `precondition` must hold before it is taken; a `note` says how to take it or what to look for."""

    action: ActionKind
    target: str = ""
    command: str = ""
    precondition: str = ""
    note: str = ""
    destroys: str = ""


class AlternativeDoc(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Another cause that the same evidence leaves open."""

    cause: Id
    confidence: Share
    tell_apart: Text
    ranks: Annotated[
        Text | None,
        Meta(
            description="the field of the record that lists the ranks of which one is at fault: where the finding names none"
        ),
    ] = None


class ExpectDoc(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What the finding of a positive example must look like (only what is said); `actions` in their order, all of them."""

    role: Role | None = None
    cause: Id | None = None
    place: dict[str, str | int | list[int]] = {}
    actions: list[ActionKind] | None = None


class ExampleDoc(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Input as text (one log), as files by path, or as a directory beside the rule's file, and what the rule makes of it."""

    name: Text
    text: str | None = None
    files: dict[str, str] = {}
    directory: Annotated[Text, Meta(description="a directory of input, relative to this file")] | None = None
    expect: ExpectDoc = msgspec.field(default_factory=ExpectDoc)


class ExamplesDoc(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Positives fire the rule, near-miss negatives do not."""

    positive: Annotated[list[ExampleDoc], Meta(min_length=1)]
    negative: Annotated[list[ExampleDoc], Meta(min_length=1)]


class RuleDoc(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One rule."""

    id: Id
    title: Text
    cause: Id
    severity: Severity
    when: Query | ConditionDoc
    explanation: Text
    references: Annotated[list[Text], Meta(min_length=1)]
    trust: Annotated[list[Trust], Meta(min_length=1)]
    role: Literal["root", "victim", "benign", "context", "teardown", "unclaimed"] | None = None
    at: Scope = "process"
    status: Literal["experimental", "stable", "deprecated"] = "stable"
    successor: Annotated[Id | None, Meta(description="the rule that took the place of a deprecated one")] = None
    confidence: (
        Annotated[
            float,
            Meta(
                ge=0, le=1, description="0 to 1: 0.9 if not said, 0.6 for an experimental rule, which may say no more"
            ),
        ]
        | UnsetType
    ) = UNSET
    parameters: dict[ParameterName, ParameterDoc] = {}
    patterns: dict[Id, PatternDoc] = {}
    explains: list[ExplainsDoc] = []
    follows: list[FollowsDoc] = []
    headline: Annotated[
        Text,
        Meta(description="the title of a root cause with what its records say: {field}, or {record} for the first one"),
    ] = ""
    sole: Annotated[bool, Meta(description="findings at several places convict none of them")] = False
    shared: Annotated[bool, Meta(description="findings at several hosts are one fault of what these share")] = False
    names_core: Annotated[
        bool, Meta(description="a finding of a device names the core that all its records agree on")
    ] = False
    supersedes: list[Id] = []
    alternatives: list[AlternativeDoc] = []
    actions: list[ActionDoc] = []
    entries: list[str] = []
    survivable: Annotated[
        bool | Literal["anew", "job", "foretold", "served", "restarted"],
        Meta(
            description="whether progress overcomes it; anew: only of a process that is not older; job: of anybody; "
            "foretold: of anybody, ten minutes after it; served: a request that was answered below it, too; "
            "restarted: of a later attempt only"
        ),
    ] = True
    ends: Annotated[
        list[Query], Meta(description="records that, in this order after the finding on the same host, end it")
    ] = []
    examples: ExamplesDoc | None = None


class PatternsFile(Struct, forbid_unknown_fields=True):
    """A file of patterns that several rules share."""

    patterns: dict[Id, PatternDoc]


class TermsFile(Struct, forbid_unknown_fields=True):
    """Named sets of causes, parameters that rules share, and named conditions."""

    causes: dict[Id, list[Id]] = {}
    parameters: dict[ParameterName, ParameterDoc] = {}
    conditions: dict[Id, Query | ConditionDoc] = {}


class CauseDoc(Struct, forbid_unknown_fields=True):
    """One class of cause: who is normally at fault, what it is, and what people see of it first."""

    by: Literal["hardware", "host", "network", "config", "model", "user", "peer", "none"]
    meaning: Text = msgspec.field(name="is")
    seen: list[Complaint] = []


#: The causes of `causes.yaml` by their families.
CausesFile = dict[str, dict[Id, CauseDoc]]


def rule_schema() -> dict[str, object]:
    """The JSON schema (2020-12) of a rule file, for editors and for the lint."""
    return msgspec.json.schema(RuleDoc)
