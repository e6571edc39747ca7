"""Every code and name of an error that the fact sheet lists, in the forms in which inputs show it, against the catalogue."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from builtin_rules import engine, rulebook
from entry_messages import Expected, Message, dressed
from entry_verdicts import wrongs_of

from neuron_doctor.collectors.nrt import SYMBOLS
from neuron_doctor.rulewords import values_asked

FOLDER = Path(__file__).parent / "codes"


class Code(Expected, forbid_unknown_fields=True, kw_only=True):
    """A code, and what must come of it; or why no rule asks for it."""

    name: str
    code: int = -1
    excused: str = ""


class Codes(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """One list of the sheet. `forms` have slots for name and code; `report` is of neuron-monitor."""

    codes: list[Code]
    forms: list[Message] = []
    report: str = ""


def read(name: str) -> Codes:
    return msgspec.convert(yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8")), Codes)


def cases() -> Iterator[Any]:
    for name in ("statuses", "hw-errors", "compiler"):
        listed = read(name)
        for code in listed.codes:
            for number, form in enumerate(listed.forms, 1):
                text = form.text.replace("{name}", code.name).replace("{code}", str(code.code))
                file = "dmesg.txt" if form.by == "kernel" else form.file
                message = Message(text=text, file=file)
                for dress, files in dressed(message, form.by or "framework"):
                    yield pytest.param(files, code, id=f"{code.name}-{number}-{dress}")


@pytest.mark.heavy
@pytest.mark.parametrize(("files", "code"), list(cases()))
def test_a_code_gives_what_is_recorded_in_every_form(files: Mapping[str, str], code: Code) -> None:
    assert wrongs_of(files, code, rulebook(), engine()) == []


@pytest.mark.parametrize("code", read("monitor").codes, ids=lambda code: code.name)
def test_a_counter_of_the_monitor_that_rises_gives_what_is_recorded(code: Code) -> None:
    well = read("monitor").report
    report = json.loads(well)
    [stats] = [data["report"]["execution_stats"] for data in report["neuron_runtime_data"]]
    [device] = report["system_data"]["neuron_hw_counters"]["neuron_devices"]
    [group] = [part for part in (stats["error_summary"], stats["execution_summary"], device) if code.name in part]
    group[code.name] = 3
    after = json.dumps(report) if group is device else well  # the others count anew in each period
    stream = "\n".join([well, well, json.dumps(report), after, ""])
    assert wrongs_of({"ip-10-0-0-1/neuron-monitor.json": stream}, code, rulebook(), engine()) == []


def test_every_status_of_the_runtime_is_listed() -> None:
    assert {code.code: code.name for code in read("statuses").codes} == SYMBOLS


def test_every_counter_of_the_driver_is_asked_for_or_excused() -> None:
    asked = values_asked(rulebook())["counter"]
    assert [code.name for code in read("sysfs").codes if bool(code.excused) == (code.name in asked)] == []


def test_every_name_of_a_hardware_error_is_asked_for() -> None:
    asked = values_asked(rulebook())["hw-err"]
    named = [code.name for code in read("hw-errors").codes if code.cause != "hw-unhealthy-component"]
    assert [name for name in named if name not in asked] == []
