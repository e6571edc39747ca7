"""The name of a machine, in a file that says by its own name that it is one."""

import pytest
from snapshot_inputs import facts_of

from neuron_doctor.collectors.hostname import COLLECTORS

(COLLECTOR,) = COLLECTORS
CTL = "   Static hostname: trn-7\n         Icon name: computer-vm\n           Chassis: vm\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a/hostname", "trn-7\n"),
        ("etc/hostname", "trn-7"),
        ("sos_commands/host/hostname", "trn-7\n"),
        ("w1/hostname.txt", "$ hostname\ntrn-7\n"),
        ("sos_commands/host/hostnamectl_status", CTL),
    ],
)
def test_the_name_is_an_identity(name: str, text: str) -> None:
    assert COLLECTOR.sniff(text.encode(), name)
    (said,) = facts_of(text, path=name)
    assert (said.kind, said.data["hostname"], said.place.host) == ("identity", "trn-7", "trn-7")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("notes.txt", "trn-7\n"),
        ("hostname", "no such command\n"),
        ("hostnames", "a\nb\n"),
        ("hostname", "a\nb\n"),
        ("hostname", ""),
    ],
)
def test_other_words_are_none(name: str, text: str) -> None:
    assert not COLLECTOR.sniff(text.encode(), name)
