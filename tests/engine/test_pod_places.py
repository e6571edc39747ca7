"""A pod stands for its host in a finding where nothing says on which node it ran."""

from __future__ import annotations

from pathlib import Path

from builders import hit, pack, rule, source

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Collection


def hosts_of(folder: Path, *containers: str, host: str | None = None) -> tuple[str, ...]:
    rulebook = pack(folder, rule("raised", "record: raising", cause="bug", at="job", patterns=("raising",)))
    facts = tuple(hit("raising", offset=n, container=name, host=host) for n, name in enumerate(containers))
    return diagnose(rulebook, Collection((source("s"),), facts)).findings[0].hosts


def test_the_pod_is_named_where_no_node_is_known(tmp_path: Path) -> None:
    assert hosts_of(tmp_path, "worker-1/train", "worker-1/sidecar") == ("worker-1",)


def test_a_known_node_wins(tmp_path: Path) -> None:
    assert hosts_of(tmp_path, "worker-1/train", host="ip-10-0-0-1") == ("ip-10-0-0-1",)


def test_of_two_pods_none_is_named(tmp_path: Path) -> None:
    assert hosts_of(tmp_path, "worker-1/train", "worker-2/train") == ()
