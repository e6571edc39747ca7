"""Two starts of one container by the names of their logs alone: what kept the first one from coming up is over."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import hit, pack, progress, rule, source
from msgspec.structs import replace

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Collection, Fact, Place, Span, Value
from neuron_doctor.engine.grades import Role


def shown(*, ready: bool, container: str = "asr") -> list[Fact]:
    """A pod that was started once more, and how its first start ended."""
    pod: dict[str, Value] = {"name": "asr-7c5b6-tq9d4", "container": container, "namespace": "n", "phase": "Running"}
    pod |= {"reason": "Error", "restarts": 1, "exit_code": 1, "signal": 0, "ready": ready, "node": "n1", "ip": ""}
    end: dict[str, Value] = {"launcher": "kubernetes", "exitcode": 1, "signal": 0, "first": False, "message": "Error"}
    place = Place(host="n1", container="asr-7c5b6-tq9d4")
    return [
        Fact(kind, data, place, Span("k8s", n, 10, 1, 1, kind), "k8s")
        for n, (kind, data) in enumerate((("pod", pod), ("launcher-failure", end)))
    ]


def roles(
    folder: Path, first: str, second: str, pods: list[Fact], *, works: bool = True, worked: bool = False
) -> set[Role]:
    book = pack(
        folder,
        rule("busy", "record: busy", cause="bug", patterns=("busy",), more="survivable: anew"),
        rule("ended", "record: launcher-failure", cause="bug"),
    )
    facts = [replace(hit("busy", pid=1), source=first), *pods]
    facts += [progress(source=name, offset=5) for name, told in ((second, works), (first, worked)) if told]
    sources = (source(first), source(second), source("k8s", kind="kubectl"))
    return {finding.role for finding in diagnose(book, Collection(sources, tuple(facts))).findings}


@pytest.mark.parametrize(
    ("first", "second", "container"),
    [
        ("asr-previous.log", "asr-current.log", "asr"),
        ("x/asr-web.prev.log", "x/asr-web.log", "asr-web"),
        ("asr_previous.txt", "asr.log", "asr"),
    ],
)
def test_a_start_that_did_not_come_up_is_over_where_the_next_one_works(
    tmp_path: Path, first: str, second: str, container: str
) -> None:
    assert roles(tmp_path, first, second, shown(ready=True, container=container)) == {Role.SURVIVED}
    assert roles(tmp_path, first, second, []) == {Role.SURVIVED}


def test_it_is_not_where_the_pod_does_not_work_or_the_first_start_did(tmp_path: Path) -> None:
    names = ("asr-previous.log", "asr-current.log")
    assert Role.ROOT in roles(tmp_path, *names, shown(ready=False))
    assert Role.ROOT in roles(tmp_path, *names, shown(ready=True), works=False)
    assert Role.ROOT in roles(tmp_path, *names, shown(ready=True), worked=True)


def test_logs_of_other_names_or_elsewhere_are_no_starts_of_one_container(tmp_path: Path) -> None:
    assert Role.ROOT in roles(tmp_path, "asr-previous.log", "tts-current.log", [])
    assert Role.ROOT in roles(tmp_path, "a/asr-previous.log", "b/asr-current.log", [])


def test_how_a_container_of_another_name_ended_is_not_made_good(tmp_path: Path) -> None:
    names = ("asr-previous.log", "asr-current.log")
    assert roles(tmp_path, *names, shown(ready=True, container="tts")) == {Role.SURVIVED, Role.ROOT}


@pytest.mark.parametrize("more", ["asr_previous.txt", "asr.prev.log", "asr_current.txt"])
def test_of_several_logs_of_one_start_nothing_is_known(tmp_path: Path, more: str) -> None:
    """Whichever comes last: two logs before the last start, or two of the last one."""
    first, second = "asr-previous.log", "asr-current.log"
    book = pack(tmp_path, rule("busy", "record: busy", cause="bug", patterns=("busy",), more="survivable: anew"))
    facts = (
        replace(hit("busy", pid=1), source=first),
        progress(source=second, offset=5),
        progress(source=more, offset=5),
    )
    for sources in ((first, second, more), (more, first, second)):
        found = diagnose(book, Collection(tuple(map(source, sources)), facts)).findings
        assert {finding.role for finding in found} == {Role.ROOT}
