"""All writers together: what holds for the files of any incident."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from random import Random

import pytest

from neuron_doctor.corpus.simulator.catalogue import WRITERS, files
from neuron_doctor.corpus.simulator.history import HardwareError, History
from neuron_doctor.corpus.simulator.style import Launcher, Recorder, Site, Style

EVERYTHING = Style(recorder=Recorder.NCCL, monitor=True, ndet=True, scheduler=True)
STYLES = [
    replace(EVERYTHING, site=site, launcher=launcher, logs_per_rank=apart)
    for site, launcher, apart in product(Site, Launcher, (True, False))
]


@pytest.mark.parametrize("style", STYLES, ids=lambda style: f"{style.site}-{style.launcher}-{style.logs_per_rank}")
def test_no_two_files_of_an_incident_share_a_path_and_each_mark_lies_in_its_file(
    hand_made: Callable[..., History], start: float, style: Style
) -> None:
    history = hand_made(HardwareError(time=start + 500, rank=1, error="sram-ue", fault=0), pods=True)
    made = list(files(history, style, Random(1)))
    assert len({file.path for file in made}) == len(made)
    assert all(mark.length > 0 and mark.offset + mark.length <= len(file.data) for file in made for mark in file.marks)
    assert not any(file.path.startswith(("/", "..")) for file in made)


def test_one_writer_does_not_change_what_another_writes(hand_made: Callable[..., History]) -> None:
    with_dmesg = {file.path: file.data for file in files(hand_made(), EVERYTHING, Random(7))}
    without = {file.path: file.data for file in files(hand_made(), replace(EVERYTHING, dmesg=False), Random(7))}
    assert without.items() < with_dmesg.items()


def test_sources_of_the_whole_catalogue_appear(hand_made: Callable[..., History]) -> None:
    sources = {file.source for file in files(hand_made(), EVERYTHING, Random(2))}
    assert {"flight-recorder", "framework-log", "dmesg", "monitor", "ndet", "slurm"} <= sources
    assert len(WRITERS) == 8
