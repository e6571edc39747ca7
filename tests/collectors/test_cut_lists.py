"""Of a list of nodes that is longer than what is read of a line, nothing is known: a part of it would be another list."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.engine.nodelists import nodes_of
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

LINES = {
    "SLURM_JOB_NODELIST={}": ",",
    "pdsh -w {} uptime": ",",
    "hosts={}": ",",
    "[2026-11-26T10:00:00.000] sched: Allocate JobId=7001 NodeList={} #CPUs=8 Partition=trn": ",",
    "Job <7001> was submitted to queue <normal> and started on Host(s) {}, Execution Home </home/u>;": " ",
}


@pytest.mark.parametrize(("line", "between"), LINES.items())
@pytest.mark.parametrize("count", [3, 2000])
def test_a_list_is_whole_or_unknown(tmp_path: Path, line: str, between: str, count: int) -> None:
    names = [f"trn{number:04}" for number in range(count)]
    listed = between.join(f"<8*{name}>" for name in names) if between == " " else ",".join(names)
    (tmp_path / "job.log").write_text(f"begin\n{line.format(listed)}\nend\n")
    facts = collect(Request((str(tmp_path),)), rulebook()).facts
    told = [nodes_of(str(fact.data["nodes"])) for fact in facts if fact.data.get("nodes")]
    told += [nodes_of(str(f.data["value"])) for f in facts if f.kind == "env" and "NODELIST" in str(f.data["name"])]
    assert names in told if count == 3 else all(found in ([], names) for found in told)
