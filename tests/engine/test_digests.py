"""Digests are those that everybody else makes of the same bytes, and medians those of the standard library."""

from __future__ import annotations

import hashlib
import statistics

from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.engine import digests
from neuron_doctor.engine.median import median


@given(st.binary(max_size=300))
def test_digests_are_those_of_the_standard_library(data: bytes) -> None:
    assert digests.sha256(data).hexdigest() == hashlib.sha256(data).hexdigest()
    assert digests.blake2b(data, digest_size=16).digest() == hashlib.blake2b(data, digest_size=16).digest()


@given(st.lists(st.one_of(st.integers(), st.floats(-1e9, 1e9)), min_size=1, max_size=9))
def test_the_median_is_that_of_the_standard_library(numbers: list[float]) -> None:
    assert median(numbers) == statistics.median(numbers)
