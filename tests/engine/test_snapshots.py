"""All ranks inside one collective: a hang where somebody gave up or time passed, else perhaps a job that moves."""

from __future__ import annotations

import pytest
from builders import source
from fr_simulator import MS, START_NS, Faults, Mesh, Recorder, facts_of, run
from msgspec.structs import replace

from neuron_doctor.engine.collectives import match_collectives
from neuron_doctor.engine.facts import NOWHERE, Clock, Fact, Instant, Place, Source, Span
from neuron_doctor.engine.recorder import told_of_collective
from neuron_doctor.engine.snapshots import questioned

MESH = Mesh(4, 2)
STALL = Faults(dead_group=(MESH.groups["TENSOR"][0].name, 10))
DUMPS = facts_of(run(MESH, {rank: MESH.program(rank) for rank in range(MESH.size)}, STALL, ahead=4))
LOG = source("train.log", first=0, last=1, rank=0)
HOUR_NS = 3600 * 10**9


def dated(kind: str, ns: int, **data: object) -> Fact:
    return Fact(kind, dict(data), NOWHERE, Span(kind), kind, Instant(ns, Clock.UTC))  # type: ignore[arg-type]


def verdicts(*facts: Fact, sources: tuple[Source, ...] = (LOG,), dumps: list[Fact] = DUMPS) -> list[object]:
    found = [
        Fact(f.kind, {**f.data, "witness": "recorder"}, f.place, f.span, f.source) for f in match_collectives(dumps)
    ]
    return [fact.data["verdict"] for fact in questioned(found, [*dumps, *facts], sources)]


def test_logs_that_tell_of_no_end_leave_it_open_whether_the_job_moves() -> None:
    assert verdicts() == ["unproven"]


def test_a_log_of_which_nothing_is_understood_may_be_of_another_program() -> None:
    assert verdicts(sources=(source("cloud-init.log", first=0, last=1),)) == verdicts(sources=()) == ["transport-stall"]


def test_a_rank_whose_device_has_not_come_to_it_may_still_compute() -> None:
    late = run(MESH, {rank: MESH.program(rank) for rank in range(MESH.size)}, Faults(device={3: 30}))
    dumps = facts_of(late, Recorder(timing=True))
    assert verdicts(dumps=dumps) == ["unproven"]
    assert verdicts(dated("hang-report", START_NS, what="watchdog"), dumps=dumps) == ["device-stuck"]
    assert verdicts(sources=(), dumps=dumps) == ["device-stuck"]


def test_a_rank_that_comes_last_again_and_again_is_slow_unless_somebody_gave_up() -> None:
    late = run(MESH, {rank: MESH.program(rank) for rank in range(MESH.size)}, Faults(device={3: 30}))
    for rank, issued in late.issued.items():
        for one in issued:
            if one.done_ns:
                one.started_ns = one.done_ns - (2 if rank == 3 else 400) * MS
    dumps = facts_of(late, Recorder(timing=True))
    assert verdicts(dumps=dumps) == ["straggler"]
    assert verdicts(dated("hang-report", START_NS, what="watchdog"), dumps=dumps) == ["device-stuck"]


def test_dumps_alone_of_a_job_that_waits_again_and_again_for_one_rank_show_that_and_no_stall() -> None:
    late = run(MESH, {rank: MESH.program(rank) for rank in range(MESH.size)}, STALL, ahead=4)
    for rank, issued in late.issued.items():
        for one in issued:
            if one.done_ns:
                one.started_ns = one.done_ns - (20 if rank == 3 else 50) * MS
    dumps = facts_of(late, Recorder(timing=True))
    assert verdicts(dumps=dumps, sources=()) == ["straggler"]
    assert verdicts(dated("hang-report", START_NS, what="watchdog"), dumps=dumps, sources=()) == ["transport-stall"]


@pytest.mark.parametrize(("last", "expected"), [("completion", "moving"), ("progress", "unproven")])
def test_a_job_whose_log_ends_with_the_end_of_its_work_did_not_stay_in_what_dumps_show(
    last: str, expected: str
) -> None:
    words = [
        replace(dated(kind, START_NS), source=LOG.id, instant=None, span=Span("train.log", offset=offset))
        for offset, kind in enumerate(["progress", last])
    ]
    assert verdicts(*words) == [expected]


