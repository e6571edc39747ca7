"""Notes of people count only where nothing else tells of a run."""

from __future__ import annotations

from pathlib import Path

from builders import hit, pack, progress, rule, source
from msgspec.structs import replace

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Collection, Fact, Source
from neuron_doctor.engine.grades import Status
from neuron_doctor.engine.peoples_notes import LEFT_OUT
from neuron_doctor.engine.verdict import Diagnosis


def run(folder: Path, *facts: Fact, sources: tuple[Source, ...]) -> Diagnosis:
    broken = rule("device-broke", "record: broke", cause="broken-device", at="device", patterns=("broke",))
    return diagnose(pack(folder, broken), Collection(sources, facts))


def test_notes_count_only_where_nothing_else_was_collected(tmp_path: Path) -> None:
    noted = hit("broke", host="b", device=7, source="README.md")
    notes, log = source("README.md", kind="notes"), source("rank0", first=0)
    beside = run(tmp_path / "a", noted, sources=(notes, log))
    assert beside.verdict.status is Status.HEALTHY
    assert [(s.path, p.what) for s in beside.sources for p in s.problems] == [("README.md", LEFT_OUT)]
    for others in ((), (source("run.sh"),)):
        alone = run(tmp_path / f"b{len(others)}", noted, sources=(notes, *others))
        assert alone.verdict.status is Status.ROOT_CAUSE
        assert not any(s.problems for s in alone.sources)


def test_a_ticket_with_the_steps_of_the_job_is_its_log_where_none_was_collected(tmp_path: Path) -> None:
    noted = hit("broke", host="b", device=7, source="ticket.md")
    steps = progress(source="ticket.md")
    ticket, kernel, log = (
        source("ticket.md", kind="notes"),
        source("dmesg", kind="kernel", first=0),
        source("rank0", first=0),
    )
    assert run(tmp_path / "a", noted, steps, sources=(ticket, kernel)).verdict.status is Status.ROOT_CAUSE
    assert run(tmp_path / "b", noted, steps, sources=(ticket, kernel, log)).verdict.status is Status.HEALTHY
    assert run(tmp_path / "c", noted, sources=(ticket, kernel)).verdict.status is Status.HEALTHY


def test_a_ticket_with_a_process_that_another_source_names_is_of_this_run(tmp_path: Path) -> None:
    noted = hit("broke", host="b", device=7, pid=88314, source="issue.md")
    ticket, shown = source("issue.md", kind="notes"), source("comment.txt", first=0)
    for pid, status in ((88314, Status.ROOT_CAUSE), (4711, Status.HEALTHY)):
        opened = replace(hit("x", host="b", pid=pid, source="comment.txt"), kind="attach", data={"slot": 1})
        assert run(tmp_path / f"a{pid}", noted, opened, sources=(ticket, shown)).verdict.status is status
    moved = progress(source="comment.txt")
    assert run(tmp_path / "c", noted, opened, moved, sources=(ticket, shown)).verdict.status is Status.HEALTHY


def test_a_ticket_that_says_how_the_job_ended_counts_beside_what_has_no_time(tmp_path: Path) -> None:
    noted = hit("broke", host="b", device=7, source="description.md")
    ended = replace(noted, kind="launcher-failure", data={"launcher": "torchrun", "exitcode": -6})
    ticket = source("description.md", kind="notes")
    process = replace(hit("x", pid=5, source="ps.txt"), kind="process", data={"command": "python -m ipykernel"})
    for first, status in ((None, Status.ROOT_CAUSE), (0.0, Status.HEALTHY)):
        others = source("ps.txt", first=first)
        assert run(tmp_path / f"a{first}", noted, ended, process, sources=(ticket, others)).verdict.status is status
