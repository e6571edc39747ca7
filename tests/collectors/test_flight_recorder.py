"""Flight-recorder dumps of every schema become one fact each, damaged and hostile ones a problem in plain words."""

from __future__ import annotations

import copy
import io
import json
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_doctor.collectors.base import HEAD, Input, UnreadableInput
from neuron_doctor.collectors.flight_recorder import COLLECTOR
from neuron_doctor.engine.collectives import match_collectives
from neuron_doctor.engine.facts import Clock, Fact, Instant, Place
from neuron_doctor.engine.kinds import KINDS
from neuron_doctor.engine.recorder import GroupRecord, ranks_of, ranks_text

CREATED = 1_758_610_505_000_000_000


def entry(number: int, **changed: Any) -> dict[str, Any]:
    """An entry as torch 2.10 and later write it (version 2.10)."""
    return {
        "frames": [
            {"name": "all_reduce", "filename": "/venv/torch/distributed/distributed_c10d.py", "line": 2810},
            {"name": "step", "filename": "/job/train.py", "line": 31},
            {"name": "main", "filename": "/job/train.py", "line": 90},
        ],
        "record_id": number,
        "pg_id": 0,
        "process_group": ("0", "default_pg"),
        "thread_name": "python3",
        "thread_id": "139",
        "collective_seq_id": number + 1,
        "p2p_seq_id": 0,
        "op_id": number + 1,
        "profiling_name": "nccl:all_reduce",
        "time_created_ns": CREATED + number * 1000,
        "duration_ms": 1.5,
        "input_sizes": [[3, 4], [5]],
        "input_dtypes": ["Float", "Float"],
        "output_sizes": [[3, 4], [5]],
        "output_dtypes": ["Float", "Float"],
        "state": "completed",
        "time_discovered_started_ns": CREATED + number * 1000 + 10,
        "time_discovered_completed_ns": CREATED + number * 1000 + 900,
        "retired": True,
        "timeout_ms": 600_000,
        "is_p2p": False,
    } | changed


def waiting(number: int, **changed: Any) -> dict[str, Any]:
    late = {
        "state": "scheduled",
        "retired": False,
        "time_discovered_started_ns": None,
        "time_discovered_completed_ns": None,
    }
    row = entry(number, **(late | changed))
    del row["duration_ms"]
    return row


def dump(*entries: dict[str, Any], **changed: Any) -> dict[str, Any]:
    return {
        "version": "2.10",
        "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"}},
        "comm_lib_version": "2.27.3",
        "pg_status": {
            "0": {"last_enqueued_collective": 3, "last_started_collective": -1, "last_completed_collective": 2}
        },
        "entries": list(entries),
    } | changed


USUAL = dump(entry(0), entry(1), waiting(2))


def opened(data: bytes, name: str, rank: int | None) -> Input:
    return Input(f"node1/{name}", name, io.BufferedReader(io.BytesIO(data)), len(data), Place(rank=rank), "source")


def facts_of(data: bytes, name: str = "nccl_trace_rank_2", rank: int | None = 2) -> tuple[list[Fact], Input]:
    inp = opened(data, name, rank)
    return list(COLLECTOR.collect(inp)), inp


def fact_of(content: Any, rank: int | None = 2, *, as_json: bool = False) -> Fact:
    data = json.dumps(content).encode() if as_json else pickle.dumps(content, 2)
    assert COLLECTOR.sniff(data[:HEAD], "whatever")
    (fact,) = facts_of(data, rank=rank)[0]
    return fact


def groups_of(fact: Fact) -> list[GroupRecord]:
    found = fact.data["groups"]
    assert isinstance(found, tuple)
    return [group for group in found if isinstance(group, GroupRecord)]


def test_a_dump_becomes_one_fact_with_its_groups_status_and_open_operations() -> None:
    data = pickle.dumps(USUAL, 2)
    (fact,), inp = facts_of(data)
    assert fact.kind == "fr-rank"
    assert fact.data.keys() == KINDS["fr-rank"].fields.keys()
    assert (fact.data["version"], fact.data["dialect"], fact.data["entries"]) == ("2.10", "pickle", 3)
    assert (fact.data["whole"], fact.data["issued"]) == (True, 3)
    assert (fact.place.rank, fact.instant) == (2, Instant(CREATED + 2000, Clock.UTC))
    assert (fact.span.path, fact.span.length, fact.span.line) == ("node1/nccl_trace_rank_2", len(data), None)
    assert inp.records == 3
    (group,) = groups_of(fact)
    assert (group.name, group.desc, group.members) == ("0", "default_pg", "0-3")
    assert (group.enqueued, group.started, group.completed) == (3, -1, 2)
    assert (group.length, group.contiguous, group.completions, group.starts) == (3, True, True, True)
    assert [operation.sequence for operation in group.recent] == [1, 2]
    (pending,) = group.pending
    assert (pending.name, pending.sequence, pending.state, pending.record) == ("all_reduce", 3, "scheduled", 2)
    assert (pending.inputs, pending.outputs, pending.dtype, pending.wait_us) == (17, 17, "Float", -1)
    assert pending.frames == ("step (/job/train.py:31)", "main (/job/train.py:90)")
    assert group.recent[0].wait_us == 1500


