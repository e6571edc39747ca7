"""Kernel logs: each fault on its own host, in each form in which logs are collected."""

import re
from collections.abc import Callable
from random import Random

import pytest

from neuron_doctor.corpus.simulator.history import (
    ExecutionFailed,
    HangSuspected,
    HardwareError,
    History,
    HostHardwareError,
    HostRebooted,
    KernelOom,
    ProcessSignalled,
)
from neuron_doctor.corpus.simulator.style import Style
from neuron_doctor.corpus.simulator.truth import File
from neuron_doctor.corpus.simulator.write_kernel import files
from neuron_doctor.corpus.simulator.write_kernel_forms import Dresser, Form, Message

SEEDS = range(24)


def stated(file: File) -> list[str]:
    return [file.data[mark.offset : mark.offset + mark.length].decode() for mark in file.marks]


def written(history: History, seed: int) -> list[File]:
    return list(files(history, Style(), Random(seed)))


def test_the_same_seed_writes_the_same_bytes(hand_made: Callable[..., History], start: float) -> None:
    history = hand_made(HardwareError(time=start + 500, rank=1, error="sram-ue", fault=0))
    assert written(history, 5) == written(history, 5)
    assert written(history, 5) != written(history, 6)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("hbm-ue", "HBM_UNCORRECTABLE_ERROR|Uncorrectable HBM memory error"),
        ("hbm-ue-repairable", "reload the neuron driver or reboot"),
        ("sram-ue", "(SRAM|NC)_UNCORRECTABLE_ERROR|Uncorrectable memory error"),
        ("dma-abort", "DMA_ERROR|is in an abort state"),
        ("pcie", "AER: Uncorrected|severity=Uncorrected"),
    ],
)
def test_a_hardware_error_is_stated_on_its_own_host_alone(
    hand_made: Callable[..., History], start: float, error: str, words: str
) -> None:
    history = hand_made(HardwareError(time=start + 500, rank=1, host=0, device=1, core=2, error=error, fault=0))
    for seed in SEEDS:
        own, other = written(history, seed)
        assert stated(own)
        assert all(re.search(words, line) for line in stated(own))
        assert not other.marks
        assert not re.search(words, other.data.decode())


def test_a_corrected_error_leaves_no_line(hand_made: Callable[..., History], start: float) -> None:
    history = hand_made(HardwareError(time=start + 500, rank=1, error="ecc-corrected", count=900, fault=0))
    assert not any(file.marks for seed in SEEDS for file in written(history, seed))


@pytest.mark.parametrize("cgroup", [None, "/kubepods.slice/kubepods-pod1.slice/cri-containerd-ab.scope"])
def test_an_oom_kill_names_the_process_twice_and_its_neighbours_once(
    hand_made: Callable[..., History], start: float, cgroup: str | None
) -> None:
    event = KernelOom(time=start + 500, rank=3, host=1, process="python3", resident_kib=9 << 20, cgroup=cgroup, fault=0)
    for seed in SEEDS:
        lines = stated(written(hand_made(event), seed)[1])
        assert len(lines) == 2
        assert "oom-kill:constraint=" + ("CONSTRAINT_MEMCG" if cgroup else "CONSTRAINT_NONE") in lines[0]
        assert "Killed process 4003 (python3)" in lines[1]
        assert ("Memory cgroup out of memory" in lines[1]) == (cgroup is not None)


def test_an_oom_kill_of_the_compiler_is_not_that_of_the_rank(hand_made: Callable[..., History], start: float) -> None:
    event = KernelOom(time=start + 500, rank=3, process="walrus_driver-long", resident_kib=9 << 20, fault=0)
    killed = stated(written(hand_made(event), 1)[1])[1]
    assert "(walrus_driver-l)" in killed
    assert "process 4003 " not in killed


def test_a_crash_is_a_line_and_a_kill_by_the_launcher_is_none(hand_made: Callable[..., History], start: float) -> None:
    crash = ProcessSignalled(time=start + 500, rank=0, signal=11, by="itself", fault=0)
    kill = ProcessSignalled(time=start + 501, rank=1, signal=9, by="launcher")
    own, _ = written(hand_made(crash, kill), 2)
    assert "python3[4000]: segfault at" in stated(own)[0]
    assert "4001]:" not in own.data.decode()


