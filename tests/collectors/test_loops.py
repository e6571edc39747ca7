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
        ("for i in $(seq -w 8 10) 12; do ssh n$i uptime; done", "n08 n09 n10 n12"),
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


@given(st.integers(0, 600), st.integers(0, 600))
def test_a_loop_that_counts_asks_each_host_once_or_is_too_long_for_any_shell(first: int, last: int) -> None:
    asked = list(hosts_asked(f"for h in n{{{first}..{last}}}; do ssh $h uptime; done"))
    assert asked == [f"n{n}" for n in range(first, last + 1)] or (asked == [] and last - first >= 512)


@given(st.text(max_size=40), st.text(max_size=40))
def test_what_a_shell_would_not_take_for_one_loop_is_none(words: str, body: str) -> None:
    """Whatever stands in it, a name that was asked for is a word of the command."""
    command = f"for h in {words}; do ssh $h {body}; done"
    listed = loop_of(command)
    assert not any(host for host in hosts_asked(command) if listed is None or host not in listed.words)
