"""Whether the labels that a shipper of logs gave to a record say that the kernel wrote it.

Sources: journald's fields (`_TRANSPORT`, `SYSLOG_IDENTIFIER`), as they are or as Promtail, Alloy, Fluent Bit and Vector rename
them; facilities of syslog; ECS (`process.name`, `log.syslog.*`).
"""

from __future__ import annotations

from collections.abc import Mapping

_NAMES = (
    "_TRANSPORT",
    "SYSLOG_IDENTIFIER",
    "transport",
    "journal_transport",
    "syslog_identifier",
    "identifier",
    "ident",
    "unit",
    "systemd_unit",
    "appname",
    "app_name",
    "program",
    "process.name",
    "service_name",
    "facility",
    "syslog.facility",
    "syslog_facility",
    "log.syslog.appname",
    "log.syslog.facility.name",
)
_KERNEL = ("kernel", "kern")


def is_of_the_kernel(labels: Mapping[str, object]) -> bool:
    """Whether one of them names the kernel as the program, the transport, the unit or the facility."""
    return any(labels.get(name) in _KERNEL for name in _NAMES)
