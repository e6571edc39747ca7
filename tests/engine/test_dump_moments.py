"""Dumps that hosts were asked for one after the other, of a job that moves: no hang, and no fault of those asked first."""

from __future__ import annotations

import pytest
from fr_simulator import Faults, Mesh, Op, Recorder, facts_of, run
from msgspec.structs import replace
from test_collectives import programs_of, verdicts

from neuron_doctor.engine.dumps import selections
from neuron_doctor.engine.facts import Fact

S = 10**9


def asked(*stops: int, fresh: tuple[int, ...] = (), apart_s: float = 2) -> list[Fact]:
    """The dumps of two ranks of each host, of the moment at which all ranks had issued so many operations. `fresh`: of these
    hosts they show completions of the moment before."""
    mesh = Mesh(2 * len(stops), 1)
    found = []
    for host, stop in enumerate(stops):
        job = run(mesh, programs_of(mesh), Faults(host=dict.fromkeys(range(mesh.size), stop)))
        dumps = facts_of(job, without=set(range(mesh.size)) - {2 * host, 2 * host + 1})
        found += [
            told(one, fresh=3 * (host in fresh), last_ns=_last_ns(one) + int(host * apart_s * S)) for one in dumps
        ]
    return found


def _last_ns(fact: Fact) -> int:
    return int(str(fact.data["last_ns"]))


def told(fact: Fact, **said: int) -> Fact:
    return replace(fact, data={**fact.data, **said})


def test_three_moments_within_a_minute_are_of_a_job_that_moves() -> None:
    assert verdicts(asked(8, 14, 20, 26)) == {"moving": set()}
    assert verdicts(asked(8, 14, 20, 26, apart_s=40)) == {"undecided": set()}  # old dumps, and a hang


def test_that_others_completed_something_just_before_shows_that_the_job_moves() -> None:
    assert verdicts(asked(8, 14, 20)) == {"undecided": set()}
    assert verdicts(asked(8, 14, 20, fresh=(0, 1, 2))) == {"moving": set()}
    assert verdicts(asked(8, 14, 20, fresh=(1, 2))) == {"moving": set()}


def test_that_only_old_dumps_show_completions_of_the_moment_before_tells_nothing_of_the_last_ones() -> None:
    assert verdicts(asked(8, 14, 20, fresh=(0, 1))) == {"undecided": set()}


@pytest.mark.parametrize(
    ("old", "seconds", "expected"),
    [
        ((14, 15), 20, {"undecided": set()}),
        ((14, 15), 90, {"partial-completion": {5}}),
        ((15,), 20, {"partial-completion": {5}}),
    ],
)
def test_nobody_is_at_fault_in_what_may_pass_where_a_host_was_asked_just_before(
    old: tuple[int, ...], seconds: int, expected: dict[str, set[int]]
) -> None:
    """One old dump may be the last that a rank left; and what was asked for long before says nothing of the others."""
    mesh = Mesh(16, 1)
    programs = {rank: [Op(mesh.groups["default_pg"][rank])] * 60 for rank in range(mesh.size)}
    before = run(mesh, programs, Faults(host=dict.fromkeys(range(mesh.size), 20)))
    after = run(mesh, programs, Faults(host=dict.fromkeys(range(mesh.size), 40)))
    after.issued[5][-1].done_ns = 0
    dumps = facts_of(after, without=set(old))
    last = max(map(_last_ns, dumps))
    stale = [told(one, last_ns=last - seconds * S) for one in facts_of(before, without=set(range(16)) - set(old))]
    found = verdicts([*dumps, *stale])
    found.pop("stale-dump")
    assert found == expected


def test_a_recorder_whose_ring_lost_entries_of_which_none_completed_is_told_of_issues_only() -> None:
    """It would have counted the completions of those it lost."""
    mesh = Mesh(4, 2)
    recorder = Recorder(backend="neuron", completions=False, retires=False, ring=20)
    job = run(mesh, programs_of(mesh), Faults())
    for issued in job.issued.values():
        for one in issued:
            one.done_ns = 0
    found = facts_of(job, recorder)
    assert not any(group.completions for fact in found for group in fact.data["groups"])


GLOO = Recorder(backend="gloo", completions=False)


def of_gloo(*stops: int) -> list[Fact]:
    """The dumps of four ranks of gloo, each of the moment at which all had issued so many collectives, which are retired."""
    mesh = Mesh(4, 1)
    program = {rank: [Op(mesh.groups["default_pg"][rank])] * 60 for rank in range(4)}
    found = []
    for rank, stop in enumerate(stops):
        job = run(mesh, program, Faults(host=dict.fromkeys(range(4), stop)))
        found += facts_of(job, GLOO, without=set(range(4)) - {rank})
    return found


def test_what_is_retired_at_three_places_shows_that_a_job_on_gloo_moves() -> None:
    """A real dump of it knows no completion: `retired` is all, and what failed is retired, too."""
    assert verdicts(of_gloo(23, 25, 27, 30)) == {"moving": set()}


@pytest.mark.parametrize("stops", [(23, 24, 24, 24), (23, 30, 30, 30), (23, 30, 30, 29)])
def test_who_lacks_what_failed_on_all_others_is_at_fault(stops: tuple[int, ...]) -> None:
    """However many were issued ahead: all that wait for one stand at one place."""
    assert verdicts(of_gloo(*stops)) == {"rank-missing": {0}}


@pytest.mark.parametrize(("minutes", "left_out"), [(5, True), (0.5, False)])
def test_dumps_that_ended_well_before_all_recorders_of_the_run_began_are_of_another_run(
    minutes: float, left_out: bool
) -> None:
    """Two of an earlier run with more ranks, minutes ago, which had come further or not as far."""
    now = of_gloo(23, 23, 23, 23)
    began = min(int(str(fact.data["first_ns"])) for fact in now)
    [old] = [fact for fact in of_gloo(11, 11, 11, 11) if fact.place.rank == 3]
    before = int(began - minutes * 60e9)
    earlier = [
        replace(
            old,
            place=replace(old.place, rank=rank),
            span=replace(old.span, path=f"nccl_trace_rank_{rank}"),
            data={**old.data, "first_ns": before - 10**9, "last_ns": before},
            source=f"old{rank}",
        )
        for rank in (4, 5)
    ]
    [selection] = selections([*now, *earlier])
    assert sorted(selection.dumps) == ([0, 1, 2, 3] if left_out else [0, 1, 2, 3, 4, 5])
    assert len(selection.stale) == (2 if left_out else 0)


@pytest.mark.parametrize("stops", [(23, 24, 24, 24), (23, 30, 30, 30)])
def test_a_host_whose_clock_is_behind_by_more_than_the_run_took_has_no_dump_of_an_earlier_run(
    stops: tuple[int, ...],
) -> None:
    """It may be the one at fault, however far the others have issued ahead."""
    slow, *others = of_gloo(*stops)
    assert slow.place.rank == 0
    took = _last_ns(slow) - int(str(slow.data["first_ns"]))
    behind = told(slow, first_ns=_last_ns(slow) - 2 * took - 90 * S, last_ns=_last_ns(slow) - took - 90 * S)
    assert took < 60 * S
    assert verdicts([behind, *others]) == {"rank-missing": {0}}
