"""Rule files as they lie on disk, known without reading them: by their paths, sizes and times.

A rulebook is known by what is in its files (`rulecache`); which rulebook files of these times made is kept beside it, so that a
start need not read hundreds of files. The time that counts is that of the inode: unlike that of the content, nothing can set it
back, neither a copy that keeps times nor an editable install of an older version. Two changes within one tick of the clock have
one time, so files that have just been changed are not known by it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence

from neuron_doctor.__about__ import VERSION
from neuron_doctor.engine.digests import sha256
from neuron_doctor.engine.packfiles import PackFile, Root, paths_of

#: Longer than the tick of any file system: that of FAT is two seconds.
_SETTLED_NS = 3 * 10**9


def stamp_of(roots: Sequence[Root], site: PackFile | None, code: Sequence[str]) -> str:
    """What stands for the files of the packs, the site file and the files of this program that make rulebooks (`code`), as they
    lie now; nothing where one of them was changed just now, or cannot be looked at."""
    known = sha256(repr((VERSION, sys.version_info[:2], roots, site)).encode("utf-8", "surrogateescape"))
    newest = 0
    try:
        for path in (*code, *_paths(roots)):
            status = os.stat(path)
            said = (path, status.st_dev, status.st_ino, status.st_mode, status.st_size, status.st_ctime_ns)
            known.update(repr(said).encode("utf-8", "surrogateescape"))
            newest = max(newest, status.st_ctime_ns)
    except OSError:
        return ""
    return known.hexdigest() if newest < time.time_ns() - _SETTLED_NS else ""


def _paths(roots: Sequence[Root]) -> Iterator[str]:
    return (path for root in roots if not root.fault for path in paths_of(root))
