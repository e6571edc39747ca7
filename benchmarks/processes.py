"""What a command costs: wall and CPU seconds of all its processes, and the memory of the largest."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

#: A program and its arguments.
Command = tuple[str, ...]

#: Linux counts into a child's peak memory what its parent held when it was made: so a small process starts it. `wait4`
#: adds the times of the child's own children, and gives the peak of the largest.
_MEASURE = """
import os, sys, time
null = os.open(os.devnull, os.O_RDWR)
quiet = [(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, null, 1)]
began = time.perf_counter()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
_, status, usage = os.wait4(child, 0)
wall = time.perf_counter() - began
print(os.waitstatus_to_exitcode(status), wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of wall and CPU, and the peak of the largest process in MB (of 2^20 bytes)."""

    wall: float
    cpu: float
    peak_mb: float


#: How a program ends that has done what it was asked, where that is not 0 alone: nothing was found.
_ENDS_WELL = {"rg": (0, 1)}


class CommandFailed(Exception):
    """A command that was to be measured did not succeed; says which, and what it wrote."""


def cost_of(command: Command) -> Cost:
    """Run a command, its output thrown away, and say what it cost. Raises CommandFailed."""
    starter = [sys.executable, "-I", "-S", "-c", _MEASURE, *command]
    done = subprocess.run(starter, capture_output=True, text=True, check=False, env=environment())
    if done.returncode:
        raise CommandFailed(f"{command[0]} could not be started: {done.stderr.strip()[-500:]}")
    status, wall, cpu, peak_kb = done.stdout.split()
    if int(status) not in _ENDS_WELL.get(command[0], (0,)):
        raise CommandFailed(f"{' '.join(command)[:300]} ended with {status}: {done.stderr.strip()[-500:]}")
    return Cost(float(wall), float(cpu), int(peak_kb) / 1024)


def output_of(command: Command) -> bytes:
    """What a command prints. Raises CommandFailed."""
    done = subprocess.run(command, capture_output=True, check=False, env=environment())
    if done.returncode:
        raise CommandFailed(f"{' '.join(command)[:300]} ended with {done.returncode}: {done.stderr[-500:]!r}")
    return done.stdout


def environment() -> dict[str, str]:
    """This process's, with the programs that are installed beside this Python first."""
    return dict(os.environ) | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}


def program(name: str) -> str | None:
    """Where a program is; None where it is not installed."""
    return shutil.which(name, path=environment()["PATH"])
