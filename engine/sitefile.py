"""The shape of a site file, as its owners write it; the JSON schema for editors is made from these classes."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from neuron_doctor.engine.parameters import Said
from neuron_doctor.engine.rulefile import ActionDoc, Id, Text

Day = Annotated[str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}$", description="a day in quotes, such as '2027-01-31'")]
Tunable = Annotated[
    str,
    Meta(
        pattern=r"^([a-z][a-z0-9]*(-[a-z0-9]+)*\.)?[a-z][a-z0-9_]*$",
        description="`RULE.NAME`, or the `NAME` of one that rules share",
    ),
]


class SilenceDoc(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Findings of these rules or causes are hidden up to the end of a day, for a reason that reports tell; only on these hosts
    (`*` stands for any characters) and devices, if any are named."""

    reason: Text
    until: Day
    rules: list[Id] = []
    causes: list[Id] = []
    hosts: list[Text] = []
    devices: list[Annotated[int, Meta(ge=0)]] = []


class SiteActionDoc(ActionDoc, forbid_unknown_fields=True, omit_defaults=True):
    """A step that findings of these rules or causes get as well, behind those of the rule or, with `first`, before them."""

    rules: list[Id] = msgspec.field(default_factory=list)
    causes: list[Id] = msgspec.field(default_factory=list)
    first: bool = False


class SiteDoc(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What is true of one site. `name` is what reports call it."""

    name: Id
    parameters: dict[Tunable, Said] = {}
    silences: list[SilenceDoc] = []
    actions: list[SiteActionDoc] = []


def site_schema() -> dict[str, object]:
    """The JSON schema (2020-12) of a site file."""
    return msgspec.json.schema(SiteDoc)
