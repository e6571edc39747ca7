"""The simulator's flight-recorder writer: what every producer and schema version holds, byte by byte where it matters."""

import json
import pickle
import pickletools
import random
from dataclasses import replace
from itertools import pairwise

import pytest

from neuron_doctor.corpus.simulator.history import Call, End, Frame, History, Life, Op, WatchdogTimeout
from neuron_doctor.corpus.simulator.job import Axis, Group, Host, HostClock, Job, Seat
from neuron_doctor.corpus.simulator.style import Recorder, Style
from neuron_doctor.corpus.simulator.write_recorder import files, recorder_dumps

START = 1_700_000_000.0
WORLD = Group("0", "default_pg", Axis.WORLD, (0, 1, 2, 3))
TENSOR = (Group("1", "TP", Axis.TENSOR, (0, 1)), Group("2", "TP", Axis.TENSOR, (2, 3)))
DATA = (Group("3", "DP", Axis.DATA, (0, 2)), Group("4", "DP", Axis.DATA, (1, 3)))
FORWARD = (Frame("forward", "/app/model.py", 12), Frame("main", "/app/train.py", 40))
BACKWARD = (Frame("backward", "/app/model.py", 90), Frame("main", "/app/train.py", 41))
OPCODES_OF_TORCH = {
    *("PROTO", "STOP", "MARK", "EMPTY_DICT", "EMPTY_LIST", "SETITEMS", "APPENDS", "TUPLE2"),
    *("BINUNICODE", "BINPUT", "LONG_BINPUT", "BINGET", "LONG_BINGET"),
    *("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "NONE", "NEWTRUE", "NEWFALSE"),
}
ALL_VERSIONS = ("none", "1.4", "2.1", "2.4", "2.9", "2.10")


def job(offset: float = 0.0) -> Job:
    host = Host("ip-10-0-0-1", "10.0.0.1", "i-1", "trn1.32xlarge", None, 16, 2, START - 1e6, HostClock(offset))
    seats = tuple(Seat(rank, 0, rank, rank, rank, 100 + rank) for rank in range(4))
    return Job("train", 7, (host,), seats, (WORLD, *TENSOR, *DATA), START)


def call(rank: int, group: Group, op: Op, ordinal: int, at: float, took: float | None = 0.01, **more: object) -> Call:
    sizes = more.pop("sizes", ((8, 4),))
    frames = more.pop("frames", FORWARD)
    times = {} if took is None else {"started": at + 0.002, "completed": at + took}
    return Call(rank, group.name, op, ordinal, sizes, sizes, "BFloat16", frames, at, **{**times, **more})


def life(rank: int, *, steps: int = 3, hangs: bool = True) -> Life:
    tensor = next(group for group in TENSOR if rank in group.ranks)
    data = next(group for group in DATA if rank in group.ranks)
    calls = []
    for step in range(steps):
        at = START + step
        calls += [
            call(rank, tensor, Op.ALL_REDUCE, step, at),
            _transfer(rank, tensor, step, at + 0.1),
            call(rank, data, Op.REDUCE_SCATTER, step, at + 0.2, frames=BACKWARD),
            call(rank, WORLD, Op.BARRIER, step, at + 0.3),
        ]
    if hangs:
        calls.append(call(rank, tensor, Op.ALL_REDUCE, steps, START + steps, None))
    return Life(rank, START, tuple(calls), steps - 1, End.HUNG)


def _transfer(rank: int, group: Group, step: int, at: float) -> Call:
    sends = group.ranks[0] == rank
    peer = group.ranks[1] if sends else group.ranks[0]
    return call(rank, group, Op.SEND if sends else Op.RECV, step, at, peer=peer, batch=step if step == 1 else None)


def history(*, hangs: bool = True, offset: float = 0.0) -> History:
    lives = tuple(life(rank, hangs=hangs) for rank in range(4))
    timeout = WatchdogTimeout(time=START + 30, rank=0, group="1", index=12, timeout=27.0)
    return History(job(offset), lives, (timeout,) if hangs else (), START + 60, {})


def style(recorder: Recorder = Recorder.NCCL, **more: object) -> Style:
    return replace(Style(recorder=recorder), **more)


def loaded(past: History, how: Style) -> dict:
    read = json.loads if how.recorder_json else pickle.loads
    return {rank: read(data) for rank, data in recorder_dumps(past, how)}


def test_nobody_records_where_the_style_says_so():
    assert list(files(history(), style(Recorder.NONE), random.Random(1))) == []


def test_the_same_seed_gives_the_same_bytes():
    first, second = (list(files(history(), style(), random.Random(5))) for _ in range(2))
    assert first == second


def test_a_rank_that_dumps_nothing_leaves_no_file():
    past = history()
    silent = replace(past.lives[2], dumps_recorder=False)
    past = replace(past, lives=(*past.lives[:2], silent, past.lives[3]))
    assert [file.ranks for file in files(past, style(), random.Random(1))] == [(0,), (1,), (3,)]


@pytest.mark.parametrize("version", ALL_VERSIONS)
@pytest.mark.parametrize("recorder", [kind for kind in Recorder if kind is not Recorder.NONE])
def test_every_pickle_has_torchs_opcodes_only(recorder: Recorder, version: str):
    written = [data for _, data in recorder_dumps(history(), style(recorder, recorder_version=version))]
    assert written
    for data in written:
        assert {opcode.name for opcode, _, _ in pickletools.genops(data)} <= OPCODES_OF_TORCH


@pytest.mark.parametrize("version", ALL_VERSIONS)
def test_entries_written_from_templates_read_like_the_first_ones(version: str):
    whole = loaded(history(), style(recorder_version=version))[0]
    entries = whole if version == "none" else whole["entries"]
    assert len({tuple(entry) for entry in entries}) == 1
    created = [entry.get("time_created_ns", entry.get("time_created_us")) for entry in entries]
    assert created == sorted(created)
    assert len(set(created)) == len(created) - 1  # a batch closes when its last transfer is issued


def test_the_bare_list_of_torch_2_2():
    entries = loaded(history(), style(recorder_version="none"))[0]
    assert list(entries[0]) == [
        *("pg_id", "seq_id", "profiling_name", "time_created_us", "input_sizes", "output_sizes", "state", "retired"),
        "frames",
    ]


def test_the_first_dictionary_of_torch_2_3_names_groups_by_number():
    whole = loaded(history(), style(recorder_version="1.4"))[3]
    assert list(whole) == ["entries", "version", "pg_config"]
    assert whole["pg_config"] == {0: [0, 1, 2, 3], 1: [2, 3], 2: [1, 3]}


def test_the_layout_of_torch_2_9():
    whole = loaded(history(), style())[0]
    assert list(whole) == ["version", "pg_config", "comm_lib_version", "pg_status", "entries"]
    assert whole["pg_config"]["3"] == {"name": "3", "desc": "DP", "ranks": "[0, 2]"}
    assert list(whole["entries"][0])[:4] == ["frames", "record_id", "pg_id", "process_group"]
    assert whole["entries"][0]["process_group"] == ("1", "TP")
    assert whole["entries"][0]["frames"][-1] == {"name": "main", "filename": "/app/train.py", "line": 40}


@pytest.mark.parametrize(("version", "key"), [("2.9", "nccl_version"), ("2.10", "comm_lib_version")])
def test_the_librarys_version_was_renamed(version: str, key: str):
    assert loaded(history(), style(recorder_version=version))[0][key]


def test_without_timing_a_hung_operation_is_only_scheduled():
    last = loaded(history(), style())[0]["entries"][-1]
    assert (last["state"], last["time_discovered_started_ns"], last["retired"]) == ("scheduled", None, False)


def test_with_timing_started_operations_and_durations_show():
    past = history()
    begun = replace(past.lives[0].calls[-1], started=START + 4)
    past = replace(past, lives=(replace(past.lives[0], calls=(*past.lives[0].calls[:-1], begun)), *past.lives[1:]))
    entries = loaded(past, style(Recorder.NCCL_TIMING))[0]["entries"]
    assert entries[-1]["state"] == "started"
    assert entries[0]["duration_ms"] == pytest.approx(8, abs=1e-3)
    assert "duration_ms" not in entries[-1]


def test_a_batch_of_transfers_burns_a_collectives_number_and_only_its_close_completes():
    entries = [entry for entry in loaded(history(), style())[0]["entries"] if entry["pg_id"] == 1]
    names = [entry["profiling_name"] for entry in entries]
    assert names[3:5] == ["nccl:send 0->1", "nccl:coalesced"]
    assert [entry["state"] for entry in entries[3:5]] == ["scheduled", "completed"]
    collectives = [entry["collective_seq_id"] for entry in entries if not entry["is_p2p"]]
    assert collectives == [1, 2, 4, 5]


def test_a_group_is_configured_only_when_it_has_communicated():
    past = history()
    only_tensor = tuple(call for call in past.lives[0].calls if call.group == "1")
    past = replace(past, lives=(replace(past.lives[0], calls=only_tensor), *past.lives[1:]))
    assert list(loaded(past, style())[0]["pg_config"]) == ["1"]
    assert list(loaded(past, style(Recorder.HOOK))[0]["pg_config"]) == ["0", "1", "3"]


def test_the_status_counts_what_was_enqueued_and_completed():
    status = loaded(history(), style())[0]["pg_status"]
    assert status["0"] == {"last_enqueued_collective": 3, "last_started_collective": -1, "last_completed_collective": 3}
    assert status["1"]["last_enqueued_collective"] == 5
    assert (
        status["1"]["last_completed_collective"] == 2
    )  # the last that ended was a transfer, and has a number of its own


def test_a_hooks_status_holds_operation_ids_from_zero():
    whole = loaded(history(), style(Recorder.HOOK))[0]
    assert whole["pg_status"]["0"]["last_enqueued_collective"] == 2
    assert {entry["state"] for entry in whole["entries"][:-1]} == {"completed"}
    assert whole["entries"][0]["profiling_name"] == "neuron:all_reduce"
    sent = next(entry for entry in whole["entries"] if entry["is_p2p"])
    assert (sent["input_sizes"], sent["output_sizes"]) == ([[8, 4]], [])


def test_a_hook_that_learns_no_end_knows_only_what_was_issued():
    whole = loaded(history(), style(Recorder.HOOK_ISSUE_ONLY))[0]
    assert {(entry["state"], entry["retired"]) for entry in whole["entries"]} == {("scheduled", True)}
    assert whole["pg_status"]["1"]["last_completed_collective"] == -1


def test_gloo_records_no_transfers_and_has_a_broken_configuration():
    past = history()
    failed = replace(past.lives[0].calls[-1], failed=START + 30)
    past = replace(past, lives=(replace(past.lives[0], calls=(*past.lives[0].calls[:-1], failed)), *past.lives[1:]))
    whole = loaded(past, style(Recorder.GLOO))[0]
    assert list(whole["pg_config"]) == [""]
    assert {entry["p2p_seq_id"] for entry in whole["entries"]} == {0}
    ids = [(entry["collective_seq_id"], entry["op_id"]) for entry in whole["entries"] if entry["pg_id"] == 1]
    assert ids == [(1, 1), (2, 3), (3, 5), (4, 7)]
    assert whole["entries"][-1]["retired"]
    assert whole["pg_status"]["1"]["last_completed_collective"] == 7


def test_a_full_ring_keeps_the_last_entries():
    entries = loaded(history(), style(ring=4))[0]["entries"]
    assert [entry["record_id"] for entry in entries] == [10, 11, 12, 13]


def test_an_active_dump_of_an_idle_rank_is_empty():
    whole = loaded(history(hangs=False), style(Recorder.HOOK, recorder_active_only=True))[0]
    assert whole["entries"] == []


def test_no_stacks_no_frames():
    assert "frames" not in loaded(history(), style(stacks=False))[0]["entries"][0]


def test_backward_passes_run_on_another_thread():
    entries = loaded(history(), style())[0]["entries"]
    threads = {entry["thread_name"]: entry["thread_id"] for entry in entries}
    assert "pt_autograd_0" in threads
    assert len(set(threads.values())) == 2


def test_times_are_those_of_the_hosts_clock():
    at, shifted = (loaded(history(offset=by), style())[0]["entries"][0]["time_created_ns"] for by in (0.0, 3600.0))
    assert shifted - at == pytest.approx(3600e9, abs=1000)


def test_what_was_issued_after_the_dump_is_not_in_it():
    past = history()
    late = call(0, WORLD, Op.BARRIER, 3, START + 50)
    past = replace(past, lives=(replace(past.lives[0], calls=(*past.lives[0].calls, late)), *past.lives[1:]))
    assert loaded(past, style())[0]["entries"][-1]["process_group"] == ("1", "TP")


def test_the_json_dialects():
    seen = set()
    for seed in range(12):
        file = next(files(history(), style(recorder_json=True), random.Random(seed)))
        whole = json.loads(file.data)
        seen.add("health_check_results" in whole)
        entry = whole["entries"][-1]
        if "health_check_results" in whole:
            assert entry["time_discovered_started_ns"] is None
            assert isinstance(whole["pg_status"]["0"]["last_enqueued_collective"], int)
        else:
            assert list(whole) == sorted(whole)
            assert entry["time_discovered_started_ns"] == 0
            assert whole["pg_status"]["0"]["last_enqueued_collective"] == "3"
            assert "frames" not in entry
    assert seen == {True, False}


def test_an_empty_json_dump_has_no_entries_at_all():
    how = style(Recorder.HOOK, recorder_json=True, recorder_active_only=True)
    dumps = (json.loads(next(files(history(hangs=False), how, random.Random(seed))).data) for seed in range(12))
    assert any("entries" not in whole for whole in dumps)


def test_a_stack_frame_is_memoised_only_if_it_stands_in_two_places():
    past = history()
    once = (Frame("once", "/app/once.py", 1), *FORWARD)
    last = replace(past.lives[0].calls[-1], frames=once)
    past = replace(past, lives=(replace(past.lives[0], calls=(*past.lives[0].calls[:-1], last)), *past.lives[1:]))
    data = dict(recorder_dumps(past, style()))[0]
    opcodes = [opcode.name for opcode, _, _ in pickletools.genops(data)]
    whole = pickle.loads(data)
    distinct = {tuple(frame.values()) for entry in whole["entries"] for frame in entry["frames"]}
    memoised = sum(pair == ("SETITEMS", put) for pair in pairwise(opcodes) for put in ("BINPUT", "LONG_BINPUT"))
    assert memoised == len(distinct)  # all but the one, and the dump as a whole


def test_a_silent_rank_may_still_have_the_dump_of_an_older_attempt():
    past = history()
    past = replace(past, lives=(*past.lives[:2], replace(past.lives[2], dumps_recorder=False), past.lives[3]))
    stale = [file for file in files(past, style(recorder_stale=True), random.Random(1)) if file.source == "noise"]
    assert [file.ranks for file in stale] == [(2,)]
    entries = pickle.loads(stale[0].data)["entries"]
    assert max(entry["time_created_ns"] for entry in entries) < (START - 3000) * 1e9
    assert all(entry["state"] == "completed" for entry in entries if not entry["is_p2p"])


def test_a_history_of_the_last_calls_only_keeps_the_numbers_of_the_whole():
    past = history()
    cut = tuple(call for call in past.lives[0].calls if call.issued >= START + 2)
    past = replace(past, lives=(replace(past.lives[0], calls=cut), *past.lives[1:]))
    for recorder in (Recorder.HOOK, Recorder.GLOO):
        of_world = [entry for entry in loaded(past, style(recorder))[0]["entries"] if entry["pg_id"] == 0]
        assert [entry["collective_seq_id"] for entry in of_world] == [3]


def test_gloos_status_may_be_one_behind_entries_that_are_retired():
    behind = set()
    for seed in range(40):
        for file in files(history(hangs=False), style(Recorder.GLOO), random.Random(seed)):
            whole = pickle.loads(file.data)
            assert all(entry["retired"] for entry in whole["entries"])
            status = whole["pg_status"]["0"]
            behind.add(status["last_enqueued_collective"] - status["last_completed_collective"])
    assert behind == {0, 1}
