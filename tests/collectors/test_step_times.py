"""What the lines of training programs tell of the parts of a step, whatever they call them and in whatever order."""

from __future__ import annotations

import pytest

from neuron_doctor.collectors.step_times import parts_of


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (
            "step 1518 loss 2.18 | total 6.85s data 4.643s fwd_bwd 2.12s opt 0.08s | 76576 tok/s",
            {"total": 6.85, "data": 4.643, "work": 2.12},
        ),
        (
            "step=900 fwd_bwd_ms=1910 allreduce_wait_ms=8 data_ms=4 loss=2.42",
            {"work": 1.91, "wait": 0.008, "data": 0.004},
        ),
        ('{"rank": 0, "step": 900, "step_time": 1.930, "comm_wait": 1.200, "loss": 2.4}', {"total": 1.93, "wait": 1.2}),
        (
            "step=50 t_data=0.021s t_fwd_bwd=1.323s t_allreduce_wait=0.017s t_step=1.362s",
            {"data": 0.021, "work": 1.323, "wait": 0.017, "total": 1.362},
        ),
        (
            "step 3 forward 0.7s backward 1.2s grad_allreduce 0.2s h2d 0.1s step_time 2.2s",
            {"work": 1.9, "wait": 0.2, "data": 0.1, "total": 2.2},
        ),
        (
            "iteration 120/ 5000 | consumed samples: 61440 | elapsed time per iteration (ms): 1950.6 | data time: 30.1 ms",
            {"total": 1.9506, "data": 0.0301},
        ),
        (
            "timers | iter 9000 | fwd-bwd  1206.1 ms | grad-allreduce-wait    23.2 ms | optimizer 31.5 ms",
            {"work": 1.2061, "wait": 0.0232},
        ),
        ("step 7 comm_wait: 1.2e-1 s total: 2.0 s", {"wait": 0.12, "total": 2.0}),
        (
            "rank=1 it=5360 iter_s=7.18 data_s=0.01 fwdbwd_s=1.91 allreduce_wait_s=5.25 loss=1.3182",
            {"total": 7.18, "data": 0.01, "work": 1.91, "wait": 5.25},
        ),
        (
            "it 4 steptime=2.2 datatime=0.1 commwait=0.3 forward 0.7s status=3",
            {"total": 2.2, "data": 0.1, "wait": 0.3, "work": 0.7},
        ),
    ],
)
def test_a_part_is_known_by_its_name_and_read_in_its_unit(line: str, parts: dict[str, float]) -> None:
    assert parts_of(line) == pytest.approx(parts)


def test_a_wait_for_data_is_no_wait_for_a_rank() -> None:
    assert parts_of("step=20 loss=2.9 data_wait=0.02s step_time=2.1s") == pytest.approx({"data": 0.02, "total": 2.1})


@pytest.mark.parametrize(
    "line",
    [
        "step=20 loss=2.896 tput=120.0 samples/s data_wait=0.02s",  # one part tells nothing of the others
        "step 4 input_tokens=4096 batch=32 load=3.2 load_balancing_loss=0.02",
        "step 900 wait 5.0 s total 2.0 s",  # no wait is longer than the step
    ],
)
def test_what_tells_too_little_or_cannot_be_is_nothing(line: str) -> None:
    assert parts_of(line) == {}


def test_a_part_within_another_one_is_not_counted_twice() -> None:
    assert parts_of("step=9 compute=1.9s data=1.5s comm_wait=0.1s total=2.0s") == pytest.approx(
        {"wait": 0.1, "total": 2.0}
    )
