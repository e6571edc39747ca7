"""What a pack says of itself: its name and version, the oldest engine that it is for, and what it consists of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from neuron_doctor.engine.digests import sha256
from neuron_doctor.engine.errors import Location
from neuron_doctor.engine.expressions import version_of
from neuron_doctor.engine.packfiles import MANIFEST, PackFile
from neuron_doctor.engine.rulebook import Pack
from neuron_doctor.engine.rulefile import Id, Text
from neuron_doctor.engine.shapes import converted
from neuron_doctor.engine.unlinked import Unlinked
from neuron_doctor.engine.yamlfile import Document

_VERSION = r"^\d+(\.\d+)*$"


class ManifestDoc(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The manifest of a pack, `pack.yaml` at its top. `digest`: of all its other YAML files, as `rules seal` writes it."""

    name: Id
    version: Text
    minimum_engine: Annotated[
        str, Meta(pattern=_VERSION, description="a version of neuron-doctor in quotes, such as '0.1'")
    ]
    description: Text | None = None
    digest: (
        Annotated[str, Meta(pattern="^sha256:[0-9a-f]{64}$", description="`sha256:` and 64 hexadecimal digits")] | None
    ) = None


def manifest_schema() -> dict[str, object]:
    """The JSON schema (2020-12) of a manifest, for editors."""
    return msgspec.json.schema(ManifestDoc)


def digest_of(files: Iterable[PackFile]) -> str:
    """What a pack consists of, in 64 hexadecimal digits: the paths and contents of its YAML files but the manifest."""
    known = sha256()
    for file in sorted(files, key=lambda file: file.inner):
        if file.inner != MANIFEST:
            known.update(f"{file.inner}\0{len(file.content)}\0".encode("utf-8", "surrogateescape"))
            known.update(file.content)
    return known.hexdigest()


def by_pack(files: Iterable[PackFile]) -> Iterator[list[PackFile]]:
    """The files of each pack, in the order of the packs."""
    packs: dict[str, list[PackFile]] = {}
    for file in files:
        packs.setdefault(file.root, []).append(file)
    yield from packs.values()


def pack_of(files: Sequence[PackFile], document: Document | None, loader: Unlinked, version: str) -> Pack | None:
    """The pack that these files are, by its manifest if it has one; None if it is not for this engine, which is noted.
    `version` is that of this program."""
    sha, base = digest_of(files), files[0].root
    doc = converted(loader, document, ManifestDoc) if document else None
    if document is None or doc is None:
        loader.claim("pack", files[0].pack or base.rpartition("/")[2], Location(base))
        return Pack(files[0].pack or base.rpartition("/")[2], "", sha, base=base)
    loader.claim("pack", doc.name, document.value("name"))
    if doc.digest and doc.digest != f"sha256:{sha}":
        said = f"the files of the pack are not those of this digest: theirs is sha256:{sha}"
        loader.complain(document.value("digest"), said, "get the pack anew, or seal it: `rules seal`", "digest")
    needed, own = version_of(doc.minimum_engine), version_of(version)
    if needed and own and own < needed:
        said = f"this pack is for neuron-doctor {doc.minimum_engine} or newer, and this is {version}"
        loader.complain(document.value("minimum_engine"), said, "update neuron-doctor, or take an older pack", "engine")
        return None
    return Pack(doc.name, doc.version, sha, base=base)


def misplaced(file: PackFile, loader: Unlinked) -> bool:
    """Whether it is a manifest below the top of a pack, which is noted."""
    if file.inner == MANIFEST or not file.inner.endswith(f"/{MANIFEST}"):
        return False
    loader.complain(
        Location(file.shown), "a manifest stands at the top of its pack", "name the folder that it is in", "file"
    )
    return True
