"""What a parallel shell printed of many hosts line by line: snapshots are inputs of their hosts, logs are left as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_doctor.collectors.discover import discover
from neuron_doctor.collectors.labelled_outputs import labelled_outputs

DPKG = """rb-5: ii  aws-neuronx-dkms  2.27.4.0  amd64
rb-6: ii  aws-neuronx-dkms  2.24.7.0  amd64
rb-5: ii  aws-neuronx-tools  2.29.18.0  amd64
"""
FIVE = "ii  aws-neuronx-dkms  2.27.4.0  amd64\nii  aws-neuronx-tools  2.29.18.0  amd64\n"
SIX = "ii  aws-neuronx-dkms  2.24.7.0  amd64\n"


def members(text: str) -> dict[str, str]:
    return {member.name: b"".join(member.chunks).decode() for member in labelled_outputs(text.encode())}


@pytest.mark.parametrize("text", [DPKG, DPKG.replace(": ", "\t"), DPKG.replace("\n", "\r\n").replace("\r", "")])
def test_each_host_has_what_it_printed(text: str) -> None:
    assert members(text) == {"nodes/rb-5/1": FIVE, "nodes/rb-6/2": SIX}


def test_counters_of_the_driver_are_those_of_each_host() -> None:
    path = "/sys/devices/virtual/neuron_device/neuron3/stats/hardware/sram_ecc_uncorrected"
    assert members(f"rb-5: {path}:0\nrb-6: {path}:2\n") == {
        "nodes/rb-5/1": f"{path}:0\n",
        "nodes/rb-6/2": f"{path}:2\n",
    }


def test_commands_stand_above_and_each_has_its_own_output() -> None:
    text = f'$ pdsh -w rb-[5-6] "dpkg -l"\n{DPKG}pdsh@head: rb-7: ssh exited with exit code 255\n$ pdsh -w rb-[5-6] uname -r\n'
    text += "rb-5: 6.8.0-1049-aws\nrb-6: 6.8.0-1036-aws\n"
    assert members(text) == {
        "nodes/rb-5/2": FIVE,
        "nodes/rb-6/3": SIX,
        "nodes/rb-5/7": "6.8.0-1049-aws\n",
        "nodes/rb-6/8": "6.8.0-1036-aws\n",
    }


@pytest.mark.parametrize(
    "text",
    [
        "rb-5: 2026-01-01 00:00:00 INFO step 1\nrb-6: 2026-01-01 00:00:00 INFO step 1\n",  # a log
        DPKG.replace("rb-6", "rb-5"),  # of one host
        DPKG + "Done.\n",
        "note: ii  aws-neuronx-dkms  2.27.4.0  amd64\nhint: ii  aws-neuronx-dkms  2.24.7.0  amd64\n",
        "rb-5: 16\nrb-6: 8\n",
        "",
    ],
)
def test_what_is_no_snapshot_of_several_hosts_is_left_alone(text: str) -> None:
    assert members(text) == {}


def test_the_text_itself_is_read_beside_them(tmp_path: Path) -> None:
    (tmp_path / "dpkg.txt").write_text(DPKG)
    found = {inp.path.removeprefix(f"{tmp_path}/"): inp.place.host for inp in discover([str(tmp_path)])}
    assert found == {"dpkg.txt": None, "dpkg.txt!nodes/rb-5/1": "rb-5", "dpkg.txt!nodes/rb-6/2": "rb-6"}
