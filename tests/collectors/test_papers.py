"""What this program wrote itself, and what people noted, is told from logs that begin a little like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_doctor.collectors.papers import is_notes, is_paper

RULES = Path(__file__).parents[2] / "rules"

LOGS = [
    b"# dmesg -T\n[Sat Mar 14 02:11:40 2026] neuron:npid_attach: pid=7000, slot=0\n",
    b"2026-03-14 02:11:40,000 INFO train: step=1 loss=2\n",
    b"Root Cause (first observed failure):\n[0]:\n  exitcode  : 1 (pid: 7000)\n",
    b"ROOT CAUSE: the operator pulled the plug, said the node\n2026-03-14 02:11:40 ERROR power\n",
    b"#!/bin/bash\n# train.sh\nset -e\n",
    b'{"schema": "site/log/1", "msg": "x"}\n',
    b"",
]


@pytest.mark.parametrize("head", LOGS)
def test_logs_and_scripts_are_neither(head: bytes) -> None:
    assert not is_paper(head, "")
    assert not is_notes(head)


@pytest.mark.parametrize(
    "head",
    [
        b'{\n "schema": "neuron-doctor/report/1",\n "tool": {}}',
        b"2 ROOT CAUSES: Uncorrectable HBM error on host a, device 2,\n  and 1 more\n\n  what        Uncorrectable HBM error\n",
        b"ROOT CAUSE: Uncorrectable HBM error on host a\n\n  cause       hw-hbm-ue (critical), likely (0.69)\n",
        b"# ROOT CAUSE: x on host `a`\n\n## Root cause 1: x\n",
        b"HEALTHY AS FAR AS SEEN: No failure found\n  Only what was collected was checked.\n",
    ],
)
def test_reports_of_this_program_are_papers(head: bytes) -> None:
    assert is_paper(head, "report.txt")


def test_every_rule_of_this_program_is_a_paper() -> None:
    rules = [path for path in RULES.glob("*/*.yaml") if path.parent.name != "patterns"]
    assert rules
    assert [path.name for path in rules if not is_paper(path.read_bytes(), path.name)] == []


def test_markdown_is_notes() -> None:
    assert is_notes(b"# Incident of last week\n\n```\nNEURON_HW_ERR=HBM_UNCORRECTABLE_ERROR\n```\n")
    assert is_notes(b"\xef\xbb\xbf## What we saw\n\ntext\n\n### Later\n")


STACK = b'Process 5200: python -u train.py\nPython v3.10.12\n\nThread 5200 (idle): "MainThread"\n    step (train.py:288)\n\n'


def test_stacks_below_the_headings_of_a_script_are_no_notes() -> None:
    headings = [b"### py-spy dump --pid 5200   # rank 0\n", b"### py-spy dump --pid 5201   # rank 1\n"]
    assert not is_notes(b"".join(heading + STACK for heading in headings))
    assert not is_notes(
        b"## rank 0\nThread 0x00007f1c00e280 (most recent call first):\n  x\n## rank 1\nCurrent thread 0x00007f1c00e281\n"
    )
    assert not is_notes(b"# rank 0\n" + STACK * 600 + b"# rank 1\n" + STACK)
    filled = (b"## rank 0\n" + STACK) * 1000
    assert not is_notes(filled[:65536]), "wherever the head ends"


def test_notes_that_quote_a_stack_are_notes() -> None:
    assert is_notes(b"# Hang of last week\n" + STACK + b"## What it was\nthe loader, see above\n")
    assert is_notes(b"# Hang of last week\nAs always:\n\n## rank 0\n" + STACK)
    assert is_notes(b"# Hang of last week\n```\n" + STACK + b"```\n")


@pytest.mark.parametrize(
    "head", [b"From: pat\n", b"\nSubject: Re: [ops] job 812\nFrom: pat\n", b"To: ml-oncall@a.example\n"]
)
def test_a_letter_is_notes_whatever_it_quotes(head: bytes) -> None:
    assert is_notes(head + b"\n> 2026-03-14 02:11:40 ERROR Timeout waiting for RX\nwhich node is it?\n")
    assert not is_notes(b"2026-03-14 02:11:40 sending\n" + head)


def test_a_script_that_says_what_it_copies_writes_no_letter() -> None:
    assert not is_notes(b"From: s3://bucket/ckpt-100\nTraceback (most recent call last):\n")
    assert not is_notes(b"To: /scratch/run7\ncopying\n2026-03-14 02:11:40 ERROR no space left on device\n")


@pytest.mark.parametrize(
    "title",
    [
        b"[FIRING:1] TrainingStalled (vision-moe)\n",
        b"[FIRING:2, RESOLVED:1] TrainingStalled (vision-moe)\n",
        b"\n[RESOLVED] TrainingStalled\n",
        b"[Alerting] Steps per hour\n",
        b"TRIGGERED Incident #41822: step rate of vision-moe\n",
        b'ALARM: "moe-no-step" in US West (Oregon)\n',
    ],
)
def test_an_alert_quotes_what_its_logs_say(title: bytes) -> None:
    alert = title + b' no step in 45m, 4 nodes, "Timeout waiting for RX" x66\nStartsAt: 2026-07-04T01:55:50Z\n'
    assert is_notes(alert)
    assert not is_notes(alert + b"2026-Jul-04 01:12:41.0104 4800:5011 [19] socket.h:579 CCOM WARN Timeout\n")
    assert not is_notes(b"2026-07-04 01:55:50 " + alert)


@pytest.mark.parametrize("line", [b"[FIRING] NEURON_HW_ERR\n", b"[RESOLVER] x\n", b"[alert] Timeout waiting for RX\n"])
def test_other_words_in_brackets_are_no_alerts(line: bytes) -> None:
    assert not is_notes(b"1 node down\n" + line)
    assert not is_notes(line.replace(b"FIRING", b"FIRED"))


ADVICE = b"Runbook: when the job dies\n- If you see 'Uncorrectable HBM memory error is detected' replace the node.\n"


def test_a_runbook_is_notes() -> None:
    assert is_notes(ADVICE)


@pytest.mark.parametrize(
    "mark",
    [
        b"2026-09-12 05:00:03 step 1\n",
        b"[   12.123456] neuron: x\n",
        b"Traceback (most recent call last):\n",
        b"ERROR   NRT:nrt_init   x\n",
    ],
)
def test_a_program_that_gives_advice_writes_no_notes(mark: bytes) -> None:
    assert not is_notes(mark + ADVICE)
    assert not is_notes(b"nd0 nc0 Timestamp program stop timeout (1000 ms)\n")


QUOTED = b'the scanner flagged #7 on host 3: 2x "NeuronCore(s) not available". do we have to reload the driver there?\n'


@pytest.mark.parametrize(
    "heading",
    ["dmesg -T | tail -5", "kubectl get pods", "journalctl --no-pager since yesterday", "what is in /sys/class"],
)
def test_headings_that_are_commands_make_no_notes(heading: str) -> None:
    counter = b"/sys/devices/virtual/neuron_device/neuron9/stats/hardware/mem_ecc_uncorrected: 0\n"
    assert not is_notes(b"### epilog trn-4 job 48213\n" + counter + f"### {heading}\n".encode() + counter)
    assert is_notes(b"### epilog trn-4 job 48213\n" + counter + b"### what we saw then\n" + counter)


@pytest.mark.parametrize(
    "name", ["mail.txt", "ticket-4711.txt", "oncall_notes.txt", "oncall.txt", "pager.txt", "from-slack"]
)
def test_what_is_called_notes_is_notes_if_it_shows_no_output(name: str) -> None:
    assert is_notes(QUOTED, name)
    assert not is_notes(QUOTED + b"2026-Mar-14 02:11:40.5 7:7 ERROR  NRT:nrt_init  NeuronCore(s) not available\n", name)


@pytest.mark.parametrize("name", ["", "train.log", "sendmailer.log", "chatbot.log", "notebook.txt"])
def test_other_names_tell_nothing(name: str) -> None:
    assert not is_notes(QUOTED, name)


LINES = b"n7| 2026-Jan-14 08:02:41.0300 9200:9300 [0] bootstrap.cc:106 CCOM WARN Call to accept failed\n" * 5


def test_headings_that_a_script_writes_between_output_make_no_notes() -> None:
    log = b"## attempt 2 on n1,n7\n" + LINES + b"## gave up 08:03\n"
    assert not is_notes(log)
    assert is_notes(b"## attempt 2 on n1,n7\n```\n" + LINES + b"```\n## gave up\n")
    assert not is_notes(
        b"## rank 0\nstep 1 loss 2.1\n## rank 1\nRuntimeError: NRT_RESOURCE\n## rank 2\nstep 1 loss 2.1\n"
    )
    assert is_notes(b"## what I saw\nit did not start, see\nbelow, and n7 is new\n" + LINES + b"## later\n")


STEPS = b"".join(b"step %d loss 2.%d tokens per second 8123\n" % (n, n) for n in range(20))


@pytest.mark.parametrize("name", ["llama-2-7b-chat.log", "incident-node3.log", "change-4711-node3.out", "ticket.err.1"])
def test_what_is_called_a_log_is_none_of_peoples_notes(name: str) -> None:
    assert not is_notes(QUOTED, name)


@pytest.mark.parametrize(
    "head",
    [
        STEPS,
        b'[rank3]: Traceback (most recent call last):\n[rank3]:   File "train.py", line 3, in <module>\n',
        b"NEURON_HW_ERR=SRAM_UNCORRECTABLE_ERROR hostname=n3 nd-id=3\n",
        b"E0314 02:11:40.123456 7000 nrt.cc:12] Timeout waiting for RX\n" * 2,
        b"MODEL=/models/chat\nARGS=--tp 8\n",
    ],
)
@pytest.mark.parametrize("name", ["llama-2-7b-chat.txt", "incident-node3", "notes.txt"])
def test_what_no_person_writes_is_no_notes_whatever_its_name(head: bytes, name: str) -> None:
    assert not is_notes(head, name)


def test_a_talk_that_quotes_a_log_between_fences_is_notes() -> None:
    assert is_notes(
        b"our pod just says this, what is it?\n```\n(pid=3) RuntimeError: x\n" + STEPS + b"```\n", "slack.txt"
    )


def test_notes_in_a_language_without_spaces_are_notes() -> None:
    assert is_notes("node-3 又挂了请更换\n".encode(), "notes.txt")
