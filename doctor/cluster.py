"""Shards on the workers of a Dask cluster: the same work as in processes here, over the same interface.

The cluster is named on the command line and nowhere else. Its workers must see the files under the same paths and have
the same release and rules, which is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING

from neuron_doctor.request import Packs, UsageError
from neuron_doctor.scan import Scanned, given_up
from neuron_doctor.shards import Shard, alone
from neuron_doctor.workers import OtherRelease, Task, release_of, work

if TYPE_CHECKING:
    from distributed import Client

#: A shard whose workers were killed so often is given up.
ATTEMPTS = 3
_GIVEN_UP = "whatever worker reads this is killed (no memory left?): not read"


def scan_on_cluster(
    shards: Mapping[int, Shard], packs: Packs, scheduler: str, done: dict[int, list[Scanned]]
) -> Iterator[int]:
    """Put what the shards say into `done`, by their numbers, each of which is given when it is there. `scheduler` is the
    address or the file of a Dask scheduler. Raises UsageError where there is none, or one with another release."""
    client = _client(scheduler)
    from distributed.scheduler import KilledWorker  # noqa: PLC0415 - an optional extra, here for sure by now

    release = release_of(packs)
    executor: Callable[..., Executor] = client.get_executor  # it is not typed there, and nor is the client below
    with client, executor(pure=False) as pool:
        numbers = {pool.submit(work, Task(packs, release, shard)): number for number, shard in shards.items()}
        for future in as_completed(numbers):
            number = numbers[future]
            try:
                done[number] = future.result()
            except KilledWorker:
                parts = alone(shards[number])
                done[number] = [given_up(part.files[0].path, _GIVEN_UP, part.extent) for part in parts]
            except OtherRelease as error:
                raise UsageError(f"--scheduler {scheduler}: {error}") from error
            yield number


def _client(scheduler: str) -> Client:
    try:
        import dask  # noqa: PLC0415 - an optional extra
        from distributed import Client  # noqa: PLC0415
    except ImportError as error:
        raise UsageError("--engine dask: install neuron-doctor[dask]") from error
    dask.config.set({"distributed.scheduler.allowed-failures": ATTEMPTS})
    connected: Callable[..., Client] = Client
    try:
        return connected(scheduler_file=scheduler) if Path(scheduler).is_file() else connected(scheduler)
    except (OSError, ValueError) as error:
        raise UsageError(f"--scheduler {scheduler}: {error}") from error
