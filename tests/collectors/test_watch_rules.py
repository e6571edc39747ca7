"""Settings of monitoring quote messages and are no evidence; alerts that fired, and what agents and nodes say, are."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor import diagnose
from neuron_doctor.collectors import watch_rules
from neuron_doctor.collectors.watch_rules import is_watch_rules

PROMETHEUS = b"""groups:
  - name: neuron
    rules:
      - alert: Hbm
        expr: increase(hardware_ecc_events_total{event_type="mem_ecc_uncorrected"}[10m]) > 0
        annotations: {summary: "NEURON_HW_ERR=HBM_UNCORRECTABLE_ERROR on {{ $labels.instance_id }}"}
"""
DETECTOR = b"""{
  "plugin": "kmsg",
  "logPath": "/dev/kmsg",
  "source": "kernel-monitor",
  "rules": [
    {"type": "permanent", "condition": "NeuronHealth", "reason": "NeuronHasError",
     "pattern": ".* NEURON_HW_ERR=SRAM_UNCORRECTABLE_ERROR .*"}
  ]
}
"""
CONFIG_MAP = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: npd\ndata:\n  kernel-monitor.json: |\n" + b"".join(
    b"    " + line + b"\n" for line in DETECTOR.splitlines()
)
DASHBOARD = b"""{
  "panels": [
    {"title": "NEURON_HW_ERR=DMA_ERROR", "targets": [{"expr": "count_over_time({job=\\"kern\\"} |= \\"NEURON_HW_ERR=\\" [5m])"}]}
  ],
  "schemaVersion": 39
}
"""
FLUENT_BIT = b"""[INPUT]
    Name   tail
    Path   /var/log/kern.log
[FILTER]
    Name   grep
    Regex  log NEURON_HW_ERR=(SRAM|HBM)_UNCORRECTABLE_ERROR
"""
RSYSLOG = b':msg, contains, "NEURON_HW_ERR=HBM_UNCORRECTABLE_ERROR" /var/log/neuron.err\n& stop\n'
LOGSTASH = (
    b'input {\n  beats { port => 5044 }\n}\noutput {\n  if [message] =~ "NEURON_HW_ERR=DMA_ERROR" { stdout {} }\n}\n'
)
SETTINGS = [PROMETHEUS, DETECTOR, CONFIG_MAP, DASHBOARD, FLUENT_BIT, RSYSLOG, LOGSTASH]

KERNEL = b"[ 4711.000000] NEURON_HW_ERR=SRAM_UNCORRECTABLE_ERROR instance-id=i-0592464924bd45322 hostname=ip-1 nd-id=0 nc-id=0\n"
FIRED = b"""[
  {"annotations": {"summary": "NEURON_HW_ERR=HBM_UNCORRECTABLE_ERROR on trn-7"}, "startsAt": "2026-05-01T12:00:00Z",
   "status": {"state": "active"}, "labels": {"alertname": "Hbm"}}
]
"""
NODE = b"""apiVersion: v1
kind: Node
metadata:
  name: trn-7
status:
  conditions:
  - type: NeuronHealth
    status: "True"
    reason: NeuronHasError_SRAM_UNCORRECTABLE_ERROR
    message: NEURON_HW_ERR=SRAM_UNCORRECTABLE_ERROR nd-id=13 nc-id=0
"""


@pytest.mark.parametrize("text", SETTINGS)
def test_settings_of_monitoring_are_told(text: bytes) -> None:
    assert is_watch_rules(text, "")
    assert is_watch_rules(text.replace(b"\n", b"\r\n"), "")


@pytest.mark.parametrize(
    "text",
    [
        KERNEL,
        FIRED,
        NODE,
        PROMETHEUS + KERNEL,  # somebody wrote both into one file
        NODE + b"---\n" + CONFIG_MAP,
        b"2026-05-01 12:00:00 route: reloaded\n2026-05-01 12:00:00 receivers: 3\n",
        b"rules: 3\npattern: x\n",
        b"",
    ],
)
def test_what_happened_is_none(text: bytes) -> None:
    assert not is_watch_rules(text, "")


@given(
    st.lists(
        st.sampled_from(
            [*SETTINGS, KERNEL, FIRED, NODE, b"2026-05-01 12:00:00 a", b"\r", b"\n", b"x" * 3000, b"May 01 12:00:00 "]
        ),
        max_size=6,
    )
)
def test_what_its_first_lines_tell_is_what_all_tell(parts: list[bytes]) -> None:
    head = b"".join(parts)
    text = b"\n" + head.replace(b"\r\n", b"\n")
    told = any(watch_rules._is_of(text, *known) for known in watch_rules._FORMATS)
    assert is_watch_rules(head, "") == (told and watch_rules._HAPPENED.search(text) is None)


def test_settings_beside_a_healthy_job_tell_of_no_failure_and_beside_a_broken_device_of_no_second_one(
    tmp_path: Path,
) -> None:
    for number, text in enumerate(SETTINGS):
        (tmp_path / f"settings-{number}").write_bytes(text)
    (tmp_path / "rank_0.log").write_text("2026-05-01 12:00:00 step 1 loss 2.3\n")
    assert not diagnose([str(tmp_path)]).findings
    (tmp_path / "dmesg.txt").write_bytes(KERNEL)
    assert [finding.cause for finding in diagnose([str(tmp_path)]).findings] == ["hw-sram-ue"]
