"""What the runtime prints of every event that it would tell of, and which lines state the fault."""

import re
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from neuron_doctor.corpus.simulator.history import (
    BarrierTimedOut,
    DeviceMemoryExhausted,
    Event,
    ExecutionFailed,
    HangSuspected,
    HardwareError,
    History,
    NetworkProxyFailed,
    PeerLost,
    ReceiveTimeout,
    SetupFailed,
)
from neuron_doctor.corpus.simulator.setup_words import SETUP
from neuron_doctor.corpus.simulator.style import Style
from neuron_doctor.corpus.simulator.truth import File
from neuron_doctor.corpus.simulator.write_runtime import files

NEWS = 1_750_000_500.0
MAKE = Callable[..., History]
APART = Style(runtime_apart=True)
AT = {"time": NEWS, "rank": 3, "host": 1, "device": 1, "core": 2}
TOLD: tuple[tuple[Event, str, str], ...] = (
    (
        HardwareError(error="hbm-ue", fault=0, **AT),
        "uncorrectable memory error on Neuron Device 1",
        "Uncorrectable HBM memory",
    ),
    (HardwareError(error="hbm-ue-repairable", fault=0, **AT), "reload the neuron driver", "reload the neuron driver"),
    (
        HardwareError(error="sram-ue", fault=0, **AT),
        "Neuron device: 1:0 metadata",
        "[ND 1][NC 2] Uncorrectable memory error",
    ),
    (HardwareError(error="dma-abort", fault=0, **AT), "DMA TX engine", "DMA RX engine"),
    (
        HangSuspected(operation=0, operations=9, collective=False, fault=0, **AT),
        "Neuron Device 1 NC 0",
        "[ND 1][NC 2] execution",
    ),
    (ExecutionFailed(status=1006, fault=0, **AT), "out-of-bound access", "Out of bounds access on model"),
    (ExecutionFailed(status=1003, fault=0, **AT), "SUBTYPE_NUMERICAL", "SUBTYPE_NUMERICAL"),
    (ExecutionFailed(status=1204, fault=0, **AT), "DGE notifications enabled", "DGE notifications enabled"),
    (NetworkProxyFailed(interface="rdmap16s27", fault=0, **AT), "rdmap16s27", "prov_errno"),
    (DeviceMemoryExhausted(asked=4 << 30, fault=0, **AT), "Failed to allocate 4.000GB", "on ND 1:NC"),
    (BarrierTimedOut(group="0", waited=120.0, fault=0, **AT), "barrier proxy timeout (waited 120 sec)", "gid 3"),
)
SUFFERED: tuple[tuple[Event, str], ...] = (
    (HangSuspected(operation=3, operations=9, collective=True, **AT), "ang in collectives operation 3 out of 9"),
    (ExecutionFailed(status=1200, **AT), "err: 1200"),
    (PeerLost(peer=0, group="0", **AT), "losed by remote peer"),
    (ReceiveTimeout(peer=0, **AT), "retrying"),
)


def log(history: History, style: Style = APART, seed: int = 1) -> File:
    return next(file for file in files(history, style, Random(seed)) if file.ranks == (3,))


def statements(file: File) -> str:
    return "\n".join(file.data[mark.offset : mark.offset + mark.length].decode() for mark in file.marks)


def of_runtime(history: History, version: str) -> History:
    return replace(history, versions={"runtime": version, "driver": "2.26.5.0"})


@pytest.mark.parametrize(("event", "older", "newer"), TOLD)
def test_a_fault_is_stated_in_the_words_of_its_version(hand_made: MAKE, event: Event, older: str, newer: str) -> None:
    assert older in statements(log(of_runtime(hand_made(event), "2.22.14.0")))
    assert newer in statements(log(of_runtime(hand_made(event), "2.31.24.0")))


@pytest.mark.parametrize(("event", "text"), SUFFERED)
@pytest.mark.parametrize("version", ["2.19.5.0", "2.22.14.0", "2.31.24.0"])
def test_a_consequence_is_printed_and_states_no_fault(hand_made: MAKE, event: Event, text: str, version: str) -> None:
    file = log(of_runtime(hand_made(event), version))
    assert text in file.data.decode()
    assert not file.marks


@pytest.mark.parametrize("what", sorted(SETUP))
def test_every_failed_setup_is_stated_with_all_its_fields_filled(hand_made: MAKE, what: str) -> None:
    file = log(hand_made(SetupFailed(what=what, fault=0, **AT)))
    assert file.marks
    assert "{" not in file.data.decode()


def test_old_runtimes_print_milliseconds_in_four_digits(hand_made: MAKE) -> None:
    data = log(of_runtime(hand_made(ExecutionFailed(status=1200, **AT)), "2.15.0.0")).data.decode()
    assert re.match(r"2025-Jun-15 15:15:00\.0\d{3} +4003:4\d{3} +ERROR +TDRV:", data)


def test_a_code_that_names_no_cause_states_none_even_at_the_culprit(hand_made: MAKE) -> None:
    hang = HangSuspected(operation=0, operations=9, collective=False, fault=0, **AT)
    file = log(hand_made(hang, ExecutionFailed(status=5, **AT)))
    assert statements(file).count("\n") == 0
    assert "status 5" in file.data.decode()


def test_a_hardware_code_states_the_hardware_error_before_it(hand_made: MAKE) -> None:
    events = (HardwareError(error="hbm-ue", fault=7, **AT), ExecutionFailed(status=1201, **AT))
    file = log(hand_made(*events))
    assert "status 1201" in statements(file)
    assert {mark.fault for mark in file.marks} == {7}


def test_at_a_verbose_level_a_rank_that_hangs_went_in_and_did_not_come_out(hand_made: MAKE) -> None:
    verbose = replace(APART, runtime_debug=True)
    hung = log(hand_made(), verbose).data.decode()
    assert hung.rindex("nrt_execute") == hung.index("nrt_execute", hung.rindex("API:OUT"))
    assert "API:IN" in hung[hung.rindex("API:OUT") :]
    silent = log(hand_made(silent=(3,)), verbose).data.decode()
    assert "API:IN" not in silent[silent.rindex("API:OUT") :]


def test_without_a_file_of_its_own_the_runtime_writes_none(hand_made: MAKE) -> None:
    assert not list(files(hand_made(ExecutionFailed(status=1200, **AT)), Style(), Random(1)))


def test_the_same_chances_give_the_same_bytes(hand_made: MAKE) -> None:
    made = hand_made(*(event for event, _, _ in TOLD))
    assert list(files(made, APART, Random(3))) == list(files(made, APART, Random(3)))
