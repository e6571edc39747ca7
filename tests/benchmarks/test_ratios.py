"""How the benchmarks make ratios of rounds, judge them, and tell that one got worse."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import processes
from benchmarks.growth import GROWTH, TIMES, picture
from benchmarks.log_measures import LOG_MEASURES, RG, RG_WHOLE
from benchmarks.measure import Measure, Prepared
from benchmarks.page import page
from benchmarks.processes import CommandFailed, Cost, cost_of
from benchmarks.ratios import Goal, Limit, Ratio, medians, ratio, verdict, worsened
from benchmarks.records import Records, Result
from benchmarks.sizes import FULL, parsed, scaled, shown

GOAL = Goal("doctor", "rg", 0.4, 0.3)


def cost(wall: float, cpu: float | None = None, peak: float = 10) -> Cost:
    return Cost(wall, wall if cpu is None else cpu, peak)


def test_a_ratio_is_the_median_of_the_ratios_within_each_round() -> None:
    rounds = [{"doctor": cost(a), "rg": cost(b)} for a, b in ((1, 4), (10, 40), (9, 10))]
    assert ratio(GOAL, rounds) == Ratio(0.25, 0.25)


def test_a_ratio_is_by_unit_of_work() -> None:
    assert ratio(Goal("a", "b", 1.1, work=4), [{"a": cost(8), "b": cost(2)}]) == Ratio(1, 1)


def test_a_command_too_short_for_a_tick_has_a_ratio_of_cpu_time() -> None:
    assert ratio(GOAL, [{"doctor": cost(1, 1), "rg": cost(0.001, 0)}]).cpu == pytest.approx(1000)


def test_of_peaks_the_highest_counts_and_of_times_the_median() -> None:
    rounds = [{"doctor": cost(wall, peak=peak)} for wall, peak in ((1, 30), (3, 50), (2, 40))]
    assert medians(rounds) == {"doctor": cost(2, peak=50)}


@pytest.mark.parametrize(
    ("measured", "expected"),
    [(0.41, "missed"), (0.4, "reached"), (0.31, "reached"), (0.3, "reached, and the wish too")],
)
def test_a_figure_misses_or_reaches_its_goal(measured: float, expected: str) -> None:
    assert verdict(measured, GOAL) == expected


def test_a_limit_without_a_wish_is_reached() -> None:
    assert verdict(39, Limit("doctor", 40)) == "reached"


def test_a_ratio_got_worse_when_it_grew_by_more_than_a_quarter() -> None:
    before = {"a": Ratio(0.4, 0.4), "b": Ratio(0.4, 0.4), "c": Ratio(0.4, 0.4)}
    now = {"a": Ratio(0.51, 0.4), "b": Ratio(0.49, 0.9)}
    lines = list(worsened(before, now))
    assert [line.partition(":")[0] for line in lines] == ["a", "c"]
    assert "not measured" in lines[1]


def test_what_a_process_costs_is_its_own_and_its_children() -> None:
    alone = cost_of(("sh", "-c", "true"))
    assert alone.wall > 0
    assert alone.peak_mb < 40, "what started it must not count"
    with_child = cost_of(("sh", "-c", "i=0; (while [ $i -lt 60000 ]; do i=$((i+1)); done); true"))
    assert with_child.cpu > alone.cpu


def test_a_search_that_finds_nothing_has_a_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for status in (1, 2):
        (rg := tmp_path / "rg").write_text(f"#!/bin/sh\nexit {status}\n", "utf-8")
        rg.chmod(0o755)
        monkeypatch.setattr(processes, "environment", lambda: {"PATH": f"{tmp_path}:/bin:/usr/bin"})
        if status == 1:
            assert cost_of(("rg", "x")).wall > 0
        else:
            with pytest.raises(CommandFailed, match="ended with 2"):
                cost_of(("rg", "x"))


def test_the_goals_are_held_against_the_search_of_the_database_and_not_against_the_dearer_one() -> None:
    logs = next(measure for measure in LOG_MEASURES if measure.name == "logs")
    assert {RG, RG_WHOLE} <= logs.needs.keys()
    assert not any(RG_WHOLE in (goal.of, goal.against) for measure in LOG_MEASURES for goal in measure.goals)


def test_a_command_that_fails_has_no_cost() -> None:
    with pytest.raises(CommandFailed, match="ended with 3"):
        cost_of(("sh", "-c", "exit 3"))
    with pytest.raises(CommandFailed, match="could not be started"):
        cost_of(("/no/such/program",))


@pytest.mark.parametrize(("text", "size"), [("2G", 2 << 30), ("256M", 256 << 20), ("64k", 64 << 10), ("100", 100)])
def test_sizes_are_read_and_written(text: str, size: int) -> None:
    assert parsed(text) == size
    assert parsed(shown(size)) == size


@pytest.mark.parametrize("text", ["", "G", "-1M", "0", "2T"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a size"):
        parsed(text)


def test_a_quick_run_has_less_of_everything_but_never_nothing() -> None:
    assert scaled(1024, FULL, 32) == 1024
    assert scaled(1024, FULL // 2, 32) == 512
    assert scaled(1024, 1, 32) == 32


def test_only_the_ratios_of_commands_that_ran_are_kept(tmp_path: Path) -> None:
    measure = Measure("m", "says", lambda _: Prepared({}), (GOAL, Goal("doctor", "cat", 9)))
    result = Result.of(measure, [{"doctor": cost(1), "cat": cost(0.5)}])
    assert set(result.ratios) == {"doctor / cat"}
    file = tmp_path / "baseline.json"
    Records({"2G": {"m": result}}).write(file)
    assert Records.read(file).results == {"2G": {"m": result}}
    assert "| m | doctor / rg | ≤ 0.40 | ≤ 0.30 |  |  | not measured |" in page([measure], {"m": result}, "2G")
    assert "| m | doctor / cat | ≤ 9.00 |  | 2.00 | 2.00 | reached |" in page([measure], {"m": result}, "2G")


def test_a_pipe_in_a_name_does_not_break_the_table() -> None:
    measure = Measure("m", "says", lambda _: Prepared({}), (Goal("a", "tar | rg", 1),))
    result = Result.of(measure, [{"a": cost(1), "tar | rg": cost(2)}])
    lines = page([measure], {"m": result}, "2G").splitlines()
    assert [line for line in lines if " | rg" in line] == []
    assert len([line for line in lines if r"tar \| rg" in line]) == 2


def test_where_nothing_was_recorded_there_are_no_records(tmp_path: Path) -> None:
    assert Records.read(tmp_path / "none.json").results == {}


def test_names_of_measures_are_unique() -> None:
    names = [measure.name for measure in (*LOG_MEASURES, GROWTH)]
    assert len(names) == len(set(names))


def test_the_picture_has_a_point_for_each_cost() -> None:
    costs = {f"{times} {series}": cost(0.3 + times / 10) for times in TIMES for series in ("shards", "ranks", "size")}
    assert picture(costs).count("<circle") == len(costs)
