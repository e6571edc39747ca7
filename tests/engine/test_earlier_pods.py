"""The log of a pod is over where a later one is of the pod that did its part of a job of Kubernetes that came to its end."""

from __future__ import annotations

import pytest
from builders import source

from neuron_doctor.engine.ended_jobs import EndedJobs, Job
from neuron_doctor.engine.made_good import made_good

SET, ALONE = Job("jobset", "vit"), Job("job", "vit")


def over(first: str, second: str, *complete: Job, begun: float = 200) -> bool:
    """Whether the first log is, if the second one begins then."""
    sources = source(first, first=0, last=100), source(second, first=begun, last=900)
    found = made_good((), sources, (), (), EndedJobs(frozenset(complete))).logs
    assert second not in found
    return first in found


@pytest.mark.parametrize(
    ("first", "second", "job", "is_over"),
    [
        ("vit-w-0-1-8x2kq.log", "vit-w-0-1-wr8dd.log", SET, True),
        ("a/vit-w-0-1_ip-10-8-2-71.log", "b/vit-w-0-1_ip-10-8-3-160.log", SET, True),
        ("vit-8x2kq/trainer.log", "vit-wr8dd/trainer.log", ALONE, True),
        ("vit-1-8x2kq.log", "vit-1-wr8dd.log", ALONE, True),
        ("vit-w-0-1-8x2kq.log", "vit-w-0-0-wr8dd.log", SET, False),
        ("vit-1-8x2kq.log", "vit-2-wr8dd.log", ALONE, False),
        ("vit-w-0-1-8x2kq.log", "vit-w-0-1-wr8dd.log", Job("jobset", "bert"), False),
        ("node-1.log", "node-1b.log", SET, False),
    ],
)
def test_a_pod_made_room_for_another_one_of_the_same_part(first: str, second: str, job: Job, is_over: bool) -> None:
    assert over(first, second, job) is is_over


def test_both_ran_at_once_or_the_job_did_not_come_to_its_end() -> None:
    assert not over("vit-w-0-1-8x2kq.log", "vit-w-0-1-wr8dd.log", SET, begun=90)
    assert not over("vit-w-0-1-8x2kq.log", "vit-w-0-1-wr8dd.log")
