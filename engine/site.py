"""What a site says of findings: which it hides, where, until when and why."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.parameters import Parameter
from neuron_doctor.engine.sitefile import SiteActionDoc


class Silence(Struct, frozen=True):
    """Hides findings of these rules or causes up to the end of the day `until` (`2027-01-31`); of some hosts and devices alone,
    if there are any."""

    rules: tuple[str, ...]
    causes: tuple[str, ...]
    hosts: tuple[str, ...]
    devices: tuple[int, ...]
    until: str
    reason: str

    def covers(self, rule: str, cause: str, names: Sequence[Sequence[str]], device: int | None) -> bool:
        """Whether a finding is hidden; `names` has those of each of its hosts. One that is about another host or device too,
        or about none that is known, is not."""
        if rule not in self.rules and cause not in self.causes:
            return False
        if self.devices and device not in self.devices:
            return False
        return not self.hosts or (bool(names) and all(map(self._names, names)))

    def _names(self, host: Sequence[str]) -> bool:
        return any(fnmatchcase(name, pattern) for name in host for pattern in self.hosts)


class Gone(Struct, frozen=True):
    """A name in the site file that no pack has (any more), in this line of it: what it was to do is left out."""

    line: int
    said: str
    hint: str = ""


class Site(Struct, frozen=True):
    """What a site file says: the parameters that it has set, its silences, those whose day has passed, the actions that it adds,
    and what is left out of it."""

    name: str
    sha256: str
    tuned: tuple[Parameter, ...] = ()
    silences: tuple[Silence, ...] = ()
    expired: tuple[Silence, ...] = ()
    added: tuple[SiteActionDoc, ...] = ()
    gone: tuple[Gone, ...] = ()

    def as_of(self, day: str) -> Site:
        """The site as it is on a day (`2027-01-31`)."""
        everything = (*self.silences, *self.expired)
        lasting = tuple(silence for silence in everything if silence.until >= day)
        return replace(self, silences=lasting, expired=tuple(one for one in everything if one.until < day))
