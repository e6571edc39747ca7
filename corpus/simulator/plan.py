"""Which faults are to be injected where, and how the processes of a site react to failure."""

from dataclasses import dataclass
from enum import StrEnum


class Watcher(StrEnum):
    """Who notices that a job hangs."""

    RUNTIME = "runtime"  # the Neuron runtime's execution timeout
    WATCHDOG = "watchdog"  # the process group's watchdog, which dumps the flight recorder
    NOBODY = "nobody"  # an operator who has everything dumped and collected


@dataclass(frozen=True, slots=True)
class Plan:
    """One fault to be injected: its cause, a variant of it, the rank that it strikes, and where in the program."""

    cause: str
    rank: int
    step: int
    place: float = 0.5  # where in the step, 0..1
    variant: int = 0


@dataclass(frozen=True, slots=True)
class Custom:
    """How the site's processes react to failure."""

    watcher: Watcher = Watcher.WATCHDOG
    watchdog_seconds: float = 600.0
    runtime_seconds: float = 120.0
    rendezvous_seconds: float = 1800.0
    peer_lost: float = 0.5  # the chance that a neighbour notices a closed connection at once
    local_teardown: bool = True  # a launcher ends the other ranks of its host
    job_teardown: bool = False  # and those of the whole job
    limit: int = 24  # how many launches a host issues ahead
