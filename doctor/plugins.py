"""Collectors that installed packages bring: imported when inputs are read, and asked beside our own.

Their code is trusted as much as any that is installed, and their care is not: what one of them raises ends at its input, and
a fact that is none is left out. This is the third place where any exception ends, told with the name of the plug-in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

from msgspec.structs import replace

from neuron_doctor.collectors.base import Collector, Input, SniffFailed
from neuron_doctor.collectors.catalogue import KINDS as OWN_KINDS
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.fitting import Fitting
from neuron_doctor.engine.regexes import regex
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.verdict import Plugin
from neuron_doctor.installed import Brought, installed
from neuron_doctor.keep import keep_of_user
from neuron_doctor.request import Packs, UsageError
from neuron_doctor.scan import Engine

_KIND = regex(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_WAY_OUT = "--no-plugins reads without the plug-ins"
_STRANGE = "a fact of the plug-in is left out: it is of no kind that is known, or has other fields than its kind"


class Stopped(Exception):
    """Code that is not ours raised something; the message says what."""


def engine_for(packs: Packs, rulebook: Rulebook) -> Engine:
    """Our collectors and those of the plug-ins, with the patterns of the rulebook. Raises UsageError for a plug-in that cannot
    be used."""
    brought = _brought(packs)
    further = _collectors(brought, rulebook) if brought else ()
    return Engine.of(rulebook, pure=packs.pure, further=further, plugins=tuple(map(_plugin, brought)))


def plugins_of(packs: Packs) -> tuple[Plugin, ...]:
    """The plug-ins that inputs are read with. Nothing is imported."""
    return tuple(map(_plugin, _brought(packs)))


def _plugin(brought: Brought) -> Plugin:
    return Plugin(brought.name, brought.package, brought.version)


def _brought(packs: Packs) -> tuple[Brought, ...]:
    return installed(keep_of_user()).collectors if packs.plugins and not packs.isolated else ()


def _collectors(brought: Iterable[Brought], rulebook: Rulebook) -> tuple[Collector, ...]:
    found: dict[str, tuple[Brought, Collector]] = {}
    fitting = Fitting({pattern.id: pattern for pattern in rulebook.patterns.patterns})
    for one in brought:
        for collector in _imported(one):
            fault = _fault(collector)
            if not fault and collector.kind in found:
                fault = f"the kind {collector.kind!r} is that of {found[collector.kind][0]} too"
            if fault:
                raise UsageError(f"{one}: {fault}; {_WAY_OUT}")
            found[collector.kind] = one, _guarded(collector, one, fitting)
    return tuple(collector for _, collector in found.values())


def _imported(brought: Brought) -> Iterator[Collector]:
    """The collectors that an entry point names. Raises UsageError."""
    fault, named = brought.fault, None
    if not fault:
        module, _, attribute = brought.target.partition(":")
        try:
            named = tried(lambda: getattr(import_module(module), attribute))
        except Stopped as error:
            fault = f"cannot be imported: {error}"
    collectors = named if isinstance(named, tuple | list) else (named,)
    if not fault and not (collectors and all(isinstance(one, Collector) for one in collectors)):
        fault = f"{brought.target} is no Collector, nor several"
    if fault:
        raise UsageError(f"{brought}: {fault}; {_WAY_OUT}")
    yield from collectors


def tried(call: Callable[[], Any]) -> Any:
    """What code that is not ours gives. Raises Stopped for whatever it raises."""
    try:
        return call()
    except (Exception, SystemExit) as error:
        raise Stopped(f"{type(error).__name__}: {error}") from error


def _fault(collector: Collector) -> str:
    """Why a collector cannot be used; empty if it can."""
    if not _KIND.fullmatch(collector.kind):
        return f"the kind {collector.kind!r} is not a name of small letters, digits and hyphens"
    if collector.kind in OWN_KINDS:
        return f"the kind {collector.kind!r} is one of neuron-doctor's own"
    return "a plug-in reads whole files: it cannot be divisible" if collector.divisible else ""


def _guarded(collector: Collector, brought: Brought, fitting: Fitting) -> Collector:
    return replace(
        collector,
        sniff=partial(_sniffed, collector, brought),
        collect=partial(_fitting_facts, collector, fitting),
    )


def _sniffed(collector: Collector, brought: Brought, head: bytes, name: str) -> bool:
    """Whether the plug-in takes an input for its own. Raises SniffFailed, so that others are asked."""
    try:
        return tried(lambda: collector.sniff(head, name)) is True
    except Stopped as error:
        raise SniffFailed(f"{brought} stopped when it was asked: {error}") from error


def _fitting_facts(collector: Collector, fitting: Fitting, inp: Input) -> Iterator[Fact]:
    for fact in collector.collect(inp):
        if isinstance(fact, Fact) and fitting.fits_wholly(fact) and fact.span.path == inp.path:
            yield fact
        else:
            inp.problem(_STRANGE)
