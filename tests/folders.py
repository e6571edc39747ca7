"""Folders of evidence, as users have them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def filled(folder: Path, files: Mapping[str, str]) -> Path:
    """The folder with these files, by their paths below it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
