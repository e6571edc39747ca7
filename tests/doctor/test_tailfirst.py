"""The ends of files first: the same verdict in the end, and an honest one when the time is up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from neuron_doctor import shards as shards_module
from neuron_doctor import tailfirst
from neuron_doctor.collectors.storms import CELL
from neuron_doctor.engine.grades import Status
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.verdict import NODE_ACTIONS, Diagnosis
from neuron_doctor.exits import Exit, Nagios, Severity, exit_status
from neuron_doctor.packs import load
from neuron_doctor.pipeline import diagnose_paths
from neuron_doctor.reports.json_report import render_json
from neuron_doctor.request import Packs, Request
from neuron_doctor.scan import Scanned
from neuron_doctor.tailfirst import OutOfTime, diagnose_tail_first

NOISE = "2025-07-02 18:{m:02d}:{s:02d},244 INFO dataloader: prefetch queue depth {s}\n"
DEVICE = (
    "2025-Jul-02 18:59:30.205603  6001:6081  ERROR  TDRV:exec_consume  encountered uncorrectable memory error on Neuron "
    "Device 5, execution results may be invalid. Please terminate or restart\n"
)
KILLED = (
    "[Wed Jul  2 18:59:40 2025] Out of memory: Killed process 4711 (python3) total-vm:9kB, anon-rss:8kB, file-rss:0kB\n"
)


@cache
def rulebook() -> Rulebook:
    return load(Packs())


def long_log(head: str, tail: str) -> str:
    noise = "".join(NOISE.format(m=n // 60 % 60, s=n % 60) for n in range(2000))
    return head + noise * (2 * CELL // len(noise) + 1) + tail


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two long logs, of which one ends with a kill and the other begins with another, and a short kernel log."""
    monkeypatch.setattr(shards_module, "SMALL", CELL)
    folder = tmp_path / "node-a"
    folder.mkdir()
    (folder / "rank_5.log").write_text(DEVICE)
    (folder / "rank_0.log").write_text(long_log("", KILLED))
    (folder / "rank_1.log").write_text(long_log(KILLED.replace("4711", "4712"), ""))
    return folder


def shown(diagnosis: Diagnosis) -> str:
    return render_json(diagnosis, exit_status=0, version="0")


def test_with_time_enough_the_verdict_is_the_same(logs: Path) -> None:
    request = Request((str(logs),))
    final = diagnose_tail_first(request, rulebook(), seconds=600)
    verdict = replace(final.verdict, replaces="")
    assert shown(replace(final, verdict=verdict)) == shown(diagnose_paths(request, rulebook()))


def test_without_a_limit_even_the_bytes_are_the_same(logs: Path) -> None:
    request = Request((str(logs),))
    told: list[tuple[float, str]] = []
    final = diagnose_tail_first(request, rulebook(), watch=lambda *what: told.append(what))
    assert shown(final) == shown(diagnose_paths(request, rulebook()))
    assert [share for share, _ in told] == sorted(share for share, _ in told)
    assert told[-1][0] == 1.0
    assert any(headline for _, headline in told)


@pytest.fixture
def no_time_for_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is up as soon as the ends of the files have been read."""
    real = tailfirst.scan_some
    calls = iter(range(2))

    def scan_some(*arguments: object) -> Iterator[int]:
        if next(calls):
            raise OutOfTime
        yield from real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(tailfirst, "scan_some", scan_some)


@pytest.mark.usefixtures("no_time_for_the_rest")
def test_when_the_time_is_up_the_ends_of_files_have_told(logs: Path) -> None:
    found = diagnose_tail_first(Request((str(logs),)), rulebook(), seconds=60)
    assert not found.verdict.complete
    assert found.verdict.status is Status.ROOT_CAUSE
    texts = [span.text for finding in found.findings for span in finding.evidence]
    assert any("process 4711" in text for text in texts)
    assert not any("process 4712" in text for text in texts)
    problems = {Path(s.path).name: [p.what for p in s.problems] for s in found.sources}
    assert problems["rank_5.log"] == []
    assert problems["rank_1.log"] == ["not all of it was read: the time was up"]
    assert "MB, in 2 files, were not read" in found.missing[0]


@pytest.mark.usefixtures("no_time_for_the_rest")
def test_no_node_is_touched_for_a_verdict_that_may_change(logs: Path) -> None:
    found = diagnose_tail_first(Request((str(logs),)), rulebook(), seconds=60)
    hardware = [finding for finding in found.findings if finding.cause == "hw-hbm-ue"]
    assert hardware
    actions = [action.action for finding in found.findings for action in finding.actions]
    assert not NODE_ACTIONS & set(actions)
    whole = diagnose_paths(Request((str(logs),)), rulebook())
    assert NODE_ACTIONS & {a.action for f in whole.findings if f.cause == "hw-hbm-ue" for a in f.actions}


@pytest.mark.usefixtures("no_time_for_the_rest")
def test_what_was_not_read_is_not_healthy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards_module, "SMALL", CELL)
    (tmp_path / "rank_0.log").write_text(long_log("", ""))
    found = diagnose_tail_first(Request((str(tmp_path),)), rulebook(), seconds=60)
    assert found.verdict.status is Status.NOT_EVALUABLE
    assert not found.verdict.complete


def test_a_file_that_nobody_reached_is_named(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def scan_nothing(*_arguments: object) -> Iterator[tuple[int, list[Scanned]]]:
        raise OutOfTime
        yield

    monkeypatch.setattr(tailfirst, "scan_some", scan_nothing)
    found = diagnose_tail_first(Request((str(logs),)), rulebook(), seconds=60)
    assert [p.what for s in found.sources for p in s.problems if s.path.endswith("rank_5.log")] == [
        "not read: the time was up"
    ]


def test_a_verdict_after_another_says_what_it_replaces(logs: Path) -> None:
    (logs / "rank_0.log").write_text(long_log(KILLED, ""))
    (logs / "rank_5.log").unlink()
    final = diagnose_tail_first(Request((str(logs),)), rulebook(), seconds=600)
    assert final.verdict.complete
    assert final.verdict.replaces.startswith("No failure found in what was read in time")
    assert json.loads(shown(final))["verdict"]["replaces"] == final.verdict.replaces


def test_the_exit_status_of_a_partial_report_beats_the_others(logs: Path) -> None:
    found = diagnose_paths(Request((str(logs),)), rulebook())
    partial = replace(found, verdict=replace(found.verdict, complete=False))
    assert exit_status(partial, fail_on=Severity.ERROR) == Exit.OUT_OF_TIME
    assert exit_status(partial, fail_on=Severity.ERROR, nagios=True) == Nagios.CRITICAL
    silent = replace(partial, findings=())
    assert exit_status(silent, fail_on=Severity.ERROR, nagios=True) == Nagios.UNKNOWN
    assert exit_status(silent, fail_on=Severity.ERROR, exit_zero=True) == Exit.NOTHING