@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        ({}, {"retired": False}, 1),
        ({}, {}, 0),
        ({"retired": False}, {"retired": False}, 0),
        ({"pg_id": 1}, {"retired": False}, 0),
        ({}, {"retired": False, "time_discovered_completed_ns": CREATED + 600 * 10**9}, 0),
        ({}, {"retired": False, "time_discovered_completed_ns": None}, 0),
    ],
)
def test_what_completed_in_the_moment_before_the_dump_is_what_a_watchdog_has_not_retired_yet(
    earlier: dict[str, Any], later: dict[str, Any], expected: int
) -> None:
    """Not where it retires nothing in the group, nor what it has been seen to leave for longer than any moment."""
    for as_json in (False, True):
        content = dump(entry(0, **earlier), entry(1, **later), waiting(2))
        assert fact_of(content, as_json=as_json).data["fresh"] == expected


def as_torch_json(content: dict[str, Any]) -> dict[str, Any]:
    """As the `_json` handlers of torch write it: no stacks, zeros for null, status as text, no empty list."""
    found = copy.deepcopy(content)
    for row in found["entries"]:
        del row["frames"]
        row["process_group"] = list(row["process_group"])
        for key in ("time_discovered_started_ns", "time_discovered_completed_ns"):
            row[key] = row[key] or 0
    found["pg_status"] = {pg: {k: str(v) for k, v in status.items()} for pg, status in found["pg_status"].items()}
    found["nccl_comm_state"] = {}
    if not found["entries"]:
        del found["entries"]
    return found


def without(row: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in keys}


NEWER = ("thread_name", "thread_id")
SINCE_2_4 = (
    "process_group",
    "collective_seq_id",
    "p2p_seq_id",
    "is_p2p",
    "input_dtypes",
    "output_dtypes",
    "timeout_ms",
)


