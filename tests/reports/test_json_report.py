"""The JSON report keeps the contract that scripts rely on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec.structs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from neuron_doctor.engine.facts import Fact, Place
from neuron_doctor.engine.grades import Role
from neuron_doctor.engine.verdict import Diagnosis, Proof
from neuron_doctor.reports.json_report import render_json, report_object
from neuron_doctor.reports.objects import fact_object, proof_object

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "report.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)
ALWAYS = {"id", "rule", "cause", "title", "severity", "role", "confidence", "count", "place", "time", "evidence"}
ALWAYS |= {"explains", "alternatives", "actions", "proof"}


def rendered(diagnosis: Diagnosis, exit_status: int = 1) -> Any:
    return json.loads(render_json(diagnosis, exit_status=exit_status, version="1.2.3"))


def scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from scalars(item)
    elif isinstance(value, list):
        for item in value:
            yield from scalars(item)
    else:
        yield value


def test_the_schema_is_itself_valid() -> None:
    VALIDATOR.check_schema(SCHEMA)


def test_every_sample_fits_the_schema(any_diagnosis: Diagnosis) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(rendered(any_diagnosis))] == []


def test_nothing_is_null_and_every_string_is_printable(any_diagnosis: Diagnosis) -> None:
    found = list(scalars(rendered(any_diagnosis)))
    assert None not in found
    assert [text for text in found if isinstance(text, str) and not text.isprintable()] == []


def test_top_level_keys_and_the_keys_of_findings_are_always_there(any_diagnosis: Diagnosis) -> None:
    report = rendered(any_diagnosis)
    assert list(report) == SCHEMA["required"]
    assert all(set(finding) >= ALWAYS for finding in report["findings"])


def test_the_report_says_the_exit_status_and_the_version_that_it_is_given(samples: ModuleType) -> None:
    report = rendered(samples.healthy(), exit_status=124)
    assert report["verdict"]["exit_status"] == 124
    assert report["tool"]["version"] == "1.2.3"


def test_equal_diagnoses_give_equal_bytes_and_the_order_of_files_is_of_no_effect(samples: ModuleType) -> None:
    one = samples.hbm_incident()
    other = samples.hbm_incident()
    turned = msgspec.structs.replace(
        other, sources=other.sources[::-1], edges=other.edges[::-1], findings=other.findings[::-1]
    )
    texts = {render_json(d, exit_status=1, version="1") for d in (one, other, turned)}
    assert len(texts) == 1


def test_roots_stand_best_first_and_findings_by_id(samples: ModuleType) -> None:
    diagnosis = samples.two_roots()
    report = rendered(diagnosis)
    assert report["root_causes"] == list(diagnosis.root_causes) == ["host-oom-0123456789", "hw-sram-ue-0123456789"]
    ids = [finding["id"] for finding in report["findings"]]
    assert ids == sorted(ids)


def test_evidence_is_counted_beyond_sixteen(samples: ModuleType) -> None:
    report = rendered(samples.hbm_incident())
    (hang,) = (finding for finding in report["findings"] if finding["cause"] == "collectives-hang")
    assert len(hang["evidence"]) == 16
    assert hang["omitted"] == 4


def test_a_proof_counts_what_it_does_not_show(samples: ModuleType) -> None:
    fact = samples.hostile().findings[0].proof.facts[0]
    leaf = Proof("pattern", None)
    shown = proof_object(Proof("all", True, (fact,) * 20, (leaf,) * 30, omitted=5))
    assert (len(shown["facts"]), len(shown["children"]), shown["omitted"]) == (16, 16, 4 + 14 + 5)


def test_an_undecided_condition_has_no_held(samples: ModuleType) -> None:
    root = next(f for f in rendered(samples.hbm_incident())["findings"] if f["role"] == "root")
    assert root["proof"]["held"] is True
    assert "held" not in root["proof"]["children"][1]


def test_evidence_opens_in_an_editor_and_binary_evidence_has_no_line(samples: ModuleType) -> None:
    root = next(f for f in rendered(samples.hostile())["findings"] if f["role"] == "root")
    text, binary = root["evidence"][1], root["evidence"][3]
    assert (text["path"], text["line"], text["column"], text["offset"]) == ("a.log", 4, 1, 480)
    assert binary == {"path": "c.bin", "offset": 7, "length": 4, "truncated": False}


def test_text_of_evidence_is_cut_at_two_thousand_characters_with_its_escapes(samples: ModuleType) -> None:
    root = next(f for f in rendered(samples.hostile("\x1b" * 1000))["findings"] if f["role"] == "root")
    assert root["evidence"][0]["text"] == "\\x1b" * 500
    assert root["evidence"][0]["truncated"] is True


def test_ranks_of_a_root_are_those_at_fault_and_absent_where_none_is_convicted(samples: ModuleType) -> None:
    report = rendered(samples.hbm_incident())
    root = next(f for f in report["findings"] if f["role"] == "root")
    assert root["place"]["ranks"] == [32, 33]
    assert "rank" not in root["place"]
    nobody = samples.finding("x", "collectives-transport-stall", Role.ROOT)
    assert rendered(samples.diagnosis("root-cause", "stall", (nobody,)))["findings"][0]["place"] == {}


def test_a_single_rank_is_a_list_of_one(samples: ModuleType) -> None:
    found = samples.finding("x", "host-oom", Role.ROOT, place=Place(rank=0, device=0))
    assert rendered(samples.diagnosis("root-cause", "h", (found,)))["findings"][0]["place"] == {
        "device": 0,
        "ranks": [0],
    }


def test_two_thousand_ranks_stay_on_one_line(samples: ModuleType) -> None:
    text = render_json(samples.hbm_incident(2048), exit_status=1, version="1")
    assert len(text.splitlines()) < 60 * 2048 // 4
    assert any(line.strip().startswith('"ranks": [0, 1, 2,') for line in text.splitlines())


def test_numbers_in_brackets_inside_of_a_string_are_left_alone(samples: ModuleType) -> None:
    found = samples.finding("x", "host-oom", Role.ROOT, title="[\n1,\n  2\n]")
    assert rendered(samples.diagnosis("root-cause", "h", (found,)))["findings"][0]["title"] == "[\\n1,\\n  2\\n]"


def test_long_lists_of_a_fact_are_left_to_the_facts_command(samples: ModuleType) -> None:
    span = samples.span("dump_3", 1, "x")
    fact = Fact("fr-rank", {"version": "2.10", "groups": ((1, 2), (3, 4)), "short": (1, 2)}, Place(rank=3), span, "s")
    assert proof_object(Proof("fact", True, (fact,)))["facts"][0]["data"] == {"version": "2.10", "short": [1, 2]}  # type: ignore[index,call-overload]
    assert fact_object(fact)["data"] == {"version": "2.10", "groups": [[1, 2], [3, 4]], "short": [1, 2]}
    assert fact_object(fact)["place"] == {"rank": 3}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_does_not_know_become_their_names(samples: ModuleType, value: float) -> None:
    fact = Fact("progress", {"what": "loss", "value": value}, Place(), samples.span("a", 1, "x"), "s")
    root = samples.finding("x", "host-oom", Role.ROOT, proof=Proof("fact", True, (fact,)))
    report = rendered(samples.diagnosis("root-cause", "h", (root,)))
    assert report["findings"][0]["proof"]["facts"][0]["data"]["value"] == str(value)


def test_the_object_of_the_api_is_the_object_of_the_text(any_diagnosis: Diagnosis) -> None:
    assert report_object(any_diagnosis, exit_status=1, version="1.2.3") == rendered(any_diagnosis)


@given(st.text(st.characters(), min_size=1, max_size=60))
def test_any_text_of_a_log_gives_a_report_that_fits_the_schema(samples: ModuleType, text: str) -> None:
    report = rendered(samples.hostile(text))
    assert VALIDATOR.is_valid(report)
    assert all(part.isprintable() for part in scalars(report) if isinstance(part, str))


def test_clocks_are_told_with_their_error_or_as_contradictory(samples: ModuleType) -> None:
    known, torn = rendered(samples.hbm_incident(64))["clocks"]
    assert (known["clock"], known["offset_s"], known["error_s"]) == ("boot", -1763600000.25, 2.004)
    assert known["from"] == ["attach", "same line"]
    assert torn == {"host": "node-02", "clock": "utc", "from": ["collectives"]}


def test_it_is_laid_out_as_if_written_in_one_piece(any_diagnosis: Diagnosis) -> None:
    report = report_object(any_diagnosis, exit_status=1, version="1")
    whole = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    assert on_one_line(render_json(any_diagnosis, exit_status=1, version="1")) == on_one_line(whole)


def on_one_line(text: str) -> str:
    return re.sub(r"\[\n?[-0-9,\s]+\]", lambda numbers: "".join(numbers[0].split()), text)
