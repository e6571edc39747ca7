"""A seed draws the same scenario each time, of the shape that was asked for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_doctor.corpus.simulator import loss
from neuron_doctor.corpus.simulator.scenario import CAUSES, PAIRABLE, draw
from neuron_doctor.corpus.simulator.style import Recorder


@settings(max_examples=50, deadline=None)
@given(st.integers(), st.sampled_from((None, "healthy", *CAUSES)))
def test_any_seed_draws_a_job_whose_ranks_fit_on_its_hosts(seed: int, fault: str | None) -> None:
    scenario = draw(seed, fault=fault)
    shape = scenario.shape
    assert shape.world % shape.per_host == 0
    assert 1 <= shape.per_host <= scenario.instance.devices * scenario.instance.cores
    assert shape.data % shape.expert == 0
    assert all(plan.rank < shape.world for plan in scenario.plans)
    assert all(plan.step < scenario.recipe.steps for plan in scenario.plans)


@settings(max_examples=50, deadline=None)
@given(st.integers())
def test_the_same_seed_draws_the_same_scenario(seed: int) -> None:
    assert draw(seed) == draw(seed)


@pytest.mark.parametrize("ranks", [8, 48, 256, 1024, 4096])
def test_the_number_of_ranks_is_as_asked_for(ranks: int) -> None:
    assert draw(1, fault="host-oom", ranks=ranks).shape.world == ranks


@pytest.mark.parametrize("recorder", list(Recorder))
def test_the_recorder_is_as_asked_for(recorder: Recorder) -> None:
    assert draw(1, recorder=recorder).style.recorder is recorder


def test_the_loss_is_as_asked_for() -> None:
    assert draw(1, loss="no-dmesg").loss == loss.named("no-dmesg")
    assert draw(1, loss=loss.CELLS[3]).loss == loss.CELLS[3]
    assert draw(1).loss.cell == "full"


def test_a_pair_is_two_faults_of_different_ranks_in_one_step() -> None:
    scenario = draw(1, pair=("hw-hbm-ue", "collectives-rank-missing"))
    assert [plan.cause for plan in scenario.plans] == ["hw-hbm-ue", "collectives-rank-missing"]
    assert len({plan.rank for plan in scenario.plans}) == 2
    assert len({plan.step for plan in scenario.plans}) == 1


def test_what_can_be_paired_can_be_drawn_alone() -> None:
    assert set(PAIRABLE) <= set(CAUSES)
