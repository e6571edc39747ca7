"""What kubectl and Slurm tell of a job and of its nodes."""

from collections.abc import Callable
from random import Random

import pytest

from neuron_doctor.corpus.simulator.history import HardwareError, History, HostRebooted, KernelOom, SchedulerSaid
from neuron_doctor.corpus.simulator.style import Site, Style
from neuron_doctor.corpus.simulator.write_scheduler import files

SEEDS = range(6)


def said(history: History, site: Site, seed: int) -> tuple[str, list[str]]:
    """All text of the scheduler, and the lines that state a fault."""
    made = list(files(history, Style(scheduler=True, site=site), Random(seed)))
    marked = [file.data[mark.offset : mark.offset + mark.length].decode() for file in made for mark in file.marks]
    return "".join(file.data.decode() for file in made), marked


def test_nothing_is_written_where_nothing_was_collected(hand_made: Callable[..., History]) -> None:
    assert list(files(hand_made(), Style(), Random(1))) == []


@pytest.mark.parametrize(
    ("what", "slurm", "kubernetes"),
    [
        ("cancelled", "CANCELLED by 1000", "Stopping container trainer"),
        ("time-limit", "TIMEOUT", "DeadlineExceeded"),
        ("preempted", "PREEMPTED", "Preempted by pod"),
    ],
)
def test_the_end_by_the_scheduler_is_stated(
    hand_made: Callable[..., History], start: float, what: str, slurm: str, kubernetes: str
) -> None:
    history = hand_made(SchedulerSaid(time=start + 800, what=what, fault=0), ends=True, pods=True)
    for seed in SEEDS:
        assert any(slurm in line for line in said(history, Site.FLAT, seed)[1])
        assert any(kubernetes in line for line in said(history, Site.KUBERNETES, seed)[1])


def test_a_lost_node_is_named_and_no_other(hand_made: Callable[..., History], start: float) -> None:
    for back in (None, start + 700):
        history = hand_made(HostRebooted(time=start + 500, host=1, back=back, fault=0), pods=True)
        for seed in SEEDS:
            lines = said(history, Site.PER_HOST, seed)[1]
            assert lines
            assert all("ip-10-1-2-4" in line for line in lines)
            text, marked = said(history, Site.KUBERNETES, seed)
            assert marked
            assert text.count("Kubelet stopped posting node status") == (back is None)


def test_an_oom_kill_in_a_pod_is_its_containers_reason_but_names_no_rank(
    hand_made: Callable[..., History], start: float
) -> None:
    event = KernelOom(time=start + 800, rank=0, process="python3", resident_kib=9, cgroup="/kubepods.slice/x", fault=0)
    text, marked = said(hand_made(event, ends=True, pods=True), Site.KUBERNETES, 1)
    assert text.count("OOMKilled") == 1
    assert marked == []


def test_a_healthy_job_completes(hand_made: Callable[..., History]) -> None:
    assert "COMPLETED" in said(hand_made(ends=True), Site.FLAT, 1)[0]
    text, _ = said(hand_made(ends=True, pods=True), Site.KUBERNETES, 1)
    assert text.count("Reason:       Completed") == 2


def test_the_problem_detector_repeats_the_kernels_line(hand_made: Callable[..., History], start: float) -> None:
    event = HardwareError(time=start + 500, rank=2, error="sram-ue", fault=0)
    texts = [said(hand_made(event, pods=True), Site.KUBERNETES, seed) for seed in SEEDS]
    assert {len(marked) for _, marked in texts} == {0, 1}
    assert all("hostname=ip-10-1-2-4" in line for _, marked in texts for line in marked)
