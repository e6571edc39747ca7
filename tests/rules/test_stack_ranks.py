"""Which rank a dumped process is, by what stands above its stack, its title, its arguments, or the log of the rank."""

from __future__ import annotations

import pytest

from neuron_doctor.examples import inputs_of
from neuron_doctor.packs import load_with_examples
from neuron_doctor.pipeline import collect_inputs
from neuron_doctor.request import Packs
from neuron_doctor.scan import Engine

ENGINE = Engine.of(load_with_examples(Packs()))


def ranks(text: str, name: str = "stacks.txt") -> set[tuple[int | None, int | None]]:
    facts = collect_inputs(inputs_of({name: text}), ENGINE).facts
    return {
        (f.place.pid, f.place.rank) for f in facts if f.kind == "identity" and f.place.rank is not None and f.place.pid
    }


@pytest.mark.parametrize(
    "heading",
    [
        "=== rank 6 ===",
        "=== py-spy dump rank 6 local 2 2026-08-30 14:20:02",
        "##### stack of global rank 6 (pid 4410) on ip-10-0-3-7 #####",
        "== node z1, pid 4410, rank 6 of 16 ==",
        "--- host merlin rank=6 ---",
        "## [2026-08-30 14:20:02] rank 6",
    ],
)
def test_a_heading_tells_the_rank_of_the_stack_below_it(heading: str) -> None:
    assert ranks(f'{heading}\nProcess 4410: python train.py\nThread 4410 (idle): "MainThread"\n') == {(4410, 6)}


@pytest.mark.parametrize(
    "heading",
    ["=== local rank 2 ===", "=== tp rank 2 of 8 ===", "=== node_rank 1", "=== ranks 0-7 of z1", "=== rank 0-7"],
)
def test_a_heading_of_another_number_tells_no_rank(heading: str) -> None:
    assert ranks(f'{heading}\nProcess 4410: python train.py\nThread 4410 (idle): "MainThread"\n') == set()


@pytest.mark.parametrize(
    "command",
    [
        "### py-spy dump --pid 4410   # rank 6  2026-10-08T04:46:22Z",
        "$ py-spy dump -p 4410  # rank=6",
        "[ec2-user@trn-b02 ~]$ sudo py-spy dump -p 4410 # trn-b02, global rank 6 of 16",
        "root@trn-b02:~# py-spy dump --native --pid 4410 # local rank 2, rank 6",
        "+ py-spy dump --pid 4410 # pid 4410 (rank 6)",
    ],
)
def test_a_remark_behind_the_command_tells_the_rank_of_the_stack_below_it(command: str) -> None:
    assert ranks(f'{command}\nProcess 4410: python train.py\nThread 4410 (idle): "MainThread"\n') == {(4410, 6)}


@pytest.mark.parametrize(
    "command",
    [
        "### py-spy dump --pid 4410   # local rank 6",
        "### py-spy dump --pid 4410   # tp rank 6 of 8",
        "$ py-spy dump --pid 4410   # ranks 0-7",
        "$ py-spy dump --pid 4410   # rank 0-7",
        "$ py-spy dump --pid 4410   # node_rank 1",
        "$ py-spy dump --pid 4410",
    ],
)
def test_a_remark_of_another_number_tells_no_rank(command: str) -> None:
    below = 'Process 4410: python train.py\nThread 4410 (idle): "MainThread"\n'
    assert ranks(f"{command}\n{below}") == set()
    assert ranks(f"$ py-spy dump --pid 4000 # rank 6\nError: No such process\n{command}\n{below}") == set()


@pytest.mark.parametrize(
    "title", ["trainer[rank 6]", "sft: rank=6", "python -u t.py --rank 6 --local-rank 2", "ray::W (RANK=6)"]
)
def test_a_process_tells_its_rank_by_its_title_or_its_arguments(title: str) -> None:
    assert ranks(f"Process 4410: {title}\n") == {(4410, 6)}


@pytest.mark.parametrize("title", ["python t.py --local_rank 6", "python t.py --node_rank=6", "worker: local rank 6"])
def test_a_local_rank_is_not_taken_for_that_of_the_job(title: str) -> None:
    assert ranks(f"Process 4410: {title}\n") == set()


def test_the_log_of_a_rank_tells_which_process_it_is_of() -> None:
    assert ranks("started pid=4410 world=16 host=z2\n", "rank_6.log") == {(4410, 6)}
    assert ranks("host=z3 pid=4410 rank=6\n", "job.log") == {(4410, 6)}
    assert ranks("host=z3 pid=4410 local_rank=6\n", "job.log") == set()
    assert ranks("killed pid 4410, it was old\n", "rank_6.log") == set()


@pytest.mark.parametrize(
    "line",
    [
        "[r6] starting up, pid: 4410, host z2",
        "01/19 21:09:21 start host=n06 rank=6/24 local_rank=0 pid=4410",
        "2026-08-30 14:20:02 INFO trainer started with pid 4410",
        "launched as pid=4410",
        "hello from pid 4410",
        "[worker-6] rank 6: running, pid=4410",
        "initialized (pid 4410)",
    ],
)
def test_who_starts_tells_its_own_process(line: str) -> None:
    assert ranks(f"{line}\n", "rank_6.log") == {(4410, 6)}


@pytest.mark.parametrize(
    "line",
    [
        "started child pid 4410",
        "started 8 loader workers, first pid=4410",
        "launched neuron-monitor with pid 4410",
        "monitor: started pid=4410",
        "serving embeddings sidecar still running (pid 4410, tenant=search)",
        "backing up the checkpoint of pid 4410",
        "INFO running behind pid 4410",
    ],
)
def test_who_starts_another_process_tells_nothing_of_its_own(line: str) -> None:
    assert ranks(f"{line}\n", "rank_6.log") == set()


@pytest.mark.parametrize(
    "line",
    [
        "pid 4410, global rank 6",
        "n3 pid=4410 rank=6 ready",
        "process (pid 4410, rank 6) died",
        "pid=4410 host=z3 local_rank=2 rank=6 world=16",
        "pid=4410 rank=6/16",
        "started pid: 4410 rank: 6 of 16",
    ],
)
def test_a_process_and_its_rank_stand_beside_each_other(line: str) -> None:
    assert ranks(f"{line}\n", "job.log") == {(4410, 6)}


@pytest.mark.parametrize(
    "line",
    [
        "pid=4410 group=tp rank=6",
        "pid=4410 axis=pp size=8 rank=6",
        "pid 4410, rank 6 in group tp_0",
        "pid 4410, rank 6 of the tensor parallel group",
        "loader worker pid=4410 rank=6",
        "child pid 4410, rank 6 waits for it",
        "neuron-monitor pid=4410 rank=6",
    ],
)
def test_the_process_of_another_or_the_rank_in_a_group_is_none_of_a_rank(line: str) -> None:
    assert ranks(f"{line}\n", "job.log") == set()
