"""Lists of installed packages (dpkg, apt, rpm, yum, pip): of those, the ones that a Neuron job depends on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.snapshot import Line, anonymous, fact, from_lines, has_form, head_lines, opening, output
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.regexes import regex

_RELEVANT = regex(
    r"neuron|^torch|^jax|^numpy$|^protobuf$|^libfabric|^efa|aws-ofi|^vllm|^transformers$|^dkms$"
    r"|^(?:linux|kernel)[\w.-]*-(?:headers|devel)|^(?:linux|kernel)-(?:headers|devel)",
    re.IGNORECASE,
)


#: The package whose module is built on the host: what is installed is not yet what is loaded.
_DRIVER = regex(r"aws-neuronx?-dkms$")


class _Listing(Struct, frozen=True):
    """The form of one packager's list: its rows, and the lines of heading that may stand among them."""

    manager: str
    row: re.Pattern[str]
    heading: re.Pattern[str]
    needs_heading: bool = False


_NO_HEADING = regex(r"(?!)")
_NAME = r"(?P<name>[A-Za-z0-9][\w.+-]{0,120})"
_LISTINGS = (
    _Listing(
        "dpkg",
        regex(rf"(?P<state>[uihrp][ncHUFWti][ R]?)\s+{_NAME}(?::\w+)?\s+(?P<version>\S+)\s+(?:amd64|arm64|all|i386)\b"),
        regex(r"Desired=|\|[ /]|\|\|/|\+\+\+-"),
    ),
    _Listing(
        "apt",
        regex(rf"{_NAME}/\S+\s+(?P<version>\S+)\s+(?:amd64|arm64|all|i386)\s+\[(?P<state>[^\]]{{1,80}})\]"),
        regex(r"Listing\.\.\.|WARNING: apt "),
    ),
    _Listing(
        "rpm",
        regex(
            r"(?P<name>[A-Za-z0-9][\w.+-]{0,120})-(?P<version>[\w.~^+]{1,60}-[\w.~^+]{1,60})\.(?P<state>x86_64|aarch64|noarch|i686)\s*$"
        ),
        _NO_HEADING,
    ),
    _Listing(
        "yum",
        regex(rf"{_NAME}\.(?P<state>x86_64|aarch64|noarch|i686)\s+(?P<version>\S+)\s+@?\S+\s*$"),
        regex(r"Installed [Pp]ackages|Loaded plugins|Last metadata"),
    ),
    _Listing(
        "pip",
        regex(rf"{_NAME}(?:\[[\w,]{{1,80}}\])?(?:==(?P<version>\S+)| @ (?P<state>\S+))\s*$"),
        regex(r"-e |# "),
    ),
    _Listing(
        "pip",
        regex(rf"{_NAME}\s+(?P<version>\d[\w.+!-]{{0,60}})(?:\s+(?P<state>\S+))?\s*$"),
        regex(r"Package\s+Version|-{4,}[ -]*$"),
        needs_heading=True,
    ),
)


def _listing(head: bytes, name: str) -> _Listing | None:
    first = opening(head)
    if name.startswith("requirements"):
        return None  # what somebody wants, not what is installed
    for listing in _LISTINGS:
        starts = listing.heading.match(first) or (not listing.needs_heading and listing.row.match(first))
        if not starts:
            continue
        either = re.compile(f"{anonymous(listing.row)}|{anonymous(listing.heading)}")
        if has_form(head, either, 0.9) and any(listing.row.match(text) for text in head_lines(head)):
            return listing
    return None


def _sniff(head: bytes, name: str) -> bool:
    return _listing(head, name) is not None


def parse(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """One `package` fact for each relevant row; the form is found again from the lines."""
    rows = output(lines)
    listing = _listing(b"\n".join(line.raw.rstrip(b"\r\n") for line in rows[:200]) + b"\n", "")
    if listing is None:
        inp.problem("not a list of packages")
        return
    for line in rows:
        row = listing.row.match(line.text)
        if row and _RELEVANT.search(row["name"]):
            state = "installed" if listing.manager in {"rpm", "yum", "pip"} else (row["state"] or "").strip()
            data = {"name": row["name"], "version": row["version"] or "", "manager": listing.manager, "state": state}
            yield fact(inp, line, "package", data)
            if _DRIVER.match(row["name"]) and state.startswith(("ii", "installed")):
                yield fact(
                    inp, line, "version", {"component": "driver-installed", "version": _upstream(data["version"])}
                )


def _upstream(version: str) -> str:
    """The version that the module itself names, without the packager's own number."""
    return version.partition("-")[0]


COLLECTORS = (Collector("packages", "installed packages", _sniff, from_lines(parse)),)
