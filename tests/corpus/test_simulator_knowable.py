"""What the files that are left can still show of a fault."""

from dataclasses import replace

import pytest

from neuron_doctor.corpus.simulator.execution import Execution, execute
from neuron_doctor.corpus.simulator.knowable import judge
from neuron_doctor.corpus.simulator.scenario import draw
from neuron_doctor.corpus.simulator.style import Recorder, Style
from neuron_doctor.corpus.simulator.truth import File, Knowable, Mark


def dumps(execution: Execution) -> list[File]:
    ranks = [life.rank for life in execution.history.lives if life.dumps_recorder]
    return [File(f"dump{rank}", b"data", "flight-recorder", ranks=(rank,)) for rank in ranks]


def missing() -> tuple[Execution, Style]:
    scenario = draw(1, fault="collectives-size-mismatch", ranks=16, recorder=Recorder.NCCL_TIMING)
    return execute(scenario), scenario.style


def test_a_marked_line_states_its_fault() -> None:
    done, style = missing()
    file = File("a.log", b"it broke\n", "runtime-log", marks=(Mark(0, 8, 0),))
    assert judge(done, style, [file], [file]) == {0: Knowable.STATED}


def test_all_dumps_together_convict() -> None:
    done, style = missing()
    assert judge(done, style, dumps(done), dumps(done)) == {0: Knowable.INFERABLE}


def test_without_the_dump_of_a_rank_at_fault_a_mismatch_is_hidden() -> None:
    done, style = missing()
    left = [file for file in dumps(done) if file.ranks[0] not in done.faults[0].ranks]
    assert judge(done, style, dumps(done), left) == {0: Knowable.HIDDEN}


def test_a_dump_that_was_cut_off_convicts_nobody() -> None:
    done, style = missing()
    left = [replace(file, data=file.data[:2]) for file in dumps(done)]
    assert judge(done, style, dumps(done), left) == {0: Knowable.HIDDEN}


def test_a_fault_that_had_no_time_to_show_is_hidden() -> None:
    done, style = missing()
    assert judge(replace(done, shown=(False,)), style, dumps(done), dumps(done)) == {0: Knowable.HIDDEN}


@pytest.mark.parametrize("recorder", [Recorder.NCCL, Recorder.GLOO, Recorder.HOOK_ISSUE_ONLY])
def test_a_recorder_without_start_times_cannot_show_a_stuck_device(recorder: Recorder) -> None:
    scenario = draw(1, fault="collectives-device-stuck", ranks=8, recorder=recorder)
    done = execute(scenario)
    assert judge(done, scenario.style, dumps(done), dumps(done)) == {0: Knowable.HIDDEN}
