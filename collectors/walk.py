"""Finds the files under the given paths, in a fixed order, and refuses what is no file."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Found:
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
    Raises MissingPath before anything is yielded.
    """
    for path in paths:
        _check(path)
    names = {os.path.normpath(path): name for path, name in (labels or {}).items()}
    return (found for path in paths for found in _under(path, names.get(os.path.normpath(path), "")))


def _check(path: str) -> None:
    try:
        if path != STDIN:
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
    try:
        status = os.stat(path)
    except OSError as error:
        yield _unreadable(shown, error)
        return
    if stat.S_ISDIR(status.st_mode):
        prefix = f"{label}/" if label else "" if typed in {".", "./"} else os.path.join(typed, "")
        yield from _folder(os.path.join(path, ""), prefix, _identity(status))
    else:
        yield _file(shown, path, status)


def _folder(root: str, prefix: str, identity: tuple[int, int]) -> Iterator[Found]:
    """Everything under `root` (with its slash), shown with `prefix` in its place."""
    seen = {identity}
    links: deque[str] = deque()

    def shown(location: str) -> str:
        return printable(prefix + location[len(root) :])

    yield from _tree(root, shown, seen, links)
    above = _folders_above(root)
    while links:
        yield from _link(links.popleft(), shown, seen, links, above)


def _tree(folder: str, shown: Callable[[str], str], seen: set[tuple[int, int]], links: deque[str]) -> Iterator[Found]:
    """The files of a folder and its folders, sorted by name, but links, which are put into `links`. No recursion: a
    hostile tree can be deeper than Python's stack."""
    waiting: list[os.DirEntry[str] | str] = [folder]
    while waiting:
        entry = waiting.pop()
        location = entry if isinstance(entry, str) else entry.path
        try:
            if isinstance(entry, str) or entry.is_dir(follow_symlinks=False):
                waiting.extend(_entries(location))
            elif entry.is_symlink():
                links.append(location)
            else:
                status = entry.stat(follow_symlinks=False)
                seen.add(_identity(status))
                yield _file(shown(location), location, status)
        except OSError as error:
            yield _unreadable(shown(location), error)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """The entries of a folder, the first by name last."""
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name, reverse=True)


def _link(
    location: str,
    shown: Callable[[str], str],
    seen: set[tuple[int, int]],
    links: deque[str],
    above: frozenset[tuple[int, int]],
) -> Iterator[Found]:
    """What a symbolic link leads to, if nothing else has led there before."""
    try:
        status = os.stat(location)
    except OSError as error:
        yield _unreadable(shown(location), error)
        return
    identity = _identity(status)
    if identity in seen:
        return
    seen.add(identity)
    if os.path.realpath(location).startswith(_KERNEL_FOLDERS):
        yield Found(shown(location), location, problem="a link into the kernel's files: not read")
    elif identity in above:
        yield Found(shown(location), location, problem="a link to a folder above: not followed")
    elif stat.S_ISDIR(status.st_mode):
        yield from _tree(location, shown, seen, links)
    else:
        yield _file(shown(location), location, status)


def _folders_above(root: str) -> frozenset[tuple[int, int]]:
    """The folders that `root` stands in: a link to one of them would lead round, and out into everything."""
    folder, above = os.path.realpath(root), set()
    while (parent := os.path.dirname(folder)) != folder:
        folder = parent
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
