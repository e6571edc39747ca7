"""Digests without OpenSSL, which `hashlib` loads at once: that takes 3.6 MB, and as long as ten modules of ours.

They are those that `hashlib` gives where OpenSSL has none. Its SHA-256 is four times as fast: for megabytes, BLAKE2 is taken.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hashlib import blake2b, sha256
else:

    def _first(name: str, *modules: str) -> Any:
        """What the first module that is here calls so."""
        for module in modules:
            try:
                return getattr(import_module(module), name)
            except (ImportError, AttributeError):
                continue
        raise ImportError(name)

    sha256 = _first("sha256", "_sha2", "_sha256", "hashlib")
    blake2b = _first("blake2b", "_blake2", "hashlib")

__all__ = ["blake2b", "sha256"]
