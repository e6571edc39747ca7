"""Package lists: each packager's form, and only the packages that matter."""

from __future__ import annotations

import pytest
from host_captures import APT, DPKG, PIP_FREEZE, PIP_LIST, RPM
from snapshot_inputs import as_input, by_kind, claimed_by, facts_of

from neuron_doctor.collectors.packages import COLLECTORS


def packages(text: str) -> list[tuple[object, ...]]:
    names = ("manager", "name", "version", "state")
    return [tuple(f.data[name] for name in names) for f in by_kind(facts_of(text))["package"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            DPKG,
            [
                ("dpkg", "aws-neuronx-collectives", "2.23.133.0", "ii"),
                ("dpkg", "aws-neuronx-dkms", "2.19.64.0", "iF"),
                ("dpkg", "linux-headers-6.8.0-1021-aws", "6.8.0-1021.23", "ii"),
            ],
        ),
        (
            RPM,
            [
                ("rpm", "aws-neuronx-dkms", "2.19.64.0-dkms", "installed"),
                ("rpm", "aws-neuronx-runtime-lib", "2.23.112.0_9b5179492-1", "installed"),
                ("rpm", "kernel-devel", "5.10.220-209.869.amzn2", "installed"),
            ],
        ),
        (APT, [("apt", "aws-neuronx-tools", "2.20.204.0", "installed,upgradable to: 2.22.61.0")]),
        (
            PIP_LIST,
            [
                ("pip", "numpy", "1.26.4", "installed"),
                ("pip", "protobuf", "3.20.3", "installed"),
                ("pip", "torch", "2.5.1", "installed"),
                ("pip", "torch-neuronx", "2.5.1.2.4.0", "installed"),
            ],
        ),
        (
            PIP_FREEZE,
            [
                ("pip", "numpy", "1.26.4", "installed"),
                ("pip", "libneuronxla", "2.1.681.0", "installed"),
                ("pip", "torch-neuronx", "", "installed"),
            ],
        ),
    ],
    ids=["dpkg", "rpm", "apt", "pip-list", "pip-freeze"],
)
def test_the_packages_that_matter_are_found(text: str, expected: list[tuple[object, ...]]) -> None:
    assert packages(text) == expected


def test_a_list_of_requirements_is_not_what_is_installed() -> None:
    assert claimed_by(PIP_FREEZE.encode(), "requirements.txt") == []


def test_a_filtered_list_without_heading_is_read() -> None:
    assert packages("ii  aws-neuronx-dkms  2.19.64.0  amd64  Neuron driver\n")[0][1] == "aws-neuronx-dkms"


def test_what_is_no_list_is_a_problem() -> None:
    inp = as_input(b"nothing of the kind\n")
    assert list(COLLECTORS[0].collect(inp)) == []
    assert list(inp.problems) == ["not a list of packages"]