def test_who_had_not_come_when_the_dumps_were_written_came_where_the_log_of_the_job_makes_steps_later_and_ends_well() -> (
    None
):
    short = run(MESH, {rank: MESH.program(rank)[: 30 if rank == 2 else None] for rank in range(MESH.size)}, Faults())
    dumps = facts_of(short)
    later = START_NS + 60 * 10**9

    def log(step_ns: int, last: str) -> list[Fact]:
        told = [dated("progress", step_ns), dated(last, later)]
        return [
            replace(fact, source=LOG.id, span=Span("train.log", offset=at), instant=Instant(fact.instant.ns, Clock.UTC))
            for at, fact in enumerate(told)
            if fact.instant
        ]

    assert verdicts(dumps=dumps) == ["rank-missing"]
    assert verdicts(*log(later, "completion"), dumps=dumps) == ["moving"]
    assert verdicts(*log(START_NS - 60 * 10**9, "completion"), dumps=dumps) == ["rank-missing"]
    # another log of the job has not ended so, or it is the log of another job
    assert verdicts(
        *log(later, "completion"),
        replace(dated("progress", START_NS), source="b"),
        dumps=dumps,
        sources=(LOG, source("b", first=0, last=1)),
    ) == ["rank-missing"]
    other = [replace(fact, place=Place(job="other")) for fact in log(later, "completion")]
    assert verdicts(*other, dumps=dumps) == ["rank-missing"]


def test_a_trace_that_ends_inside_executions_may_be_of_a_job_that_moves_unless_somebody_gave_up() -> None:
    opened = dated("ndet-event", START_NS, event="nc_exec", complete=False)
    assert verdicts(opened, dumps=[]) == ["moving"]
    assert verdicts(opened, dated("hang-report", START_NS, what="watchdog"), dumps=[]) == []
    assert verdicts(opened, dumps=[], sources=()) == []


def test_a_rank_without_a_dump_may_come_as_long_as_nobody_gave_up() -> None:
    late = run(MESH, {rank: MESH.program(rank) for rank in range(MESH.size)}, Faults(host={3: 30}))
    dumps = [dump for dump in facts_of(late) if dump.place.rank != 3]
    assert verdicts(dumps=dumps) == ["unproven"]
    assert verdicts(dated("hang-report", START_NS, what="watchdog"), dumps=dumps) == ["rank-missing"]


def test_ranks_that_stand_apart_hang_elsewhere_only_where_something_shows_that_the_job_stands() -> None:
    data = told_of_collective("outside", "the ranks of 1 stand at different ones", witness="recorder")
    told = Fact("collective", data, Place(group="1"), Span("dump"), "dump")
    level = {"name": "neuroncore_utilization", "last": 0.0, "max": 84.0, "held": 44, "period_s": 120.0}
    idle = Fact("level", level, Place(pid=7, core=0), Span("core"), "monitor")
    step = dated("progress", START_NS)

    def found(*facts: Fact) -> list[object]:
        return [fact.data["verdict"] for fact in questioned([told], [step, *facts], (LOG,))]

    assert found() == ["moving"]
    assert found(idle) == ["outside"]
    assert found(dated("hang-report", START_NS, what="watchdog")) == ["outside"]


def test_dumps_alone_are_those_that_a_time_out_writes() -> None:
    assert verdicts(sources=()) == ["transport-stall"]


def test_a_text_without_a_time_is_a_log_if_it_tells_of_the_job() -> None:
    said = Fact("version", {"component": "runtime"}, NOWHERE, Span("out.txt"), "out.txt")
    stack = Fact("stack", {"stands": "somewhere"}, NOWHERE, Span("out.txt"), "out.txt")
    assert verdicts(said, sources=(source("out.txt"),)) == ["unproven"]
    assert verdicts(stack, sources=(source("out.txt"),)) == ["transport-stall"]


def test_a_time_out_proves_the_hang() -> None:
    assert verdicts(dated("hang-report", START_NS, what="watchdog")) == ["transport-stall"]


def test_a_rank_that_waits_by_its_own_words_proves_the_hang_and_a_call_that_was_entered_does_not() -> None:
    assert verdicts(dated("stand", START_NS, witness="watchdog", waits=True)) == ["transport-stall"]
    assert verdicts(dated("stand", START_NS, witness="api", waits=True)) == ["unproven"]


def test_what_is_dated_an_hour_later_proves_the_hang() -> None:
    assert verdicts(dated("level", START_NS + HOUR_NS)) == ["transport-stall"]


