"""Process groups by axis, and pipeline stages."""

from __future__ import annotations

import pytest

from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.parallel_groups import ParallelGroup, axis_of, parallel_groups, pipeline_stages
from neuron_doctor.engine.recorder import GroupRecord


def printed(axis: str, groups: str) -> Fact:
    return Fact("process-groups", {"axis": axis, "groups": groups}, Place(), Span("s"), "s")


def position(rank: int, axis: str, group: str, number: int) -> Fact:
    data = {"axis": axis, "group": group, "position": number}
    return Fact("group-position", data, Place(rank=rank), Span("s", rank), "s")


def dump(rank: int, *groups: tuple[str, str]) -> Fact:
    records = tuple(
        GroupRecord(str(n), desc, n, members, None, None, None, True, True, 0, True, False, False, (), (), (), (), ())
        for n, (desc, members) in enumerate(groups)
    )
    data = {"groups": records, "entries": 0, "whole": True, "issued": 0, "last_ns": 0}
    return Fact("fr-rank", data, Place(rank=rank), Span(f"d{rank}"), f"d{rank}")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "axis"),
    [
        ("PIPELINE_MODEL_PARALLEL_GROUP", "pipeline"),
        ("mesh_pp", "pipeline"),
        ("TENSOR_MODEL_PARALLEL_GROUP", "tensor-parallel"),
        ("mesh_tp", "tensor-parallel"),
        ("EXPERT_MODEL_PARALLEL_GROUP", "expert-parallel"),
        ("DATA_PARALLEL_GROUP_WITH_CP", "DATA_PARALLEL_GROUP_WITH_CP"),
        ("TENSOR_AND_DATA_PARALLEL_GROUP", "TENSOR_AND_DATA_PARALLEL_GROUP"),
        ("undefined", ""),
    ],
)
def test_a_group_lies_along_the_axis_that_its_name_says(name: str, axis: str) -> None:
    assert axis_of(name) == axis


def test_the_dumps_and_the_frameworks_list_the_same_groups_once() -> None:
    facts = [dump(r, ("TENSOR_MODEL_PARALLEL_GROUP", "0-1"), ("default_pg", "0-3")) for r in (0, 1)]
    groups = parallel_groups([*facts, printed("tp", "0-1 2-3")])
    assert groups == (
        ParallelGroup("default_pg", (0, 1, 2, 3)),
        ParallelGroup("tensor-parallel", (0, 1)),
        ParallelGroup("tensor-parallel", (2, 3)),
    )


def test_the_stage_of_a_rank_is_its_number_in_its_pipeline_group() -> None:
    groups = parallel_groups([printed("pp", "0,4 1,5 2,6 3,7")])
    assert pipeline_stages([], groups) == {0: 0, 1: 0, 2: 0, 3: 0, 4: 1, 5: 1, 6: 1, 7: 1}


def test_two_pipelines_that_put_a_rank_at_two_stages_prove_none() -> None:
    groups = parallel_groups([printed("pp", "0,2 1,3"), printed("pp", "2,0")])
    assert pipeline_stages([], groups) == {1: 0, 3: 1}
    assert pipeline_stages([position(1, "mesh_pp", "9", 1)], groups) == {3: 1}


def test_a_rank_that_says_its_number_in_a_pipeline_has_a_stage() -> None:
    assert pipeline_stages([position(5, "pp", "", 1), position(5, "mesh_tp", "3", 0)], ()) == {5: 1}


def test_a_group_is_known_by_its_members_only_if_each_has_another_number() -> None:
    whole = [position(4, "mesh_tp", "3", 0), position(5, "mesh_tp", "3", 1)]
    assert parallel_groups(whole) == (ParallelGroup("tensor-parallel", (4, 5)),)
    assert parallel_groups([*whole, position(6, "mesh_tp", "3", 1)]) == ()
    assert parallel_groups([position(4, "mesh_tp", "3", 0), position(6, "mesh_tp", "3", 2)]) == ()
