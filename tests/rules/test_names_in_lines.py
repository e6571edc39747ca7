"""Who a line says that it is of: the rank that begins, the instance of a row."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from neuron_doctor.engine.facts import Fact
from neuron_doctor.examples import inputs_of
from neuron_doctor.packs import load_with_examples
from neuron_doctor.pipeline import collect_inputs
from neuron_doctor.request import Packs
from neuron_doctor.scan import Engine

ENGINE = Engine.of(load_with_examples(Packs()))
INSTANCE, HOST = "i-0d94be2207c1fa5e6", "ip-10-88-2-19.us-west-2.compute.internal"


def facts(line: str, kind: str) -> Iterator[Fact]:
    return (f for f in collect_inputs(inputs_of({"out.txt": f"{line}\n"}), ENGINE).facts if f.kind == kind)


def worlds(line: str) -> set[tuple[object, object]]:
    return {(f.place.rank, f.data["size"]) for f in facts(line, "world")}


@pytest.mark.parametrize(
    "line",
    [
        "rank 3 of 16 initialised",
        "[16:20:00] rank 3/16 init ok",
        "2026-04-14 20:00:00,123 INFO rank 3/16 started",
        "2026-04-14 20:00:00 [INFO] rank 3/16 started",
        "[INFO] [16:20:00] rank 3/16 started",
        "[stilt-a:0] 08:11:03 rank 3 of 16 initialised (gloo control group + neuron), world barrier ok",
        "global rank 3 out of 16 is ready",
    ],
)
def test_a_rank_that_begins_tells_how_many_there_are(line: str) -> None:
    assert worlds(line) == {(3, 16)}


@pytest.mark.parametrize(
    "line",
    [
        "[tp] rank 3 of 16 ready",
        "[pipeline] [stage 2] rank 3/16 initialised",
        "groups: [[0, 1], [2, 3]] rank 3 of 16 ready",
        "INFO [data_parallel_group] rank 3/16 joined",
        "tensor parallel rank 3/16 initialised",
    ],
)
def test_a_rank_that_begins_in_a_group_tells_nothing_of_the_job(line: str) -> None:
    assert worlds(line) == set()


def rows(line: str) -> set[tuple[object, object]]:
    """What the patterns tell, and who reads lists of machines: the same."""
    told = (f for f in facts(line, "identity") if "hostname" in f.data)
    return {(f.place.instance_id or f.data.get("instance_id"), f.data["hostname"]) for f in told}


@pytest.mark.parametrize(
    "line",
    [
        f"{INSTANCE}   {HOST}   terminated",
        f"{INSTANCE}\ttrn2.48xlarge\trunning\t{HOST}\t10.88.2.19",
        f"|  {INSTANCE}  |  trn2.48xlarge  |  running  |  {HOST}  |",
        f"|{INSTANCE}|trn2.48xlarge|{HOST}|",
        f"{INSTANCE}  the fourth node  running  {HOST}",
    ],
)
def test_a_row_of_instances_names_the_host(line: str) -> None:
    assert rows(line) == {(INSTANCE, HOST)}


@pytest.mark.parametrize(
    "line",
    [
        f"{INSTANCE} was replaced by {HOST}",
        f"{INSTANCE} has lost {HOST} and reconnects",
        f"{INSTANCE}: connection to {HOST} refused",
        f"{INSTANCE}  was replaced by {HOST}",
    ],
)
def test_prose_about_an_instance_and_a_host_makes_them_no_one(line: str) -> None:
    assert rows(line) == set()


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("quail-03 local 0 device 0", "quail-03"),
        ("trn2-a7b: LOCAL_RANK=1", "trn2-a7b"),
        ("11:05:24 heron2 cores 8-9", "heron2"),
        ("[heron2] SLURM_PROCID=42 SLURM_LOCALID=10 pid=71923", "heron2"),
        ("quail-03.cluster.local: WORLD_SIZE=64", "quail-03.cluster.local"),
    ],
)
def test_a_label_before_settings_of_a_rank_names_who_speaks(line: str, word: str) -> None:
    assert word in {f.data["word"] for f in facts(line, "identity") if "word" in f.data}


def test_a_word_before_a_rate_per_device_is_no_label() -> None:
    assert not list(facts("epoch 3, tokens per second per device 0.0", "identity"))


HEADING = "ray::_RayTrainWorker__execute.get_next() (pid=1191, ip=10.33.6.91, actor_id=71ac0f7a)"


def raised_by(*lines: str) -> set[tuple[str | None, int | None]]:
    found = facts("\n".join(lines), "hit")
    return {(f.place.host, f.place.pid) for f in found if f.name == "python-exception"}


@pytest.mark.parametrize(
    "before", ["", "ray.exceptions.RayTaskError(KeyError): ", "(TorchTrainer pid=771, ip=10.33.5.40) "]
)
@pytest.mark.parametrize("frames", [(), ('  File "/x/data.py", line 23, in pad', "    raise KeyError(key)") * 5])
def test_an_exception_that_ray_passes_on_is_of_the_process_that_it_names(before: str, frames: tuple[str, ...]) -> None:
    label = before if before.startswith("(") else ""
    lines = [f"{before}{HEADING}", *(f"{label}{line}" for line in (*frames, "KeyError: 'loss_mask'"))]
    assert raised_by(*lines) == {("10.33.6.91", 1191)}


@pytest.mark.parametrize(
    "between",
    [
        ("Traceback (most recent call last):", '  File "/x/driver.py", line 9, in <module>', '    cfg["lr"]'),
        ("step 118 loss 2.1", "  and more"),
    ],
)
def test_an_exception_of_the_driver_behind_what_ray_says_of_a_process_is_not_of_that(between: tuple[str, ...]) -> None:
    assert raised_by(f"(raylet) {HEADING} is slow", *between, "KeyError: 'lr'") == {(None, None)}


ROW = "rag-llm-0   0/1   {}   7 (2m11s ago)   19m   172.20.31.8   inf-hall-c2   <none>   <none>"


@pytest.mark.parametrize(
    ("row", "seen"),
    [
        (ROW.format("CrashLoopBackOff"), ("rag-llm-0", "inf-hall-c2")),
        (
            "ml    rag-llm-1   1/1   Running   0   41d   10.2.3.4   ip-10-2-0-9.ec2.internal   <none>   1/1",
            ("rag-llm-1", "ip-10-2-0-9.ec2.internal"),
        ),
        (ROW.replace("172.20.31.8   inf-hall-c2", "<none>   <none>").format("Pending"), None),  # not scheduled
        ("rag-llm-0   0/1   CrashLoopBackOff   7   19m", None),
        ("rag-llm   1/1   1   1   19m   llm   registry.example/llm:3   app=rag", None),  # a deployment
    ],
)
def test_a_row_that_was_cut_out_of_a_wide_listing_says_on_which_node_a_pod_is(
    row: str, seen: tuple[str, str] | None
) -> None:
    told = facts(f"Script started on 2025-03-27 10:40:02+00:00\n{row}\n2025-03-27 10:40:03 INFO step 1", "identity")
    assert [(f.data["pod"], f.place.host) for f in told if f.data.get("pod")] == ([seen] if seen else [])
