"""Loops on one line that ask hosts in turn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.collectors.loops import hosts_asked, loop_of


@pytest.mark.parametrize(
    ("command", "hosts"),
    [
        ("for h in neuron-a{1..3}; do ssh $h 'hostname; uname -r; dkms status'; done", "neuron-a1 neuron-a2 neuron-a3"),
        ("for h in a4 b7; do echo == $h; ssh -p 22 ubuntu@${h} sudo dmesg | tail; done", "a4 b7"),
        ("for i in 1 2 7; do ssh trn$i.lab uptime; done | tee all.txt", "trn1.lab trn2.lab trn7.lab"),
        ("for i in $(seq 8 10); do timeout 9 ssh n$i uptime; done", "n8 n9 n10"),
        ("for i in `seq -w 09 11`; do ssh n$i uptime; done", "n09 n10 n11"),
        ("for i in {08..10}; do ssh n$i uptime; done", "n08 n09 n10"),
        ("for h in n{1,4} head; do ssh $h uptime; done", "n1 n4 head"),
        ("for h in $(cat hosts); do ssh $h uptime; done", ""),
        ("for f in a b; do ssh login tail $f; done", ""),
        ("for f in 1 2; do cat rank$f.log; done", ""),
        ("for h in a b; do ssh $h 'uptime; done", ""),
        ("ssh n7 uptime", ""),
    ],
)
def test_a_loop_asks_these(command: str, hosts: str) -> None:
    assert " ".join(hosts_asked(command)) == hosts


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_loop_is_understood_or_left(words: str, body: str) -> None:
    command = f"for h in {words}; do {body}; done"
    assert len(list(hosts_asked(command))) <= 4096
    assert loop_of(command) is None or "\n" not in command
