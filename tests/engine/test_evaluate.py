"""What each condition means."""

from __future__ import annotations

import pytest
from builders import hit, source
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from neuron_doctor.engine import conditions as cond
from neuron_doctor.engine.answers import Answers
from neuron_doctor.engine.evaluate import Scene, evaluate
from neuron_doctor.engine.facts import Clock, Fact, Gap, Instant, Place, Source
from neuron_doctor.engine.query_parser import parse_query
from neuron_doctor.engine.verdict import Proof

S = 1_000_000_000


def judged(
    condition: cond.Condition, *facts: Fact, sources: tuple[Source, ...] = (), **known: list[int | str]
) -> Proof:
    answers = Answers(facts)
    found = {query: answers.of(query) for query in cond.queries(condition)}
    return evaluate(condition, Scene(found, {source.id: source for source in sources}, known))


def record(name: str) -> cond.Record:
    return cond.Record(parse_query(name))


A, B, C = record("a"), record("b"), record("c")


@pytest.mark.parametrize(
    ("op", "n", "names", "expected"),
    [
        ("all", 0, "ab", True),
        ("all", 0, "a", False),
        ("any", 0, "b", True),
        ("any", 0, "", False),
        ("none", 0, "", True),
        ("none", 0, "a", False),
        ("at-least", 2, "ab", True),
        ("at-least", 2, "b", False),
    ],
)
def test_combinations(op: str, n: int, names: str, expected: bool) -> None:
    proof = judged(cond.Combination(op, (A, B), n), *(hit(name) for name in names))
    assert proof.held is expected


def test_a_proof_holds_the_facts_that_answer() -> None:
    fact = hit("a", device=3)
    assert judged(cond.Record(parse_query("a where device == 3")), fact, hit("a", device=4)).facts == (fact,)


@pytest.mark.parametrize(
    ("times", "within", "expected"), [((0, 5, 10), 10, True), ((0, 5, 11), 10, False), ((0, 5, 11), None, True)]
)
def test_a_count_is_over_a_window_with_both_ends(times: tuple[int, ...], within: int | None, expected: bool) -> None:
    facts = [hit("a", at=t, offset=t) for t in times]
    condition = cond.Count(parse_query("a"), 3, within * S if within else None)
    assert judged(condition, *facts).held is expected


def test_a_count_takes_in_the_records_that_a_storm_folded() -> None:
    assert judged(cond.Count(parse_query("a"), 10), hit("a"), hit("a", offset=9, repeats=8)).held


def test_a_distinct_count_counts_values() -> None:
    condition = cond.Count(parse_query("a"), 2, None, "rank")
    assert not judged(condition, hit("a", rank=1), hit("a", rank=1, offset=2)).held
    assert judged(condition, hit("a", rank=1), hit("a", rank=2, offset=2)).held


def test_a_window_never_joins_two_hosts_clocks() -> None:
    condition = cond.Count(parse_query("a"), 2, 10 * S)
    assert not judged(condition, hit("a", at=0, host="x"), hit("a", at=1, host="y")).held


@pytest.mark.parametrize(("b", "c", "expected"), [(1, 2, True), (2, 1, False), (5, 11, False), (5, 10, True)])
def test_a_sequence_is_ordered_and_bounded(b: int, c: int, expected: bool) -> None:
    condition = cond.Sequence((parse_query("a"), parse_query("b"), parse_query("c")), 10 * S)
    facts = [hit("a", at=0), hit("b", at=b, offset=b), hit("c", at=c, offset=c)]
    assert judged(condition, *facts).held is expected


def test_a_sequence_without_times_follows_one_source() -> None:
    condition = cond.Sequence((parse_query("a"), parse_query("b")), S)
    assert judged(condition, hit("a", offset=1), hit("b", offset=2)).held
    assert not judged(condition, hit("a", offset=2), hit("b", offset=1)).held
    assert not judged(condition, hit("a", offset=1), hit("b", offset=2, source="other")).held


def test_a_sequence_in_one_file_that_tells_of_several_hosts_is_what_lines_and_times_agree_on() -> None:
    condition = cond.Sequence((parse_query("a"), parse_query("b")), 10 * S)
    assert judged(condition, hit("a", at=1, host="x", offset=1), hit("b", at=2, host="y", offset=2)).held
    assert not judged(condition, hit("a", at=2, host="x", offset=1), hit("b", at=1, host="y", offset=2)).held
    assert not judged(condition, hit("a", at=1, host="x", offset=2), hit("b", at=2, host="y", offset=1)).held
    assert not judged(condition, hit("a", at=1, host="x", offset=1), hit("b", at=12, host="y", offset=2)).held


def test_seconds_since_boot_of_two_hosts_are_in_no_order_though_one_file_has_both() -> None:
    condition = cond.Sequence((parse_query("a"), parse_query("b")), 10 * S)
    first, second = (
        hit(name, at=at, host=host, offset=at, clock=Clock.BOOT) for name, at, host in [("a", 1, "x"), ("b", 5, "y")]
    )
    assert not judged(condition, first, second).held
    assert judged(condition, first, replace(second, place=Place(host="x"))).held


