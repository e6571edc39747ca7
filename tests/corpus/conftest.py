"""A small job by hand, for the tests of the simulator's writers: four ranks on two hosts, one step a minute."""

from collections.abc import Callable

import pytest

from neuron_doctor.corpus.simulator.history import Call, End, Event, Frame, History, Life, Op, StepDone
from neuron_doctor.corpus.simulator.job import Axis, Group, Host, HostClock, Job, Seat

START = 1_750_000_000.0
STEPS, STEP = 5, 60.0
GIVEN_UP = 600.0  # seconds after which the watchdog fails a call
FRAME = Frame("train_step", "/opt/ml/code/train.py", 120)


@pytest.fixture(scope="session")
def start() -> float:
    return START


@pytest.fixture(scope="session")
def hand_made() -> Callable[..., History]:
    return history


def job(clock: HostClock, pods: bool) -> Job:
    hosts = tuple(
        Host(
            name=f"ip-10-1-2-{3 + index}",
            address=f"10.1.2.{3 + index}",
            instance_id=f"i-0abcdef012345678{index}",
            instance_type="trn1.32xlarge",
            pod=f"llama-worker-{index}" if pods else None,
            devices=16,
            cores_per_device=2,
            boot=START - 90_000 - index,
            clock=clock,
        )
        for index in range(2)
    )
    seats = tuple(Seat(rank, rank // 2, rank % 2, rank % 2, rank % 2 * 2, 4000 + rank) for rank in range(4))
    return Job("llama", 4711, hosts, seats, (Group("0", "default_pg", Axis.WORLD, (0, 1, 2, 3)),), START)


def call(
    rank: int, ordinal: int, at: float, *, completed: bool = True, started: bool = True, failed: float | None = None
) -> Call:
    return Call(
        rank=rank,
        group="0",
        op=Op.ALL_REDUCE,
        ordinal=ordinal,
        input_sizes=((1024,),),
        output_sizes=((1024,),),
        dtype="Float",
        frames=(FRAME,),
        issued=at,
        started=at + 0.001 if started else None,
        completed=at + 0.5 if completed else None,
        failed=failed,
    )


def history(
    *events: Event,
    silent: tuple[int, ...] = (),
    stuck: tuple[int, ...] = (),
    ends: bool = False,
    pods: bool = False,
    offset: float = 0.0,
) -> History:
    """Five steps; then ranks in `silent` issue nothing more, those in `stuck` issue what never starts on their device."""
    made = job(HostClock(offset), pods)
    steps = [
        StepDone(time=START + 30 + STEP * (step + 1), rank=rank, step=step, loss=2.0 - step / 10, seconds=STEP)
        for step in range(STEPS)
        for rank in range(4)
    ]
    lives = tuple(_life(rank, rank not in silent, rank not in stuck, ends) for rank in range(4))
    ordered = tuple(sorted((*steps, *events), key=lambda event: event.time))
    return History(made, lives, ordered, START + 1200, {"runtime": "2.20.11.0", "driver": "2.16.7.0"})


def _life(rank: int, hangs: bool, starts: bool, ends: bool) -> Life:
    calls = [call(rank, step, START + 30 + STEP * step + 50) for step in range(STEPS)]
    if hangs:
        at = START + 30 + STEP * STEPS + 50
        calls.append(call(rank, STEPS, at, completed=False, started=starts, failed=at + GIVEN_UP))
    ended = START + 900.0 if ends else None
    end = End.FINISHED if ends else End.HUNG
    return Life(rank, START + rank * 0.1, tuple(calls), STEPS - 1, end, ended, 0 if ends else None)
