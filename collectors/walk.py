"""Finds the files under the given paths, in a fixed order, and refuses what is no file."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct, field

from neuron_doctor.collectors.urls import is_url, listed

#: What a user types for standard input.
STDIN = "-"
#: Links into these are not followed: reading there can block, or never end.
_KERNEL_FOLDERS = ("/proc/", "/sys/", "/dev/")
#: Paths that a shell or a user gives for an open file: `<(kubectl logs x)`, /dev/stdin.
_OPEN_FILES = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin")
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class MissingPath(Exception):
    """A given path does not exist; the message is the path."""


class Found(Struct, frozen=True):
    """A file to read. `path` is what reports show, `location` what opens it; with a `problem` there is nothing to open.
    `size` is in bytes, -1 where it is not known (a pipe)."""

    path: str
    location: str
    size: int = -1
    problem: str = ""


def printable(name: str) -> str:
    """`name` with everything that a terminal might obey escaped; bytes that are not UTF-8 as `\\xNN`."""
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else _escaped(c) for c in name)


def _escaped(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # a byte that was not UTF-8 (PEP 383)
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def find(paths: Sequence[str], labels: Mapping[str, str] | None = None) -> Iterator[Found]:
    """The files in and under `paths`, path after path, each folder sorted by name, links after all files of their path.

    `labels`: name by path, for the paths that are shown under another name: `{"logs/": "run-1"}` shows run-1/x.log.
    Raises MissingPath before anything is yielded, and NoStore for a URL whose store does not answer.
    """
    for path in paths:
        _check(path)
    names = {os.path.normpath(path): name for path, name in (labels or {}).items()}
    return (found for path in paths for found in _under(path, names.get(os.path.normpath(path), "")))


def _check(path: str) -> None:
    try:
        if path != STDIN and not is_url(path):
            os.stat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise MissingPath(path) from error
    except OSError:
        return  # it is there; what is wrong with it becomes a problem of its own


def _under(path: str, label: str) -> Iterator[Found]:
    typed = path.removeprefix("./").rstrip("/") or path
    shown = printable(f"{label}/{os.path.basename(typed)}" if label else typed)
    if path == STDIN or path.startswith(_OPEN_FILES):
        yield Found(shown, path)
        return
    if is_url(path):
        prefix = label or printable(path.rstrip("/"))
        for below, url, size in listed(path):
            yield Found(f"{prefix}/{printable(below)}" if below else prefix, url, size)
        return
    try:
        status = os.stat(path)
    except OSError as error:
        yield _unreadable(shown, error)
        return
    if stat.S_ISDIR(status.st_mode):
        prefix = f"{label}/" if label else "" if typed in {".", "./"} else os.path.join(typed, "")
        yield from _folder(_Visit(os.path.join(path, ""), prefix, {_identity(status)}))
    else:
        yield _file(shown, path, status)


class _Visit(Struct, frozen=True):
    """The walk under one folder: `root` with its slash, `prefix` that is shown in its place, what was met so far by
    device and inode, and the links that wait until all real files have been met."""

    root: str
    prefix: str
    seen: set[tuple[int, int]]
    links: deque[str] = field(default_factory=deque)

    def shown(self, location: str) -> str:
        return printable(self.prefix + location[len(self.root) :])


def _folder(visit: _Visit) -> Iterator[Found]:
    yield from _tree(visit.root, visit)
    above = _folders_above(visit.root)
    while visit.links:
        yield from _link(visit.links.popleft(), visit, above)


def _tree(folder: str, visit: _Visit) -> Iterator[Found]:
    """The files of a folder and its folders, sorted by name, each once; links are put off. No recursion: a hostile tree
    can be deeper than Python's stack."""
    waiting = _entries(folder, visit)
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, Found):
            yield entry
        elif entry.is_symlink():
            visit.links.append(entry.path)
        else:
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError as error:
                yield _unreadable(visit.shown(entry.path), error)
                continue
            if (identity := _identity(status)) in visit.seen:
                continue
            visit.seen.add(identity)
            if stat.S_ISDIR(status.st_mode):
                waiting += _entries(entry.path, visit)
            else:
                yield _file(visit.shown(entry.path), entry.path, status)


def _entries(folder: str, visit: _Visit) -> list[os.DirEntry[str] | Found]:
    """The entries of a folder, the first by name last; for one that cannot be listed, what to say of it."""
    try:
        with os.scandir(folder) as entries:
            return [*sorted(entries, key=lambda entry: entry.name, reverse=True)]
    except OSError as error:
        return [_unreadable(visit.shown(folder), error)]


def _link(location: str, visit: _Visit, above: frozenset[tuple[int, int]]) -> Iterator[Found]:
    """What a symbolic link leads to, if nothing else has led there before."""
    shown = visit.shown(location)
    try:
        status = os.stat(location)
    except OSError as error:
        yield _unreadable(shown, error)
        return
    identity = _identity(status)
    if identity in visit.seen:
        return
    visit.seen.add(identity)
    if os.path.join(os.path.realpath(location), "").startswith(_KERNEL_FOLDERS):
        yield Found(shown, location, problem="a link into the kernel's files: not read")
    elif identity in above:
        yield Found(shown, location, problem="a link to a folder above: not followed")
    elif stat.S_ISDIR(status.st_mode):
        yield from _tree(location, visit)
    else:
        yield _file(shown, location, status)


def _folders_above(root: str) -> frozenset[tuple[int, int]]:
    """The folders that `root` stands in: a link to one of them would lead round, and out into everything."""
    folder, above = os.path.realpath(root), set()
    while (parent := os.path.dirname(folder)) != folder:
        folder = parent
        with suppress(PermissionError):  # a link cannot lead there either
            above.add(_identity(os.stat(folder)))
    return frozenset(above)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _file(shown: str, location: str, status: os.stat_result) -> Found:
    if stat.S_ISREG(status.st_mode):
        return Found(shown, location, status.st_size)
    kind = _KINDS.get(stat.S_IFMT(status.st_mode), "no regular file")
    return Found(shown, location, problem=f"{kind}, not a file: not read")


def _unreadable(shown: str, error: OSError) -> Found:
    return Found(shown, shown, problem=f"cannot be read: {error.strerror}")
