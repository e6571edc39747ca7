"""Inputs in S3 and other stores, by URL, through fsspec: only where a user typed the URL."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import BinaryIO, cast

from neuron_doctor.engine.regexes import regex

_URL = regex(r"[a-z][a-z0-9+.-]{1,20}://")


class NoStore(Exception):
    """The store of a URL cannot be reached or listed; the message says why."""


def is_url(path: str) -> bool:
    """Whether this names something in a store and not a file here."""
    return _URL.match(path) is not None


def listed(url: str) -> list[tuple[str, str, int]]:
    """The files in and under a URL, sorted: the path of each below it (empty for itself), its URL, its size in bytes.
    Raises NoStore."""
    try:
        from fsspec.core import url_to_fs  # noqa: PLC0415 - an optional extra
    except ImportError as error:
        raise NoStore(f"{url}: install neuron-doctor[remote]") from error
    try:
        store, root = url_to_fs(url)
        entries = store.find(root, detail=True)
    except (OSError, ValueError, ImportError) as error:
        raise NoStore(f"{url}: {error}") from error
    if not entries:
        raise NoStore(f"{url}: nothing is there")
    return sorted(_entry(store.unstrip_protocol(name), name, root, detail) for name, detail in entries.items())


def _entry(url: str, name: str, root: str, detail: dict[str, object]) -> tuple[str, str, int]:
    size = detail.get("size")
    return name.removeprefix(root).lstrip("/"), url, size if isinstance(size, int) else -1


def opened(url: str) -> AbstractContextManager[BinaryIO]:
    """The file as a stream of bytes. Raises OSError."""
    import fsspec  # noqa: PLC0415 - an optional extra, which `listed` has found

    return cast("AbstractContextManager[BinaryIO]", fsspec.open(url, "rb"))
