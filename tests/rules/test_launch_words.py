"""What launchers are told, and what workers call themselves when they start."""

from __future__ import annotations

import pytest

from neuron_doctor.engine.facts import Fact
from neuron_doctor.examples import inputs_of
from neuron_doctor.packs import load_with_examples
from neuron_doctor.pipeline import collect_inputs
from neuron_doctor.request import Packs
from neuron_doctor.scan import Engine

ENGINE = Engine.of(load_with_examples(Packs()))


def said(line: str, kind: str) -> list[Fact]:
    facts = collect_inputs(inputs_of({"run.log": f"{line}\n"}), ENGINE).facts
    return [fact for fact in facts if fact.kind == kind]


@pytest.mark.parametrize(
    "line",
    [
        "+ srun -N4 --ntasks-per-node=1 torchrun --nproc_per_node=32 --nnodes=4 train.py",
        "torchrun --nproc-per-node 32 train.py",
        "  nproc_per_node   : 32",
        "export NPROC_PER_NODE=32",
        "mpirun -np 64 -npernode 32 python3 train.py",
    ],
)
def test_how_many_processes_each_node_gets(line: str) -> None:
    assert [fact.data["processes"] for fact in said(line, "node-width")] == [32]


@pytest.mark.parametrize("line", ["torchrun --nproc_per_node=1 train.py", "torchrun --nproc_per_node=$N train.py"])
def test_one_process_or_a_variable_tells_nothing(line: str) -> None:
    assert not said(line, "node-width")


def test_a_worker_calls_itself_by_its_host_first() -> None:
    told = said("trn-07 rank 64 pid 20192 starting", "identity")
    assert ("trn-07", 64, 20192) in {(fact.data.get("word"), fact.place.rank, fact.place.pid) for fact in told}
    told = said("05:31:07 host lovelace rank 8/128 starting", "identity")
    assert ("lovelace", 8) in {(fact.data.get("word"), fact.place.rank) for fact in told}


@pytest.mark.parametrize(
    "line",
    ["# run x7 rank 17 local_rank 1 host trn1-r2-n05 world 32", "rank: 17, local_rank: 1, hostname: trn1-r2-n05, x"],
)
def test_a_rank_names_its_local_rank_and_its_host(line: str) -> None:
    assert [f.place.known() for f in said(line, "identity") if f.place.host] == [
        {"host": "trn1-r2-n05", "rank": 17, "local_rank": 1}
    ]


@pytest.mark.parametrize("line", ["local rank 3 started on device 3", "node rank 1/4 starting"])
def test_a_rank_on_its_host_or_of_a_node_is_no_rank(line: str) -> None:
    assert {fact.place.rank for fact in said(line, "identity")} <= {None}


def test_the_number_of_a_node_and_where_all_meet() -> None:
    line = "+ torchrun --nnodes 3 --nproc_per_node 32 --node_rank 2 --master_addr athena --master_port 41000 run_clm.py"
    assert [fact.data["number"] for fact in said(line, "node-rank")] == [2]
    assert [fact.data["name"] for fact in said(line, "meeting-host")] == ["athena"]


def test_the_hosts_that_mpirun_is_told_to_fill() -> None:
    line = "$ mpirun -np 64 -H lark1:32,lark-2:32 --tag-output python eval.py"
    assert [fact.data for fact in said(line, "host-slots")] == [
        {"before": "-np 64", "slots": "lark1:32,lark-2:32", "behind": "--tag-output python eval.py"}
    ]
    for other in ("usage: ", "# before: ", "# "):
        assert not said(other + line.removeprefix("$ "), "host-slots")
    assert not said("mpirun -np 64 --host lark1,lark2 python eval.py", "host-slots")


def test_the_hosts_that_mpirun_is_told_of_without_slots() -> None:
    line = "ml@lark1:~/run$ mpirun -np 2 --host lark1,lark-2 --tag-output ./t5.sh 2>&1 | tee t5.log"
    told = {"before": "-np 2", "hosts": "lark1,lark-2", "behind": "--tag-output ./t5.sh 2>&1 | tee t5.log"}
    assert [fact.data for fact in said(line, "hosts-in-turn")] == [told]
    assert not said("mpirun -np 64 -H lark1:32,lark-2:32 ./t5.sh", "hosts-in-turn")
    assert not said("usage: mpirun -np 2 -H lark1,lark-2 ./t5.sh", "hosts-in-turn")


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("[1,2]<stdout>:cedar starting 32 workers, LD_LIBRARY_PATH=/opt/amazon/efa/lib", "cedar"),
        ("2: 2026-03-03 16:44:20 cedar: launching 64 processes", "cedar"),
    ],
)
def test_the_script_that_starts_workers_on_a_host_says_which_it_is(line: str, word: str) -> None:
    assert {(fact.data.get("word"), fact.place.rank) for fact in said(line, "identity")} == {(word, 2)}


@pytest.mark.parametrize("line", ["--rdzv_endpoint 10.0.3.7:29400", "--master_addr llm-0.llm", "MASTER_ADDR=$HOST"])
def test_an_address_a_name_in_a_domain_and_a_variable_are_no_hosts_to_meet_at(line: str) -> None:
    assert not said(f"torchrun {line} train.py", "meeting-host")


def test_a_mere_word_is_a_prompt_where_a_command_follows() -> None:
    assert [fact.data["name"] for fact in said("hamilton$ neuron-ls -a", "login")] == ["hamilton"]
    assert not said("the ssh key is wrong", "named-hosts")
    assert not said("it took cost$ for each", "login")
