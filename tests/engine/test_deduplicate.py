"""One fact for each record, however often it was captured."""

from __future__ import annotations

import time

from builders import hit
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from neuron_doctor.engine.deduplicate import deduplicated
from neuron_doctor.engine.facts import Fact


def test_a_record_in_a_ranks_own_file_and_in_a_tee_is_one() -> None:
    own = hit("x", at=5, pid=7, host="a", rank=3, source="rank_3.log")
    tee = replace(
        hit("x", at=5, pid=7, source="launcher.log", offset=99), span=replace(own.span, path="launcher.log", offset=99)
    )
    [fact] = deduplicated([own, tee])
    assert (fact.place.rank, fact.place.host, fact.source) == (3, "a", "rank_3.log")


def test_the_same_words_of_two_hosts_are_two() -> None:
    assert len(deduplicated([hit("x", at=5, pid=1, host="a"), hit("x", at=5, pid=1, host="b", offset=1)])) == 2


def test_pods_have_the_same_process_ids_and_may_say_the_same() -> None:
    def said(host: str | None, container: str | None, offset: int) -> Fact:
        fact = hit("x", at=5, pid=1, host=host, offset=offset)
        return replace(fact, place=replace(fact.place, container=container))

    two = [said(None, "w-0", 0), said(None, "w-1/pytorch", 1)]
    assert len(deduplicated(two)) == 2
    assert len(deduplicated([*two, said(None, None, 2)])) == 2, "a tee is of one of them"
    kubelet = said("a", "w-0/pytorch", 3)
    assert {fact.place.host for fact in deduplicated([*two, kubelet])} == {"a", None}
    on_one_host = [kubelet, said("a", "w-1", 4)]
    assert len(deduplicated(on_one_host)) == 2
    assert len(deduplicated([*on_one_host, said("a", None, 5)])) == 2


def test_records_without_a_time_are_one_only_at_one_offset_of_one_source() -> None:
    assert len(deduplicated([hit("x"), hit("x")])) == 1
    assert len(deduplicated([hit("x"), hit("x", offset=7)])) == 2
    assert len(deduplicated([hit("x"), hit("x", source="t")])) == 2


def test_the_same_words_at_another_time_are_another_record() -> None:
    assert len(deduplicated([hit("x", at=5, pid=1), hit("x", at=6, pid=1, offset=9)])) == 2


def plainly_deduplicated(facts: list[Fact]) -> list[Fact]:
    """The same, each capture compared with all others."""
    kept: list[list[Fact]] = []
    for fact in facts:
        of_record = next((some for some in kept if some[0].span.text == fact.span.text), None)
        if of_record is None:
            kept.append([fact])
            continue
        hosts = [known.place.host for known in of_record]
        number = next(
            (n for n, host in enumerate(hosts) if None in (host, fact.place.host) or host == fact.place.host), -1
        )
        if number < 0:
            of_record.append(fact)
        elif hosts[number] is None:
            of_record[number] = replace(of_record[number], place=fact.place)
    return [fact for some in kept for fact in some]


@given(st.lists(st.tuples(st.sampled_from("xy"), st.sampled_from(["a", "b", None])), max_size=9))
def test_captures_are_told_apart_as_if_each_were_compared_with_all(captures: list[tuple[str, str | None]]) -> None:
    facts = [hit(text, at=5, pid=1, host=host, offset=n) for n, (text, host) in enumerate(captures)]
    expected = [(fact.name, fact.place.host) for fact in plainly_deduplicated(facts)]
    assert [(fact.name, fact.place.host) for fact in deduplicated(facts)] == expected


def test_what_thousands_of_hosts_say_alike_takes_time_by_their_number() -> None:
    """Each compared with all others, these would be 200 million comparisons: a minute."""
    same = [hit("x", at=5, pid=1, host=f"host-{n}", offset=n) for n in range(20_000)]
    begin = time.process_time()
    assert len(deduplicated(same)) == 20_000
    assert time.process_time() - begin < 10
