"""Dumped inputs: a fact for each file, complete only by model_name.txt, tensors never read."""

from __future__ import annotations

from snapshot_inputs import as_input, facts_of

from neuron_doctor.collectors.input_dumps import COLLECTORS

DIRECTORY = "run/input_dump_x7Yz_h_nn_1109"


def test_a_tensor_counts_and_is_not_read() -> None:
    inp = as_input(b"\x00" * 100_000, f"{DIRECTORY}/input12.bin")
    (fact,) = COLLECTORS[0].collect(inp)
    assert fact.data == {
        "directory": DIRECTORY,
        "file": "input12.bin",
        "complete": False,
        "files": 1,
        "handle": 1109,
        "model": "",
    }
    assert inp.stream.tell() == 0


def test_the_name_of_the_model_makes_the_dump_complete() -> None:
    (fact,) = facts_of("model.neff\n", f"{DIRECTORY}/model_name.txt")
    assert (fact.data["complete"], fact.data["files"], fact.data["model"]) == (True, 0, "model.neff")


def test_files_of_the_same_name_elsewhere_say_nothing() -> None:
    assert facts_of("model.neff\n", "elsewhere/model_name.txt") == []


def test_a_dump_in_an_archive_is_found() -> None:
    (fact,) = facts_of(b"\x01", f"bundle.tar.gz!{DIRECTORY}/input0.bin")
    assert fact.data["directory"] == f"bundle.tar.gz!{DIRECTORY}"