def test_a_victims_hang_never_states_a_fault(hand_made: Callable[..., History], start: float) -> None:
    history = hand_made(*(ExecutionFailed(time=start + 500, rank=rank, status=1200) for rank in range(4)))
    texts = [file.data.decode() for seed in SEEDS for file in written(history, seed) if not file.marks]
    assert len(texts) == 2 * len(SEEDS)
    assert any("HANG_ON_COLLECTIVES" in text for text in texts)


def test_a_hang_on_compute_is_the_fault_of_its_own_core(hand_made: Callable[..., History], start: float) -> None:
    hang = HangSuspected(time=start + 500, rank=1, host=0, operation=3, operations=9, collective=False, fault=0)
    lines = {
        line.partition("NEURON_HW_ERR=")[2] for seed in SEEDS for line in stated(written(hand_made(hang), seed)[0])
    }
    assert len(lines) == 1
    assert "HANG_ON_COMPUTE instance-id=i-0abcdef0123456780 hostname=ip-10-1-2-3 nd-id=1 nc-id=0" in lines.pop()


@pytest.mark.parametrize("error", ["machine-check", "disk-io", "file-system"])
def test_a_broken_machine_says_so(hand_made: Callable[..., History], start: float, error: str) -> None:
    history = hand_made(HostHardwareError(time=start + 500, host=1, error=error, fault=0))
    assert all(stated(written(history, seed)[1]) for seed in SEEDS)


def test_a_machine_check_that_takes_the_machine_down_is_told_at_its_next_boot(
    hand_made: Callable[..., History], start: float
) -> None:
    check = HostHardwareError(time=start + 499, host=1, error="machine-check", fault=0)
    history = hand_made(check, HostRebooted(time=start + 500, host=1, back=start + 700))
    assert all(any("event severity: fatal" in line for line in stated(written(history, seed)[1])) for seed in SEEDS)


def test_a_host_that_is_down_gives_no_kernel_log(hand_made: Callable[..., History], start: float) -> None:
    history = hand_made(HostRebooted(time=start + 500, host=1, fault=0))
    assert [file.host for file in written(history, 1)] == [0]


def test_dmesg_forgets_what_was_before_a_reboot(hand_made: Callable[..., History], start: float) -> None:
    history = hand_made(HostRebooted(time=start + 500, host=1, back=start + 700, fault=0))
    for seed in SEEDS:
        file = written(history, seed)[1]
        boots = file.data.count(b"Linux version")
        assert boots == (2 if re.search(r"kern\.log|journal|messages", file.path) else 1)
        assert all("Linux version" in line for line in stated(file))
        assert boots == 1 or file.marks  # a log with dates tells of the reboot


def test_forms_are_those_of_the_tools(hand_made: Callable[..., History], start: float) -> None:
    host = hand_made(offset=3600.0).job.hosts[0]
    message = Message(start + 0.5, "hello")
    lines = {form: Dresser(form, host, host.boot, start, 3600).dress(message) for form in Form}
    assert lines == {
        Form.BOOT: "[90000.500000] hello",
        Form.HUMAN: "[Sun Jun 15 17:06:40 2025] hello",
        Form.DECODED: "kern  :info   : [90000.500000] hello",
        Form.JOURNAL: "Jun 15 17:06:40 ip-10-1-2-3 kernel: hello",
        Form.SYSLOG: "Jun 15 17:06:40 ip-10-1-2-3 kernel: [90000.500000] hello",
        Form.ISO_SYSLOG: "2025-06-15T17:06:40.500000+01:00 ip-10-1-2-3 kernel: [90000.500000] hello",
    }


def test_processes_attach_and_detach_at_their_ends(hand_made: Callable[..., History]) -> None:
    text = written(hand_made(ends=True), 3)[0].data.decode()
    for pid in (4000, 4001):
        assert text.index(f"npid_attach: pid={pid},") < text.index(f"npid_detach: pid={pid},")
