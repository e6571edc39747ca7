"""Labels before lines: hosts where a parallel shell wrote them, workers where the files of several hosts have their own."""

from __future__ import annotations

from builders import hit, source
from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Span
from neuron_doctor.engine.worker_labels import without_labels_for_hosts

SOURCES = (source("a", host="ip-1"), source("b", host="ip-2"), source("c", host="ip-3"))


def labelled(name: str, file: str, text: str = "{}: Traceback") -> Fact:
    return replace(hit("x", host=name, source=file), span=Span(file, 0, 9, 1, 1, text.format(name)))


def of_process(file: str, host: str) -> Fact:
    return hit("y", host=host, source=file, pid=7)


def hosts(*facts: Fact) -> list[str | None]:
    return [fact.place.host for fact in without_labels_for_hosts(facts, SOURCES)]


SPOKEN = (of_process("a", "ip-1"), of_process("b", "ip-2"))


def test_labels_of_the_files_of_several_hosts_whose_processes_write_without_one_are_workers() -> None:
    told = (labelled("g3", "a"), labelled("g35", "b", '{{"log": "{}: RuntimeError\\n"}}'), labelled("g70", "c"))
    assert hosts(*told, *SPOKEN)[:3] == ["ip-1", "ip-2", "ip-3"]


def test_labels_of_the_file_of_one_host_are_those_of_a_shell() -> None:
    assert hosts(labelled("n3", "a"), labelled("n35", "a"), *SPOKEN)[:2] == ["n3", "n35"]


def test_a_shell_labels_every_line() -> None:
    told = (labelled("n3", "a"), labelled("n35", "b"))
    assert hosts(*told)[:2] == ["n3", "n35"]
    assert hosts(*told, SPOKEN[0])[:2] == ["n3", "n35"]


def test_a_label_in_the_files_of_two_hosts_is_a_host_that_both_asked() -> None:
    told = (labelled("n3", "a"), labelled("n3", "b"), labelled("n4", "b"))
    assert hosts(*told, *SPOKEN)[:3] == ["n3", "n3", "n4"]


def test_a_name_that_something_else_calls_a_host_is_one_and_so_are_those_like_it() -> None:
    told = (labelled("n3", "a"), labelled("n35", "b"))
    assert hosts(*told, *SPOKEN, hit("z", host="n35", source="d"))[:2] == ["n3", "n35"]


def test_the_host_of_a_record_that_no_label_names_stays() -> None:
    told = (labelled("n3", "a", "Nov  9 02:40 {} kernel: x"), labelled("n35", "b", "Nov  9 02:40 {} kernel: x"))
    assert hosts(*told, *SPOKEN)[:2] == ["n3", "n35"]
