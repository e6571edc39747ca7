"""What a message itself says of its place: device, core, rank, process, instance.

Tokens of AWS Neuron runtime and driver messages (SDK 2.32 guides, driver 2.24): `nd0:nc1`, `nd0 nc0`, `[ND 1][NC 4]`,
`[MLA 0][NC 0]`, `Neuron Device 0 NC 0`, `ND 0:NC 4`, `Neuron device: 5:1`, `nd-id=0 nc-id=0`, `/dev/neuron3`,
`[nec_dev 4]` (the local rank in a collective), `[gid: 12]` (the global rank). A core is kept as it is printed.
"""

from __future__ import annotations

import re

from neuron_doctor.engine.regexes import regex

#: Characters of a message that are looked at.
_WITHIN = 2000

_DEVICE = regex(
    r"(?:nd(?<!\wnd)(?:-id=|[ \[])?|ND(?<!\wND) |MLA |Neuron [Dd]evice )(?P<device>\d{1,4})(?!\d)"
    r"(?:[\]:, ]{0,3}\[?(?:nc(?:-id=| )?|NC )(?P<core>\d{1,4}))?"
    r"|Neuron device: (?P<old_device>\d{1,4}):(?P<old_core>\d{1,4})"
    r"|/dev/neuron(?P<node>\d{1,4})",
    re.ASCII,
)
_LOCAL_RANK = regex(r"\[nec_dev (?P<local_rank>\d{1,6})", re.ASCII)
_RANK = regex(r"\[(?:[^\[\]]{0,40}[ ,])?gid:? (?P<rank>\d{1,6})", re.ASCII)
_INSTANCE = regex(r"instance-id=(?P<instance_id>i-[0-9a-f]{8,17})", re.ASCII)
_PROCESS = regex(r"(?:pid(?<!\wpid)|PID(?<!\wPID))(?:=|: ?| )(?P<pid>\d{1,10})", re.ASCII)

#: Each token with a string that must be there, which is quicker to look for. In messages of the kernel `pid=` is the
#: process that they are about, and a gid is a group of users.
_LOG = (("", _DEVICE), ("nec_dev", _LOCAL_RANK), ("gid", _RANK), ("instance-id", _INSTANCE))
_KERNEL = (("", _DEVICE), ("pid", _PROCESS), ("PID", _PROCESS), ("instance-id", _INSTANCE))
_SYNONYMS = {"old_device": "device", "old_core": "core", "node": "device"}


def place_tokens(message: str, *, kernel: bool) -> dict[str, str]:
    """The fields of a Place that `message` states, as text; the first token of each kind counts."""
    head = message[:_WITHIN]
    found: dict[str, str] = {}
    for needle, pattern in _KERNEL if kernel else _LOG:
        match = pattern.search(head) if needle in head else None
        if match is not None:
            found.update((_SYNONYMS.get(name, name), text) for name, text in match.groupdict().items() if text)
    return found
