"""Faults of hosts are told for each host, unless a rule says that they share what failed."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import hit, pack, rule, source

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Collection, Fact
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.verdict import Diagnosis


def run(rulebook: Rulebook, *facts: Fact) -> Diagnosis:
    return diagnose(rulebook, Collection((source("s"),), facts))


@pytest.mark.parametrize(("shared", "roots"), [("true", 1), ("false", 2)])
def test_a_fault_of_what_hosts_share_is_one_on_all_of_them(tmp_path: Path, shared: str, roots: int) -> None:
    more = f"survivable: false\nshared: {shared}\n"
    rulebook = pack(tmp_path, rule("broke", "record: broke", cause="broken-device", patterns=("broke",), more=more))
    found = run(rulebook, hit("broke", host="a", rank=1), hit("broke", host="b", rank=2, offset=90))
    assert len(found.root_causes) == roots
    assert {host for finding in found.findings for host in finding.hosts} == {"a", "b"}


def test_a_fault_of_what_hosts_share_is_still_one_for_each_device(tmp_path: Path) -> None:
    more = "survivable: false\nshared: true\n"
    broke = rule("broke", "record: broke", cause="broken-device", at="device", patterns=("broke",), more=more)
    found = run(pack(tmp_path, broke), hit("broke", host="a", device=1), hit("broke", host="a", device=2, offset=90))
    assert len(found.root_causes) == 2