def test_but_not_if_the_job_got_on_meanwhile() -> None:
    assert verdicts(dated("progress", START_NS + HOUR_NS)) == ["unproven"]


@pytest.mark.parametrize(
    ("word", "after_s", "clock", "expected"),
    [
        ("completion", 1, Clock.UTC, "moving"),
        ("completion", 1 + 2 * 3600, Clock.HOST_LOCAL, "moving"),  # two hours east
        ("completion", -1, Clock.UTC, "unproven"),
        ("completion", -1 - 5 * 3600, Clock.HOST_LOCAL, "unproven"),
        ("progress", 61, Clock.UTC, "moving"),
        ("progress", 1, Clock.UTC, "unproven"),  # it may have been written when the collective was only issued
        ("progress", 61, Clock.HOST_LOCAL, "unproven"),  # or fourteen minutes before, in another zone
    ],
)
def test_what_a_rank_was_in_is_over_where_it_went_on(word: str, after_s: int, clock: Clock, expected: str) -> None:
    last = max(int(str(dump.data["last_ns"])) for dump in DUMPS)
    told = Fact(word, {}, Place(rank=1), Span(word), word, Instant(last + after_s * 10**9, clock))
    assert verdicts(told) == [expected]
    assert verdicts(replace(told, place=Place(rank=7))) == ["unproven"]  # it has no part in the collective


def test_somebody_gave_up_before_another_attempt_went_on() -> None:
    word = replace(dated("completion", START_NS + HOUR_NS), place=Place(rank=1))
    assert verdicts(word, dated("hang-report", START_NS, what="watchdog")) == ["transport-stall"]


def test_recorders_without_completions_that_show_several_stalls_show_no_single_reason() -> None:
    (fact,) = match_collectives(_standing_apart())
    assert (fact.data["verdict"], fact.data["members"]) == ("undecided", tuple(range(8)))
    assert "completion hooks" in str(fact.data["description"])


def test_what_convicts_nobody_is_no_hang_either_while_nothing_shows_that_the_job_stands() -> None:
    assert verdicts(dumps=_standing_apart()) == ["unproven"]
    assert verdicts(dumps=_standing_apart(), sources=()) == ["undecided"]
    assert verdicts(dated("hang-report", START_NS, what="watchdog"), dumps=_standing_apart()) == ["undecided"]


def _standing_apart() -> list[Fact]:
    """Dumps of gloo, which says `retired` and no more, while both tensor groups work on something."""
    job = run(MESH, {rank: MESH.program(rank) for rank in range(MESH.size)}, Faults(until=400), ahead=1)
    return facts_of(job, Recorder(backend="gloo"))


def test_what_stays_open_says_what_would_show_it() -> None:
    (fact,) = match_collectives(_standing_apart())
    assert "completions are recorded" in str(fact.data["description"])
    assert "TORCH_NCCL_ENABLE_TIMING=1" in str(fact.data["description"])


MISSING = facts_of(run(MESH, {rank: MESH.program(rank) for rank in range(MESH.size)}, Faults(host={3: 30})))


@pytest.mark.parametrize(("rank", "expected"), [(1, "moving"), (3, "rank-missing")])
def test_a_wait_for_one_rank_is_over_where_one_that_waited_went_on_and_not_where_that_one_did(
    rank: int, expected: str
) -> None:
    last = max(int(str(dump.data["last_ns"])) for dump in MISSING)
    told = Fact("progress", {}, Place(rank=rank), Span("log"), "log", Instant(last + HOUR_NS, Clock.UTC))
    assert verdicts(told, dumps=MISSING) == [expected]
    gave_up = dated("hang-report", START_NS, what="watchdog")
    assert verdicts(told, gave_up, dumps=MISSING) == ["rank-missing"]


