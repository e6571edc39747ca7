"""A device of which a rank tells without its host, and a host without the rank, is one."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import hit, pack, rule, source

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Collection
from neuron_doctor.engine.grades import Role


def test_a_host_without_a_rank_and_a_rank_without_a_host_have_one_broken_device(tmp_path: Path) -> None:
    rules = pack(
        tmp_path,
        rule("broke", "record: broke", cause="broken-device", at="device", patterns=("broke",)),
        rule("chatter", "record: chat", cause="noise", patterns=("chat",)),
    )
    elsewhere = hit("chat", host="c", offset=9, source="log")
    of_host = hit("broke", host="a", device=10, at=5e6)
    others: list[tuple[dict[str, object], float, int]] = [
        ({"rank": 21, "device": 10}, 3600.0, 1),
        ({"rank": 21, "device": 9}, 3600.0, 2),
        ({"rank": 21, "device": 10, "host": "b"}, 3600.0, 2),
        ({"rank": 21, "device": 10}, 200_000.0, 2),  # days later
    ]
    for place, later, faults in others:
        of_rank = hit("broke", at=5e6 + later, source="log", **place)  # type: ignore[arg-type]
        found = diagnose(rules, Collection((source("s", kind="kernel"), source("log")), (of_host, of_rank, elsewhere)))
        assert len(found.root_causes) == faults
        assert "a" in {one.place.host for one in found.findings if one.role is Role.ROOT}


@pytest.mark.parametrize(("cores", "named"), [((1, 1), 1), ((1, None), 1), ((1, 9), None), ((None, None), None)])
@pytest.mark.parametrize("says", [True, False])
def test_a_fault_of_a_device_names_the_core_that_all_its_records_agree_on_if_its_rule_says_so(
    tmp_path: Path, cores: tuple[int | None, ...], named: int | None, says: bool
) -> None:
    more = f"survivable: false\nnames_core: {str(says).lower()}\n"
    facts = tuple(hit("broke", host="a", device=3, core=core, offset=n) for n, core in enumerate(cores))
    rules = pack(
        tmp_path,
        rule("broke", "record: broke", cause="broken-device", at="device", patterns=("broke",), more=more),
    )
    [finding] = diagnose(rules, Collection((source("s"),), facts)).findings
    assert (finding.place.device, finding.place.core) == (3, named if says else None)
