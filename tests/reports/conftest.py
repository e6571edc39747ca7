"""Hands the sample diagnoses to the tests of the renderers."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from neuron_doctor.engine.verdict import Diagnosis


def _loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("report_samples", Path(__file__).with_name("samples.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


_SAMPLES = _loaded()


@pytest.fixture(scope="session")
def samples() -> ModuleType:
    return _SAMPLES


@pytest.fixture(scope="session", params=sorted(_SAMPLES.ALL))
def any_diagnosis(request: pytest.FixtureRequest) -> Diagnosis:
    found: Diagnosis = _SAMPLES.ALL[request.param]
    return found