def in_schema(version: str) -> Any:
    rows = USUAL["entries"]
    if version in {"2.9", "2.10"}:
        return dump(*rows, version=version)
    if version in {"2.4", "2.1"}:
        older = dump(*(without(row, *NEWER) for row in rows), version=version)
        return older if version == "2.4" else without(older, "pg_status")
    oldest = [without(row, *NEWER, *SINCE_2_4) | {"seq_id": row["collective_seq_id"]} for row in rows]
    if version == "1.4":
        return {"entries": oldest, "version": version, "pg_config": {0: [0, 1, 2, 3]}}
    keys = ("time_created_ns", "record_id", "op_id", "duration_ms")
    return [without(row, *keys) | {"time_created_us": row["time_created_ns"] // 1000} for row in oldest]


@pytest.mark.parametrize("version", ["2.10", "2.9", "2.4", "2.1", "1.4", "bare list"])
def test_every_schema_says_the_same(version: str) -> None:
    fact = fact_of(in_schema(version))
    (group,) = groups_of(fact)
    assert fact.place.rank == 2
    assert fact.data["version"] == ("" if version == "bare list" else version)
    assert fact.data["last_ns"] == CREATED + 2000
    assert group.members == ("" if version == "bare list" else "0-3")
    assert [op.sequence for op in group.recent + group.pending] == [1, 2, 3]
    assert (len(group.recent), len(group.pending)) == (2, 1)


def test_the_json_of_torch_and_of_nvrx_says_what_the_pickle_says() -> None:
    pickled = groups_of(fact_of(USUAL))[0]
    nvrx = fact_of(USUAL | {"health_check_results": {"gpu": {"status": "ok", "output": ""}}}, as_json=True)
    assert nvrx.data["dialect"] == "json"
    assert groups_of(nvrx)[0] == pickled
    torch = groups_of(fact_of(as_torch_json(USUAL), as_json=True))[0]
    assert (torch.enqueued, torch.started, torch.completed) == (3, -1, 2)
    assert [op._replace(frames=()) for op in torch.pending] == [op._replace(frames=()) for op in pickled.pending]


def test_a_dump_without_entries_still_has_its_status() -> None:
    for fact in (fact_of(dump()), fact_of(as_torch_json(dump()), as_json=True)):
        (group,) = groups_of(fact)
        assert (fact.data["entries"], group.enqueued, group.pending) == (0, 3, ())


def test_status_finds_its_group_by_the_order_of_creation_where_no_entry_tells() -> None:
    names = {"0": "[0, 1, 2, 3]", "35": "[0, 1]", "112": "[0, 1, 2, 3]"}
    config = {name: {"name": name, "desc": f"g{name}", "ranks": ranks} for name, ranks in names.items()}
    status = {str(pg_id): {"last_enqueued_collective": 100 + pg_id} for pg_id in (0, 4, 16)}
    groups = groups_of(fact_of(dump(pg_config=config, pg_status=status), rank=1))
    assert [(group.name, group.pg_id, group.enqueued) for group in groups] == [
        ("0", 0, 100),
        ("35", 4, 104),
        ("112", 16, 116),
    ]
    odd = waiting(0, pg_id=16, process_group=("35", "g35"))
    groups = groups_of(fact_of(dump(odd, pg_config=config, pg_status=status), rank=1))
    assert {group.name: group.enqueued for group in groups if group.name} == {"0": None, "35": 116, "112": None}


def test_gloo_names_no_members_and_learns_of_no_completion() -> None:
    rows = [entry(n, profiling_name="gloo:all_reduce", state="scheduled") for n in range(3)]
    (group,) = groups_of(fact_of(dump(*rows, pg_config={"": {"name": "", "desc": "", "ranks": "[]"}})))
    assert (group.name, group.members, group.completions) == ("0", "", False)
    assert (len(group.recent), group.pending) == (3, ())


def test_the_ranks_of_the_nameless_group_of_gloo_are_of_the_job_and_of_no_group() -> None:
    config = {"": {"name": "", "desc": "", "ranks": "[0, 1, 2, 3]"}}
    fact = fact_of(dump(entry(0, profiling_name="gloo:all_reduce"), pg_config=config))
    assert fact.data["peers"] == "0-3"
    assert [group.members for group in groups_of(fact)] == [""]
    assert fact_of(USUAL).data["peers"] == ""


def test_a_hook_without_completions_is_told_from_one_with_them() -> None:
    issued = [entry(n, profiling_name="neuron:all_reduce", state="scheduled") for n in range(3)]
    assert not groups_of(fact_of(dump(*issued)))[0].completions
    seen = [*(entry(n, profiling_name="neuron:all_reduce") for n in range(2)), issued[2]]
    (group,) = groups_of(fact_of(dump(*seen)))
    assert group.completions
    assert [op.sequence for op in group.pending] == [3]


def transfer(number: int, what: str, seq: int, **changed: Any) -> dict[str, Any]:
    return waiting(number, profiling_name=f"nccl:{what}", is_p2p=True, p2p_seq_id=seq, collective_seq_id=7, **changed)


def test_transfers_have_their_ends_and_those_of_other_pairs_do_not_hide_an_open_one() -> None:
    done = {"state": "completed", "retired": True}
    rows = [transfer(0, "send 0->3", 1), transfer(1, "recv 0<-1", 2, **done), transfer(2, "recv 0<-?", 3)]
    (group,) = groups_of(fact_of(dump(*rows), rank=0))
    assert [(op.kind, op.source, op.target) for op in group.pending_transfers] == [("send", 0, 3), ("recv", -1, 0)]
    assert [(op.kind, op.source) for op in group.transfers] == [("recv", 1)]
    assert group.point_to_point
    assert not group.batched


def test_the_inner_entries_of_a_batch_have_the_state_of_what_closes_it() -> None:
    done = {"state": "completed", "retired": True}
    rows = [
        *(transfer(0, "send 0->1", 1), transfer(1, "recv 0<-1", 1), transfer(2, "coalesced", 1, **done)),
        *(
            transfer(3, "send 0->1", 2) | {"collective_seq_id": 8},
            transfer(4, "coalesced", 2) | {"collective_seq_id": 8},
        ),
    ]
    (group,) = groups_of(fact_of(dump(*rows), rank=0))
    assert [(op.record, op.batch) for op in group.transfers] == [(0, 2), (1, 2)]
    assert [(op.record, op.batch) for op in group.pending_transfers] == [(3, 4)]
    assert (group.length, group.batched) == (0, True)


def test_leftovers_of_completed_batches_in_a_dump_of_open_entries_are_not_open() -> None:
    rows = [transfer(n, "send 0->1", n + 1) | {"collective_seq_id": n + 1} for n in range(3)]
    (group,) = groups_of(fact_of(dump(*rows), rank=0))
    assert group.pending_transfers == ()


def test_a_coalesced_collective_is_one_operation() -> None:
    inner = [waiting(n, collective_seq_id=5, profiling_name="nccl:_all_gather_base") for n in range(2)]
    closing = entry(2, collective_seq_id=5, profiling_name="nccl:coalesced", input_sizes=[], output_sizes=[])
    (group,) = groups_of(fact_of(dump(*inner, closing, waiting(3, collective_seq_id=6))))
    assert [(op.name, op.inputs) for op in group.recent] == [("coalesced(_all_gather_base)", 34)]
    assert (group.length, group.contiguous, len(group.pending)) == (2, True, 1)


def test_times_of_the_host_are_no_times_of_the_device() -> None:
    seen = [entry(1), entry(2, duration_ms=2.5), entry(3, duration_ms=None)]
    [group] = groups_of(fact_of(dump(*(without(one, "duration_ms") for one in seen))))
    assert all(one.wait_us >= 0 for one in group.recent)
    [group] = groups_of(fact_of(dump(*seen)))
    assert [one.wait_us for one in group.recent][1:] == [2500, -1]


def test_only_the_latest_of_many_completed_operations_are_kept_and_all_open_ones() -> None:
    rows = [entry(n) for n in range(500)] + [waiting(n) for n in range(500, 540)]
    (group,) = groups_of(fact_of(dump(*rows)))
    assert (group.length, len(group.recent), len(group.pending)) == (540, 32, 40)
    assert group.recent[-1].sequence + 1 == group.pending[0].sequence


def test_the_rank_comes_from_the_path_if_the_content_allows_it() -> None:
    assert fact_of(USUAL, rank=3).place.rank == 3
    (fact,), inp = facts_of(pickle.dumps(USUAL, 2), "dump_140879", 140_879)
    assert fact.place.rank is None
    assert list(inp.problems) == ["the rank in the file's name is in none of its process groups"]


def test_groups_of_others_that_the_rank_never_used_do_not_tell_who_it_is() -> None:
    others = {
        name: {"name": name, "desc": f"tp_{name}", "ranks": ranks} for name, ranks in (("1", "[0, 1]"), ("2", "[2, 3]"))
    }
    assert fact_of(dump(entry(0), pg_config=dict(USUAL["pg_config"], **others)), rank=3).place.rank == 3
    used = entry(1, process_group=("1", "tp_1"), pg_id=1)
    both = dump(entry(0), used, pg_config=dict(USUAL["pg_config"], **others))
    assert [fact_of(both, rank=rank).place.rank for rank in (1, 3)] == [1, None]


def test_without_a_rank_in_the_path_the_content_may_leave_only_one() -> None:
    config = dict(USUAL["pg_config"], **{"1": {"name": "1", "desc": "tp", "ranks": "[1, 3]"}})
    both = dump(transfer(0, "send 1->0", 1, process_group=("1", "tp"), pg_id=1), pg_config=config)
    assert fact_of(both, rank=None).place.rank == 3
    assert fact_of(USUAL | {"rank": 1}, rank=None).place.rank == 1
    (fact,), inp = facts_of(pickle.dumps(USUAL, 2), "first_", None)
    assert fact.place.rank is None
    assert list(inp.problems) == ["nothing tells which rank wrote this dump"]


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("trace_3.json", 3),
        ("fr-3", 3),
        ("3.pkl", 3),
        ("dump.r3.bin", 3),
        ("worker3_flight_recorder", 3),
        ("fr_3_2025-11-22", 3),
        ("job7781-r003.fr", 3),
        ("trace_3_of_8", None),
        ("fr_20251122081500", None),
        ("node3.pkl", None),
        ("ip-10-0-3-7.pkl", None),
        ("local_rank_3", None),
        ("first_", None),
        ("trace_9", None),  # in none of its groups
    ],
)
def test_the_only_number_in_the_name_of_a_dump_is_its_rank(name: str, rank: int | None) -> None:
    (fact,), _ = facts_of(pickle.dumps(USUAL, 2), name, None)
    assert fact.place.rank == rank


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("cut off at 87 bytes", pickle.dumps(USUAL, 2)[:87]),
        ("cut off before the end", pickle.dumps(USUAL | {"pg_status": {}}, 2)[:-1]),
        ("json cut off", json.dumps(USUAL).encode()[:-3]),
        ("json nested too deep", b'{"pg_config": ' + b"[" * 200_000),
        ("json of another kind", b'{"kind": "pg_config"}'),
        ("code", b"\x80\x02}X\x09\x00\x00\x00pg_configcos\nsystem\nX\x02\x00\x00\x00ls\x85Rs."),
        ("a memo of 32 GiB", b"\x80\x02}X\x09\x00\x00\x00pg_configr\xff\xff\xff\x7f]s."),
        ("garbage after the head", b"\x80\x02}X\x09\x00\x00\x00pg_config" + bytes(range(256))),
        ("not utf-8", b'{"pg_config": "\xff\xfe"}'),
    ],
)
def test_what_cannot_be_read_is_said_in_plain_words(name: str, data: bytes) -> None:
    with pytest.raises(UnreadableInput, match="flight-recorder dump"):
        facts_of(data)


