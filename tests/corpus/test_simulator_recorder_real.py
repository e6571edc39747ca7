"""The simulator's dumps beside real ones that PyTorch wrote (corpus/recorder): the same bytes for the same content."""

import json
import pickle
import random
from collections import Counter
from pathlib import Path

import pytest

from neuron_doctor.corpus.simulator.execution import run
from neuron_doctor.corpus.simulator.history import Frame
from neuron_doctor.corpus.simulator.scenario import draw
from neuron_doctor.corpus.simulator.style import Recorder, Style
from neuron_doctor.corpus.simulator.write_recorder import files
from neuron_doctor.corpus.simulator.write_recorder_pickle import Pickler
from neuron_doctor.corpus.simulator.write_recorder_schema import Pair

REAL = Path(__file__).parents[2] / "corpus" / "recorder"
DUMPS = sorted(REAL.glob("*/*/input/comm_lib_trace_rank_*"))
PICKLES = [path for path in DUMPS if not path.parts[-3].endswith("-json")]
PRODUCERS = {"torch-2.13-gloo": Recorder.GLOO, "torch-2.15-hook": Recorder.HOOK_ISSUE_ONLY}


def as_written(value: object) -> object:
    """A loaded dump in the types of the writer."""
    if isinstance(value, dict):
        return {key: as_written(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return Pair(*value)
    return [as_written(item) for item in value] if isinstance(value, list) else value


def with_frames(whole: dict) -> dict:
    entries = [
        {**entry, "frames": [Frame(at["name"], at["filename"], at["line"]) for at in entry["frames"]]}
        for entry in whole["entries"]
    ]
    return {**whole, "entries": entries}


def simulated(producer: Recorder, *, as_json: bool) -> dict:
    history, _ = run(draw(3, fault="healthy", ranks=4))
    how = Style(recorder=producer, recorder_json=as_json)
    whole = (next(files(history, how, random.Random(seed))).data for seed in range(20))
    if not as_json:
        return pickle.loads(next(whole))
    return next(loaded for loaded in map(json.loads, whole) if "health_check_results" not in loaded)


@pytest.mark.parametrize("path", PICKLES, ids=lambda path: "/".join((path.parts[-4], path.parts[-3], path.name[-6:])))
def test_the_pickler_writes_a_real_dump_byte_by_byte(path: Path):
    data = path.read_bytes()
    whole = with_frames(pickle.loads(data))
    uses = Counter(frame for entry in whole["entries"] for frame in entry["frames"])
    pickler = Pickler(frozenset(frame for frame, times in uses.items() if times > 1))
    pickler.out += b"\x80\x02"
    pickler.put(as_written(whole))
    pickler.remember()
    assert bytes(pickler.out + b".") == data


@pytest.mark.parametrize("made_by", PRODUCERS)
def test_a_simulated_dump_has_the_keys_and_types_of_a_real_one(made_by: str):
    real = pickle.loads((REAL / made_by / "healthy/input/comm_lib_trace_rank_0").read_bytes())
    ours = simulated(PRODUCERS[made_by], as_json=False)
    assert list(ours) == list(real)
    assert list(ours["entries"][0]) == list(real["entries"][0])
    assert [type(item) for item in ours["entries"][0].values()] == [type(item) for item in real["entries"][0].values()]
    if PRODUCERS[made_by] is Recorder.GLOO:
        assert list(ours["pg_config"]) == list(real["pg_config"])


def test_a_simulated_json_dump_has_the_keys_and_types_of_a_real_one():
    real = json.loads((REAL / "torch-2.13-gloo/rank-missing-tp-dp-json/input/comm_lib_trace_rank_0").read_bytes())
    ours = simulated(Recorder.GLOO, as_json=True)
    assert list(ours) == list(real)
    assert list(ours["entries"][0]) == list(real["entries"][0])
    assert ours["nccl_comm_state"] == real["nccl_comm_state"]
    assert isinstance(real["pg_status"]["0"]["last_enqueued_collective"], str)
