"""A directory in which results are kept between runs; what cannot be kept or trusted is simply not there.

Others must not be able to put anything in it: it is used only if it is this user's and nobody else can write to it. It is
opened once, and all is read and written relative to it, so that it cannot be exchanged in between.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress

from neuron_doctor.engine.digests import blake2b
from neuron_doctor.userdirs import user_directory

#: Names the directory, or turns the cache off.
VARIABLE, OFF = "NEURON_DOCTOR_CACHE", "off"
#: So many entries of each sort are left: several versions and packs may be in use at a time.
NEWEST = 6
_DIGEST = 32
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Keep:
    """Named bytes. Without a directory nothing is found and nothing is stored."""

    def __init__(self, directory: str | None) -> None:
        self._at = _opened(directory) if directory else None

    def get(self, sort: str, key: str) -> bytes | None:
        """What was stored under this key, whole; None if there is no such thing."""
        if self._at is None:
            return None
        try:
            file = os.open(f"{sort}-{key}", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self._at)
            with open(file, "rb", buffering=0) as stream:
                digest, content = (stream.read(_DIGEST), stream.read()) if _is_ours(os.fstat(file)) else (b"", b"")
        except OSError:
            return None
        return content if content and blake2b(content, digest_size=_DIGEST).digest() == digest else None

    def put(self, sort: str, key: str, content: bytes) -> None:
        """Store these bytes, in one step: others see all of them or nothing."""
        if self._at is None:
            return
        name = f".{sort}-{os.urandom(8).hex()}"
        try:
            file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=self._at)
            try:
                with open(file, "wb") as stream:
                    stream.write(blake2b(content, digest_size=_DIGEST).digest() + content)
                os.replace(name, f"{sort}-{key}", src_dir_fd=self._at, dst_dir_fd=self._at)
            except OSError:
                os.unlink(name, dir_fd=self._at)
                return
            self._tidy(sort)
        except OSError:
            return

    def _tidy(self, sort: str) -> None:
        """Remove all but the newest of a sort, and what a killed process left half written."""
        at = self._at
        if at is None:
            return
        names = [name for name in os.listdir(at) if name.startswith((f"{sort}-", f".{sort}-"))]
        aged: list[tuple[int, str]] = []
        for name in names:
            with suppress(OSError):
                aged.append((os.stat(name, dir_fd=at, follow_symlinks=False).st_mtime_ns, name))
        for _, name in sorted(aged)[:-NEWEST]:
            with suppress(OSError):
                os.unlink(name, dir_fd=at)


def directory_of(environment: Mapping[str, str]) -> str | None:
    """Where this user's results are kept: as $NEURON_DOCTOR_CACHE says (`off`: nowhere), else where caches are kept."""
    said = environment.get(VARIABLE)
    if said:
        return None if said == OFF else os.path.abspath(said)
    directory = user_directory(environment, "XDG_CACHE_HOME", ".cache")
    return None if directory is None else os.fspath(directory)


def keep_of_user() -> Keep:
    """What this user keeps between runs."""
    return Keep(directory_of(os.environ))


def _opened(directory: str) -> int | None:
    """The directory, made if need be; None if it cannot be opened or others could write to it."""
    try:
        os.makedirs(os.path.dirname(directory), 0o700, exist_ok=True)
        with suppress(FileExistsError):
            os.mkdir(directory, 0o700)
        at = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    if _is_ours(os.fstat(at)):
        return at
    os.close(at)
    return None


def _is_ours(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and not status.st_mode & _OTHERS_WRITE
