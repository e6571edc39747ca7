"""Choices of how things are written: everything that varies between sites and versions and is not what happened."""

from dataclasses import dataclass
from enum import StrEnum


class Recorder(StrEnum):
    """Who records the flight recorder (flight-recorder.md section 3), or that nobody does."""

    NONE = "none"
    NCCL = "nccl"  # end events seen by the watchdog, no start times
    NCCL_TIMING = "nccl-timing"  # start times and durations too
    HOOK = "hook"  # FlightRecorderHook on a backend with completion hooks
    HOOK_ISSUE_ONLY = "hook-issue-only"
    GLOO = "gloo"


class Launcher(StrEnum):
    """What starts the ranks of a host and reports their ends."""

    TORCHRUN = "torchrun"
    SRUN = "srun"
    MPIRUN = "mpirun"


class Site(StrEnum):
    """How the files are gathered: one directory a host, one flat directory with host names in file names, Kubernetes."""

    PER_HOST = "per-host"
    FLAT = "flat"
    KUBERNETES = "kubernetes"


@dataclass(frozen=True, slots=True)
class Style:
    """All choices of one incident. `prefix` is what dresses the lines of program logs."""

    recorder: Recorder = Recorder.NONE
    recorder_version: str = "2.10"  # schema version, by flight-recorder.md section 2; "none": torch 2.2's bare list
    recorder_json: bool = False
    recorder_active_only: bool = False
    recorder_stale: bool = False  # a rank that wrote no dump still has the one of an older attempt, hours before
    ring: int = 2000
    stacks: bool = True
    launcher: Launcher = Launcher.TORCHRUN
    site: Site = Site.PER_HOST
    logs_per_rank: bool = True  # else one log a host in which its ranks interleave
    prefix: str = "none"  # "none", "torchrun", "srun", "mpirun", "rank", "cri", "syslog"
    runtime_debug: bool = False  # runtime logs at INFO/API level (API:IN / API:OUT) rather than ERROR only
    zone: str | None = "UTC"  # where framework lines print one
    monitor: bool = False
    ndet: bool = False
    dmesg: bool = True
    scheduler: bool = False  # kubectl or slurm output was collected
    noise: float = 0.0  # benign lines per useful line
    utc_offset: int = 0  # seconds east of UTC of what the hosts print as local time (lines without a zone)
    runtime_apart: bool = False  # the runtime logs to files of its own, not into the logs of the programs
