"""What the whole job goes through together is over when anybody of it gets on, and when nobody of it does it is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import hit, pack, progress, rule, source
from msgspec.structs import replace

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Clock, Collection, Fact
from neuron_doctor.engine.grades import Role


def role(folder: Path, *facts: Fact, survivable: str = "job") -> Role:
    """The role of the finding of a wait."""
    waits = rule("waits", "record: waiting", cause="stuck", patterns=("waiting",), more=f"survivable: {survivable}\n")
    sources = tuple(source(name) for name in sorted({fact.source for fact in facts}))
    [found] = diagnose(pack(folder, waits), Collection(sources, facts)).findings
    return found.role


def served(**of: object) -> Fact:
    step = progress(**of)  # type: ignore[arg-type]
    return replace(step, data={**step.data, "served": True})


def test_a_step_of_any_label_below_it_in_the_log_ends_the_wait_of_all(tmp_path: Path) -> None:
    facts = (hit("waiting", rank=3, host="b", at=10), progress(rank=0, host="a", offset=90))
    assert role(tmp_path, *facts) is Role.SURVIVED
    assert role(tmp_path, *facts, survivable="true") is Role.CASCADE


def test_a_wait_that_goes_on_after_the_last_step_is_not_over(tmp_path: Path) -> None:
    first, last = hit("waiting", rank=3, at=10), hit("waiting", rank=3, at=900, offset=500)
    assert role(tmp_path, first, progress(rank=0, offset=90), last) is Role.CASCADE


@pytest.mark.parametrize(("at", "found"), [(200, Role.SURVIVED), (100, Role.CASCADE), (5, Role.CASCADE)])
def test_a_step_in_another_log_ends_it_when_the_clocks_say_that_it_was_well_later(
    tmp_path: Path, at: float, found: Role
) -> None:
    wait = hit("waiting", rank=3, host="a", at=10)
    assert role(tmp_path, wait, progress(rank=0, host="a", at=at, source="t")) is found
    assert role(tmp_path, wait, progress(rank=0, host="b", at=at, source="t")) is Role.CASCADE  # another clock


def test_a_line_that_another_process_wrote_late_ends_no_wait(tmp_path: Path) -> None:
    assert role(tmp_path, hit("waiting", rank=3, at=10), progress(rank=0, offset=90, at=12)) is Role.CASCADE


def test_the_steps_of_another_job_do_not_end_it(tmp_path: Path) -> None:
    wait = hit("waiting", job="7", rank=1, at=10)
    assert role(tmp_path, wait, progress(job="8", rank=0, at=900, offset=90)) is Role.CASCADE


@pytest.mark.parametrize(
    ("answers", "waits", "found"),
    [
        ({"container": "v-0/main"}, {"container": "v-0/main"}, Role.SURVIVED),
        ({"container": "v-0/main"}, {"container": "v-0-1/main"}, Role.SURVIVED),  # its worker in a LeaderWorkerSet
        ({"container": "v-0/main"}, {"container": "v-1/main"}, Role.CASCADE),
        ({"container": "v-1/main"}, {"container": "v-1a/main"}, Role.CASCADE),
        ({"host": "a"}, {"host": "a"}, Role.SURVIVED),
        ({"host": "a"}, {"host": "b"}, Role.CASCADE),
    ],
)
def test_answers_of_a_service_end_the_waits_of_its_own_engine_only(
    tmp_path: Path, answers: dict[str, str], waits: dict[str, str], found: Role
) -> None:
    wait = hit("waiting", pid=9, **waits)
    assert role(tmp_path, wait, served(pid=1, offset=90, **answers)) is found


def test_nor_do_they_end_it_minutes_later_in_a_log_of_several(tmp_path: Path) -> None:
    wait = hit("waiting", pid=9, container="v-1/main", at=10)
    assert role(tmp_path, wait, served(pid=1, offset=90, at=900, container="v-0/main")) is Role.CASCADE
    assert role(tmp_path, wait, served(pid=1, offset=90, at=900, container="v-1/main")) is Role.SURVIVED


def test_nor_do_they_when_the_log_is_of_another_service_on_the_host(tmp_path: Path) -> None:
    wait = hit("waiting", pid=9, host="a", at=10)
    assert role(tmp_path, wait, served(pid=1, host="a", at=900, source="other")) is Role.CASCADE


def test_what_ends_a_finding_may_stand_below_it_by_a_clock_that_cannot_be_compared(tmp_path: Path) -> None:
    def ended(*facts: Fact) -> bool:
        rules = rule("waits", "record: waiting", cause="stuck", patterns=("waiting", "done"), more="ends: [done]\n")
        sources = tuple(source(name) for name in sorted({fact.source for fact in facts}))
        [found] = diagnose(pack(tmp_path, rules), Collection(sources, facts)).findings
        return found.role is Role.SURVIVED

    waiting = hit("waiting", at=100, clock=Clock.UTC, offset=50)
    assert ended(waiting, hit("done", at=100, offset=90))
    assert ended(waiting, hit("done", at=200, clock=Clock.UTC, offset=90))
    assert not ended(waiting, hit("done", at=90, clock=Clock.UTC, offset=90))  # the clock denies it
    assert not ended(waiting, hit("done", at=100, offset=10))
    assert not ended(waiting, hit("done", at=100, offset=90, source="other"))
    assert not ended(waiting, hit("done", at=100, offset=90, host="b"))
    assert not ended(waiting, hit("done", offset=90))
    assert ended(hit("waiting", offset=50), hit("done", offset=90))


def test_what_ends_a_finding_is_of_its_host_and_its_device(tmp_path: Path) -> None:
    def ended(**place: object) -> bool:
        rules = rule("waits", "record: waiting", cause="stuck", patterns=("waiting", "done"), more="ends: [done]\n")
        facts = (
            hit("waiting", at=10, clock=Clock.UTC, host="a", device=3),
            hit("done", at=99, clock=Clock.UTC, **place),
        )
        [found] = diagnose(pack(tmp_path, rules), Collection((source("s"),), facts)).findings
        return found.role is Role.SURVIVED

    assert ended(host="a")
    assert ended(host="a", device=3)
    assert not ended(host="a", device=4)
    assert not ended(host="b")


@pytest.mark.parametrize(
    ("sign", "shown"),
    [
        (served(at=99, pid=8, host="a"), True),
        (served(at=99, pid=8, host="b"), False),
        (served(at=20, pid=7, host="a"), False),
        (progress(at=99, pid=8, host="a"), False),
        (hit("called", at=99, pid=8, host="a", data={"api": "nrt_execute"}), False),
    ],
)
def test_a_process_that_answers_after_a_repair_has_opened_the_device(
    tmp_path: Path, sign: Fact, *, shown: bool
) -> None:
    text = rule("waits", "record: waiting", cause="stuck", patterns=("waiting", "done"), more="ends: [done, attach]\n")
    facts = (hit("waiting", at=10, host="a"), hit("done", at=30, host="a"), sign)
    [found] = diagnose(pack(tmp_path, text), Collection((source("s"),), facts)).findings
    assert (found.role is Role.SURVIVED) is shown


def test_a_request_that_failed_is_survived_when_others_below_it_in_the_log_are_answered(tmp_path: Path) -> None:
    failed = hit("waiting", pid=9, at=10)
    assert role(tmp_path, failed, served(pid=1, at=11, offset=90), survivable="served") is Role.SURVIVED
    assert role(tmp_path, failed, served(pid=1, at=11, offset=90), survivable="true") is Role.CASCADE


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/v1/chat/completions", Role.SURVIVED),
        ("/v1/tokenize", Role.CASCADE),
        ("/detokenize", Role.CASCADE),
        ("/ping", Role.CASCADE),
        ("/healthz", Role.CASCADE),
        ("/v1/messages/count_tokens", Role.CASCADE),
    ],
)
@pytest.mark.parametrize("survivable", ["served", "job"])
def test_what_the_front_of_a_server_answers_itself_says_nothing_of_the_model(
    tmp_path: Path, path: str, found: Role, survivable: str
) -> None:
    answer = served(offset=90)
    answer = replace(answer, data={**answer.data, "what": path})
    assert role(tmp_path, hit("waiting"), answer, survivable=survivable) is found


def test_a_server_that_answered_only_before_the_failure_has_not_survived_it(tmp_path: Path) -> None:
    answered, failed = served(pid=1, at=5), hit("waiting", pid=9, at=10, offset=90)
    assert role(tmp_path, answered, failed, survivable="served") is Role.CASCADE


def test_what_ends_a_server_is_told_without_the_requests_that_it_turned_away_before(tmp_path: Path) -> None:
    refused, answered = hit("waiting", at=10), served(at=11, offset=90)
    last = hit("waiting", at=12, offset=500)
    waits = rule("waits", "record: waiting", cause="stuck", patterns=("waiting",), more="survivable: served\n")
    told = diagnose(pack(tmp_path, waits), Collection((source(refused.source),), (refused, answered, last)))
    [found] = told.findings
    assert found.role is Role.CASCADE
    assert [span.offset for span in found.evidence] == [500]


def test_the_steps_of_other_ranks_do_not_stand_for_answers(tmp_path: Path) -> None:
    raised = hit("waiting", rank=3, at=10)
    assert role(tmp_path, raised, progress(rank=0, at=20, offset=90), survivable="served") is Role.CASCADE


@pytest.mark.parametrize(
    ("pod", "at", "found"),
    [
        ("olmo-node-0-0", 900, Role.SURVIVED),
        ("olmo-node-0-0", 150, Role.CASCADE),  # hosts are in step to a minute
        ("olmo-eval-0", 900, Role.CASCADE),
        ("olmo-node-1-1", 900, Role.CASCADE),  # of another job
        (None, 900, Role.CASCADE),
    ],
)
def test_the_steps_of_a_pod_of_the_same_template_end_the_wait_of_one_whose_host_is_known(
    tmp_path: Path, pod: str | None, at: float, found: Role
) -> None:
    wait = hit("waiting", container="olmo-node-0-1", host="a", at=10)
    assert role(tmp_path, wait, progress(container=pod, host="b", at=at, source="t")) is found
    later = hit("waiting", container="olmo-node-0-1", host="a", at=at + 10, offset=70)
    assert role(tmp_path, wait, later, progress(container=pod, host="b", at=at, source="t")) is Role.CASCADE


@pytest.mark.parametrize(
    ("waits_by", "steps_by", "found"),
    [
        (Clock.UTC, Clock.UTC, Role.SURVIVED),
        (Clock.UTC, Clock.HOST_LOCAL, Role.CASCADE),  # whatever zone that is
        (Clock.BOOT, Clock.BOOT, Role.CASCADE),
    ],
)
def test_the_clocks_of_pods_of_one_template_show_the_same_zone(
    tmp_path: Path, waits_by: Clock, steps_by: Clock, found: Role
) -> None:
    wait = hit("waiting", container="granite-worker-3", host="c", at=10, clock=waits_by)
    step = progress(container="granite-worker-0", host="d", at=900, source="t")
    assert step.instant is not None
    step = replace(step, instant=replace(step.instant, clock=steps_by))
    assert role(tmp_path, wait, step) is found


def restarted(offset: int, source: str = "s", at: float | None = None, **of: str) -> Fact:
    told = hit("", offset=offset, source=source, at=at, **of)
    return replace(told, kind="restart", data={"launcher": "torchrun", "started": True})


def test_what_a_worker_met_is_over_where_its_launcher_started_all_anew_and_one_took_a_step(tmp_path: Path) -> None:
    met, step, anew = hit("waiting", rank=3, pid=7), progress(rank=0, offset=90), restarted(50)
    over = {"dated": (met, restarted(50, at=100), progress(rank=0, offset=90, at=130)), "undated": (met, anew, step)}
    loads = replace(step, data={"what": "checkpoint", "value": 1.0})
    others = {
        "alone": (met, step),  # nobody was started anew
        "before": (met, progress(rank=0, offset=20), anew),  # nor got on since
        "last": (replace(met, span=replace(met.span, offset=60)), anew, step),  # it is of the last attempt
        "elsewhere": (met, restarted(50, source="t"), step),  # another launcher
        "container": (replace(met, place=replace(met.place, container="a")), restarted(50, container="b"), step),
        "late": (met, restarted(50, at=100), progress(rank=0, offset=90, at=98)),  # of a worker from before
        "loads": (met, anew, loads),
        "to-be": (met, replace(anew, data={"launcher": "torchrun"}), step),  # it is to be started
    }
    for survivable in ("true", "anew"):
        for name, facts in (over | others).items():
            found = role(tmp_path / f"{survivable}-{name}", *facts, survivable=survivable)
            assert found is (Role.SURVIVED if name in over else Role.CASCADE), name
    assert role(tmp_path / "never", *over["dated"], survivable="false") is Role.CASCADE


def test_what_holds_only_beside_a_finding_is_overcome_with_it(tmp_path: Path) -> None:
    rules = pack(
        tmp_path,
        rule("refused", "record: refusing", cause="stuck", at="host", patterns=("refusing",)),
        rule("held", "{all: [{record: holding}, {finding: refused}]}", cause="bug", at="host", patterns=("holding",)),
    )
    refused, holder = hit("refusing", host="a", pid=7), hit("holding", host="a", pid=3, source="dmesg")
    step = progress(host="a", pid=7, offset=9)
    for facts, found in (((refused, holder, step), Role.SURVIVED), ((refused, holder), Role.ROOT)):
        collected = diagnose(rules, Collection((source("s"), source("dmesg")), facts))
        assert {finding.role for finding in collected.findings if finding.rule == "held"} == {found}
