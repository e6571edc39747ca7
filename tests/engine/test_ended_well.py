"""Good ends: a launcher's word holds for its own log, a process's for itself, the scheduler's for all who waited; none holds
where a worker is reported to have failed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from builders import hit, pack, progress, rule, source
from msgspec.structs import replace

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Collection, Fact, Place, Span, Value
from neuron_doctor.engine.grades import Role
from neuron_doctor.engine.rulebook import Rulebook


def book(folder: Path) -> Rulebook:
    return pack(
        folder,
        rule("broke", "record: broke", cause="broken-device", patterns=("broke",), more="survivable: false"),
        rule("waits", "record: waiting", cause="stuck", patterns=("waiting",)),
        rule("raised", "record: raising", cause="bug", patterns=("raising",)),
    )


def said(kind: str, data: dict[str, Value], *, offset: int = 90, name: str = "s", **place: object) -> Fact:
    return Fact(kind, data, Place(**place), Span(name, offset, 10, 1, 1, kind, f"{kind}{offset}"), name)  # type: ignore[arg-type]


def end(offset: int = 90, *, exited: bool = True, name: str = "s", **place: object) -> Fact:
    return said("completion", {"exited": exited}, offset=offset, name=name, **place)


def failed() -> Fact:
    data: dict[str, Value] = {"launcher": "torchrun", "exitcode": 1, "signal": 0, "first": True, "message": ""}
    return said("launcher-failure", data, offset=80)


def row(state: str = "COMPLETED", exitcode: int = 0, *, job: str = "7", step: str = "") -> Fact:
    data: dict[str, Value] = {"job_id": job, "step": step, "state": state, "exitcode": exitcode, "signal": 0}
    data |= {"derived_exitcode": 0, "name": "", "nodes": "", "reason": "", "restarts": 0, "cancelled_by": ""}
    return said("slurm-job", data, name="acct", job=job)


def roles(folder: Path, *facts: Fact) -> set[tuple[str, Role]]:
    kinds = {"acct": "slurm", "k8s": "kubectl", "dmesg": "kernel"}
    sources = tuple(source(name, kind=kinds.get(name, "log")) for name in sorted({fact.source for fact in facts}))
    return {(f.rule, f.role) for f in diagnose(book(folder), Collection(sources, facts)).findings}


def test_what_a_launchers_log_says_before_all_its_processes_ended_with_0_is_survived(tmp_path: Path) -> None:
    found = roles(tmp_path, hit("waiting", pid=3), hit("raising", pid=4, offset=5), end())
    assert found == {("waits", Role.SURVIVED), ("raised", Role.SURVIVED)}


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (end(200, name="log1", attempt=1), Role.SURVIVED),
        (end(50, name="log1", attempt=1), Role.ROOT),  # it went on after that
        (end(200, exited=False, name="log1", attempt=1), Role.ROOT),
        (end(200, name="log1", attempt=0), Role.ROOT),
    ],
)
def test_what_an_earlier_attempt_waited_for_is_over_where_the_logs_of_the_last_one_end_well(
    tmp_path: Path, word: Fact, expected: Role
) -> None:
    book = pack(tmp_path, rule("gone", "record: silent-rank", cause="bug", more="survivable: false"))
    facts = (said("silent-rank", {"others": 5}, attempt=0), progress(offset=100, source="log1", attempt=1), word)
    found = diagnose(book, Collection((source("s"), source("log1")), facts)).findings
    assert {finding.role for finding in found} == {expected}


@pytest.mark.parametrize("kind", ["silent-rank", "lost-host"])
def test_nobody_waited_for_ever_for_one_that_was_silent_in_a_job_that_completed(tmp_path: Path, kind: str) -> None:
    book = pack(tmp_path, rule("gone", f"record: {kind}", cause="bug"))
    fact = said(kind, {"others" if kind == "silent-rank" else "peers": 5}, host="b")

    def role(*more: Fact) -> set[Role]:
        sources = (source("s"), source("acct", kind="slurm"))
        return {found.role for found in diagnose(book, Collection(sources, (fact, *more))).findings}

    assert role() == {Role.ROOT}
    assert role(row("FAILED", 1)) == {Role.ROOT}
    assert role(row()) == {Role.SURVIVED}


@pytest.mark.parametrize(
    ("first", "pod", "role"), [(50, "a", Role.SURVIVED), (39, "a", Role.ROOT), (50, "b", Role.ROOT)]
)
def test_a_later_log_of_the_same_container_makes_good_what_ended_the_one_before(
    tmp_path: Path, first: float, pod: str, role: Role
) -> None:
    previous = source("a.previous", first=10, last=40, container="a")
    current = source("now", first=first, last=90, container=pod)
    ended = replace(failed(), source="a.previous", place=Place(container="a", rank=6))
    facts = (hit("raising", source="a.previous", container="a"), ended, end(exited=False, name="now", container=pod))
    found = diagnose(book(tmp_path), Collection((previous, current), facts)).findings
    assert {finding.role for finding in found if finding.rule == "raised"} == {role}


@pytest.mark.parametrize(("again", "role"), [(("a/x", "b/x"), Role.SURVIVED), (("a/x",), Role.ROOT)])
def test_an_earlier_log_of_several_containers_is_over_where_all_of_them_came_to_a_good_end(
    tmp_path: Path, again: tuple[str, ...], role: Role
) -> None:
    sources = (source("previous", first=10, last=40), source("current", first=50, last=90))
    raised = [hit("raising", source="previous", container=name, offset=n) for n, name in enumerate(("a/x", "b/x"))]
    ends = [end(exited=False, name="current", container=name) for name in again]
    found = diagnose(book(tmp_path), Collection(sources, (*raised, *ends))).findings
    assert {finding.role for finding in found if finding.rule == "raised"} == {role}


def pod(name: str, phase: str = "Completed") -> Fact:
    data: dict[str, Value] = {
        "namespace": "",
        "container": "",
        "reason": "",
        "restarts": 1,
        "exit_code": 0,
        "signal": 0,
    }
    return said("pod", {**data, "name": name, "phase": phase, "ready": False, "node": ""}, name="k8s")


def workload(name: str, state: str = "complete") -> Fact:
    return said("workload", {"object": "MPIJob", "namespace": "", "name": name, "state": state}, name="k8s")


@pytest.mark.parametrize(
    ("told", "role"),
    [
        ([pod("a-0")], Role.SURVIVED),
        ([workload("a")], Role.SURVIVED),
        ([pod("a-0", "Running")], Role.ROOT),
        ([pod("a-0", "Error")], Role.ROOT),
        ([pod("b-0")], Role.ROOT),
        ([workload("a", "failed")], Role.ROOT),
        ([workload("a"), workload("a", "failed")], Role.ROOT),
        ([workload("b")], Role.ROOT),
    ],
)
def test_kubernetes_may_say_that_what_ended_the_log_before_was_made_good(
    tmp_path: Path, told: list[Fact], role: Role
) -> None:
    """The later log says nothing of its end; that the earlier one is earlier may show by its name alone."""
    for earlier in (source("previous/a-0.log", container="a-0"), source("x", first=10, last=40, container="a-0")):
        later = source("now", first=50, last=90, container="a-0")
        ended = replace(failed(), source=earlier.id, place=Place(container="a-0"))
        facts = (hit("raising", source=earlier.id, container="a-0"), ended, *told)
        found = diagnose(book(tmp_path), Collection((earlier, later, source("k8s", kind="kubectl")), facts)).findings
        assert {finding.role for finding in found if finding.rule == "raised"} == {role}


@pytest.mark.parametrize(
    ("told", "role"),
    [
        ([workload("a"), pod("a-0")], Role.SURVIVED),
        ([workload("a"), pod("a-0", "Running")], Role.CASCADE),
        ([workload("a"), pod("b-0")], Role.CASCADE),
        ([workload("a"), workload("b", "failed"), pod("a-0")], Role.CASCADE),
        ([workload("a")], Role.CASCADE),
    ],
)
def test_the_one_job_that_is_shown_is_that_of_logs_which_name_no_pod(
    tmp_path: Path, told: list[Fact], role: Role
) -> None:
    sources = (source("log"), source("k8s", kind="kubectl"))
    found = diagnose(book(tmp_path), Collection(sources, (hit("waiting", source="log", rank=3), *told))).findings
    assert {finding.role for finding in found if finding.rule == "waits"} == {role}


def test_a_failure_in_the_only_log_of_a_pod_that_succeeded_is_not_made_good(tmp_path: Path) -> None:
    """A script may go on after its program failed."""
    only = source("previous/a-0.log", container="a-0")
    facts = (hit("raising", source=only.id, container="a-0"), pod("a-0"))
    found = diagnose(book(tmp_path), Collection((only, source("k8s", kind="kubectl")), facts)).findings
    assert {finding.role for finding in found} == {Role.ROOT}


def test_a_broken_device_is_told_however_well_the_job_ended(tmp_path: Path) -> None:
    assert roles(tmp_path, hit("broke", pid=3), end()) == {("broke", Role.ROOT)}


def test_what_comes_after_the_good_end_is_noise_if_it_is_of_peers_and_no_step_was_between(tmp_path: Path) -> None:
    step = progress(offset=5)
    assert roles(tmp_path, step, end(10), hit("waiting", pid=3, offset=50)) == {("waits", Role.SURVIVED)}
    assert roles(tmp_path, step, end(10), hit("raising", pid=3, offset=50)) == {("raised", Role.ROOT)}
    assert roles(tmp_path, end(10), hit("waiting", pid=3, offset=50)) == {("waits", Role.CASCADE)}
    again = (end(10), progress(offset=30), hit("waiting", pid=3, offset=50))
    assert roles(tmp_path, *again) == {("waits", Role.CASCADE)}


def test_a_worker_that_failed_takes_the_word_from_the_launcher(tmp_path: Path) -> None:
    assert ("raised", Role.ROOT) in roles(tmp_path, hit("raising", pid=4), failed(), end())


def test_a_worker_that_failed_before_all_were_started_anew_does_not(tmp_path: Path) -> None:
    anew = said("restart", {"launcher": "torchrun"}, offset=85)
    assert roles(tmp_path, hit("raising", pid=4), failed(), anew, end()) == {("raised", Role.SURVIVED)}
    too_early = said("restart", {"launcher": "torchrun"}, offset=40)
    assert ("raised", Role.ROOT) in roles(tmp_path, hit("raising", pid=4), failed(), too_early, end())
    elsewhere = said("restart", {"launcher": "torchrun"}, offset=85, name="t")
    assert ("raised", Role.ROOT) in roles(tmp_path, hit("raising", pid=4), failed(), elsewhere, end())
    assert ("raised", Role.ROOT) in roles(tmp_path, hit("raising", pid=4), failed(), anew, end(82))
    assert ("raised", Role.ROOT) in roles(tmp_path, hit("raising", pid=4), failed(), anew, end(exited=False))


@pytest.mark.parametrize("other", [{"host": "b"}, {"rank": 9}, {"container": "w-1/main"}])
def test_the_word_of_another_host_rank_or_pod_says_nothing(tmp_path: Path, other: dict[str, object]) -> None:
    own = {"host": "a", "rank": 4, "container": "w-0/main"}
    facts = (hit("raising", **own), end(**{**own, **other}))
    assert roles(tmp_path, *facts) == {("raised", Role.ROOT)}


def test_one_of_many_in_a_log_speaks_for_itself_only(tmp_path: Path) -> None:
    assert roles(tmp_path, hit("waiting", pid=3), end(exited=False)) == {("waits", Role.CASCADE)}


@pytest.mark.parametrize(
    ("rows", "role"),
    [
        ([row(), row(step="0")], Role.SURVIVED),
        ([row(), row("FAILED", 1, step="0")], Role.CASCADE),
        ([row(), row("RUNNING", step="0")], Role.CASCADE),
        ([row(), row(job="8")], Role.CASCADE),
    ],
)
def test_nobody_waited_for_ever_in_a_job_that_slurm_shows_as_completed(
    tmp_path: Path, rows: list[Fact], role: Role
) -> None:
    assert roles(tmp_path, hit("waiting", pid=3), *rows) == {("waits", role)}


def tried(name: str, state: str, exitcode: int, step: str) -> Fact:
    told = row(state, exitcode, step=step)
    return replace(told, data={**told.data, "name": name}, span=replace(told.span, offset=int(step)))


TRIED = (row(), tried("compile", "FAILED", 1, "0"), tried("compile", "COMPLETED", 0, "1"))


@pytest.mark.parametrize(
    ("facts", "role"),
    [
        ((*TRIED, progress(offset=40), end(exited=False)), Role.SURVIVED),
        ((*TRIED, progress(offset=40), end(exited=False), said("launcher-failure", {}, offset=20)), Role.SURVIVED),
        ((row(), row(step="0"), progress(offset=40), end(exited=False)), Role.SURVIVED),
        ((*TRIED, progress(offset=40)), Role.ROOT),  # a batch script goes on after a failure
        ((*TRIED, end(exited=False)), Role.ROOT),  # what is done may be the preparation of the data
        ((*TRIED, progress(offset=95), end(exited=False)), Role.ROOT),
        ((*TRIED, progress(offset=3), end(5, exited=False)), Role.ROOT),
        ((*TRIED, progress(offset=40), end(exited=False), said("launcher-failure", {}, offset=60)), Role.ROOT),
        ((*TRIED[:2], tried("evaluate", "COMPLETED", 0, "1"), progress(offset=40), end(exited=False)), Role.ROOT),
        ((*TRIED[:2], progress(offset=40), end(exited=False)), Role.ROOT),
        ((*TRIED, tried("train", "FAILED", 1, "2"), progress(offset=40), end(exited=False)), Role.ROOT),
        ((progress(offset=40), end(exited=False)), Role.ROOT),
    ],
)
def test_what_a_job_went_through_before_its_program_said_that_all_is_done_is_survived_if_slurm_agrees(
    tmp_path: Path, facts: tuple[Fact, ...], role: Role
) -> None:
    assert ("raised", role) in roles(tmp_path, hit("raising", offset=10, pid=3), *facts)


def test_and_so_is_what_the_kernel_says_but_not_of_a_device(tmp_path: Path) -> None:
    facts = (hit("raising", source="dmesg", pid=3), hit("broke", source="dmesg", offset=1))
    good = (*TRIED, progress(offset=40), end(exited=False))
    assert roles(tmp_path, *facts, *good) == {("raised", Role.SURVIVED), ("broke", Role.ROOT)}
    assert ("raised", Role.ROOT) in roles(tmp_path, *facts, *good[:-1])


def event(what: str, offset: int, code: int | None = None, job: str = "7") -> Fact:
    data: dict[str, Value] = {"what": what, "job_id": job} | ({} if code is None else {"exitcode": code})
    return said("job-event", data, name="ctl", offset=offset)


@pytest.mark.parametrize(
    ("events", "role"),
    [
        ([event("started", 0), event("done", 10, 0), event("done", 20)], Role.SURVIVED),
        ([event("done", 10, 1), event("ending", 12), event("started", 15), event("done", 20, 0)], Role.SURVIVED),
        ([event("done", 10, 0), event("started", 15)], Role.CASCADE),  # queued anew, and not over yet
        ([event("ending", 5), event("done", 10, 0)], Role.CASCADE),  # cancelled: its script caught the signal
        ([event("done", 10, 1)], Role.CASCADE),
        ([event("done", 10)], Role.CASCADE),  # killed by a signal, it is done as well
        ([event("done", 10, 0, job="8")], Role.CASCADE),
    ],
)
def test_nor_in_one_that_the_log_of_slurms_controller_shows_to_have_exited_with_0(
    tmp_path: Path, events: list[Fact], role: Role
) -> None:
    assert roles(tmp_path, hit("waiting", pid=3, job="7"), *events) == {("waits", role)}


@pytest.mark.parametrize(
    ("ends", "role"),
    [
        ([{"host": "a"}, {"host": "b"}], Role.SURVIVED),
        ([{"host": "a"}], Role.CASCADE),
        ([{"host": "a"}, {"host": "b", "exited": False}], Role.CASCADE),
    ],
)
def test_nor_where_a_program_of_every_host_ended_with_0(
    tmp_path: Path, ends: list[dict[str, object]], role: Role
) -> None:
    waits = [hit("waiting", pid=3, host=host, source=f"{host}.err") for host in "ab"]
    words = [end(name=f"{one['host']}.out", **{"exited": True, **one}) for one in ends]  # type: ignore[arg-type]
    assert roles(tmp_path, *waits, *words) == {("waits", role)}


def test_unless_its_log_goes_on_with_the_run(tmp_path: Path) -> None:
    waits = [hit("waiting", pid=3, host=host, source=f"{host}.err") for host in "ab"]
    words = [end(name=f"{host}.out", host=host) for host in "ab"]
    later = progress(offset=95, source="a.out", host="a")
    assert roles(tmp_path, *waits, *words, later) == {("waits", Role.CASCADE)}


def test_a_failure_after_which_all_was_started_anew_is_made_good_by_the_schedulers_word(tmp_path: Path) -> None:
    anew = said("restart", {"launcher": "hyperpod"}, offset=85, job="7")
    facts = (hit("raising", pid=4, job="7"), replace(failed(), place=Place(job="7")), event("done", 10, 0))
    assert ("raised", Role.SURVIVED) in roles(tmp_path, *facts, anew)
    assert ("raised", Role.ROOT) in roles(tmp_path, *facts)
    later = hit("raising", pid=4, job="7", offset=95)
    assert ("raised", Role.ROOT) in roles(tmp_path, *facts, anew, later)


def test_nor_do_dumps_of_it_show_a_hang(tmp_path: Path) -> None:
    waits = rule("waits", "record: collective", cause="stuck", more="role: victim\nsurvivable: false")
    open_one = said("collective", {"verdict": "undecided", "description": "d"}, name="e")
    for rows, role in (([row(), row(step="0")], Role.SURVIVED), ([row("FAILED", 1)], Role.CASCADE)):
        found = diagnose(pack(tmp_path, waits), Collection((source("e"),), (*rows, open_one))).findings
        assert {finding.role for finding in found if finding.rule == "waits"} == {role}


def all_ended(name: str, workers: int, text: str, offset: int = 90) -> Fact:
    fact = said("completion", {"exited": True, "workers": workers}, offset=offset, name=name)
    return replace(fact, span=replace(fact.span, text=text))


@pytest.mark.parametrize(
    ("words", "role"),
    [
        ([all_ended("s", 8, "a: all 8"), all_ended("t", 8, "b: all 8")], Role.SURVIVED),
        ([all_ended("s", 16, "all 16")], Role.SURVIVED),
        ([all_ended("s", 8, "a: all 8")], Role.CASCADE),
        ([all_ended("s", 8, "a: all 8"), all_ended("t", 8, "a: all 8")], Role.CASCADE),
        ([all_ended("s", 16, "all 16"), progress(offset=95)], Role.CASCADE),
        ([all_ended("s", 16, "all 16"), failed()], Role.CASCADE),
    ],
)
def test_dumps_of_a_job_all_of_whose_ranks_ended_with_0_show_no_hang(
    tmp_path: Path, words: list[Fact], role: Role
) -> None:
    """Half of the ranks may hang, a copy of a log tells of no others, and a step later there was another run."""
    waits = rule("waits", "record: collective", cause="stuck", more="role: victim\nsurvivable: false")
    listed: dict[str, Value] = {"groups": (), "entries": 0, "whole": True, "issued": 0, "last_ns": 0, "peers": "0-15"}
    world = said("fr-rank", listed, name="d", rank=0)
    open_one = said("collective", {"verdict": "undecided", "description": "d"}, name="e")
    sources = (source("s"), source("t"), source("d", kind="flight-recorder"))
    found = diagnose(pack(tmp_path, waits), Collection(sources, (*words, world, open_one))).findings
    assert {finding.role for finding in found if finding.rule == "waits"} == {role}


def agents_log(
    *offsets: int, name: str = "s", ranks: Iterable[int] = range(4), attempt: int | None = None
) -> list[Fact]:
    """The log of a launcher that says at these places that it starts its workers anew: they hung at 30, and all ended at 90."""
    waits = [said("hang-report", {"what": "watchdog"}, offset=30, name=name, rank=rank) for rank in ranks]
    anew = [said("restart", {"launcher": "torchrun"}, offset=at, name=name, attempt=attempt) for at in offsets]
    steps = [progress(offset=at, source=name) for at in (20, 60)]
    return [*waits, *anew, *steps, end(name=name, attempt=attempt)]


def of_dumps(folder: Path, told: list[Fact], attempt: int | None) -> set[Role]:
    """The role of what dumps of four ranks show of an attempt, beside what is told."""
    waits = rule("waits", "record: collective", cause="bug", more="survivable: false")
    listed: dict[str, Value] = {"groups": (), "entries": 0, "whole": True, "issued": 0, "last_ns": 0, "peers": "0-3"}
    world = said("fr-rank", listed, name="d", rank=0, attempt=attempt)
    open_one = said("collective", {"verdict": "rank-missing", "description": "d"}, name="e", attempt=attempt)
    sources = (*(source(name) for name in sorted({fact.source for fact in told})), source("d", kind="flight-recorder"))
    found = diagnose(pack(folder, waits), Collection(sources, (*told, world, open_one))).findings
    return {finding.role for finding in found if finding.rule == "waits"}


@pytest.mark.parametrize(
    ("told", "attempt", "role"),
    [
        (agents_log(40), 0, Role.SURVIVED),
        (agents_log(40, 45), 0, Role.SURVIVED),  # said twice
        (agents_log(40, ranks=[1]), 1, Role.ROOT),  # that is the attempt that ended well, as far as one may count
        (agents_log(40, 70, ranks=[1]), 1, Role.SURVIVED),
        (agents_log(40, 45, ranks=[1]), 1, Role.ROOT),
        ([*agents_log(40), *agents_log(40, name="t")], 0, Role.SURVIVED),
        ([*agents_log(40), *agents_log(40, name="t")[:-1]], 0, Role.ROOT),  # one of two has not ended
        ([*agents_log(40), progress(offset=95)], 0, Role.ROOT),
        ([*agents_log(40), failed()], 0, Role.ROOT),
        (agents_log(), 0, Role.ROOT),
        (agents_log(40, attempt=0), 0, Role.ROOT),  # of the launcher's own attempts nothing is known
        # without the directory of the attempt
        (agents_log(40), None, Role.SURVIVED),
        (agents_log(40, ranks=range(3)), None, Role.ROOT),  # the log of another node is missing
        ([*agents_log(40, ranks=(0, 1)), *agents_log(40, name="t", ranks=(2, 3))], None, Role.SURVIVED),
        (agents_log(25), None, Role.ROOT),  # it hung after it was started anew
        (agents_log(40)[:-1], None, Role.ROOT),
    ],
)
def test_what_dumps_show_of_an_attempt_is_over_when_launchers_started_all_anew_and_all_ended_with_0(
    tmp_path: Path, told: list[Fact], attempt: int | None, role: Role
) -> None:
    assert of_dumps(tmp_path, told, attempt) == {role}


def test_a_program_that_raised_is_not_acquitted_by_a_batch_script_that_ends_with_0(tmp_path: Path) -> None:
    assert roles(tmp_path, hit("raising", pid=3), row()) == {("raised", Role.ROOT)}


@pytest.mark.parametrize(
    ("job", "reason", "role"),
    [
        ("job/dlrm-train", "Completed", Role.SURVIVED),
        ("pytorchjob/dlrm-train", "PyTorchJobSucceeded", Role.SURVIVED),
        ("job/dlrm-eval", "Completed", Role.CASCADE),
        ("jobset/dlrm", "AllJobsCompleted", Role.SURVIVED),
        ("job/dlrm-train", "DeadlineExceeded", Role.CASCADE),
    ],
)
def test_nor_in_a_job_of_kubernetes_that_is_complete(tmp_path: Path, job: str, reason: str, role: Role) -> None:
    data: dict[str, Value] = {"type": "Normal", "reason": reason, "object": job, "message": "", "repeats": 1}
    event = said("k8s-event", {**data, "resolved": False}, name="k8s")
    assert roles(tmp_path, hit("waiting", container="dlrm-train-0/main"), event) == {("waits", role)}


@pytest.mark.parametrize(("pod", "role"), [("train-x7k2p", Role.SURVIVED), ("train-eval-x7k2p", Role.ROOT)])
def test_what_befell_a_pod_is_over_only_if_its_own_job_is_complete(tmp_path: Path, pod: str, role: Role) -> None:
    book = pack(tmp_path, rule("full", 'record: k8s-event where reason == "FailedScheduling"', cause="bug"))
    data: dict[str, Value] = {"type": "Warning", "reason": "FailedScheduling", "object": f"pod/{pod}", "message": ""}
    event = said("k8s-event", {**data, "repeats": 1, "resolved": False}, name="k8s", container=pod)
    facts = (event, replace(workload("train"), data={**workload("train").data, "object": ""}))
    found = diagnose(book, Collection((source("k8s", kind="kubectl"),), facts)).findings
    assert {finding.role for finding in found} == {role}


@pytest.mark.parametrize(
    ("phases", "role"),
    [
        (("Succeeded", "Succeeded"), Role.SURVIVED),
        (("Succeeded", "Running"), Role.CASCADE),
        (("Succeeded",), Role.CASCADE),
    ],
)
def test_nor_where_all_pods_have_succeeded(tmp_path: Path, phases: tuple[str, ...], role: Role) -> None:
    data: dict[str, Value] = {
        "namespace": "n",
        "container": "",
        "reason": "",
        "restarts": 0,
        "exit_code": 0,
        "signal": 0,
    }
    pods = [
        said("pod", {**data, "name": f"w-{n}", "phase": phase, "ready": False, "node": ""}, name="k8s", offset=n)
        for n, phase in enumerate(phases)
    ]
    waits = [hit("waiting", container=f"w-{n}/main", offset=n) for n in range(2)]
    assert roles(tmp_path, *waits, *pods) == {("waits", role)}


@pytest.mark.parametrize(
    ("logs", "role"),
    [
        (("ft-w-0-0.log", "ft-w-0-1.log"), Role.SURVIVED),
        (("ft-w-0-0.log", "of-a-person.log"), Role.CASCADE),
        (("ft-w-0-0.log", "ft-w-0-2.log"), Role.CASCADE),
        (("ft-w-0-0.log", "tb-5d9f4c8.log"), Role.CASCADE),
        (("ft-w-0-0.log", "ft-w-0-3.log"), Role.CASCADE),  # that Kubernetes adds makes no words
    ],
)
def test_nor_where_the_pods_have_after_which_the_logs_are_called(
    tmp_path: Path, logs: tuple[str, ...], role: Role
) -> None:
    data: dict[str, Value] = {"namespace": "", "container": "", "reason": "", "restarts": 0, "signal": 0}
    shown = {"ft-w-0-0-4nvqx": "Completed", "ft-w-0-1-tt9kp": "Completed", "tb-5d9f4c8-z2m6v": "Running"}
    shown["ft-w-0-3-evals"] = "Completed"
    pods = [
        said(
            "pod",
            {**data, "name": pod, "phase": phase, "ready": False, "node": "", "exit_code": 0},
            name="k8s",
            offset=n,
        )
        for n, (pod, phase) in enumerate(shown.items())
    ]
    waits = [replace(hit("waiting", pid=n, offset=n), source=name) for n, name in enumerate(logs)]
    terminal = [end(exited=False, name="terminal.txt")]
    assert roles(tmp_path, *waits, *pods, *terminal) == {("waits", role)}
