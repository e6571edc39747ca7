"""Environment dumps: values masked in facts and quotations, ranks only where they are a worker's."""

from __future__ import annotations

import pytest
from host_captures import ENV
from snapshot_inputs import by_kind, claimed_by, facts_of, one


def values(text: str, path: str = "env.txt") -> dict[object, object]:
    return {f.data["name"]: f.data["value"] for f in by_kind(facts_of(text, path))["env"]}


def test_harmless_values_are_shown_and_others_masked() -> None:
    shown = values(ENV)
    assert shown["NEURON_RT_ROOT_COMM_ID"] == "10.0.3.7:41000"
    assert {shown[name] for name in ("HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "USER_EMAIL")} == {"<masked>"}


@pytest.mark.parametrize(
    "text", [ENV, ENV.replace("\n", "\0"), "".join(f"declare -x {line}\n" for line in ENV.split())]
)
def test_no_masked_value_stands_in_any_quotation(text: str) -> None:
    quoted = " ".join(str(fact.span.text) for fact in facts_of(text))
    assert "hf_" not in quoted
    assert "wJalr" not in quoted
    assert "someone@" not in quoted


def test_the_place_is_that_of_the_worker() -> None:
    fact = next(iter(facts_of(ENV)))
    assert fact.place.known() == {"job": "8812", "host": "trn-node-7", "rank": 35, "local_rank": 3}


def test_the_world_is_as_large_as_the_variable_says() -> None:
    assert one(facts_of(ENV), "world").data == {"size": 64}


def test_a_rank_without_a_local_rank_counts_pods_and_gives_no_place() -> None:
    facts = facts_of(ENV.replace("LOCAL_RANK=3\n", ""))
    assert facts[0].place.rank is None
    assert by_kind(facts)["world"] == []


def test_the_process_is_that_of_the_directory_of_environ() -> None:
    facts = facts_of(ENV.replace("\n", "\0"), "node1/proc/4242/environ")
    assert {fact.place.pid for fact in facts} == {4242}
    assert values(ENV.replace("\n", "\0"), "node1/proc/4242/environ") == values(ENV)


@pytest.mark.parametrize("form", ["export {}={}", 'declare -x {}="{}"', "{}='{}'"])
def test_the_forms_of_shells_are_read(form: str) -> None:
    text = "".join(form.format(*line.split("=", 1)) + "\n" for line in ENV.splitlines())
    assert values(text) == values(ENV)


@pytest.mark.parametrize(
    "text",
    [
        'NAME="Ubuntu"\nVERSION_ID="22.04"\nID=ubuntu\n',
        "CONFIG_X86=y\nCONFIG_SMP=y\n",
        ENV + "Traceback (most recent call last):\n",
        "RANK=3\nRANK=3\n",
    ],
)
def test_other_files_of_settings_are_not_claimed(text: str) -> None:
    assert claimed_by(text.encode()) == []


def test_a_value_of_several_lines_does_not_hide_the_rest() -> None:
    text = ENV.replace("PATH=", "BASH_FUNC_ml%%=() {  eval $x\n}\nPATH=")
    assert values(text)["PATH"] == values(ENV)["PATH"]


@pytest.mark.parametrize(
    ("settings", "ranks"),
    [
        ("SLURM_PROCID=9 SLURM_LOCALID=1 SLURM_NTASKS=16", (9, 1)),
        ("SLURM_PROCID=8 SLURM_LOCALID=0 SLURM_NTASKS=16 WORLD_SIZE=16", (8, 0)),
        ("SLURM_PROCID=1 SLURM_LOCALID=0 SLURM_NTASKS=2", (None, None)),
        ("SLURM_PROCID=1 SLURM_LOCALID=1 SLURM_NTASKS=2 WORLD_SIZE=64", (None, None)),
        ("SLURM_PROCID=1 SLURM_LOCALID=0 SLURM_NTASKS=2 WORLD_SIZE=64 RANK=33 LOCAL_RANK=1", (33, 1)),
        ("OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_SIZE=8", (5, 1)),
        ("OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_SIZE=2", (None, None)),
        ("NEURON_PJRT_PROCESS_INDEX=3 NEURON_PJRT_PROCESSES_NUM_DEVICES=1,1,1,1", (3, None)),
        ("NEURON_PJRT_PROCESS_INDEX=3 NEURON_PJRT_PROCESSES_NUM_DEVICES=64,64,64,64", (None, None)),
    ],
)
def test_tasks_of_a_launcher_are_ranks_only_where_they_are_workers(
    settings: str, ranks: tuple[int | None, int | None]
) -> None:
    fact = next(iter(facts_of("\n".join(["PATH=/bin", "HOME=/root", "HOSTNAME=a", *settings.split()]) + "\n")))
    assert (fact.place.rank, fact.place.local_rank) == ranks
