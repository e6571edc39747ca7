"""What packs and the site file have to do with a report: which findings are hidden, what was tuned, in words and as objects."""

from __future__ import annotations

from neuron_doctor.engine.parameters import Said, shown
from neuron_doctor.engine.rulebook import Pack
from neuron_doctor.engine.site import Gone, Silence
from neuron_doctor.engine.verdict import Diagnosis, Finding
from neuron_doctor.reports.objects import Object
from neuron_doctor.reports.wording import counted


def hidden(diagnosis: Diagnosis) -> list[tuple[Silence, list[Finding]]]:
    """The findings that the site hides, by their silences, in the order of the site file."""
    found: list[tuple[Silence, list[Finding]]] = []
    for silence in diagnosis.site.silences if diagnosis.site else ():
        findings = [finding for finding in diagnosis.findings if finding.silenced == silence]
        if findings:
            found.append((silence, findings))
    return found


def expired(diagnosis: Diagnosis) -> tuple[Silence, ...]:
    """The silences of the site file whose day has passed."""
    return diagnosis.site.expired if diagnosis.site else ()


def gone(diagnosis: Diagnosis) -> tuple[Gone, ...]:
    """What is left out of the site file, for no pack has what it is about."""
    return diagnosis.site.gone if diagnosis.site else ()


def gone_words(one: Gone) -> str:
    """What is left out, and what was probably meant."""
    return f"line {one.line}: {one.said}" + (f" ({one.hint})" if one.hint else "")


def expired_words(silence: Silence) -> str:
    """That a silence hides nothing any more."""
    return f"that of {', '.join((*silence.rules, *silence.causes))} ended with {silence.until}: {silence.reason}"


def checked_words(diagnosis: Diagnosis) -> list[str]:
    """With what was checked, beside the built-in rules and collectors: other packs and plug-ins, and what the site has tuned."""
    others = [_pack(pack) for pack in diagnosis.packs[1:]]
    others += [f"collector {one.name} of {one.package} {one.version}" for one in diagnosis.plugins]
    told = [f"with {', '.join(others)}"] if others else []
    if diagnosis.site:
        tuned = [
            f"{one.name} is {_plain(one.value)} ({_plain(one.default)} by default)" for one in diagnosis.site.tuned
        ]
        told.append(f"site file {diagnosis.site.name}" + (f": {', '.join(tuned)}" if tuned else ""))
    return told


def _plain(said: Said) -> str:
    return said if isinstance(said, str) else shown(said)


def _pack(pack: Pack) -> str:
    version = f" {pack.version}" if pack.version else ""
    return f"pack {pack.name}{version} ({counted(pack.rules, 'rule')})"


def pack_object(pack: Pack) -> Object:
    """A pack: its digest tells which one it was."""
    return {"name": pack.name, "version": pack.version or None, "sha256": pack.sha256, "rules": pack.rules}


def site_object(diagnosis: Diagnosis) -> Object:
    """What the site file has to do with this report; nothing without one."""
    site = diagnosis.site
    if site is None:
        return {}
    ids = {silence: [finding.id for finding in findings] for silence, findings in hidden(diagnosis)}
    return {
        "name": site.name,
        "sha256": site.sha256,
        "parameters": [{"name": one.name, "value": one.value, "default": one.default} for one in site.tuned],
        "silences": [{**silence_object(one), "findings": sorted(ids.get(one, ()))} for one in site.silences],
        "expired": [silence_object(one) for one in site.expired],
        "left_out": [{"line": one.line, "message": one.said, "hint": one.hint or None} for one in site.gone],
    }


def silence_object(silence: Silence) -> Object:
    """A silence as the site file has it."""
    return {
        "rules": silence.rules or None,
        "causes": silence.causes or None,
        "hosts": silence.hosts or None,
        "devices": silence.devices or None,
        "until": silence.until,
        "reason": silence.reason,
    }