@pytest.mark.parametrize("cut", [-1, -40, -400])
def test_of_a_dump_that_was_cut_in_its_entries_the_status_of_its_groups_is_left(cut: int) -> None:
    status = {"0": {"last_enqueued_collective": 7, "last_started_collective": 6, "last_completed_collective": 6}}
    content = USUAL | {"pg_status": status}
    content["entries"] = content.pop("entries")
    (fact,), inp = facts_of(pickle.dumps(content, 2)[:cut])
    (group,) = groups_of(fact)
    assert (group.enqueued, group.completed, group.length, fact.data["entries"]) == (7, 6, 0, 0)
    (problem,) = inp.problems
    assert "only what stands before its entries" in problem


@pytest.mark.parametrize(
    "data",
    [b"", b"\x80\x02", b"hello pg_config", pickle.dumps({"weights": [1.0]}, 2), b'{"a": 1}', b"{not json} pg_config"],
)
def test_other_inputs_are_not_taken_for_dumps(data: bytes) -> None:
    assert not COLLECTOR.sniff(data, "nccl_trace_rank_0")


def test_values_of_the_wrong_type_are_passed_over() -> None:
    rows: list[Any] = [
        entry(0),
        7,
        None,
        [],
        waiting(1, process_group=3, pg_id=[], state={}, input_sizes="x", frames=5),
    ]
    rows.append(waiting(2, time_created_ns="soon", input_dtypes={}, output_sizes=[[2.5]], collective_seq_id=None))
    (fact,), inp = facts_of(pickle.dumps(dump(*rows, pg_status=[1], pg_config={"0": 3, 4: {"ranks": "os.system"}}), 2))
    assert [(problem.what, problem.count) for problem in inp.problems.values()] == [
        ("an entry of the dump is not a record", 3)
    ]
    assert {group.members for group in groups_of(fact)} == {""}


