"""What a verdict rests on: which evidence is tried, and what is said of the result."""

from __future__ import annotations

from pathlib import Path

from builders import hit, pack, rule, source

from neuron_doctor.engine.counterfactual import MOST_FACTS
from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Collection, Fact
from neuron_doctor.engine.grades import Status
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.verdict import Diagnosis

EXPLAINS = "explains: [{causes: [stuck], relation: job, within: 1h}]"


def book(folder: Path) -> Rulebook:
    return pack(
        folder,
        rule("device-broke", "record: broke", cause="broken-device", at="device", patterns=("broke",), more=EXPLAINS),
        rule("waits", "record: waiting", cause="stuck", patterns=("waiting",)),
    )


def run(folder: Path, *facts: Fact, kinds: dict[str, str]) -> Diagnosis:
    sources = tuple(source(name, kind=kind) for name, kind in kinds.items())
    return diagnose(book(folder), Collection(sources, facts))


def test_a_verdict_that_one_file_carries_flips_without_it_and_the_new_one_is_told(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        hit("broke", source="k", host="a", device=3),
        hit("waiting", source="s", host="b", rank=1),
        kinds={"k": "kernel", "s": "log"},
    )
    assert [(trial.without, trial.flips, trial.verdict.status) for trial in found.counterfactuals] == [
        (("k",), True, Status.VICTIMS_ONLY)
    ]


def test_a_verdict_with_two_witnesses_stands_without_either_of_them(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        hit("broke", source="k", host="a", device=3),
        hit("broke", source="s", host="a", device=3, offset=7),
        kinds={"k": "kernel", "s": "log"},
    )
    assert {(trial.without, trial.flips) for trial in found.counterfactuals} == {(("k",), False), (("s",), False)}


def test_files_of_one_kind_are_tried_together_before_each_alone(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        hit("broke", source="k1", host="a", device=3),
        hit("broke", source="k2", host="a", device=3, offset=7),
        kinds={"k1": "kernel", "k2": "kernel", "other": "log"},
    )
    assert [(trial.without, trial.flips) for trial in found.counterfactuals] == [
        (("k1", "k2"), True),
        (("k1",), False),
        (("k2",), False),
    ]


def test_nothing_is_tried_without_a_root(tmp_path: Path) -> None:
    assert run(tmp_path, hit("waiting", host="b"), kinds={"s": "log"}).counterfactuals == ()


def test_nothing_is_tried_over_very_many_facts(tmp_path: Path) -> None:
    facts = [hit("broke", source="k", host="a", device=3, offset=n) for n in range(MOST_FACTS + 1)]
    assert run(tmp_path, *facts, kinds={"k": "kernel"}).counterfactuals == ()
