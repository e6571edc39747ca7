"""A machine of an old case is told apart where all numbered pods of the job have other nodes."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from builders import hit, source

from neuron_doctor.engine.bystanders import bystanders
from neuron_doctor.engine.facts import Clock, Fact, Source

_DAY = 86_400
_BEGUN = 30 * _DAY
_DOMAIN = ".eu-north-1.compute.internal"
NODES = {"sft-worker-0": f"ip-10-0-0-1{_DOMAIN}", "sft-worker-1": f"ip-10-0-0-2{_DOMAIN}"}
OLD = "ip-10-0-9-9"


def row(pod: str, node: str | None, offset: int) -> Fact:
    return hit("x", source="pods", offset=offset, container=pod, host=node)


def is_strange(
    homes: Mapping[str, str | None],
    *,
    machine: str = OLD,
    days: float = 12,
    logs: tuple[str, ...] | None = None,
    kernels: tuple[str, ...] = (),
    clock: Clock = Clock.HOST_LOCAL,
) -> bool:
    """Whether what broke on a machine so many days before the logs began is of others."""
    broken = hit("ended", at=_BEGUN - days * _DAY, source="old", clock=clock, host=machine)
    facts = [broken, *(row(pod, node, 10 * at) for at, (pod, node) in enumerate(homes.items()))]
    sources: list[Source] = [source("pods", kind="kubectl"), source("old", kind="kernel", host=machine)]
    for pod in homes if logs is None else logs:
        sources.append(source(pod, first=_BEGUN, last=_BEGUN + 900, container=f"{pod}/main", host=homes.get(pod)))
        facts.append(hit("raising", at=_BEGUN + 900, source=pod, container=f"{pod}/main", host=homes.get(pod)))
    sources += [source(f"k-{name}", kind="kernel", host=name, first=_BEGUN, last=_BEGUN + 60) for name in kernels]
    return bystanders(facts, sources).is_other(broken)


JOBSET = {f"llm-workers-{job}-{pod}-x7k2{pod + 2}": f"i-0abc12345678900{job}{pod}" for job in (0, 1) for pod in (0, 1)}


def test_a_machine_of_an_old_case_is_none_of_the_nodes_of_all_pods() -> None:
    assert is_strange(NODES)
    assert is_strange(JOBSET, machine="i-0abc1234567890999")
    assert is_strange({"sft-0": "n1", "sft-1": "n2"}, machine="n9", kernels=("n1", "n2"))


@pytest.mark.parametrize(
    "homes",
    [
        {**NODES, "sft-worker-1": None},  # it may have been there
        {"sft-worker-0": NODES["sft-worker-0"], "sft-worker-2": NODES["sft-worker-1"]},  # one is missing
        {"sft-worker-1": NODES["sft-worker-1"], "sft-worker-2": NODES["sft-worker-0"]},  # the first is
        {"sft-worker-0": NODES["sft-worker-0"]},
        {name: node for name, node in JOBSET.items() if "workers-1" in name},  # so is the first job of the set
        {**NODES, "sft-worker-1": f"{OLD}{_DOMAIN}"},
        # made anew, so that one of them may have been elsewhere
        {**NODES, "sft-worker-1-x7k2p": f"ip-10-0-0-3{_DOMAIN}"},
    ],
)
def test_where_a_pod_or_its_node_is_not_known_a_machine_may_be_of_the_job(homes: Mapping[str, str | None]) -> None:
    assert not is_strange(homes)


def test_a_pod_without_a_row_or_a_log_may_have_been_anywhere() -> None:
    assert not is_strange(NODES, logs=(*NODES, "sft-worker-2"))
    assert not is_strange(NODES, logs=("sft-worker-0",))


@pytest.mark.parametrize(("days", "strange"), [(3, True), (1, False), (0.01, False), (-0.001, False)])
def test_what_is_not_days_old_may_be_why_the_pods_were_made_anew_on_other_nodes(days: float, strange: bool) -> None:
    assert is_strange(NODES, days=days) is strange


def test_a_time_since_boot_tells_no_day() -> None:
    assert not is_strange(NODES, clock=Clock.BOOT)


@pytest.mark.parametrize("machine", ["node2", "i-0abc1234567890999", "trn-09", f"ip-10-0-0-2{_DOMAIN}", "ip-10-0-0-2"])
def test_another_form_of_name_may_be_another_name_of_a_node(machine: str) -> None:
    assert not is_strange(NODES, machine=machine)


def test_a_machine_of_which_a_later_record_was_collected_is_of_now() -> None:
    assert not is_strange(NODES, kernels=(OLD,))
