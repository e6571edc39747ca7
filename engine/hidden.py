"""What a site hides: findings stay where they are in the story, told of by their silence, and nothing is proposed for them.

A silence hides, it does not acquit: what a hidden finding explains stays explained, and it counts for the status.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from neuron_doctor.engine.site import Silence, Site
from neuron_doctor.engine.verdict import Finding


def hushed(findings: Sequence[Finding], site: Site | None) -> list[Finding]:
    """The findings, those that the site hides with their silence and without actions."""
    if site is None or not site.silences:
        return list(findings)
    return [_hushed(finding, site.silences) for finding in findings]


def _hushed(finding: Finding, silences: Sequence[Silence]) -> Finding:
    place = finding.place
    hosts = finding.hosts or ((place.host,) if place.host else ())
    names = [[host] for host in hosts]
    if place.instance_id and len(hosts) <= 1:  # one host, by all its names
        names = [[*hosts, place.instance_id]]
    covering = (one for one in silences if one.covers(finding.rule, finding.cause, names, place.device))
    silence = next(covering, None)
    return replace(finding, silenced=silence, actions=()) if silence else finding


def told(finding: Finding) -> str:
    """Behind a headline about a finding: that it is hidden; empty if it is not."""
    silence = finding.silenced
    return f"; hidden by the site file until {silence.until}: {silence.reason}" if silence else ""
