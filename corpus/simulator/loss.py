"""What is lost of an incident's files, and what is added to them, in named cells: so that an evaluation can say what was missing.

`skewed` and `restyled` come before the files are written, `apply` after. The marks are cut with the bytes: a mark stays only
where all of its bytes stay. Marks of a compressed file point into what it decompresses to.
"""

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from random import Random

from neuron_doctor.corpus.simulator.job import Host, HostClock, Job
from neuron_doctor.corpus.simulator.noise_files import noise_files
from neuron_doctor.corpus.simulator.style import Style
from neuron_doctor.corpus.simulator.truth import File, Mark

RANK_LOGS = frozenset({"runtime-log", "framework-log"})
DUMPS = frozenset({"flight-recorder"})
_CUT = RANK_LOGS | {"launcher-log", "dmesg", "monitor"}  # lines: they still read when they are cut
_COPIED = RANK_LOGS | {"launcher-log", "dmesg"}
_SYNCHRONISED = 0.02  # seconds: hosts that run chrony
_DRIFT = 5e-5  # seconds per second, of a free-running clock
_ZONES = (-8, -7, -5, 0, 1, 2, 5.5, 9)  # hours
_NOISY = 2.0
_TORN = 0.5  # a cut falls into this share of a file


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """How one cell damages an incident. Shares are of files, 0 to 1; a share above 0 takes at least one."""

    cell: str
    without: tuple[str, ...] = ()  # sources that were never collected
    logs: float = 0.0  # share of rank logs that are gone
    dumps: float = 0.0
    culprit_logs: bool = False  # the logs of the ranks at fault are gone
    culprit_dumps: bool = False
    tails: float = 0.0  # share of text files whose end is cut off
    heads: float = 0.0
    skew: float = _SYNCHRONISED  # seconds that a wall clock may be off
    noise: float = 0.0  # benign lines per useful line, at least
    copies: float = 0.05  # share of text files that are there twice
    compressed: float = 0.1  # share of files that are gzipped
    strangers: int = 1  # files of unrelated programs, at most


CELLS = (
    Loss(cell="full"),
    Loss(cell="no-recorder", without=("flight-recorder",)),
    Loss(cell="no-dmesg", without=("dmesg",)),
    Loss(cell="no-launcher", without=("launcher-log",)),
    Loss(cell="no-monitor", without=("monitor",)),
    Loss(cell="logs-10", logs=0.1),
    Loss(cell="logs-50", logs=0.5),
    Loss(cell="dumps-15", dumps=0.15),
    Loss(cell="culprit-log-gone", culprit_logs=True),
    Loss(cell="culprit-dump-gone", culprit_dumps=True),
    Loss(cell="cut-tails", tails=0.3),
    Loss(cell="cut-heads", heads=0.3),
    Loss(cell="skewed", skew=600.0),
    Loss(cell="noisy", noise=_NOISY, copies=0.2, compressed=0.3, strangers=6),
    Loss(cell="no-recorder+logs-10", without=("flight-recorder",), logs=0.1),
)


def named(cell: str) -> Loss:
    """The cell of this name."""
    return next(loss for loss in CELLS if loss.cell == cell)


def draw(random: Random) -> Loss:
    """Any cell, each as likely as the others."""
    return random.choice(CELLS)


def skewed(loss: Loss, job: Job, random: Random) -> Job:
    """The job with the clocks of its hosts set: all a little off, or far off where the cell is about that."""
    return replace(job, hosts=tuple(_with_clock(host, loss.skew, random) for host in job.hosts))


def _with_clock(host: Host, skew: float, random: Random) -> Host:
    offset = random.choice((-1, 1)) * skew * random.random() ** 2  # seconds are more common than minutes
    drift = random.uniform(-_DRIFT, _DRIFT) if skew > 1 else 0.0
    return replace(host, clock=HostClock(round(offset, 6), drift))


