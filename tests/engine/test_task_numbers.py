"""Numbers of srun's tasks: ranks where tasks are workers, none where they are launchers of workers."""

from __future__ import annotations

from msgspec.structs import replace

from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, Span
from neuron_doctor.engine.task_numbers import without_tasks_for_ranks


def line(text: str, rank: int | None = None, *, source: str = "s", kind: str = "hit", **more: object) -> Fact:
    data = {name: more.pop(name) for name in ("launcher", "hostname") if name in more}
    return Fact(kind, {"pattern": "p", **data}, Place(rank=rank, **more), Span(source, 0, 9, 1, 1, text), source)  # type: ignore[arg-type]


def ended(launcher: str, rank: int, **more: object) -> Fact:
    return line("a report", rank, kind="launcher-failure", launcher=launcher, **more)


def seen(*facts: Fact) -> list[tuple[int | None, str | None]]:
    return [(fact.place.rank, fact.place.host) for fact in without_tasks_for_ranks(facts)]


def test_a_label_before_another_rank_is_that_of_a_node_and_its_lines_are_of_that_host() -> None:
    says = line("2: nrt_infodump Nodename", 2, kind="identity", hostname="c")
    facts = (says, line("2: refused", 2), line("2: [rank64]: raised", 64), line("1: refused", 1))
    assert seen(*facts) == [(None, "c"), (None, "c"), (64, "c"), (None, None)]


def test_the_end_of_a_task_is_the_end_of_a_launcher_and_tells_its_host() -> None:
    facts = (line("2: [rank64]: raised", 64), ended("srun", 2, host="c"))
    assert seen(*facts) == [(64, "c"), (None, "c")]


def test_srun_beside_torchrun_speaks_of_torchruns() -> None:
    facts = (ended("torchrun", 101, host="c"), ended("srun", 3, host="c"))
    assert seen(*facts) == [(101, "c"), (None, "c")]


def test_srun_in_a_log_of_its_own_speaks_of_torchruns_on_the_same_hosts() -> None:
    facts = (ended("torchrun", 40, host="c", source="t"), ended("srun", 1, host="c"), ended("srun", 0, host="b"))
    assert seen(*facts) == [(40, "c"), (None, "c"), (None, "b")]


def test_srun_elsewhere_speaks_of_workers() -> None:
    for facts in (
        [ended("torchrun", 40, host="d", source="t"), ended("srun", 1, host="c")],
        [ended("torchrun", 1, host="c", source="t"), ended("srun", 1, host="c")],
    ):
        assert [fact.place for fact in without_tasks_for_ranks(facts)] == [fact.place for fact in facts]


def test_labels_of_workers_are_their_ranks() -> None:
    for facts in (
        [line("2: refused", 2), ended("srun", 2)],
        [line("3: [rank3]: raised", 3), line("4: refused", 4)],
        [line("0: [rank0]: raised", 0), line("4: refused", 4)],
        [line("3: [rank3]: raised", 3), line("4: [rank5]: quoted", 5), line("4: refused", 4)],
    ):
        assert [fact.place for fact in without_tasks_for_ranks(facts)] == [fact.place for fact in facts]


def test_a_task_that_names_two_hosts_is_of_none() -> None:
    facts = (line("2: [rank64]: raised", 64, host="c"), line("2: refused", 2, host="d"), line("2: refused", 2))
    assert seen(*facts)[-1] == (None, None)


def test_another_log_is_not_judged_by_this_one() -> None:
    assert seen(line("2: [rank64]: raised", 64), line("2: refused", 2, source="other"))[-1] == (2, None)


def speaks(task: int, pid: int, core: int, at: float) -> Fact:
    said = line(f"{task}: ERROR TDRV:exec", task, pid=pid, device=core // 2, core=core % 2)
    return replace(said, instant=Instant(round(at * 1e9), Clock.HOST_LOCAL))


def test_processes_of_different_cores_that_speak_behind_one_label_at_once_are_workers_of_a_launcher() -> None:
    assert seen(speaks(1, 70, 6, 10), speaks(1, 71, 7, 10.1), line("2: refused", 2)) == [(None, None)] * 3


def test_a_task_that_was_started_again_and_one_process_of_several_cores_are_workers() -> None:
    for others in (speaks(1, 71, 7, 400), speaks(1, 71, 6, 10.1), speaks(1, 70, 7, 10.1), speaks(2, 71, 7, 10.1)):
        assert seen(speaks(1, 70, 6, 10), others)[0] == (1, None)


def test_what_torchrun_reports_of_a_second_worker_behind_a_label_says_that_the_task_is_a_launcher() -> None:
    def report(local_rank: int) -> Fact:
        return line("1: failed", 1, kind="launcher-failure", launcher="torchrun", local_rank=local_rank, pid=7)

    assert seen(report(7), line("0: refused", 0)) == [(None, None), (None, None)]
    assert seen(report(0), line("0: refused", 0)) == [(1, None), (0, None)]


def three_ends() -> list[Fact]:
    return [ended("srun", task, host=host) for task, host in enumerate("bcd")]


def test_one_task_on_each_host_is_a_launcher_where_a_worker_has_a_greater_rank() -> None:
    assert seen(*three_ends(), line("[rank41]: refused", 41))[:3] == [(None, "b"), (None, "c"), (None, "d")]
    for facts in (
        [*three_ends(), line("[rank1]: refused", 1)],  # no greater one
        [*three_ends(), ended("srun", 3, host="b"), line("[rank41]: refused", 41)],  # dealt out in turn
        [ended("srun", 1, host="b"), ended("srun", 9, host="c"), line("[rank41]: refused", 41)],  # some of many
        [ended("srun", 0, host="b"), line("[rank41]: refused", 41)],
    ):
        assert [fact.place for fact in without_tasks_for_ranks(facts)] == [fact.place for fact in facts]


def test_the_task_that_ended_of_itself_is_the_launcher_that_reports_the_one_end() -> None:
    report, own = ended("torchrun", 67, local_rank=3), ended("srun", 2, host="d")
    told = [replace(end, data={**end.data, "signal": 15}) for end in three_ends()[:2]]
    assert seen(*told, own, report)[-1] == (67, "d")
    # no worker of node 2 has such a rank: whoever ended of itself was told to by another
    for rank, local_rank in ((3, 3), (67, None), (65, 0), (68, 66)):
        assert seen(*told, own, ended("torchrun", rank, local_rank=local_rank))[-1] == (rank, None)
    width = replace(line("torchrun", None), kind="node-width", data={"processes": 16})
    assert seen(*told, own, report, width)[-2] == (67, None)
    # two ended of themselves, or two report
    assert seen(*told, own, ended("srun", 1, host="c"), report)[-1] == (67, None)
    assert seen(*told, own, report, ended("torchrun", 9))[-1] == (9, None)
