"""What the simulator knows: the faults of an incident, and what the evidence that is left can show of each."""

from dataclasses import dataclass, field
from enum import StrEnum


class Knowable(StrEnum):
    """How much of a fault the files of an incident still show."""

    STATED = "stated"  # a line or record states the fault itself, at its place
    INFERABLE = "inferable"  # the witnesses together convict it (who joined what, who is silent)
    HIDDEN = "hidden"  # what is left cannot show it: the right answer names no one else


@dataclass(frozen=True, slots=True)
class Fault:
    """One injected fault. `cause` is an id of causes.yaml; empty `ranks` means that no rank is at fault by itself.

    `weaker` are causes that are right, though less precise, when the statement of the fault is lost; `node_action` says
    that an action on the host (reboot, reset, replace) is right for it.
    """

    cause: str
    ranks: tuple[int, ...] = ()
    hosts: tuple[str, ...] = ()
    device: int | None = None
    weaker: tuple[str, ...] = ()
    node_action: bool = False
    # ranks that may be named beside `ranks`, and need not be (the other end of a deadlock)
    involved: tuple[int, ...] = ()
    is_root: bool = True  # False: a risk or a benign condition that must not become a root


@dataclass(frozen=True, slots=True)
class Truth:
    """The faults of an incident, and which are knowable from its files (by index into `faults`)."""

    faults: tuple[Fault, ...]
    knowable: dict[int, Knowable] = field(default_factory=dict)
    healthy: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """The bytes from `offset` for `length` of a file state the fault with this index."""

    offset: int
    length: int
    fault: int


@dataclass(frozen=True, slots=True)
class File:
    """One file of an incident, as written. `source` names what wrote it: "runtime-log", "framework-log", "launcher-log", "dmesg",
    "flight-recorder", "monitor", "ndet", "kubernetes", "slurm", "noise". `ranks` and `host` are whose it is."""

    path: str
    data: bytes
    source: str
    host: int | None = None
    ranks: tuple[int, ...] = ()
    marks: tuple[Mark, ...] = ()
