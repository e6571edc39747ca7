"""What actions and headlines say, and how they speak of what is not known."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import hit, pack, rule, source
from msgspec.structs import replace

from neuron_doctor.engine.action_words import Words
from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Collection, Fact, Span
from neuron_doctor.engine.grades import ActionKind
from neuron_doctor.engine.rulefile import ActionDoc
from neuron_doctor.engine.verdict import Finding

REPLACE = ActionDoc(
    ActionKind.REPLACE_INSTANCE, "device {device} of host {host}", "kubectl drain {host}", destroys="all on {host}"
)
COLLECT = ActionDoc(
    ActionKind.COLLECT_MORE, "the log of rank {rank} on host {host}", "cat {path}", precondition="process {pid} runs"
)


def said(fact: Fact, text: str, line: int | None = 7) -> Fact:
    return replace(fact, span=Span("w1/a.log", fact.span.offset, 1, line, text.find("Bad") + 1, text))


def found(folder: Path, *facts: Fact) -> Finding:
    book = pack(folder, rule("raised", "record: raising", cause="bug", at="job", patterns=("raising",)))
    asked = replace(book.rules[0], title="raised", headline='it raised "{record}"', actions=(REPLACE, COLLECT))
    return diagnose(replace(book, rules=(asked,)), Collection((source("s"),), facts)).findings[0]


def test_what_is_known_is_named(tmp_path: Path) -> None:
    finding = found(tmp_path, said(hit("raising", host="node7", device=3, rank=5, pid=9), "Bad: x"))
    node, collect = finding.actions
    assert (node.target, node.command) == ("device 3 of host node7", "kubectl drain node7")
    assert (node.precondition, node.destroys) == ("", "all on node7")
    assert (collect.target, collect.precondition) == ("the log of rank 5 on host node7", "process 9 runs")


def test_what_is_not_known_is_said_in_words_and_nothing_is_done_to_a_host_without_a_name(tmp_path: Path) -> None:
    node, collect = found(tmp_path, said(hit("raising"), "Bad: x")).actions
    assert node.target == "the device of the host that wrote line 7 of w1/a.log"
    assert (node.command, node.destroys) == ("", "all on that host")
    assert node.precondition.startswith("it is known which host that is")
    assert collect.target == "the log of the rank on the host that wrote line 7 of w1/a.log"
    assert (collect.command, collect.precondition) == ("cat <path>", "the process runs")


def test_several_processes_of_one_host_are_ended_together(tmp_path: Path) -> None:
    book = pack(tmp_path, rule("held", "record: raising", cause="bug", at="process", patterns=("raising",)))
    kill = ActionDoc(ActionKind.KILL_PROCESS, "process {pid} on host {host}", "kill {pid}")
    ended = replace(book, rules=(replace(book.rules[0], actions=(kill,)),))

    def told(*hosts: str) -> tuple[str, str]:
        held = [hit("raising", host=host, device=n, pid=40 + n, offset=n) for n, host in enumerate(hosts)]
        [finding] = diagnose(ended, Collection((source("s"),), tuple(held))).findings
        return finding.actions[0].target, finding.actions[0].command

    assert told("node7", "node7") == ("process 40 41 on host node7", "kill 40 41")
    assert told("node7", "node8") == ("the process on host node7,node8", "kill <pid>")


def test_the_devices_that_a_program_fills_are_one_root_at_no_core(tmp_path: Path) -> None:
    finding = found(tmp_path, *(hit("raising", host="h1", device=n, core=0, pid=7, offset=n) for n in (0, 3)))
    assert (finding.place.device, finding.place.core) == (None, None)
    assert found(tmp_path, *(hit("raising", device=3, core=0, offset=n) for n in (0, 1))).place.core == 0


def test_a_host_is_told_by_its_pod_or_not_at_all(tmp_path: Path) -> None:
    node, _ = found(tmp_path, said(hit("raising", container="worker-1/train"), "Bad: x")).actions
    assert node.target == "the device of the host that ran worker-1"
    assert "kubectl get pod worker-1 -o wide" in node.precondition
    two = said(hit("raising"), "Bad: x"), hit("raising", offset=9)
    assert found(tmp_path, *two).actions[0].target == "the device of the host (nothing that was collected names it)"
    binary = said(hit("raising"), "Bad: x", line=None)
    assert found(tmp_path, binary).actions[0].target == "the device of the host that wrote w1/a.log"


@pytest.mark.parametrize(
    ("texts", "title"),
    [
        (["[rank3]: BadError: one thing"], 'it raised "BadError: one thing"'),
        (["BadError: of 1", "BadError: of 2"], 'it raised "BadError: of 1"'),
        (["BadError: of 1", "BadIdea: of 2"], "raised"),
        (["BadError:   two\tblanks"], 'it raised "BadError: two blanks"'),
        (["BadError: " + "word " * 40], 'it raised "BadError: ' + "word " * 18 + '..."'),
        (["BadError: " + "x" * 140], 'it raised "BadError: ' + "x" * 90 + ' ..."'),
    ],
)
def test_a_headline_quotes_the_records_that_begin_alike(tmp_path: Path, texts: list[str], title: str) -> None:
    facts = [said(hit("raising", offset=n), text) for n, text in enumerate(texts)]
    assert found(tmp_path, *facts).title == title


def test_a_word_that_is_no_name_of_a_place_stays() -> None:
    words = Words({"rank": "3"})
    assert words.prose("rank {rank}, ranks {rank}, {module}.lock") == "rank 3, ranks 3, <module>.lock"
    assert words.command("rm {module}.lock; echo {rank}") == "rm <module>.lock; echo 3"
    assert Words({"path": "a b"}).command("cat {path}") == "cat 'a b'"
