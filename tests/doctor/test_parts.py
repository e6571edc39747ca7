"""Parts: whatever the grouping and the order in which sources come together, the report is the same; damage is told."""

from __future__ import annotations

import io
import math
import random
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import pytest
from builtin_rules import engine, rulebook
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from neuron_doctor import parts as parts_module
from neuron_doctor import shards
from neuron_doctor.collectors.layout import placed_by_layout
from neuron_doctor.collectors.streams import Damaged
from neuron_doctor.collectors.walk import find
from neuron_doctor.engine.diagnosis import diagnose, diagnose_once
from neuron_doctor.engine.facts import Clock, Fact, Instant, Searched, Value
from neuron_doctor.engine.readings import Reading, apart, gathered, merged
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.searched import searched_by, understood
from neuron_doctor.engine.verdict import Diagnosis
from neuron_doctor.part_mark import MAGIC, is_part
from neuron_doctor.parts import part_of, read_part
from neuron_doctor.reports.json_report import render_json
from neuron_doctor.shards import Shard, scan

CORPUS = Path(__file__).parents[2] / "corpus"
INCIDENTS = [CORPUS / "demo", *sorted((CORPUS / "incidents").iterdir())]
SOME = [path for path in INCIDENTS if path.name.startswith(("demo", "order-mismatch", "hang-", "host-oom", "two-"))][:6]


@cache
def searched() -> Searched:
    return searched_by(rulebook())


@cache
def read_from(incident: Path) -> tuple[Reading, ...]:
    """What each source of an incident says, in the order of the walk."""
    folder = str(incident / "input")
    return tuple(shards.readings([scan(Shard((file,)), engine()) for file in find([folder], {folder: "incident"})]))


def written(some: Iterable[Reading]) -> bytes:
    return b"".join(part_of(some, searched()))


def read(part: bytes) -> list[Reading]:
    return list(read_part(io.BufferedReader(io.BytesIO(part))))  # type: ignore[arg-type]


def report(some: Iterable[Reading]) -> str:
    collection = placed_by_layout(gathered(apart(understood(merged(some), rulebook()))))
    return render_json(diagnose(rulebook(), collection), exit_status=0, version="x")


@cache
def report_of_all(incident: Path) -> str:
    return report(read_from(incident))


def joined_in_a_tree(groups: Sequence[Sequence[Reading]], choice: Sequence[int]) -> list[bytes]:
    """Parts of the groups, some of them merged, some of the merged ones merged again."""
    parts = [written(group) for group in groups]
    for number in choice:
        if len(parts) < 2:
            break
        first, second = parts.pop(number % len(parts)), parts.pop(number // 7 % max(1, len(parts)))
        parts.append(written([*read(first), *read(second)]))
    return parts


def check_any_grouping(incident: Path, groups: Sequence[Sequence[Reading]], choice: Sequence[int]) -> None:
    parts = joined_in_a_tree([group for group in groups if group], choice)
    raw = groups[0] if choice and choice[0] % 2 else ()  # a part and the directory that it was made of
    assert report([*raw, *(reading for part in parts for reading in read(part))]) == report_of_all(incident)


@given(st.data())
@settings(deadline=None, max_examples=12, suppress_health_check=list(HealthCheck))
def test_any_grouping_order_and_repetition_of_parts_gives_the_report_of_everything_at_once(data: st.DataObject) -> None:
    incident = data.draw(st.sampled_from(SOME))
    groups: list[list[Reading]] = [[] for _ in range(5)]
    for reading in read_from(incident):
        for number in data.draw(st.sets(st.integers(0, 4), min_size=1, max_size=2)):
            groups[number].append(reading)
    check_any_grouping(incident, groups, data.draw(st.lists(st.integers(0, 999), max_size=5)))


@pytest.mark.heavy
@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda path: path.name)
def test_parts_by_directory_merged_in_any_tree_give_the_report_of_everything_at_once(incident: Path) -> None:
    by_folder: dict[str, list[Reading]] = {}
    for reading in read_from(incident):
        by_folder.setdefault(reading.source.path.rpartition("/")[0], []).append(reading)
    groups = list(by_folder.values())
    for choice in ((), (3, 1, 8, 4), (1000,) * len(groups)):
        check_any_grouping(incident, groups[::-1] if choice else groups, choice)


def test_equal_readings_give_equal_bytes_in_any_order() -> None:
    some = read_from(SOME[0])
    assert written(some) == written(some[::-1]) == written([*read(written(some[:3])), *some])


def test_a_part_holds_its_readings_and_what_was_looked_for() -> None:
    some = merged(read_from(SOME[0]))
    back = read(written(some))
    assert [replace(r, source=replace(r.source, searched=None)) for r in back] == some
    assert {reading.source.searched for reading in back} == {searched()}
    assert all(reading.source.searched.names == searched().names for reading in back if reading.source.searched)


