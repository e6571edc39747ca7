"""What was started at the prompts of the one machine of which everything speaks."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

REFUSED = (
    "2026-Feb-11 10:42:07.119203 88314:88314 ERROR   NRT:nrt_allocate_neuron_cores                "
    "NeuronCore(s) not available - Requested:nc0-nc1 Available:0\n"
)
STARTED = f"(env) ubuntu@trn-lab:~/bert$ python trace_bert.py\n{REFUSED}"


def hosts(folder: Path, **files: str) -> set[str | None]:
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text)
    facts = collect(Request((str(folder),)), rulebook()).facts
    return {fact.place.host for fact in facts if fact.place.pid == 88314}


@pytest.mark.parametrize("beside", ["", "ubuntu@trn-lab:~$ uptime\n 10:44:00 up 2 days\n", "export NNODES=1\n"])
def test_what_a_script_said_is_of_the_machine_that_prompts(tmp_path: Path, beside: str) -> None:
    assert hosts(tmp_path, paste=STARTED, beside=beside) == {"trn-lab"}


@pytest.mark.parametrize(
    "beside",
    [
        "ubuntu@trn-other:~$ uptime\n 10:44:00 up 2 days\n",
        "ubuntu@trn-lab:~$ srun -N 4 ./train.sh\n",
        "ubuntu@trn-lab:~$ ssh n7 tail -3 job.log\n",
        "MASTER_ADDR=10.0.0.9\nNNODES=4\nPATH=/bin\n",
    ],
)
def test_it_may_be_of_another_one_where_anything_speaks_of_that(tmp_path: Path, beside: str) -> None:
    assert hosts(tmp_path, paste=STARTED, beside=beside) == {None}


@pytest.mark.parametrize("command", ["less ~/other.log", "python submit_job.py", "./sweep.sh", "cat /fsx/rank7.log"])
def test_what_is_only_looked_at_there_is_nobodys(tmp_path: Path, command: str) -> None:
    assert hosts(tmp_path, paste=f"ubuntu@trn-lab:~$ {command}\n{REFUSED}") == {None}
