"""Tables of what nodes offer, in columns that somebody chose and named."""

from __future__ import annotations

import pytest
from snapshot_inputs import facts_of


@pytest.mark.parametrize(
    ("title", "row", "offers"),
    [
        ("NAME  NEURON_CAP  NEURON_ALLOC  HEALTH", "n1  15  0  UnschedulablePendingReboot", (15, -1, -1, 0)),
        ("NAME  TYPE  NEURON  NEURON-CORES", "n1  ml.trn2.48xlarge  15  60", (15, 60, -1, 16)),
        ("NAME  INSTANCE  NEURON_ALLOC  NEURON_USED  EFA", "n1  m6i.8xlarge  <none>  3  0", (-1, -1, 0, 0)),
        ("NAME  INSTANCE-TYPE  NEURON_DEVICES_ALLOCATABLE  EFA", "n1  inf2.48xlarge  <none>  0", (0, -1, 0, 12)),
    ],
)
def test_the_titles_of_such_columns_are_the_users_own(title: str, row: str, offers: tuple[int, ...]) -> None:
    table = "\n".join(line.replace("  ", "   ") for line in (title, row, row.replace("n1", "n2"))) + "\n"
    facts = [f for f in facts_of(table) if f.kind == "node"]
    shown = [tuple(f.data[key] for key in ("neuron", "neuroncore", "efa", "expected_neuron")) for f in facts]
    assert (shown, [f.place.host for f in facts]) == ([offers] * 2, ["n1", "n2"])
