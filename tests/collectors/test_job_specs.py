"""The object of a job of Kubernetes names the job, though nothing of it has run."""

from __future__ import annotations

import pytest
from snapshot_inputs import facts_of


@pytest.mark.parametrize(
    ("limit", "named"), [("aws.amazon.com/neuron: 16", ["dense"]), ("vpc.amazonaws.com/efa: 8", []), ("cpu: 4", [])]
)
def test_the_object_of_a_job_that_asks_for_devices_names_it_before_it_has_a_status(
    limit: str, named: list[str]
) -> None:
    text = (
        "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: dense, namespace: ml}\nspec:\n"
        f"  tasks:\n  - name: worker\n    limits: {{{limit}}}\n"
    )
    assert [fact.data["name"] for fact in facts_of(text) if fact.kind == "job-spec"] == named
