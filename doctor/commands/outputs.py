"""Where a command writes: a file that it is told of, or standard output; what cannot be written is told in one line."""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import typer

from neuron_doctor.exits import Exit


def check_writable(file: Path, status: int = Exit.USAGE) -> None:
    """End the program where it is plain already that the file cannot be written: before everything is read, not after."""
    if file.is_dir():
        stop(str(file), "it is a directory", status)
    if not file.parent.is_dir():
        stop(str(file), f"there is no directory {file.parent}", status)
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        stop(str(file), "Permission denied", status)


def write(file: Path, data: bytes, status: int = Exit.USAGE) -> None:
    """Write the whole file or none of it: somebody may look while it is written, and what is there is kept until then. A device
    or a pipe is written to, not replaced. That it cannot be written ends the program with this status."""
    try:
        if _is_no_file(file):
            file.write_bytes(data)
        else:
            _replace(Path(os.path.realpath(file)), data)  # where a link leads: the link stays
    except OSError as error:
        stop(str(file), error.strerror, status)


def _is_no_file(file: Path) -> bool:
    """Whether it is a stream, or a name for what this process has open already (`/dev/stdout`), be it a file."""
    called = os.path.abspath(file)  # noqa: PTH100 - which follows no link
    return called.startswith(("/dev/", "/proc/")) or (file.exists() and not file.is_file())


def _replace(file: Path, data: bytes) -> None:
    """Put a new file in the place of the old one, if there is one, with its owner and its rights."""
    old = file.stat() if file.exists() else None
    if file.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if old and not os.access(file, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    beside = file.with_name(f".neuron-doctor-{os.urandom(8).hex()}")
    try:
        at = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except PermissionError:
        if old is None:
            raise
        file.write_bytes(data)  # the file may be changed, its directory not
        return
    try:
        with os.fdopen(at, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(at)  # else a crash may leave the new name without the new bytes
        if old:
            with suppress(OSError):
                os.chown(beside, old.st_uid, old.st_gid)
            beside.chmod(stat.S_IMODE(old.st_mode))
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)


def stop(what: str, why: str | None, status: int) -> NoReturn:
    """End the program because something cannot be written."""
    print(f"neuron-doctor: {what} cannot be written: {why}", file=sys.stderr)
    raise typer.Exit(status)


def forsake_stdout() -> None:
    """Let nothing more be written to standard output, for it cannot be: the interpreter would try again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
