"""Writes the digest of a pack into its manifest, and leaves the rest of the manifest as its author wrote it."""

from __future__ import annotations

from pathlib import Path

from neuron_doctor.engine.errors import RulebookError
from neuron_doctor.engine.manifest import ManifestDoc, digest_of
from neuron_doctor.engine.packfiles import MANIFEST, read_packs, root_of
from neuron_doctor.engine.regexes import regex
from neuron_doctor.engine.shapes import converted
from neuron_doctor.engine.unlinked import Unlinked
from neuron_doctor.engine.yamlfile import read_yaml
from neuron_doctor.request import UsageError

_DIGEST = regex(r"(?m)^digest:.*(?:\n|\Z)")


def sealed(directory: Path) -> str:
    """Seal the pack of a folder; its manifest's digest. Raises UsageError where there is none to write to, RulebookError where
    it is wrong in something else than its digest."""
    manifest = directory / MANIFEST
    if not manifest.is_file():
        raise UsageError(f"{manifest} cannot be read: a pack has a manifest, with its name and version")
    files = read_packs([root_of(directory)])
    if faults := [f"{file.shown}: {file.fault}" for file in files if file.fault]:
        raise UsageError(faults[0])
    try:
        before = manifest.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise UsageError(f"{manifest} cannot be read: {why}") from error
    digest = f"sha256:{digest_of(files)}"
    text = _DIGEST.sub("", before).rstrip("\n") + f"\ndigest: {digest}\n"
    _check(text, f"{directory.name}/{MANIFEST}")
    try:
        manifest.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"{manifest} cannot be written: {error.strerror}") from error
    return digest


def _check(text: str, shown: str) -> None:
    loader = Unlinked()
    converted(loader, read_yaml(text, shown), ManifestDoc)
    if loader.errors:
        raise RulebookError(loader.errors)