def restyled(loss: Loss, style: Style, random: Random) -> Style:
    """The style as the cell changes it: more noise, or hosts in another time zone whose lines do not say so."""
    if loss.skew > 1:
        return replace(style, utc_offset=int(random.choice(_ZONES) * 3600), zone=random.choice((None, style.zone)))
    return replace(style, noise=max(style.noise, loss.noise))


def apply(loss: Loss, files: Sequence[File], culprits: Sequence[int], random: Random) -> tuple[File, ...]:
    """The files that are left, damaged and added to. `culprits` are the ranks at fault."""
    seed = random.getrandbits(64)
    left = [file for file in files if file.source not in loss.without]
    left = _thinned(left, RANK_LOGS, loss.logs, _draws(seed, "logs"))
    left = _thinned(left, DUMPS, loss.dumps, _draws(seed, "dumps"))
    if loss.culprit_logs:
        left = _without_ranks(left, RANK_LOGS, culprits)
    if loss.culprit_dumps:
        left = _without_ranks(left, DUMPS, culprits)
    left = [_cut(file, loss, _draws(seed, "cut", file.path)) for file in left]
    left += [copy for file in left for copy in _copies(file, loss.copies, _draws(seed, "copy", file.path))]
    left = [_compressed(file, loss.compressed, _draws(seed, "compress", file.path)) for file in left]
    return (*left, *noise_files(_draws(seed, "strangers").randint(0, loss.strangers), _draws(seed, "noise")))


def _draws(seed: int, *stage: str) -> Random:
    """The chances of one stage or one file: so that the cells of an incident differ in nothing but what they are about."""
    return Random(":".join((str(seed), *stage)))


def _thinned(files: list[File], sources: frozenset[str], share: float, random: Random) -> list[File]:
    """Without a share of the owners of such files: a rank's (or a host's) runtime and framework logs go together."""
    owners = sorted({_owner(file) for file in files if file.source in sources})
    gone = frozenset(random.sample(owners, ceil(len(owners) * share)))
    return [file for file in files if file.source not in sources or _owner(file) not in gone]


def _owner(file: File) -> tuple[int, tuple[int, ...]]:
    return (-1 if file.host is None else file.host, file.ranks)


def _without_ranks(files: list[File], sources: frozenset[str], ranks: Sequence[int]) -> list[File]:
    """Without the files of these ranks; a file that they share with others goes with them."""
    return [file for file in files if file.source not in sources or not set(file.ranks) & set(ranks)]


def _cut(file: File, loss: Loss, random: Random) -> File:
    """The file without its end or its beginning, at any byte, if it is this file's turn."""
    if file.source not in _CUT or not file.data:
        return file
    size = len(file.data)
    until = size - int(size * _TORN * random.random()) if random.random() < loss.tails else size
    since = int(size * _TORN * random.random()) if random.random() < loss.heads else 0
    return _slice(file, since, until)


def _slice(file: File, since: int, until: int) -> File:
    marks = tuple(
        Mark(mark.offset - since, mark.length, mark.fault)
        for mark in file.marks
        if mark.offset >= since and mark.offset + mark.length <= until
    )
    return replace(file, data=file.data[since:until], marks=marks)


def _copies(file: File, share: float, random: Random) -> Iterator[File]:
    """The same lines captured twice: a copy beside the original, whole or only its last part."""
    if file.source in _COPIED and random.random() < share:
        since = random.choice((0, 0, int(len(file.data) * 0.6)))
        line = file.data.find(b"\n", since) + 1 if since else 0
        yield replace(_slice(file, line, len(file.data)), path=_beside(file.path, random))


def _beside(path: str, random: Random) -> str:
    stem, dot, extension = path.rpartition(".")
    if not dot or "/" in extension:
        return f"{path}.bak"
    return f"{stem}{random.choice(('.tee', '.copy', '-1'))}.{extension}"


def _compressed(file: File, share: float, random: Random) -> File:
    if random.random() >= share:
        return file
    return replace(file, path=f"{file.path}.gz", data=gzip.compress(file.data, compresslevel=6, mtime=0))
