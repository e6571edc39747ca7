"""Which events concern which host: what the writers of a host's sources start from."""

from collections.abc import Mapping

from neuron_doctor.corpus.simulator.history import Event, History, StepDone
from neuron_doctor.corpus.simulator.job import Job


def host_of(event: Event, job: Job) -> int | None:
    """The host of an event: its own, or that of its rank."""
    if event.host is None and event.rank is not None:
        return job.seats[event.rank].host
    return event.host


def place_of(event: Event, job: Job) -> tuple[int, int]:
    """The device and the core of an event, from its rank's seat where it does not tell."""
    seat = job.seats[event.rank] if event.rank is not None else None
    device = event.device if event.device is not None else (seat.device if seat is not None else 0)
    core = event.core if event.core is not None else (seat.core if seat is not None else 0)
    return device, core


def by_host(history: History) -> Mapping[int, tuple[Event, ...]]:
    """The events of each host in time order, without the steps: progress leaves nothing on a host."""
    found: dict[int, list[Event]] = {host: [] for host in range(len(history.job.hosts))}
    for event in history.events:
        if not isinstance(event, StepDone):
            host = host_of(event, history.job)
            if host is not None:
                found[host].append(event)
    return {host: tuple(events) for host, events in found.items()}
