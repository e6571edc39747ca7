"""Slurm's tools with `--json`, in the forms of several versions of its data parser."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from snapshot_inputs import as_input, by_kind, facts_of, one, read

from neuron_doctor.collectors.slurm import COLLECTORS
from neuron_doctor.engine.facts import Clock

#: sacct --json, data_parser/v0.0.40 (Slurm 23.11).
SACCT = {
    "jobs": [
        {
            "array": {"job_id": 0, "task_id": {"set": False, "infinite": False, "number": 0}},
            "derived_exit_code": {"status": ["ERROR"], "return_code": {"set": True, "infinite": False, "number": 9}},
            "exit_code": {
                "status": ["SIGNALED"],
                "return_code": {"set": False, "infinite": False, "number": 0},
                "signal": {"id": {"set": True, "infinite": False, "number": 9}, "name": "KILL"},
            },
            "job_id": 8812,
            "name": "pretrain",
            "nodes": "trn-[3-4]",
            "restart_cnt": 1,
            "state": {"current": ["FAILED", "REQUEUED"], "reason": "NonZeroExitCode"},
            "time": {"elapsed": 3725, "start": 1791205200, "end": 1791208925},
            "steps": [
                {
                    "state": ["OUT_OF_MEMORY"],
                    "exit_code": {
                        "return_code": {"set": True, "number": 0},
                        "signal": {"id": {"set": True, "number": 125}},
                    },
                    "nodes": {"count": 1, "range": "trn-4", "list": ["trn-4"]},
                    "step": {"id": "8812.0", "name": "python"},
                    "time": {"elapsed": 3700, "end": {"set": True, "infinite": False, "number": 1791208900}},
                }
            ],
        }
    ],
    "errors": [],
    "meta": {"plugin": {"type": "openapi/slurmdbd"}, "Slurm": {"version": {"major": 23}}},
}
#: squeue --json of Slurm 22.05: words for states, numbers for codes.
SQUEUE = {
    "meta": {"Slurm": {"version": {"major": 22}}},
    "errors": [],
    "jobs": [
        {
            "array_job_id": 91,
            "array_task_id": 3,
            "job_id": 94,
            "job_state": "COMPLETED",
            "exit_code": 0,
            "nodes": "trn-7",
        },
        {"array_job_id": 0, "array_task_id": None, "job_id": 95, "job_state": "FAILED", "exit_code": 256, "nodes": ""},
    ],
}
NODES = {
    "nodes": [
        {"name": "trn-3", "slurmd_version": "23.11.4", "state": ["DOWN", "NOT_RESPONDING"], "reason": "Not responding"},
        {"name": "trn-4", "slurmd_version": "23.11.4", "state": ["IDLE"], "reason": ""},
    ]
}


def jobs(text: str) -> list[tuple[object, ...]]:
    names = ("job_id", "step", "state", "exitcode", "signal", "nodes", "elapsed_s")
    return [tuple(f.data[name] for name in names) for f in by_kind(facts_of(text))["slurm-job"]]


def test_a_job_and_its_steps_with_when_they_ended_and_where() -> None:
    text = json.dumps(SACCT, indent=1)
    assert jobs(text) == [
        ("8812", "", "FAILED", 0, 9, "trn-[3-4]", 3725),
        ("8812", "0", "OUT_OF_MEMORY", 0, 125, "trn-4", 3700),
    ]
    job, step = by_kind(facts_of(text))["slurm-job"]
    assert (job.data["name"], job.data["reason"], job.data["restarts"]) == ("pretrain", "NonZeroExitCode", 1)
    assert job.instant is not None
    assert (job.instant.clock, job.instant.ns) == (Clock.UTC, 1791208925 * 10**9)
    assert step.place.known() == {"job": "8812", "host": "trn-4"}
    assert job.span.text == '"job_id": 8812'
    assert text.encode()[job.span.offset :].startswith(b'"job_id": 8812')
    assert [f.data["signal"] for f in by_kind(facts_of(text))["launcher-failure"]] == [9, 125]


def test_words_and_numbers_as_older_versions_have_them() -> None:
    assert jobs(json.dumps(SQUEUE)) == [
        ("91_3", "", "COMPLETED", 0, 0, "trn-7", -1),
        ("95", "", "FAILED", 1, 0, "", -1),
    ]


def test_every_step_of_a_long_job_is_read_and_every_node_of_a_wide_one() -> None:
    [job] = SACCT["jobs"]
    names = [f"trn-{n}" for n in range(300)]
    steps = [
        {"state": ["COMPLETED"], "step": {"id": f"8812.{n}", "name": "x"}, "nodes": {"list": names}} for n in range(300)
    ]
    [_, *told] = by_kind(facts_of(json.dumps({"jobs": [{**job, "steps": steps}]})))["slurm-job"]
    assert [f.data["step"] for f in told] == [str(n) for n in range(300)]
    assert told[0].data["nodes"] == ",".join(names)


def test_a_node_that_is_down_says_why() -> None:
    said = one(facts_of(json.dumps(NODES, indent=2)), "node-condition")
    assert (said.place.host, said.data["reason"]) == ("trn-3", "Not responding")


@pytest.mark.parametrize("text", ['{"jobs": [{"id": 3, "status": "done"}]}', '{"nodes": [{"name": "a"}]}', '{"a": 1}'])
def test_what_else_has_jobs_or_nodes_is_none_of_slurm(text: str) -> None:
    assert not COLLECTORS[0].sniff(text.encode(), "jobs.json")


def test_what_is_cut_off_is_a_problem_and_the_rest_is_read() -> None:
    whole = json.dumps(SACCT | {"jobs": [*SACCT["jobs"], *SQUEUE["jobs"]]}, indent=1)
    inp = as_input(whole[: whole.index('"job_state": "FAILED"')].encode())
    facts = list(COLLECTORS[0].collect(inp))
    assert [f.data["job_id"] for f in by_kind(facts)["slurm-job"]] == ["8812", "8812", "91_3"]
    assert inp.problems


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["set", "number", "current", "id", "signal", "step", "time", "end"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*SACCT["jobs"][0], "job_state"]), VALUES))
def test_any_value_may_stand_anywhere(job: dict[str, object]) -> None:
    read(json.dumps({"jobs": [{"job_id": 1, "state": ["FAILED"], **job}]}))