@pytest.mark.parametrize(
    ("begun_s", "after_s", "expected"),
    [
        (-3, 90, "moving"),  # the log of the operation, and no zone but UTC fits
        (-3 - 3600, 90 - 3600, "moving"),  # the same in the zone an hour west
        (60, 150, "rank-missing"),  # it begins after it: the log of a later start
        (-1200, 90, "rank-missing"),  # in another zone it ends before it
        (-3, 20, "rank-missing"),  # so long a step may take
        (-3 - 900, 90 - 900, "rank-missing"),  # no zone is a quarter of an hour west of UTC: it ends before it
        (-3 + 20700, 90 + 20700, "moving"),  # Nepal's is five hours and three quarters east
        (-3 + 18900, 90 + 18900, "rank-missing"),  # none is half an hour less than that
    ],
)
def test_a_log_of_whatever_zone_counts_where_it_can_hold_the_operation_in_one_zone_alone(
    begun_s: int, after_s: int, expected: str
) -> None:
    last = max(int(str(dump.data["last_ns"])) for dump in MISSING) // 10**9
    step = replace(dated("progress", (last + after_s) * 10**9), place=Place(rank=1), source="train.log")
    step = replace(step, instant=Instant((last + after_s) * 10**9, Clock.HOST_LOCAL))
    log = source("train.log", first=last + begun_s, last=last + after_s, rank=1)
    assert verdicts(step, dumps=MISSING, sources=(log,)) == [expected]


def test_that_some_have_seen_a_collective_complete_and_others_have_not_is_a_moment_of_a_job_that_moves() -> None:
    unseen = Faults(unseen={3: 30})
    dumps = facts_of(run(MESH, {rank: MESH.program(rank) for rank in range(MESH.size)}, unseen))
    assert verdicts(dumps=dumps) == ["unproven"]
    assert verdicts(dated("hang-report", START_NS, what="watchdog"), dumps=dumps) == ["partial-completion"]
    assert verdicts(dumps=dumps, sources=()) == ["partial-completion"]


@pytest.mark.parametrize(
    ("begun_s", "after_s", "clock", "expected"),
    [
        (-60, 90, Clock.UTC, "moving"),
        (-60, 90, Clock.HOST_LOCAL, "moving"),
        (60, 150, Clock.UTC, "unproven"),  # the log of a later start
        (-60, 20, Clock.UTC, "unproven"),
        (-1200, 90, Clock.HOST_LOCAL, "unproven"),  # in another zone it ends before
    ],
)
def test_the_log_of_the_job_that_began_before_and_makes_steps_long_after_shows_that_all_went_on(
    begun_s: int, after_s: int, clock: Clock, expected: str
) -> None:
    last = max(int(str(dump.data["last_ns"])) for dump in DUMPS) // 10**9
    begun, told = (Instant((last + s) * 10**9, clock) for s in (begun_s, after_s))
    step = replace(dated("progress", 0), source="train.log", instant=told)
    log = replace(source("train.log"), first=begun, last=told)
    assert verdicts(step, sources=(log,)) == [expected]
    assert verdicts(step, dated("hang-report", START_NS, what="watchdog"), sources=(log,)) == ["transport-stall"]


@pytest.mark.parametrize(("waited_s", "expected"), [(600, "transport-stall"), (60, "unproven")])
def test_a_monitor_that_saw_nothing_complete_for_longer_than_any_step_tells_of_a_hang(
    waited_s: int, expected: str
) -> None:
    at = Instant(10**9, Clock.HOST_LOCAL)
    word = Fact("no-step", {"waited_s": waited_s}, NOWHERE, Span("train.log", 500), "train.log", at)
    assert verdicts(word) == [expected]
    later = Fact("progress", {"what": "step", "value": 9.0}, NOWHERE, Span("train.log", 900), "train.log", at)
    assert verdicts(word, later) == ["unproven"]


@pytest.mark.parametrize(
    ("scattered", "after_s", "expected"),
    [(True, 20, "moving"), (True, 1, "unproven"), (False, 20, "unproven")],
)
def test_of_dumps_between_which_the_job_went_on_a_step_soon_after_the_last_one_shows_that_it_still_does(
    scattered: bool, after_s: int, expected: str
) -> None:
    last = max(int(str(dump.data["last_ns"])) for dump in DUMPS) // 10**9
    begun, at = (Instant((last + s) * 10**9, Clock.HOST_LOCAL) for s in (-60, after_s))
    step = replace(dated("progress", 0), source="train.log", instant=at)
    log = replace(source("train.log"), first=begun, last=at)
    members = tuple(sorted(int(str(dump.place.rank)) for dump in DUMPS))
    data = told_of_collective("undecided", "the job went on", witness="recorder", members=members, scattered=scattered)
    found = Fact("collective", data, NOWHERE, Span("d"), "d")
    assert [fact.data["verdict"] for fact in questioned([found], [*DUMPS, step], (log,))] == [expected]
