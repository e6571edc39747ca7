"""What programs print: steps, compilations, watchdogs, exceptions, and nothing after their end."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from neuron_doctor.corpus.simulator.history import (
    Compiling,
    End,
    Event,
    ExceptionRaised,
    ExecutionFailed,
    Frame,
    History,
    PeerLost,
    ProcessSignalled,
    SetupFailed,
    WaitsForCompileLock,
    WatchdogTimeout,
)
from neuron_doctor.corpus.simulator.style import Recorder, Style
from neuron_doctor.corpus.simulator.truth import File
from neuron_doctor.corpus.simulator.write_framework import files

START = 1_750_000_000.0
NEWS = START + 1000.0
MAKE = Callable[..., History]
AT = {"time": NEWS, "rank": 3, "host": 1}
STACK = (Frame("_validate", "/fsx/train/batching.py", 77), Frame("<module>", "/fsx/train/train.py", 9))
NCCL = Style(recorder=Recorder.NCCL)


def logs(history: History, style: Style = NCCL, seed: int = 1) -> dict[tuple[int, ...], File]:
    return {file.ranks: file for file in files(history, style, Random(seed))}


def log(history: History, style: Style = NCCL) -> str:
    return logs(history, style)[3,].data.decode()


def statements(file: File) -> list[str]:
    return [file.data[mark.offset : mark.offset + mark.length].decode() for mark in file.marks]


def ending(history: History, end: End, after: float = 1001.0, signal: int | None = None) -> History:
    """Rank 3 ends so many seconds after the start."""
    life = replace(history.lives[3], end=end, ended=START + after, signal=signal, standing=STACK)
    return replace(history, lives=(*history.lives[:3], life))


def test_every_rank_has_a_log_that_says_which_rank_it_is(hand_made: MAKE) -> None:
    written = logs(hand_made())
    assert list(written) == [(0,), (1,), (2,), (3,)]
    assert all(file.data and not file.marks for file in written.values())


def test_ranks_of_a_host_share_a_log_where_there_is_one_a_host(hand_made: MAKE) -> None:
    written = logs(hand_made(), Style(logs_per_rank=False, prefix="rank"))
    assert list(written) == [(0, 1), (2, 3)]
    assert b"[rank0]:" in written[0, 1].data
    assert b"[rank1]:" in written[0, 1].data


def test_a_rank_that_never_started_has_no_log(hand_made: MAKE) -> None:
    history = hand_made()
    never = replace(history.lives[3], end=End.NEVER_STARTED, calls=(), last_step=-1)
    assert (3,) not in logs(replace(history, lives=(*history.lives[:3], never)))


def test_an_exception_ends_with_its_type_and_message_and_that_line_states_it(hand_made: MAKE) -> None:
    raised = ExceptionRaised(type="ValueError", message="too long", frames=STACK, fault=0, **AT)
    file = logs(ending(hand_made(raised), End.RAISED))[3,]
    assert [line.removeprefix("[rank3]: ") for line in statements(file)] == ["ValueError: too long"]
    text = file.data.decode()
    assert text.index("Traceback (most recent call last)") < text.index("train.py") < text.index("batching.py")


@pytest.mark.parametrize(
    ("event", "text", "states"),
    [
        (ExecutionFailed(status=1200, **AT), "1200", False),
        (ExecutionFailed(status=1006, fault=0, **AT), "1006", True),
        (PeerLost(peer=0, group="0", **AT), "onnection closed by", False),
        (
            Compiling(seconds=30.0, graph="MODULE_1", failed="error", fault=0, **AT),
            "neuronx-cc compilation failed with 70",
            True,
        ),
        (
            Compiling(seconds=30.0, graph="MODULE_1", failed="killed", fault=0, **AT),
            "[F137] neuronx-cc was forcibly killed",
            True,
        ),
        (SetupFailed(what="name-resolution-failed", fault=0, **AT), "socket.gaierror", True),
        (SetupFailed(what="core-in-use", fault=0, **AT), "available - Requested", True),
    ],
)
def test_a_program_that_raises_echoes_what_failed_below_it(
    hand_made: MAKE, event: Event, text: str, states: bool
) -> None:
    file = logs(ending(hand_made(event), End.RAISED, 1040.0))[3,]
    said = file.data.decode()
    assert "Traceback" in said
    assert text in said
    assert bool(file.marks) == states


@pytest.mark.parametrize(
    ("recorder", "text"),
    [
        (Recorder.NCCL, "OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, Timeout(ms)=600000) ran for"),
        (Recorder.HOOK, "Work timed out: op=all_reduce, seq=6"),
        (Recorder.GLOO, "Timed out waiting 600000ms for recv operation to complete"),
    ],
)
def test_each_watchdog_gives_up_in_its_own_words(hand_made: MAKE, recorder: Recorder, text: str) -> None:
    timeout = WatchdogTimeout(group="0", index=5, timeout=600.0, **AT)
    file = logs(ending(hand_made(timeout), End.ABORTED, signal=6), Style(recorder=recorder))[3,]
    assert text in file.data.decode()
    assert not file.marks


def test_a_watchdog_says_how_far_its_rank_has_come(hand_made: MAKE) -> None:
    timeout = WatchdogTimeout(group="0", index=5, timeout=600.0, **AT)
    text = log(ending(hand_made(timeout), End.ABORTED, signal=6))
    assert "WorkNCCL(SeqNum=6," in text
    assert "last enqueued work: 6, last completed work: 5" in text
    assert "terminate called after throwing an instance of 'c10::DistBackendError'" in text


def test_a_rank_that_is_still_there_answers_the_signal_to_dump(hand_made: MAKE) -> None:
    timeout = WatchdogTimeout(group="0", index=5, timeout=600.0, time=NEWS, rank=0, host=0)
    text = log(hand_made(timeout, silent=(3,)))
    assert "Received a dump signal due to a collective timeout from  rank 0" in text
    assert "Last enqueued NCCL work: 5, last completed NCCL work: 5" in text


def test_a_crash_speaks_through_the_fault_handler_and_sigkill_says_nothing(hand_made: MAKE) -> None:
    crash = ProcessSignalled(signal=11, by="itself", fault=0, **AT)
    assert statements(logs(ending(hand_made(crash), End.SIGNALLED, signal=11))[3,]) == [
        "Fatal Python error: Segmentation fault"
    ]
    killed = ProcessSignalled(signal=9, by="kernel-oom", **AT)
    assert "Fatal" not in log(ending(hand_made(killed), End.SIGNALLED, signal=9))


def test_a_rank_that_waits_for_a_lock_says_so_every_minute(hand_made: MAKE) -> None:
    file = logs(hand_made(WaitsForCompileLock(path="/cache/model.lock", until=NEWS + 150.0, fault=0, **AT)))[3,]
    said = statements(file)
    assert len(said) == 2
    assert said[1].endswith("Another process must be compiling /cache/model.lock, been waiting for: 2.0 minutes")


def test_a_compilation_that_goes_on_has_a_call_and_no_result(hand_made: MAKE) -> None:
    text = log(hand_made(Compiling(seconds=None, graph="MODULE_1", fault=0, **AT)))
    assert "Call compiler with cmd" in text
    assert "Compiler status" not in text
    assert "Compiler status PASS" in log(hand_made(Compiling(seconds=30.0, graph="MODULE_1", **AT)))


def test_nothing_is_printed_after_the_end(hand_made: MAKE) -> None:
    late = ExecutionFailed(status=1200, **AT)
    assert "1200" not in log(ending(hand_made(late), End.SIGNALLED, 900.0, signal=9))


def test_noise_adds_lines_and_no_statement(hand_made: MAKE) -> None:
    quiet, loud = (logs(hand_made(), Style(noise=noise))[0,] for noise in (0.0, 3.0))
    assert loud.data.count(b"\n") > 2 * quiet.data.count(b"\n")
    assert not loud.marks