def test_two_clocks_that_take_turns_in_the_file_of_a_host_are_ordered_by_its_lines() -> None:
    condition = cond.Sequence((parse_query("a"), parse_query("b")), 10 * S)
    other = replace(hit("b", at=0, offset=2), instant=Instant(0, Clock.BOOT))
    assert judged(condition, hit("a", at=5, offset=1), other).held
    assert not judged(condition, hit("a", at=5, offset=3), other).held
    assert not judged(condition, hit("a", at=5, offset=1, host="x"), replace(other, place=Place(host="y"))).held


ABSENT = cond.Absent(parse_query("b"), parse_query("a"), 10 * S)


def test_absence_holds_only_over_a_covered_interval() -> None:
    covered = source("s", first=0, last=20)
    short = source("s", first=0, last=5)
    assert judged(ABSENT, hit("a", at=1), sources=(covered,)).held is True
    assert judged(ABSENT, hit("a", at=1), sources=(short,)).held is None
    assert judged(ABSENT, hit("a", at=1)).held is None
    assert judged(ABSENT, hit("a", at=1), hit("b", at=4), sources=(covered,)).held is False
    assert judged(ABSENT, sources=(covered,)).held is False


def test_a_gap_in_the_log_makes_absence_unknown() -> None:
    def at(seconds: int) -> Instant:
        return Instant(seconds * S, Clock.HOST_LOCAL)

    gappy = Source("s", "s", "log", first=at(0), last=at(20), gaps=(Gap(at(3), at(8)),))
    assert judged(ABSENT, hit("a", at=1), sources=(gappy,)).held is None


@pytest.mark.parametrize(
    ("quantifier", "have", "known", "singled"),
    [
        ("all", [0, 1], 2, (0, 1)),
        ("all", [0], 2, None),
        ("any", [1], 4, (1,)),
        ("none", [], 3, (0, 1, 2)),
        ("odd-one-out", [0, 1, 2], 4, (3,)),
        ("odd-one-out", [3], 4, (3,)),
        ("odd-one-out", [0, 1], 4, None),
        ("all-but-few", [0, 1, 2, 4, 5, 6, 7], 8, (3,)),
        ("all-but-few", [0, 1], 8, None),
        ("all-but-few", [0], 2, None),
    ],
)
def test_quantifiers_over_ranks(quantifier: str, have: list[int], known: int, singled: tuple[int, ...] | None) -> None:
    condition = cond.Over("rank", quantifier, parse_query("a"))
    proof = judged(condition, *(hit("a", rank=r, offset=r) for r in have), rank=list(range(known)))
    assert proof.held is (singled is not None)
    assert proof.subjects == (singled or ())


@pytest.mark.parametrize(
    ("values", "singled"),
    [
        ({0: "x", 1: "x", 2: "y"}, (2,)),
        ({0: "x", 1: "x", 2: "x"}, None),
        ({0: "x", 1: "y"}, None),  # nobody is in the right
        ({0: "x", 1: "x", 2: "y", 3: "y"}, None),
        ({0: "x", 1: "y", 2: "z"}, None),
        (dict.fromkeys(range(8), "x") | {8: "y", 9: "z"}, (8, 9)),
        (dict.fromkeys(range(4), "x") | {4: "y", 5: "y"}, None),  # more than a quarter
    ],
)
def test_those_whose_value_differs_from_that_of_nearly_all_are_singled_out(
    values: dict[int, str], singled: tuple[int, ...] | None
) -> None:
    condition = cond.Over("rank", "all-but-few", parse_query("a"), alike="v")
    facts = [hit("a", rank=rank, offset=rank, data={"v": value}) for rank, value in values.items()]
    proof = judged(condition, *facts, rank=range(20))
    assert proof.held is (singled is not None)
    assert proof.subjects == (singled or ())


def test_only_those_with_a_record_of_another_query_are_known() -> None:
    condition = cond.Over("rank", "all-but-few", parse_query("a"), among=parse_query("b"))
    waits = [hit("a", rank=rank, offset=rank) for rank in (0, 1, 2)]
    stacks = [hit("b", rank=rank, offset=10 + rank) for rank in (0, 1, 2, 5)]
    assert judged(condition, *waits, *stacks, rank=range(4)).subjects == (5,)
    assert not judged(condition, *waits, *stacks[:3], rank=range(4)).held


def test_who_has_the_common_value_among_others_is_not_singled_out() -> None:
    condition = cond.Over("rank", "all-but-few", parse_query("a"), alike="v")
    facts = [
        hit("a", rank=n % 3, offset=n, data={"v": value}) for n, value in enumerate(["x", "x", "x", "x", "x", "y"])
    ]
    assert not judged(condition, *facts).held


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 30)), max_size=12), st.randoms())
def test_the_order_in_which_facts_come_changes_nothing(items: list[tuple[str, int]], random: object) -> None:
    facts = [hit(name, at=t, offset=i) for i, (name, t) in enumerate(items)]
    shuffled = list(facts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    for condition in (
        cond.Sequence((parse_query("a"), parse_query("b")), 5 * S),
        cond.Count(parse_query("a"), 2, 5 * S),
        cond.Combination("at-least", (A, B, C), 2),
    ):
        assert judged(condition, *facts).held is judged(condition, *shuffled).held
