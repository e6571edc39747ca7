"""How the examples of rules came out, as JUnit XML: a suite for each rule, a case for each example."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from neuron_doctor.reports.escape import visible
from neuron_doctor.ruletest import Outcome


def render_junit(outcomes: Iterable[Outcome]) -> str:
    """One XML document. It has no times, so that two runs give the same."""
    root = Element("testsuites", name="neuron-doctor rules test")
    for rule, cases in groupby(outcomes, key=lambda one: one.rule.id):
        _suite(root, rule, list(cases))
    for total in ("tests", "failures"):
        root.set(total, str(sum(int(suite.get(total, "0")) for suite in root)))
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _suite(root: Element, rule: str, cases: Sequence[Outcome]) -> None:
    failures = sum(bool(case.fault) for case in cases)
    suite = SubElement(root, "testsuite", name=rule, tests=str(len(cases)), failures=str(failures))
    for case in cases:
        where = case.rule.location
        test = SubElement(
            suite, "testcase", name=visible(case.example), classname=rule, file=where.path, line=str(where.line)
        )
        if case.fault:
            SubElement(test, "failure", message=visible(case.fault))
