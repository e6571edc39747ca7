"""Tables of the times of steps, in the shapes in which programs and stores of metrics export them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from host_captures import METRICS, STEP_TIMES
from snapshot_inputs import facts_of, read

from neuron_doctor.collectors.timing_tables import COLLECTOR
from neuron_doctor.engine.facts import Place
from neuron_doctor.engine.slow_ranks import slow_ranks

STEPS, RANKS = range(100, 112), range(8)


def times(rank: int, slow: int | None) -> tuple[float, float]:
    """Seconds of work, and of the wait for others: all take as long in the end."""
    return (4.1, 0.02) if rank == slow else (2.1, 2.02 if slow is not None else 0.1)


def by_part(slow: int | None) -> Iterator[str]:
    yield "step,rank,host,t_fwd_bwd_s,t_allreduce_wait_s,t_total_s"
    for step in STEPS:
        for rank in RANKS:
            work, wait = times(rank, slow)
            yield f"{step},{rank},trn-{rank // 4},{work},{wait},{work + wait}"


def by_rank_and_part(slow: int | None) -> Iterator[str]:
    yield ";".join(["iteration", *(f"rank{rank}_{part}_ms" for rank in RANKS for part in ("compute", "comm_wait"))])
    for step in STEPS:
        yield ";".join([str(step), *(str(1000 * time) for rank in RANKS for time in times(rank, slow))])


def row_by_part(slow: int | None) -> Iterator[str]:
    yield "step,rank,phase,duration_ms"
    for step in STEPS:
        for rank in RANKS:
            work, wait = times(rank, slow)
            yield f"{step},{rank},forward_backward,{1000 * work}"
            yield f"{step},{rank},allreduce_wait,{1000 * wait}"


def sorted_by_part(slow: int | None) -> Iterator[str]:
    head, *rows = row_by_part(slow)
    yield head
    yield from sorted(rows, key=lambda row: (row.split(",")[2], int(row.split(",")[1]), int(row.split(",")[0])))


def series(ending: str, slow: int | None, *, counted: bool) -> Iterator[str]:
    yield "timestamp,instance,metric,value"
    for step in STEPS:
        for rank in RANKS:
            for name, time in zip(("train_step_compute", "train_allreduce_wait"), times(rank, slow), strict=True):
                labels = f'{{job="sft",rank="{rank}"}}'
                value = round(7 * time * (step - 99), 3) if counted else time
                yield f"2026-11-02T13:{step - 100:02}:00Z,trn-{rank // 4}:9100,{name}{ending}{labels},{value}"


def gauges(slow: int | None) -> Iterator[str]:
    return series("_seconds", slow, counted=False)


def counters(slow: int | None) -> Iterator[str]:
    return series("_seconds_total", slow, counted=True)


TABLES = [by_part, by_rank_and_part, row_by_part, sorted_by_part, gauges, counters]


def slow(table: Iterator[str]) -> list[int | None]:
    return [fact.place.rank for fact in slow_ranks(facts_of("\n".join(table) + "\n", "export.csv"))]


@pytest.mark.parametrize("table", TABLES)
def test_the_rank_for_which_the_others_wait_is_found_in_every_shape(table) -> None:  # type: ignore[no-untyped-def]
    assert slow(table(5)) == [5]
    assert slow(table(None)) == []


def test_of_a_rank_the_last_steps_count() -> None:
    facts = facts_of("\n".join(by_part(5)) + "\n", "export.csv")
    assert len(facts) == len(RANKS)
    one = next(fact for fact in facts if fact.place.rank == 5)
    assert one.place == Place(host="trn-1", rank=5)
    assert one.data == {
        "form": "table+work+wait+total",
        "first": 104,
        "step": 111,
        "lines": 8,
        "work": 4.1,
        "wait": 0.02,
        "total": pytest.approx(4.12),
    }
    assert one.span.text.startswith("111,5,trn-1,")


def test_hosts_are_compared_where_each_has_one_row_of_a_step_and_local_ranks_where_these_are_told() -> None:
    def table(who: str, tellers: list[str], slow: int) -> str:
        rows = (f"{step},{one},{','.join(map(str, times(n, slow)))}" for step in STEPS for n, one in enumerate(tellers))
        return "\n".join([f"step,{who},compute_s,allreduce_wait_s", *rows, ""])

    def found(text: str) -> list[tuple[str | None, int | None]]:
        return [(fact.place.host, fact.place.local_rank) for fact in slow_ranks(facts_of(text, "export.csv"))]

    assert found(table("host", ["w1", "w2", "w3", "w4"], 2)) == [("w3", None)]
    assert found(table("host,local_rank", ["w1,0", "w1,1", "w2,0", "w2,1"], 2)) == [("w2", 0)]
    # nor is it known which machine has a number
    assert found(table("node", ["0", "1", "2", "3"], 2)) == []
    assert found(table("rank,node", ["0,0", "1,0", "2,1", "3,1"], 2)) == [(None, None)]
    # two rows of one host in a step: of which rank each of them is, nobody knows
    assert found(table("host", ["w1", "w2", "w3", "w4", "w4"], 4)) == []


def test_a_file_of_one_rank_needs_no_column_for_it() -> None:
    [fact] = facts_of("step,forward_ms,grad_sync_ms\n1,700.5,1200\n2,700.5,1200\n", "rank_3.csv", Place(rank=3))
    assert (fact.place.rank, fact.data["work"], fact.data["wait"]) == (3, 0.7005, 1.2)


@pytest.mark.parametrize(
    "text",
    [
        "step,rank,total_s\n1,0,2.0\n1,1,2.0\n2,0,2.0\n",  # the time of the whole step is that of the slowest, for all
        "step,rank,loss,lr\n1,0,2.0,0.1\n1,1,2.0,0.1\n",
        "rank,host\n0,w1\n1,w1\n",
        "date,case,status,ms\n2026-10-17,moe,ok,8.1\n2026-10-24,moe,ok,8.0\n",
        "time,metric,value\n2026-11-02T13:00:00Z,node_disk_read_time_seconds_total,5.0\n2026-11-02T13:01:00Z,node_timex_sync_status,1\n",
        "step,rank,fwd_s,wait_s\n1,0,2.0\n1,1,2.0,3.0\n",
        'time,metric,value\n2026-11-02T13:00:00Z,"wait_seconds{quantile=""x""}",0.1\n2026-11-02T13:00:00Z,"fwd_seconds{quantile=""x""}",0.1\n',
        METRICS,
    ],
)
def test_other_tables_are_none_of_step_times(text: str) -> None:
    assert not COLLECTOR.sniff(text.encode(), "x.csv")


def test_a_cut_row_is_a_problem_and_what_is_no_number_tells_nothing() -> None:
    facts, inp = read(STEP_TIMES + "502,0,trn-a1,nan,,0.01\n503,0,trn", "x.csv")
    assert [fact.data["step"] for fact in facts] == [501, 501]
    assert [problem.what for problem in inp.problems.values()] == [
        "a row of the table has another number of columns than its head"
    ]
