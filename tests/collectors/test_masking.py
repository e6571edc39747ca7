"""Secrets: never shown by name, by value, or in running text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.collectors.masking import MASK, masked, without_secrets


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NEURON_RT_VISIBLE_CORES", "0-7"),
        ("RANK", "3"),
        ("MASTER_ADDR", "10.0.0.1"),
        ("FI_PROVIDER", "efa"),
        ("LD_LIBRARY_PATH", "/opt/aws/neuron/lib"),
        ("SLURM_JOB_ID", "7"),
    ],
)
def test_harmless_variables_are_shown(name: str, value: str) -> None:
    assert masked(name, value) == value


@pytest.mark.parametrize(
    "name", ["HF_TOKEN", "NEURON_API_KEY", "VLLM_API_KEY", "TORCH_password", "EMAIL", "neuron_x", ""]
)
def test_all_other_variables_are_masked(name: str) -> None:
    assert masked(name, "value") == MASK


def test_an_empty_value_tells_nothing_and_is_shown() -> None:
    assert masked("HF_TOKEN", "") == ""


@pytest.mark.parametrize("value", ["http://user:pass@proxy:3128", "AKIAABCDEFGHIJKLMNOP", "hf_" + "a" * 30])
def test_a_value_that_looks_like_a_secret_is_masked_under_any_name(value: str) -> None:
    assert masked("NEURON_CC_FLAGS", value) == MASK


@given(
    st.text(max_size=30), st.sampled_from(["TOKEN", "SECRET", "KEY", "PASSWORD", "CREDENTIAL"]), st.text(max_size=30)
)
def test_a_name_with_a_secret_word_never_shows_its_value(before: str, word: str, after: str) -> None:
    assert masked(f"NEURON_{before}{word}{after}", "precious") == MASK


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("python x.py --hf-token abc --lr 1", "python x.py --hf-token <masked> --lr 1"),
        ("API_KEY=abc python x.py", "API_KEY=<masked> python x.py"),
        ('"db_password": "a b", "lr": 1', '"db_password": <masked>, "lr": 1'),
        ("--max-tokens 100 --tokenizer llama", "--max-tokens 100 --tokenizer llama"),
        ("nothing to hide", "nothing to hide"),
    ],
)
def test_running_text_keeps_everything_but_the_secrets(text: str, shown: str) -> None:
    assert without_secrets(text) == shown


def test_a_hostile_text_is_read_in_linear_time() -> None:
    assert len(without_secrets("token-" * 20_000)) > 0
    assert len(without_secrets("a" * 200_000)) == 200_000
