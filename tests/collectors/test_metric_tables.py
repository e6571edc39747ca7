"""Tables of metrics as Grafana and others export them: which counter of which device of which host rose."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook
from host_captures import METRICS
from snapshot_inputs import facts_of

from neuron_doctor.collectors.metric_tables import COLLECTOR
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

TOTAL = "hardware_ecc_events_total"
LABELS = '{event_type=""sram_ecc_uncorrected"", instance=""10.0.0.5:8000"", neuron_device_index=""3""}'
WIDE = """\
Time,ip-10-0-0-5 nd2,ip-10-0-0-5 nd3,ip-10-0-0-6 nd2
2026-11-07 13:41:00,4,0,0
2026-11-07 13:41:30,4,,0
2026-11-07 13:42:00,4,1,0
2026-11-07 13:42:30,4,1,0
"""
QUOTED = f'"Time","{TOTAL}{LABELS}"\r\n1793972460000,0\r\n1793972490000,2\r\n'
ROWS = """\
Series;Time;Value
ip-10-0-0-5 nd3 sram_ecc_uncorrected;2026-11-07T13:41:00Z;0
ip-10-0-0-5 nd3 sram_ecc_uncorrected;2026-11-07T13:41:30Z;2
"""


def counters(text: str, name: str = "panel.csv") -> list[tuple[object, ...]]:
    assert COLLECTOR.sniff(text.encode(), name)
    found = facts_of(text, name)
    assert {fact.kind for fact in found} <= {"counter"}
    return [(f.data["name"], f.place.host, f.place.device, f.data["first"], f.data["increase"]) for f in found]


def test_a_panel_of_which_the_title_names_the_counter() -> None:
    name = "sram_ecc_uncorrected-data-2026-11-07 14_10_22.csv"
    assert counters(WIDE, name) == [
        (
            "sram_ecc_uncorrected",
            "ip-10-0-0-5",
            3,
            0,
            1,
        ),  # the one that stood at 4 all the time tells nothing of this run
        ("sram_ecc_uncorrected", "ip-10-0-0-6", 2, 0, 0),
    ]
    risen = facts_of(WIDE, name)[0]
    assert (risen.span.line, risen.span.text, risen.instant) == (4, "2026-11-07 13:42:00,4,1,0", None)
    assert WIDE.encode()[risen.span.offset :].startswith(b"2026-11-07 13:42:00")
    assert not COLLECTOR.sniff(WIDE.encode(), "neuroncore_utilization_ratio.csv")


@pytest.mark.parametrize(("text", "host"), [(QUOTED, "10.0.0.5"), (ROWS, "ip-10-0-0-5")])
def test_series_by_their_labels_and_a_row_for_each_time(text: str, host: str) -> None:
    assert counters(text) == [("sram_ecc_uncorrected", host, 3, 0, 2)]
    [fact] = facts_of(text, "panel.csv")
    assert fact.instant is not None
    assert fact.instant.ns == fact.data["until_ns"]


def test_a_column_for_each_label() -> None:
    assert counters(METRICS) == [
        ("sram_ecc_uncorrected", "ip-10-0-0-5", 3, 0, 2),
        ("mem_ecc_corrected", "ip-10-0-0-5", 3, 0, 0),
    ]


def test_rates_sums_and_a_rise_of_another_day_are_no_counters_of_this_run() -> None:
    assert counters(QUOTED.replace(TOTAL + "{", f"increase({TOTAL}" + "{")) == []
    days = "Time,ip-10-0-0-5 nd3\n2026-11-01 00:00:00,0\n2026-11-01 01:00:00,1\n2026-11-07 13:00:00,1\n"
    assert counters(days, "sram_ecc_uncorrected.csv") == []
    assert len(counters(days.replace("11-07", "11-01"), "sram_ecc_uncorrected.csv")) == 1


def test_a_counter_that_begins_at_0_again_rose_by_what_it_shows_then() -> None:
    again = "Time,ip-10-0-0-5 nd3\n2026-11-01 00:00:00,4\n2026-11-01 01:00:00,0\n2026-11-01 02:00:00,NaN\n2026-11-01 03:00:00,1\n"
    assert counters(again, "mem_ecc_uncorrected.csv") == [("mem_ecc_uncorrected", "ip-10-0-0-5", 3, 4, 1)]


@pytest.mark.parametrize(
    "text",
    [
        "time the sram_ecc_uncorrected counter was seen, nothing else\nit rose\n",
        "step,loss\n1,2.3\n",
        "Time,sram_ecc_uncorrected\n",
        '{"time": 1, "sram_ecc_uncorrected": 0}\n{"time": 2}\n',
    ],
)
def test_other_texts_are_no_tables(text: str) -> None:
    assert not COLLECTOR.sniff(text.encode(), "a.csv")


def hosts(folder: Path, legends: str, **logs: str) -> list[str | None]:
    """Those of the counters of a panel, with what else lies beside it."""
    columns = legends.count(",") + 1
    rows = "".join(f"2026-11-07 13:4{n}:00{f',{n}' * columns}\n" for n in range(2))
    (folder / "sram_ecc_uncorrected.csv").write_text(f"Time,{legends}\n{rows}")
    for name, text in logs.items():
        (folder / f"{name}.log").write_text(text)
    facts = collect(Request((str(folder),)), rulebook()).facts
    assert not any("legend" in fact.data for fact in facts)
    return [fact.place.host for fact in facts if fact.kind == "counter"]


@pytest.mark.parametrize(
    "legends",
    ["errors nd2,errors nd3", "total nd3", "sram nd3", "nd2 (uncorrected),nd3 (uncorrected)", "max,min", "w1 nd3"],
)
def test_a_word_in_a_legend_is_no_host(tmp_path: Path, legends: str) -> None:
    assert hosts(tmp_path, legends) == []


def test_a_word_in_a_legend_is_a_host_that_something_else_knows_or_is_called_like_one(tmp_path: Path) -> None:
    said = "srun: error: kestrel-01: task 0: Exited with exit code 1\nsrun: error: merlin: task 9: Exited with exit code 1\n"
    assert hosts(tmp_path, "Kestrel-01 nd3,kestrel-05 errors nd3,merlin nd2,errors nd2", job=said) == [
        "kestrel-01",
        "kestrel-05",
        "merlin",
    ]
    assert hosts(tmp_path, "merlin kestrel-01 nd3", job=said) == [], "which of them it is nobody knows"


def test_the_index_of_a_node_is_no_host() -> None:
    rows = "".join(f"{1793972460000 + n},2,3,sram_ecc_uncorrected,{n}\n" for n in range(2))
    assert counters(f"timestamp,node,neuron_device_index,event_type,value\n{rows}") == []
