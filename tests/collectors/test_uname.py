"""uname: the kernel's release and the host's name."""

from __future__ import annotations

import pytest
from host_captures import UNAME
from snapshot_inputs import claimed_by, facts_of, one


def test_uname_gives_the_kernel_and_the_host() -> None:
    facts = facts_of(UNAME)
    version = one(facts, "version")
    assert version.data == {"component": "kernel", "version": "6.8.0-1021-aws"}
    assert version.place.host == "ip-10-0-3-7"
    assert one(facts, "identity").data == {"hostname": "ip-10-0-3-7"}


@pytest.mark.parametrize(
    "text", ["5.10.220-209.869.amzn2.x86_64\n", "Linux version 5.10.220-209 (mockbuild@x) (gcc) #1\n"]
)
def test_the_shorter_forms_give_the_kernel_only(text: str) -> None:
    (fact,) = facts_of(text)
    assert str(fact.data["version"]).startswith("5.10.220-209")


@pytest.mark.parametrize("text", ["6.8.0\n", "2.19.64.0\n", UNAME + "Traceback (most recent call last):\n"])
def test_a_version_of_something_else_is_not_claimed(text: str) -> None:
    assert claimed_by(text.encode()) == []
