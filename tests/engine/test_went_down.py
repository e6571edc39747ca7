"""Hosts that went down under their processes."""

from __future__ import annotations

from neuron_doctor.engine.facts import Fact, Place, Span, Value
from neuron_doctor.engine.went_down import went_down


def kernel(*words: str, rank: int | None = None) -> list[Fact]:
    """A kernel log: `+7` process 7 opens a device, `-7` it closes it, `boot` the kernel starts."""
    facts = []
    for offset, word in enumerate(words):
        data: dict[str, Value] = {"component": "kernel", "version": "6.8"} if word == "boot" else {"slot": 1}
        kind = {"+": "attach", "-": "detach"}.get(word[0], "version")
        place = Place(host="a", rank=rank if word == "+7" else None, pid=None if word == "boot" else int(word[1:]))
        facts.append(Fact(kind, data, place, Span("kern.log", offset), "kern.log"))
    return facts


def downs(*words: str, rank: int | None = None) -> list[Value]:
    return [fact.data["processes"] for fact in went_down(kernel(*words, rank=rank))]


def test_a_kernel_that_starts_while_processes_hold_devices_went_down_under_them() -> None:
    assert downs("boot", "+7", "+8", "boot") == [2]


def test_one_that_starts_after_all_let_go_was_restarted() -> None:
    assert downs("boot", "+7", "+8", "-7", "-8", "boot") == []
    assert downs("boot", "+7") == []


def test_processes_that_come_later_show_that_it_was_under_an_earlier_job() -> None:
    assert downs("+7", "boot", "+9") == []
    assert downs("+7", "boot", "+9", rank=3) == [1]
