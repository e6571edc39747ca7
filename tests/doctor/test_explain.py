"""`neuron-doctor explain`: a code, a name or a message, answered from the rules alone."""

from __future__ import annotations

import json
from functools import cache

import pytest
from builtin_rules import engine, rulebook
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from neuron_doctor.cli import app
from neuron_doctor.collectors.nrt import SYMBOLS
from neuron_doctor.engine.explanation import Explanation
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.explain import explain
from neuron_doctor.packs import load_with_examples
from neuron_doctor.reports.json_explain import explanation_json
from neuron_doctor.reports.lines import cells
from neuron_doctor.reports.text_explain import render_explanation
from neuron_doctor.request import Packs

WIDTH = 80


@cache
def examples() -> Rulebook:
    return load_with_examples(Packs())


def asked_about(what: str) -> Explanation:
    return explain(what, rulebook(), engine, examples)


@pytest.mark.parametrize(
    ("what", "first"),
    [
        ("1203", "hw-dma-abort"),
        ("NRT_EXEC_OOB", "nrt-oob-access"),
        ("nrt_oob", "nrt-oob-access"),
        ("Timeout waiting for RX", "comm-timeout"),
        ("hw-hbm-ue", "hw-hbm-ue"),
        ("5", "exec-timeout-status"),
        ("SRAM_UNCORRECTABLE_ERROR", "hw-sram-ue"),
        ("  device-oom\n", "device-oom"),
        ("[0] include/socket.h:612 CCOM WARN Timeout waiting for RX (waited 120 sec) - retrying", "comm-timeout"),
        (
            "kernel: [902.5] neuron:mc_alloc: device mempool [0:0] total 107 occupied 96 needed 1272 available 7",
            "device-oom",
        ),
    ],
)
def test_the_best_rule_comes_first_and_in_full(what: str, first: str) -> None:
    topic = asked_about(what).topics[0]
    assert topic.answers
    assert topic.rules[0].id == first
    assert topic.rules[0].title in " ".join(_text(asked_about(what)).split())


def test_every_status_of_the_runtime_is_explained_by_number_and_by_name() -> None:
    for code, symbol in SYMBOLS.items():
        by_number, by_name = asked_about(str(code)), asked_about(symbol)
        assert by_number.topics == by_name.topics
        assert symbol in by_number.topics[0].called


def test_every_rule_cause_and_family_is_explained_by_its_name() -> None:
    for rule in rulebook().rules:
        assert rule in [one for topic in asked_about(rule.id).topics for one in topic.rules], rule.id
    for cause in rulebook().causes.values():
        assert cause.meaning in asked_about(cause.id).topics[-1].called
        assert asked_about(cause.family).topics


def test_a_part_of_a_message_is_found_in_the_examples() -> None:
    [topic] = asked_about("suspected   HANG in").topics
    assert not topic.telling
    assert "collectives-hang" in [rule.id for rule in topic.rules]


def test_a_misspelt_name_is_asked_back_and_nonsense_is_not_known() -> None:
    assert asked_about("nrt_succes") == Explanation("nrt_succes", (), ("NRT_SUCCESS",))
    assert asked_about("hw-hbm-eu").near[0] == "hw-hbm-ue"
    assert asked_about("the moon is full tonight, xyzzy") == Explanation("the moon is full tonight, xyzzy", ())


def test_several_meanings_are_all_told() -> None:
    """`straggler` is a cause, and what a comparison of recorders says."""
    called = [topic.called for topic in asked_about("straggler").topics]
    assert any("is a cause" in one for one in called)
    assert any("kind collective" in one for one in called)


@settings(max_examples=60, deadline=None)
@given(what=st.one_of(st.text(max_size=200), st.sampled_from(["5", "network", "device-oom", "status=5", "HBM"])))
def test_whatever_is_asked_is_answered_within_the_width(what: str) -> None:
    found = asked_about(what)
    assert json.loads(explanation_json(found))["asked"] is not None
    for line in _text(found).splitlines():
        as_it_is = line.lstrip().startswith(("$ ", "http"))  # a command and an address are there to be copied
        assert as_it_is or cells(line) <= WIDTH, line


def _text(found: Explanation) -> str:
    return render_explanation(found, width=WIDTH, colour=False)


def test_the_command_as_it_is_typed() -> None:
    run = CliRunner()
    told = run.invoke(app, ["explain", "1203"])
    assert (told.exit_code, told.stdout.splitlines()[0]) == (
        0,
        "1203 is NRT_EXEC_HW_ERR_DMA_ABORT, a status of the runtime (NRT_STATUS)",
    )
    words = run.invoke(app, ["explain", "Timeout", "waiting", "for", "RX"])
    assert words.stdout == run.invoke(app, ["explain", "-"], input="Timeout waiting for RX\n").stdout
    unknown = run.invoke(app, ["explain", "hw-hbm-eu"])
    assert (unknown.exit_code, "did you mean hw-hbm-ue" in unknown.stdout) == (1, True)
    assert run.invoke(app, ["explain", "-"], input=" \n").exit_code == 2
    assert run.invoke(app, ["explain", "1203", "--format", "xml"]).exit_code == 2
    report = json.loads(run.invoke(app, ["explain", "1203", "-f", "json"]).stdout)
    assert (report["schema"], report["topics"][0]["rules"][0]["rule"]) == ("neuron-doctor/explain/1", "hw-dma-abort")
    assert report["topics"][0]["rules"][0]["alone"] is True
