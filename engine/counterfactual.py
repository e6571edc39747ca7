"""What a verdict rests on: without which evidence it would be another, and which. Tried, not argued: the evidence is
taken away and the rest is diagnosed again."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from neuron_doctor.engine.facts import Collection
from neuron_doctor.engine.verdict import Counterfactual, Diagnosis, Finding

#: So many roots are asked about, and so many times a diagnosis is made again, at most.
_ROOTS, _TRIALS = 2, 4
#: Beyond so many facts, or findings that may explain each other, a diagnosis takes seconds, and nothing is tried.
MOST_FACTS, MOST_FINDINGS = 20_000, 200

#: What is taken away: the kind of its sources, and their paths.
_Evidence = tuple[str, tuple[str, ...]]
_Culprit = tuple[str, int | None, tuple[int, ...], tuple[str, ...]]


def counterfactuals(
    diagnosed: Callable[[Collection], Diagnosis], collection: Collection, diagnosis: Diagnosis
) -> tuple[Counterfactual, ...]:
    """What becomes of the verdict without the evidence of its first roots: one file at a time, one kind of source at a
    time. Empty where there is no root, or too much for it (`MOST_FACTS`, `MOST_FINDINGS`)."""
    if not diagnosis.root_causes or len(collection.facts) > MOST_FACTS or len(diagnosis.findings) > MOST_FINDINGS:
        return ()
    held = _culprits(diagnosis)
    trials = list(dict.fromkeys(_carriers(diagnosis)))[:_TRIALS]
    found = []
    for kind, paths in trials:
        other = diagnosed(_without(collection, set(paths)))
        found.append(Counterfactual(kind, paths, flips=_culprits(other) != held, verdict=other.verdict))
    return tuple(found)


def _culprits(diagnosis: Diagnosis) -> set[_Culprit]:
    """What the verdict says: each root's cause and where it is. With a witness less it is the same, and so is the fault of
    a device whose ranks are not known any more."""
    roots = [finding for finding in diagnosis.findings if finding.id in diagnosis.root_causes]
    return {(root.cause, root.place.device, () if _on_device(root) else root.place.ranks, root.hosts) for root in roots}


def _on_device(root: Finding) -> bool:
    return root.place.device is not None and bool(root.hosts)


def _carriers(diagnosis: Diagnosis) -> Iterator[_Evidence]:
    """The sources that hold the evidence of the first roots: all of a kind together, then each file alone."""
    sources = {source.path: source for source in diagnosis.sources}
    for root_id in diagnosis.root_causes[:_ROOTS]:
        root = next(finding for finding in diagnosis.findings if finding.id == root_id)
        carrying = [sources[path] for path in sorted({span.path for span in root.evidence}) if path in sources]
        for kind in sorted({source.kind for source in carrying}):
            yield kind, _of_kind(diagnosis, kind)
        for source in carrying:
            yield source.kind, (source.path,)


def _of_kind(diagnosis: Diagnosis, kind: str) -> tuple[str, ...]:
    return tuple(sorted(source.path for source in diagnosis.sources if source.kind == kind))


def _without(collection: Collection, paths: set[str]) -> Collection:
    kept = [source for source in collection.sources if source.path not in paths]
    ids = {source.id for source in kept}
    gone = {source.id for source in collection.sources} - ids
    return replace(collection, sources=tuple(kept), facts=tuple(f for f in collection.facts if f.source not in gone))
