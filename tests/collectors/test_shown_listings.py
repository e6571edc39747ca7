"""Listings of neuron-ls between other lines: they say there what they say in a file of their own."""

from __future__ import annotations

import json

import pytest
from host_captures import NEURON_LS_JSON, NEURON_LS_TABLE
from hypothesis import given
from hypothesis import strategies as st
from snapshot_inputs import as_input, by_kind, facts_of

from neuron_doctor.collectors.base import HEAD
from neuron_doctor.collectors.shown_listings import shown_listings
from neuron_doctor.engine.facts import Fact

DENSE = json.dumps(json.loads(NEURON_LS_JSON)) + "\n"
ROWS = "[" + ",\n ".join(json.dumps(entry) for entry in json.loads(NEURON_LS_JSON)) + "]\n"
INDENTED = "".join(f"  {line}\n" for line in NEURON_LS_JSON.splitlines())
FORMS = [NEURON_LS_TABLE, NEURON_LS_JSON, DENSE, ROWS, INDENTED]
NOISE = st.lists(
    st.sampled_from(["", "EFA devices: 16", "[rank0]: step 3", "| a | b |", "[1, 2]", "[", "]", "+ lspci", "NEURON"])
)


def listed(text: str) -> list[Fact]:
    return list(shown_listings(as_input(text.encode(), "node3/prolog.log")))


def said(facts: list[Fact]) -> list[tuple[str, object, object]]:
    return [(fact.kind, fact.place, fact.data) for fact in facts]


@pytest.mark.parametrize("form", FORMS)
@given(above=NOISE, below=NOISE)
def test_what_stands_around_a_listing_changes_nothing(form: str, above: list[str], below: list[str]) -> None:
    head = "".join(f"{line}\n" for line in [*above, "prolog of job 7"])
    tail = "".join(f"{line}\n" for line in ["--", *below])
    found, alone = listed(head + form + tail), facts_of(form, "node3/prolog.log")
    assert said(found) == said(alone)
    assert [fact.span.line for fact in found] == [(fact.span.line or 0) + head.count("\n") for fact in alone]


def test_each_of_several_hosts_is_counted_where_its_prompt_stands() -> None:
    text = "".join(
        f"[root@trn-{n} ~]# neuron-ls\n{NEURON_LS_TABLE}[root@trn-{n} ~]# uptime\n up {n} days\n" for n in (1, 2)
    )
    assert [fact.place.host for fact in by_kind(listed(text))["device-count"]] == ["trn-1", "trn-2"]


@pytest.mark.parametrize("form", FORMS)
def test_a_listing_that_may_go_on_behind_the_first_64_kib_is_left_out(form: str) -> None:
    filler = "step 1\n" * ((HEAD - len(form)) // 7 + 2)
    assert listed(filler + form) == []


@pytest.mark.parametrize(
    "text",
    [
        "NEURON_RT_VISIBLE_CORES=0-3\n",
        "+------+\n| NAME |\n+------+\n",
        '{"neuron_device": 3}\n',
        '[{"neuron_device": 3}, \n',
        '[{"neuron_device": 3},\n' * (HEAD // 23),
    ],
)
def test_what_is_no_listing_says_nothing(text: str) -> None:
    assert listed(text) == []
