"""Shards on all cores of this machine: processes that may be killed without anything being lost."""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.__about__ import VERSION
from neuron_doctor.engine.facts import Problem
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.packs import load
from neuron_doctor.plugins import engine_for, plugins_of
from neuron_doctor.request import Packs
from neuron_doctor.scan import Engine, Scanned, given_up
from neuron_doctor.shards import Shard, alone, scan

#: Shards that are handed out at once, for each process: none waits for work, and few are lost with a process.
AHEAD = 2
#: So often the processes may be killed before each shard gets one to itself.
PATIENCE = 2

_AGAIN = "a worker process was killed when this was being read or about to be: read again"
_GIVEN_UP = "whatever process reads this is killed (no memory left?): not read"


def scan_in_processes(
    shards: Mapping[int, Shard], packs: Packs, jobs: int, done: dict[int, list[Scanned]]
) -> Iterator[int]:
    """Put what the shards say into `done`, by their numbers, each of which is given when it is there. If a process is
    killed, what was handed out is done again."""
    lost: set[int] = set()
    for _ in range(PATIENCE):
        left = {number: shard for number, shard in shards.items() if number not in done}
        if not left:
            return
        with _pool(jobs) as pool:
            handed_out: dict[Future[list[Scanned]], int] = {}
            for number, scanned in _round(pool, left, packs, jobs, handed_out):
                done[number] = _told(scanned, _AGAIN) if number in lost else scanned
                yield number
            lost |= set(handed_out.values())
    for number in [n for n in shards if n not in done]:
        done[number] = _told(_by_itself(shards[number], packs), _AGAIN)
        yield number


def _round(
    pool: Executor,
    shards: Mapping[int, Shard],
    packs: Packs,
    jobs: int,
    handed_out: dict[Future[list[Scanned]], int],
) -> Iterator[tuple[int, list[Scanned]]]:
    """What can be done before a process is killed; `handed_out` are the shards that were lost then."""
    waiting = iter(shards.items())
    release = release_of(packs)
    while True:
        while len(handed_out) < AHEAD * jobs and (following := next(waiting, None)):
            try:
                handed_out[pool.submit(work, Task(packs, release, following[1]))] = following[0]
            except BrokenProcessPool:
                return
        if not handed_out:
            return
        for future in wait(handed_out, return_when=FIRST_COMPLETED).done:
            if isinstance(future.exception(), BrokenProcessPool):
                return
            scanned = future.result()
            yield handed_out.pop(future), scanned


def _by_itself(shard: Shard, packs: Packs) -> list[Scanned]:
    """A shard that may be what kills its process: one file after the other, each in a process of its own."""
    scanned: list[Scanned] = []
    for part in alone(shard):
        with _pool(1) as pool:
            results = [result for _, result in _round(pool, {0: part}, packs, 1, {})]
        scanned += results[0] if results else [given_up(part.files[0].path, _GIVEN_UP, part.extent)]
    return scanned


def _told(scanned: Sequence[Scanned], what: str) -> list[Scanned]:
    """The same with a problem in each source."""
    problem = Problem(what)
    return [replace(s, source=replace(s.source, problems=(*s.source.problems, problem))) for s in scanned]


@contextmanager
def _pool(jobs: int) -> Iterator[Executor]:
    # Forked where that is safe (there are no threads yet): a worker then starts in a hundredth of a second.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin)
    finished = False
    try:
        yield pool
        finished = True
    finally:
        if not finished:  # the time is up, or somebody pressed Ctrl-C: nobody waits for what they are at
            for process in multiprocessing.active_children():
                process.kill()
        pool.shutdown(wait=True, cancel_futures=True)


def _begin() -> None:
    """The parent ends its workers; a Ctrl-C at the terminal is for the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class OtherRelease(Exception):
    """A worker on another machine has another release of the program, or other rules."""


class Task(Struct, frozen=True):
    """A shard, and with which rules to scan it; `release` as `release_of` says."""

    packs: Packs
    release: str
    shard: Shard


@cache
def _loaded(packs: Packs) -> Rulebook:
    return load(packs)


@cache
def _engine(packs: Packs) -> Engine:
    """The engine of a worker, which is made for its first shard."""
    return engine_for(packs, _loaded(packs))


def release_of(packs: Packs) -> str:
    """What a worker must have in common with who gives it work."""
    plugins = "".join(f", {one.package} {one.version}" for one in plugins_of(packs))
    return f"neuron-doctor {VERSION} with rules {_loaded(packs).sha256[:12]}{plugins}"


def work(task: Task) -> list[Scanned]:
    """The task of a worker process, here or on another machine. Raises OtherRelease."""
    if release_of(task.packs) != task.release:
        raise OtherRelease(f"a worker has {release_of(task.packs)}, this is {task.release}")
    return scan(task.shard, _engine(task.packs))
