"""Where a command writes: a file that it is told of, or standard output; what cannot be written is told in one line."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

import typer

from neuron_doctor.exits import Exit

if TYPE_CHECKING:
    from pathlib import Path


def check_writable(file: Path, status: int = Exit.USAGE) -> None:
    """End the program where it is plain already that the file cannot be written: before everything is read, not after."""
    if file.is_dir():
        stop(str(file), "it is a directory", status)
    if not file.parent.is_dir():
        stop(str(file), f"there is no directory {file.parent}", status)
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        stop(str(file), "Permission denied", status)


def write(file: Path, data: bytes, status: int = Exit.USAGE) -> None:
    """Write a file. That it cannot be written ends the program with this status."""
    try:
        file.write_bytes(data)
    except OSError as error:
        stop(str(file), error.strerror, status)


def write_whole(file: Path, data: bytes) -> None:
    """Write the whole file or none of it: somebody may look while it is written. A device or a pipe is written to, not
    replaced."""
    if file.exists() and not file.is_file():
        write(file, data)
        return
    beside = file.with_name(f".{file.name}.tmp")
    try:
        beside.write_bytes(data)
        beside.replace(file)
    except OSError as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        stop(str(file), error.strerror, Exit.USAGE)


def stop(what: str, why: str | None, status: int) -> NoReturn:
    """End the program because something cannot be written."""
    print(f"neuron-doctor: {what} cannot be written: {why}", file=sys.stderr)
    raise typer.Exit(status)


def forsake_stdout() -> None:
    """Let nothing more be written to standard output, for it cannot be: the interpreter would try again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
