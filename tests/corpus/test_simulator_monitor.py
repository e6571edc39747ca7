"""neuron-monitor streams: counters that stop, rise and fill."""

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from neuron_doctor.corpus.simulator.history import (
    DeviceMemoryExhausted,
    ExecutionFailed,
    HardwareError,
    History,
    HostRebooted,
    KernelOom,
)
from neuron_doctor.corpus.simulator.style import Style
from neuron_doctor.corpus.simulator.truth import File
from neuron_doctor.corpus.simulator.write_monitor import files

SEEDS = range(8)


def streams(history: History, seed: int) -> list[File]:
    return list(files(history, Style(monitor=True), Random(seed)))


def documents(file: File) -> Iterator[dict[str, Any]]:
    """The documents of a stream, of any shape."""
    text, decoder, at = file.data.decode(), json.JSONDecoder(), 0
    while (brace := text.find("{", at)) >= 0:
        document, at = decoder.raw_decode(text, brace)
        yield document


def applications(file: File, pid: int) -> list[dict[str, Any]]:
    return [
        application["report"]
        for document in documents(file)
        for application in document["neuron_runtime_data"]
        if application["pid"] == pid
    ]


def core(report: dict[str, Any]) -> float:
    (used,) = report["neuroncore_counters"]["neuroncores_in_use"].values()
    return float(used["neuroncore_utilization"])


def test_every_stream_is_json_and_knows_its_instance(hand_made: Callable[..., History]) -> None:
    for seed in SEEDS:
        for index, file in enumerate(streams(hand_made(), seed)):
            made = list(documents(file))
            assert len(made) > 10
            assert {document["instance_info"]["instance_id"] for document in made} == {f"i-0abcdef012345678{index}"}


def test_executions_stop_and_a_waiting_core_stays_busy_where_a_silent_one_is_idle(
    hand_made: Callable[..., History],
) -> None:
    own, other = streams(hand_made(silent=(1,)), 4)
    silent, waiting = applications(own, 4001), applications(other, 4003)
    for reports in (silent, waiting):
        assert sum(report["execution_stats"]["execution_summary"]["completed"] for report in reports) == 5
        assert reports[-1]["execution_stats"]["execution_summary"]["completed"] == 0
        assert reports[-1]["execution_stats"]["latency_stats"]["total_latency"] is None
    assert core(silent[-1]) == 0
    assert core(waiting[-1]) > 90


def test_a_rising_counter_is_marked_from_the_document_before_to_the_document_after(
    hand_made: Callable[..., History], start: float
) -> None:
    event = HardwareError(time=start + 500, rank=1, device=1, error="ecc-corrected", count=700, fault=0)
    for seed in SEEDS:
        own, other = streams(hand_made(event), seed)
        (mark,) = own.marks
        text = own.data[mark.offset : mark.offset + mark.length].decode().replace(" ", "").replace("\n", "")
        assert text.startswith('"neuron_device_index":1,"mem_ecc_corrected":0,')
        assert '"neuron_device_index":1,"mem_ecc_corrected":700,' in text
        assert not other.marks


def test_the_public_format_has_no_field_for_a_repairable_error(hand_made: Callable[..., History], start: float) -> None:
    event = HardwareError(time=start + 500, rank=1, error="hbm-ue-repairable", fault=0)
    assert not any(file.marks for file in streams(hand_made(event), 1))


def test_host_memory_climbs_to_the_top_before_a_global_kill(hand_made: Callable[..., History], start: float) -> None:
    event = KernelOom(time=start + 900, rank=0, host=0, process="python3", resident_kib=9 << 20)
    own, other = streams(hand_made(event), 2)
    shares = [
        [memory["memory_used_bytes"] / memory["memory_total_bytes"] for memory in of_file]
        for of_file in (
            [document["system_data"]["memory_info"] for document in documents(file)] for file in (own, other)
        )
    ]
    assert max(shares[0]) > 0.9
    assert max(shares[1]) < 0.5
    assert shares[0][-1] < 0.5


def test_device_memory_fills_by_the_runtimes_table(hand_made: Callable[..., History], start: float) -> None:
    event = DeviceMemoryExhausted(time=start + 900, rank=2, asked=1 << 30, used={"tensors": 15 << 30, "model code": 7})
    reports = applications(streams(hand_made(event), 2)[1], 4002)
    (full,) = reports[-1]["memory_used"]["neuron_runtime_used_bytes"]["usage_breakdown"][
        "neuroncore_memory_usage"
    ].values()
    assert full["tensors"] == 15 << 30
    assert full["model_code"] == 7


def test_a_failed_execution_is_counted_by_its_kind(hand_made: Callable[..., History], start: float) -> None:
    event = ExecutionFailed(time=start + 500, rank=0, status=1003)
    reports = applications(streams(hand_made(event), 2)[0], 4000)
    assert sum(report["execution_stats"]["error_summary"]["numerical"] for report in reports) == 1
    assert sum(report["execution_stats"]["execution_summary"]["completed_with_num_err"] for report in reports) == 1


def test_a_stream_ends_where_its_host_goes_down(hand_made: Callable[..., History], start: float) -> None:
    whole, cut = streams(hand_made(HostRebooted(time=start + 300, host=1)), 2)
    assert len(list(documents(cut))) < len(list(documents(whole))) / 2