def test_tuples_that_share_their_parts_are_never_walked() -> None:
    bomb: Any = ()
    for _ in range(60):
        bomb = (bomb, bomb)
    keys = ("process_group", "pg_id", "state", "input_sizes", "frames", "profiling_name", "collective_seq_id")
    rows = [waiting(number, **{key: bomb}) for number, key in enumerate(keys)]
    data = pickle.dumps(dump(*rows, pg_config={"0": bomb}, pg_status={"0": bomb}, version=bomb, rank=bomb), 2)
    assert facts_of(data)[0][0].data["entries"] == len(keys)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 2**64 - 1)
    | st.text(max_size=5)
    | st.sampled_from(["nccl:send 0->1", "[0, 1]"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)


@settings(max_examples=150)
@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(sorted(entry(0))), values), max_size=6), values, values)
def test_no_change_of_values_breaks_the_collector_or_the_matcher(
    changes: list[tuple[int, str, Any]], config: Any, status: Any
) -> None:
    rows = [entry(0), waiting(1), waiting(2)]
    for row, key, value in changes:
        rows[row][key] = value
    content = dump(*rows, pg_config={"0": USUAL["pg_config"]["0"], "1": config}, pg_status={"0": status})
    facts = [*facts_of(pickle.dumps(content, 2), rank=1)[0], *facts_of(pickle.dumps(USUAL, 2), rank=2)[0]]
    assert all(fact.kind == "collective" for fact in match_collectives(facts))


@given(st.lists(st.integers(0, 300), unique=True))
def test_ranks_written_as_runs_come_back_in_their_order(ranks: list[int]) -> None:
    assert ranks_of(ranks_text(ranks)) == tuple(ranks)
