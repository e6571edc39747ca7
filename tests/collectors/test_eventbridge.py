"""Events of EventBridge, one JSON object a line: dated by what they say, and read as they are."""

from __future__ import annotations

import json

from neuron_doctor.collectors.envelopes import may_be_envelope, unwrap
from neuron_doctor.engine.facts import Clock

EVENT = {
    "detail-type": "EC2 Spot Instance Interruption Warning",
    "time": "2026-08-21T10:43:15Z",
    "detail": {"instance-id": "i-0eaec2f064509f433", "instance-action": "terminate"},
}


def test_an_event_is_its_own_message_with_its_time() -> None:
    text = json.dumps(EVENT)
    assert may_be_envelope(text)
    found = unwrap(text)
    assert found is not None
    assert (found.message, found.known) == (text, {})
    assert found.instant is not None
    assert found.instant.clock is Clock.UTC


def test_what_only_has_the_word_is_none() -> None:
    assert unwrap(json.dumps({"detail-type": "x", "detail": "y"})) is None