def test_a_hit_of_a_pattern_that_states_a_value_of_its_own_comes_back(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("NRT:nrt_allocate_neuron_cores  NERR_RESOURCE: failed to allocate 8 cores\n")
    some = shards.readings([scan(Shard((file,)), engine()) for file in find([str(tmp_path)], {})])
    facts = [fact for reading in understood(read(written(some)), rulebook()) for fact in reading.facts]
    assert ("init-cores-refused", "cores") in [(fact.data.get("pattern"), fact.data.get("refused")) for fact in facts]


def test_facts_of_one_source_may_fill_many_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    some = merged(read_from(SOME[0]))
    whole = read(written(some))
    for name, small in (("_FACTS", 7), ("_LARGE", 3000), ("_SOURCES", 2)):
        monkeypatch.setattr(parts_module, name, small)
        assert read(written(some)) == whole


# --- damage


def test_a_part_that_is_torn_anywhere_gives_what_is_whole_and_says_so() -> None:
    whole = written(read_from(SOME[0]))
    assert is_part(whole)
    for length in {*range(0, len(whole), 997), len(whole) - 1}:
        with pytest.raises(Damaged, match=r"cut off|not a part|version|length|header"):
            read(whole[:length])


@given(st.integers(0, 10**6), st.integers(1, 255))
@settings(deadline=None, max_examples=100)
def test_a_changed_byte_is_noticed_or_without_meaning(at: int, by: int) -> None:
    some = merged(read_from(SOME[0])[:3])
    whole = bytearray(written(some))
    whole[at % len(whole)] ^= by
    try:
        back = read(bytes(whole))
    except Damaged:
        return  # told
    assert [reading.facts for reading in back] == [reading.facts for reading in some]  # zstd has bits of no meaning


def test_a_bomb_is_refused_before_it_goes_off(monkeypatch: pytest.MonkeyPatch) -> None:
    head, frame = MAGIC + b"\1", parts_module._frame
    with pytest.raises(Damaged, match="unpacks to"):
        read(head + frame(bytes(65 << 20)))
    lying = bytearray(frame(bytes(65 << 20)))
    lying[4:8] = (1000).to_bytes(4, "big")
    with pytest.raises(Damaged, match="not of the length"):
        read(head + bytes(lying))
    monkeypatch.setattr(parts_module, "_ALWAYS_ALLOWED", 0)
    with pytest.raises(Damaged, match="unpacks to"):
        read(head + frame(bytes(1 << 24)))


def test_a_part_of_another_version_or_schema_is_told() -> None:
    with pytest.raises(Damaged, match="version 02"):
        read(MAGIC + b"\2")
    header = parts_module._frame(b'{"schema": "neuron-doctor/part/9\\u001b[0m", "tool": "9", "packs": []}')
    with pytest.raises(Damaged, match=r"schema neuron-doctor/part/9\\x1b"):
        read(MAGIC + b"\1" + header)
    with pytest.raises(Damaged, match="header"):
        read(MAGIC + b"\1" + parts_module._frame(b"[]"))


# --- what does not fit

ODD: tuple[Value, ...] = (
    *(None, True, -1, 10**30, 2**63, 0.5, math.nan, math.inf, "", "0-99999999", "\ud800", "x" * 3000),
    *((), (1,), ("a",), ((1, 2), ()), (None,), (((("0", "dp", 0, "0-3"),),),)),
)
KINDS_OF_FOREIGNERS = (
    "fr-rank",
    "hit",
    "collective",
    "nonsense",
    "stand",
    "world",
    "status",
    "ndet-event",
    "process-groups",
)


def spoilt(fact: Fact, chance: random.Random) -> Fact:
    """The fact as a foreign or hostile writer might have it."""
    fields: dict[str, Value] = dict(fact.data)
    for name in chance.sample(sorted({*fields, "groups", "code"}), 2):
        fields[name] = chance.choice(ODD)
        if chance.random() < 0.3:
            del fields[name]
    kind = chance.choice(KINDS_OF_FOREIGNERS) if chance.random() < 0.3 else fact.kind
    odd_time = Instant(chance.choice((0, -(10**30), 10**20, 2**63)), chance.choice(list(Clock)), 10**30)
    place = replace(fact.place, rank=chance.choice((None, -1, 10**25)), ranks=chance.choice(((), (7, 7))))
    return replace(
        fact,
        kind=kind,
        data=fields,
        instant=odd_time if chance.random() < 0.3 else fact.instant,
        place=place if chance.random() < 0.3 else fact.place,
    )


@pytest.mark.parametrize("seed", range(12))
def test_whatever_a_part_states_the_diagnosis_goes_on(seed: int) -> None:
    chance = random.Random(seed)
    some = read_from(SOME[seed % len(SOME)])
    bad = [
        replace(reading, facts=tuple(spoilt(f, chance) if chance.random() < 0.5 else f for f in reading.facts[:20]))
        for reading in some
    ]
    found = diagnosed(read(written(bad)))
    assert render_json(found, exit_status=0, version="x")


def diagnosed(some: Iterable[Reading], with_rules: Rulebook | None = None) -> Diagnosis:
    book = with_rules or rulebook()
    return diagnose_once(book, placed_by_layout(gathered(apart(understood(merged(some), book)))))


# --- sources that share a path


def test_files_of_two_machines_under_one_path_stay_two() -> None:
    some = read_from(SOME[0])
    with_facts = [reading for reading in some if reading.facts][:2]
    same = [
        Reading(
            replace(reading.source, path="var/log/messages"),
            tuple(replace(fact, span=replace(fact.span, path="var/log/messages")) for fact in reading.facts),
        )
        for reading in with_facts
    ]
    moved = list(apart(merged(same)))
    assert [r.source.path for r in moved] == [f"var/log/messages~{r.source.id[:8]}" for r in merged(same)]
    assert all({fact.span.path for fact in reading.facts} == {reading.source.path} for reading in moved)
