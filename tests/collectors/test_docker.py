"""Containers that ended, as `docker ps -a` and `docker inspect` with a template tell of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook
from snapshot_inputs import by_kind, claimed_by, facts_of

from neuron_doctor.collectors.shown_tables import shown_tables
from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

LIST = """CONTAINER ID   IMAGE              COMMAND                  CREATED          STATUS                       NAMES
9f2c1b7a4e10   training-neuronx   "torchrun --nproc_pe…"   47 minutes ago   Exited (137) 5 minutes ago   sft-node0
1c0e77bd2f3a   monitor:1.2        "neuron-monitor-prom…"   3 days ago       Up 3 days                    neuron-exporter
77aa77bd2f3a   vllm-neuron:0.9    "vllm serve"             5 weeks ago      Exited (1) 5 weeks ago       vllm-try
88aa77bd2f3a   hello-world        "/hello"                 2 hours ago      Exited (1) 2 hours ago       eager_curie
99aa77bd2f3a   train:1            "python train.py"        2 hours ago      Exited (0) 2 hours ago       train-small
aaaa77bd2f3a   monitor:1.2        "neuron-monitor-prom…"   3 days ago       Exited (1) 3 hours ago       exporter-old
"""


def failures(text: str) -> list[tuple[str | None, object, str | None, object]]:
    found = by_kind(facts_of(text, "shown.txt"))["launcher-failure"]
    return [(f.place.container, f.data["exitcode"], f.place.host, f.data.get("message")) for f in found]


def test_only_what_computes_and_ended_badly_of_late() -> None:
    assert failures(LIST) == [("sft-node0", 137, None, None)]


def test_it_is_of_the_machine_on_which_it_was_asked() -> None:
    assert failures(f"ubuntu@ip-10-0-3-7:~$ docker ps -a\n{LIST}") == [("sft-node0", 137, "ip-10-0-3-7", None)]


@pytest.mark.parametrize(
    "text",
    [
        "NAMES       STATUS\nsft-node0   Exited (1) About an hour ago\nother   Up 2 days\n",
        "$ docker ps -a --format '{{.Names}}: {{.Status}}'\nsft-node0: Exited (1) 47 hours ago\n",
        "$ sudo docker ps -a --format '{{.Names}}\\t{{.Status}}'\nsft-node0\tExited (1) Less than a second ago\nx\tCreated\n",
        "$ podman ps -a | grep sft\n9f2c1b7a4e10  train:1  torchrun  2 hours ago  Exited (1) 5 minutes ago  sft-node0\n",
    ],
)
def test_other_columns(text: str) -> None:
    assert failures(text) == [("sft-node0", 1, None, None)]


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("docker inspect -f '{{.State.OOMKilled}} {{.State.ExitCode}}' sft-node0", "true 137"),
        ("docker inspect --format='{{.State.ExitCode}}/{{.State.OOMKilled}}' sft-node0", "137/true"),
        (
            "docker container inspect --format '{{.Name}} oom={{.State.OOMKilled}} rc={{.State.ExitCode}}' 9f2c1b7a4e10",
            "/sft-node0 oom=true rc=137",
        ),
        (
            "docker inspect sft-node0 | grep -E 'OOMKilled|ExitCode'",
            '            "OOMKilled": true,\n            "ExitCode": 137,',
        ),
    ],
)
def test_who_was_killed_for_memory(command: str, printed: str) -> None:
    assert failures(f"$ {command}\n{printed}\n") == [("sft-node0", 137, None, "OOMKilled")]


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("docker inspect -f '{{.State.OOMKilled}} {{.State.ExitCode}}' a", "false 0"),
        ("docker inspect -f '{{.State.Status}} {{.State.ExitCode}}' a", "running 1"),
        ("docker inspect a | grep -E 'OOMKilled|ExitCode'", '  "OOMKilled": false,\n  "ExitCode": 0,'),
    ],
)
def test_what_is_well_is_no_failure(command: str, printed: str) -> None:
    assert failures(f"$ {command}\n{printed}\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "step 100 Exited (1) 5 minutes ago\n",
        "$ docker inspect -f '{{.State.Status}}' a\nexited\n",
        "$ docker inspect -f '{{range .Mounts}}{{.Source}}{{end}} {{.State.ExitCode}}' a\n/data 137\n",
        "$ docker inspect -f '{{.State.ExitCode}}' a\nError: No such object: a\n",
        "$ docker ps -a\nCannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\n",
        f"{LIST}2026-05-26 10:00:00 INFO step 3\n",
    ],
)
def test_what_is_no_such_list_is_left_to_others(text: str) -> None:
    assert claimed_by(text.encode()) == []


def test_between_other_commands_of_a_terminal() -> None:
    text = f"ubuntu@trn-1:~$ uptime\n 11:00 up 3 days\nubuntu@trn-1:~$ docker ps -a\n{LIST}ubuntu@trn-1:~$ date\nTue\n"
    assert [member.name for member in shown_tables(text.encode())] == ["docker.txt"]


def test_the_killed_container_is_the_root(tmp_path: Path) -> None:
    command = "docker inspect -f '{{.State.OOMKilled}} {{.State.ExitCode}}' sft-node0"
    (tmp_path / "shown.txt").write_text(f"ubuntu@trn-1:~$ docker ps -a\n{LIST}ubuntu@trn-1:~$ {command}\ntrue 137\n")
    found = diagnose(rulebook(), collect(Request((str(tmp_path),)), rulebook()))
    [root] = [one for one in found.findings if one.id in found.root_causes]
    assert (root.cause, root.place.host) == ("host-oom", "trn-1")


KEYS = ["ExitCode", "Error", "Status", "OOMKilled", "Pid", "StartedAt", "FinishedAt"]
SEVEN = " ".join(f"{{{{.State.{key}}}}}" for key in KEYS)


@pytest.mark.parametrize("template", [SEVEN, SEVEN.replace("Error", "Dead"), SEVEN.replace(" ", "")])
def test_a_long_line_is_none_of_a_template(template: str) -> None:
    words = " ".join(["1"] * 240)
    for line in (words, words.replace(" ", ""), f"{words} {'x' * 1000}"):
        text = f"$ docker inspect -f '{template}' sft-node0\n{line}!\n"
        assert claimed_by(text.encode()) == [] or failures(text) == []


def test_an_error_may_have_blanks_in_it() -> None:
    command = "docker inspect -f '{{.State.Error}} {{.State.OOMKilled}} {{.State.ExitCode}}' sft-node0"
    assert failures(f"$ {command}\nno such device: /dev/neuron0 false 127\n") == [("sft-node0", 127, None, None)]


@pytest.mark.parametrize(
    "image", ["mysql:8-server", "http-server:1", "celery:5 celery worker", "redis:7", "conserver:1", "train-nginx:1"]
)
def test_what_runs_beside_the_job_is_no_failure_of_it(image: str) -> None:
    row = f"77aa77bd2f3a   {image}   2 hours ago   Exited (1) 5 minutes ago   "
    assert failures(f"{LIST}{row}some-name\n") == [("sft-node0", 137, None, None)]
    name = image.split(":", maxsplit=1)[0]
    assert failures(f"$ docker inspect -f '{{{{.State.ExitCode}}}}' {name}\n1\n") == []
    assert failures(f'$ docker inspect {name} | grep ExitCode\n    "ExitCode": 1,\n') == []


def test_what_ended_years_before_the_others_is_no_failure() -> None:
    command = "docker inspect -f '{{.Name}} {{.State.ExitCode}} {{.State.FinishedAt}}' sft-node0 sft-old"
    rows = "/sft-node0 137 2026-05-26T10:41:02.1Z\n/sft-old 1 2023-05-26T10:41:02.1Z\n"
    assert failures(f"$ {command}\n{rows}") == [("sft-node0", 137, None, None)]
