"""A name in a path is a host's where the text says so, as one says a host."""

from __future__ import annotations

import io

import pytest

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.known_hosts import known_hosts
from neuron_doctor.collectors.own_names import own_names
from neuron_doctor.engine.facts import Collection, Fact, Place, Span


def named(path: str, text: str, place: Place | None = None, key: str = "hostname") -> list[object]:
    raw = io.BufferedReader(io.BytesIO(f"first\n{text}\nlast\n".encode()), 128 * 1024)
    facts = list(own_names(Input(path, path, raw, len(text), place or Place())))
    assert all(fact.kind == "identity" and fact.span.text == text and fact.span.line == 2 for fact in facts)
    return [fact.data[key] for fact in facts if key in fact.data]


@pytest.mark.parametrize(
    "text",
    [
        "JAX distributed initialized: process 2 of 4 on kestrel3",
        "INFO worker 3 running on host kestrel3 with 8 cores",
        '{"level": "info", "node": "kestrel3", "step": 4}',
        "# rank 72 host kestrel3 core 8",
        "launched on kestrel3",
        "launch.sh: host kestrel3 ulimit -l 65536",
        "ubuntu@kestrel3: ls",
        "Hostname: kestrel3.cluster.example",
    ],
)
def test_a_name_in_the_path_that_the_text_says_of_a_host_is_one(text: str) -> None:
    assert named("job/kestrel3/jax.log", text) == ["kestrel3"]
    assert named("job/kestrel3.log", text) == ["kestrel3"]
    assert named("job/merlin4/jax.log", text) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("kestrel3/jax.log", "loading /ckpt/kestrel3/step_40"),
        ("kestrel3/jax.log", "trained on kestrel3 for two epochs"),
        ("kestrel3/jax.log", "host=kestrel31"),
        ("kestrel3/jax.log", "run name: kestrel3"),
        ("exp42/train.log", "rank 3 on exp42"),
        ("attempt_1/train.log", "host=attempt_1"),
        ("ip-10-0-0-7/train.log", "host=ip-10-0-0-7"),  # known by its shape
        ("trn1/train.log", "rank 3 running on trn1"),
        ("worker/train.log", "host=worker"),
        ("memory/numa.txt", "host memory is full"),
        ("failure.log", "node failure at 12:00"),
        ("inferentia/a.log", "running on inferentia"),
        ("github/a.log", "git clone git@github.com:a/b"),
    ],
)
def test_the_same_word_for_anything_else_is_none(path: str, text: str) -> None:
    assert named(path, text) == []


def test_what_is_placed_is_asked_no_more() -> None:
    text = "process 2 of 4 on kestrel3"
    assert (
        named("kestrel3/a.log", text, Place(host="n1")) == named("kestrel3/a.log", text, Place(container="p/c")) == []
    )


def test_a_mere_word_is_a_host_as_a_setting_and_otherwise_only_a_word() -> None:
    assert named("job/merlin/jax.log", "host=merlin") == ["merlin"]
    assert named("job/merlin/jax.log", "launch.sh: host merlin ulimit", key="word") == ["merlin"]
    assert named("job/merlin/jax.log", "on host merlin: host=merlin") == ["merlin"]


def known(*told: tuple[str, str]) -> set[str]:
    facts = [Fact("identity", {"word": word_of(text)}, Place(), Span(path, text=text), path) for path, text in told]
    return set(known_hosts(Collection((), tuple(facts))))


def word_of(text: str) -> str:
    return text.rsplit(maxsplit=1)[-1]


def test_words_are_known_for_hosts_where_sources_called_so_say_another_one_each_in_the_same_way() -> None:
    danube, elbe = ("danube/2.log", "rank 66 started on danube"), ("elbe/8.log", "rank 40 started on elbe")
    assert known(danube, elbe) == {"danube", "elbe"}
    assert known(danube) == known(danube, ("danube/3.log", "rank 67 started on danube")) == set()
    assert known(danube, ("rhine/8.log", "rank 40 started on elbe")) == set()
    assert known(("memory.log", "host memory"), ("failure.log", "3 times node failure")) == set()
