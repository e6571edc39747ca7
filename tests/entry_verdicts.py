"""What is not as it is recorded of an input: for the entries of the fact sheet and for its codes."""

from __future__ import annotations

from collections.abc import Mapping

from entry_messages import Expected

from neuron_doctor.engine.diagnosis import diagnose_once
from neuron_doctor.engine.grades import Role, Status
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.verdict import Diagnosis
from neuron_doctor.examples import inputs_of
from neuron_doctor.pipeline import collect_inputs
from neuron_doctor.scan import Engine


def wrongs_of(files: Mapping[str, str], expected: Expected, rulebook: Rulebook, engine: Engine) -> list[str]:
    """What is not as it is recorded, in words."""
    diagnosis = diagnose_once(rulebook, collect_inputs(inputs_of(files), engine))
    status = diagnosis.verdict.status
    if expected.cause:
        return _wrong_root(diagnosis, expected.cause, expected.rules)
    accepted = {Status.HEALTHY, Status.BENIGN}
    if expected.victim:
        accepted = {Status.VICTIMS_ONLY}
    elif expected.unknown:
        accepted = {Status.UNKNOWN_FAILURE}
    found = [] if status in accepted else [f"{status.value}: {_told(diagnosis)}"]
    if expected.risk and expected.risk not in {f.cause for f in diagnosis.findings if f.role is Role.CONTEXT}:
        found.append(f"no risk {expected.risk}: {_told(diagnosis)}")
    if expected.rules and not {f.rule for f in diagnosis.findings} & set(expected.rules):
        found.append(f"none of {expected.rules}: {_told(diagnosis)}")
    return found


def _wrong_root(diagnosis: Diagnosis, cause: str, rules: list[str]) -> list[str]:
    by_id = {finding.id: finding for finding in diagnosis.findings}
    roots = [by_id[root] for root in diagnosis.root_causes]
    if not roots or {root.cause for root in roots} != {cause}:
        return [f"no root {cause}, or others: {diagnosis.verdict.status.value}: {_told(diagnosis)}"]
    if rules and roots[0].rule not in rules:
        return [f"{roots[0].rule} told it, none of {rules}"]
    return []


def _told(diagnosis: Diagnosis) -> list[str]:
    return [f"{finding.rule} ({finding.cause}, {finding.role.value})" for finding in diagnosis.findings]
