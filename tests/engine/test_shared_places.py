"""What failing ranks have in common: told where chance does not explain it, and only of ranks that could have failed."""

from __future__ import annotations

from pathlib import Path
from random import Random
from time import perf_counter

import pytest
from builders import hit, pack, rule, source

from neuron_doctor.engine.diagnosis import diagnose, diagnose_once
from neuron_doctor.engine.facts import Collection, Fact, Place, Source, Span
from neuron_doctor.engine.grades import Role
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.verdict import Diagnosis, Finding

EXPLAINS = "explains:\n  - {causes: [stuck], relation: job, within: 1h, edge: timed-out-waiting-for}"
NOISE = "role: context"


def book(folder: Path) -> Rulebook:
    return pack(
        folder,
        rule("raised", "record: raising", at="rank", patterns=("raising",), more=EXPLAINS),
        rule("waits", "record: waiting", cause="stuck", at="rank", patterns=("waiting",)),
        rule("shared", "record: shared-place", cause="noise", at="record", more=NOISE),
    )


def logs(ranks: range, hosts: int = 4, kind: str = "log") -> tuple[Source, ...]:
    per_host = len(ranks) // hosts
    return tuple(source(f"{kind}{r}", kind=kind, rank=r, host=f"h{(r - ranks.start) // per_host}") for r in ranks)


def raising(*ranks: int, kind: str = "log", per_host: int = 8) -> list[Fact]:
    return [hit("raising", rank=r, host=f"h{r // per_host}", source=f"{kind}{r}") for r in ranks]


def pipelines(groups: str) -> Fact:
    return Fact("process-groups", {"axis": "pp", "groups": groups}, Place(), Span("log0", 9), "log0")


def run(rulebook: Rulebook, facts: list[Fact], sources: tuple[Source, ...]) -> Diagnosis:
    return diagnose(rulebook, Collection(sources, tuple(facts)))


def shared(diagnosis: Diagnosis) -> list[Finding]:
    return [finding for finding in diagnosis.findings if finding.rule == "shared"]


def test_six_ranks_of_one_host_of_four(tmp_path: Path) -> None:
    found = run(book(tmp_path), raising(8, 9, 11, 12, 13, 15), logs(range(32)))
    [finding] = shared(found)
    assert finding.title == ("All 6 failing ranks (8-9,11-13,15) run on host h1; of the 26 other known ranks, 2 do")
    assert finding.role is Role.CONTEXT
    assert finding.place.host == "h1"
    assert finding.place.ranks == (8, 9, 11, 12, 13, 15)
    assert finding.sums_up == found.root_causes
    assert shared(run(book(tmp_path), raising(1, 9, 11, 18, 25, 30), logs(range(32)))) == []


def test_the_smallest_place_is_told_and_what_it_cannot_be_told_apart_from(tmp_path: Path) -> None:
    layout = pipelines(" ".join(f"{r},{r + 4},{r + 8},{r + 12}" for r in range(4)))
    [finding] = shared(run(book(tmp_path), [*raising(4, 5, 6, 7, per_host=4), layout], logs(range(16))))
    assert "are in pipeline stage 1" in finding.title
    assert "the same ranks run on host h1" in finding.title
    assert finding.place.group == "pipeline stage 1"


@pytest.mark.parametrize("ranks", [(8, 9), tuple(range(32)), (8,)])
def test_too_few_and_all_share_nothing(tmp_path: Path, ranks: tuple[int, ...]) -> None:
    assert shared(run(book(tmp_path), raising(*ranks), logs(range(32)))) == []


def test_ranks_whose_logs_nobody_collected_are_not_healthy(tmp_path: Path) -> None:
    layout = pipelines(" ".join(f"{r},{r + 8}" for r in range(8)))
    found = run(book(tmp_path), [*raising(*range(8, 16)), layout], logs(range(8, 16), hosts=1))
    assert shared(found) == []


def test_a_source_that_cannot_show_the_failure_makes_no_rank_healthy(tmp_path: Path) -> None:
    dumps = logs(range(32), kind="flight-recorder")
    assert shared(run(book(tmp_path), raising(8, 9, 11, 12, 13, 15), (*dumps, *logs(range(32))[8:16]))) == []
    assert shared(run(book(tmp_path), raising(8, 9, 11, 12, 13, 15), (*dumps, *logs(range(32)))))


def test_ranks_that_wait_for_the_failing_ones_do_not_fail(tmp_path: Path) -> None:
    waiting = [hit("waiting", rank=r, host=f"h{r // 8}", source=f"log{r}", offset=5) for r in range(32)]
    [finding] = shared(run(book(tmp_path), [*raising(8, 9, 11, 12, 13, 15), *waiting], logs(range(32))))
    assert finding.place.ranks == (8, 9, 11, 12, 13, 15)


def test_one_in_eight_may_fail_elsewhere(tmp_path: Path) -> None:
    [finding] = shared(run(book(tmp_path), raising(*range(8, 16), 30), logs(range(32))))
    assert finding.title.startswith("8 of 9 failing ranks (8-15) run on host h1")
    assert shared(run(book(tmp_path), raising(*range(8, 12), 30), logs(range(32)))) == []


def test_the_order_of_facts_and_sources_changes_nothing(tmp_path: Path) -> None:
    facts, sources = raising(8, 9, 11, 12, 13, 15), list(logs(range(32)))
    rulebook = book(tmp_path)
    expected = run(rulebook, facts, tuple(sources))
    Random(7).shuffle(facts)
    Random(8).shuffle(sources)
    assert run(rulebook, facts, tuple(sources)) == expected


def test_thirty_two_thousand_ranks_take_seconds(tmp_path: Path) -> None:
    ranks = range(32_000)
    facts = [*raising(*range(64, 96), per_host=32), pipelines(" ".join(f"{r},{r + 16000}" for r in range(16_000)))]
    started = perf_counter()
    [finding] = shared(diagnose_once(book(tmp_path), Collection(logs(ranks, hosts=1000), tuple(facts))))
    assert "run on host h2" in finding.title
    assert perf_counter() - started < 20
