"""The logs of a run that a service calls good: GitHub Actions tells of a run in a document (`gh run view --json`), above or
beside the logs of its steps, each as its runner wrote it.

What fails in a step fails the run, unless whoever wrote the workflow allows for it: a probe for devices on a machine that only
compiles. Of two such documents nothing tells whose the logs are.
"""

from __future__ import annotations

from collections.abc import Iterable

from neuron_doctor.engine.facts import Fact

_LOG = "ci-log"


def logs_of_good_runs(facts: Iterable[Fact]) -> frozenset[str]:
    """The sources that are logs of the steps of the one run that is here, if it ended well."""
    facts = [fact for fact in facts if fact.kind == _LOG or (fact.kind == "completion" and fact.data.get("run"))]
    documents = {fact.span.path for fact in facts if fact.kind != _LOG}
    if len(documents) != 1:
        return frozenset()
    folder = _folder(documents.pop())
    return frozenset(fact.source for fact in facts if fact.kind == _LOG and fact.span.path.startswith(folder))


def _folder(path: str) -> str:
    return path[: max(path.rfind("/"), path.rfind("!")) + 1]
