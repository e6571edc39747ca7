"""Whose log a command at a prompt shows."""

from __future__ import annotations

import pytest

from neuron_doctor.collectors.pod_sections import Shown, placed_by_commands, shown_by
from neuron_doctor.engine.facts import NOWHERE, Collection, Fact, Place, Source, Span


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("kubectl -n inference logs chat-hp5x7 -c main --previous", Shown("chat-hp5x7/main", earlier=True)),
        ("kubectl logs chat-hp5x7", Shown("chat-hp5x7", earlier=False)),
        ("kubectl logs -p --tail 200 chat-hp5x7 main", Shown("chat-hp5x7/main", earlier=True)),
        ("kubectl logs pod/chat-hp5x7 --container=main --previous=false", Shown("chat-hp5x7/main", earlier=False)),
        ("sudo /usr/local/bin/kubectl --context prod logs chat-hp5x7 | tail -n 40", Shown("chat-hp5x7", earlier=False)),
        ("oc logs chat-hp5x7 > chat.log", Shown("chat-hp5x7", earlier=False)),
        ("oc logs chat-hp5x7>chat.log 2>&1", Shown("chat-hp5x7", earlier=False)),
        ("kubectl logs chat-hp5x7 2>/dev/null", Shown("chat-hp5x7", earlier=False)),
        ("kubectl logs chat-hp5x7; date", Shown("chat-hp5x7", earlier=False)),
        ("cd /tmp && NS=x kubectl logs chat-hp5x7 || true", Shown("chat-hp5x7", earlier=False)),
        ("kubectl logs 'chat-hp5x7' -c \"main\" | grep -vE '(a; b)|> c'", Shown("chat-hp5x7/main", earlier=False)),
        ("kubectl logs chat-hp5x7 -c $C # the first one", Shown("chat-hp5x7", earlier=False)),
        ("kubectl logs -cmain -pf -nx chat-hp5x7 \\", Shown("chat-hp5x7/main", earlier=True)),
        ("kubectl logs -p=false chat-hp5x7 -c main --all-containers", Shown("chat-hp5x7", earlier=False)),
        ("kubectl logs chat-hp5x7; kubectl logs other-hp5x7", None),
        ("kubectl logs chat-hp5x7 | tail -5 && kubectl logs other-hp5x7", None),
        ("kubectl logs chat-hp5x7 || kubectl logs chat-hp5x7 -p", None),
        ("for p in a-1 b-1; do kubectl logs $p; done", None),
        ("kubectl logs $(cat pod)", None),
        ("kubectl logs $POD", None),
        ("kubectl logs chat-*", None),
        ("kubectl logs <pod>", None),
        ("kubectl logs chat-hp5x7 | grep don't", None),
        ("kubectl logs a-1 b-1 c-1", None),
        ("kubectl logs deployment/chat --previous", None),
        ("kubectl logs -l app=chat", None),
        ("kubectl logs --selector=app=chat", None),
        ("kubectl get pods", None),
        ("kubectl logs", None),
        ("cat chat-hp5x7", None),
        ("", None),
    ],
)
def test_a_command_shows_the_log_of_one_container_or_of_none(command: str, shown: Shown | None) -> None:
    assert shown_by(command) == shown


def at(offset: int, text: str, kind: str = "hit", place: Place = NOWHERE, **data: str) -> Fact:
    return Fact(kind, {"pattern": "x", **data}, place, Span("s", offset, 10, 1, 1, text), "s")


def command(offset: int, text: str) -> Fact:
    return at(offset, text, "section", form="shell", name="")


def containers(*facts: Fact) -> list[str | None]:
    placed = placed_by_commands(Collection((Source("s", "s", "log"),), facts))
    return [*(fact.place.container for fact in placed.facts), placed.sources[0].place.container]


def test_what_stands_below_a_command_is_of_the_container_that_it_shows_up_to_the_next_one() -> None:
    facts = (
        command(0, "$ kubectl logs a-1"),
        at(50, "x"),
        command(60, "$ kubectl logs b-1"),
        at(70, "x"),
        command(80, "$ uptime"),
        at(90, "x"),
    )
    assert containers(*facts) == ["a-1", "a-1", "b-1", "b-1", None, None, None]


def test_commands_that_the_program_in_the_container_echoes_end_nothing() -> None:
    facts = (command(0, "$ kubectl logs a-1"), command(50, "+ python3 train.py"), at(70, "x"))
    assert containers(*facts) == ["a-1", "a-1", "a-1", "a-1"]


def test_a_line_that_knows_its_container_keeps_it() -> None:
    facts = (command(0, "$ kubectl logs a-1"), at(50, "x", place=Place(container="z-1/main")))
    assert containers(*facts) == ["a-1", "z-1/main", "a-1"]


def test_a_host_called_after_the_pod_is_the_pod() -> None:
    facts = (command(0, "$ kubectl logs a-1 -c main"), at(50, "x", place=Place(host="a-1")))
    [_, fact] = placed_by_commands(Collection((Source("s", "s", "log"),), facts)).facts
    assert (fact.place.host, fact.place.container) == (None, "a-1/main")


def test_where_no_command_shows_a_log_nothing_is_placed() -> None:
    facts = (command(0, "$ kubectl get pods"), at(50, "x"))
    assert containers(*facts) == [None, None, None]
