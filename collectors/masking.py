"""What may be shown of an environment variable or a command line, and what must not."""

from __future__ import annotations

import re

from neuron_doctor.engine.regexes import regex

MASK = "<masked>"

#: A name that looks like a secret is masked whatever list it is on.
_SECRET = regex(r"TOKEN|SECRET|KEY|PASSW|PASSPHRASE|CREDENTIAL|AUTH|SIGNATURE|COOKIE", re.IGNORECASE)

#: Names that say how the job was set up and nothing about anybody.
_HARMLESS = regex(
    r"(?:(?:NEURON|NEURONCORE|NKI|FI|NCCL|OFI|CCOM|TORCH|TORCHELASTIC|PYTORCH|XLA|PJRT|OMP|MKL|KMP|GLOO|RDZV|VLLM|RDMAV|NIXL|"
    r"SLURM|PMI|PMIX|OMPI|OMPI_COMM_WORLD|MALLOC|GLIBC|JAX|BUCKET|DISABLE)_\w+"
    r"|(?:LOCAL_|GLOBAL_|GROUP_|ROLE_)?RANK|(?:LOCAL_|ROLE_|GROUP_)?WORLD_SIZE|NODE_RANK|NNODES|NPROC_PER_NODE"
    r"|MASTER_(?:ADDR|PORT)|LD_LIBRARY_PATH|LD_PRELOAD|PATH|PYTHONPATH|VIRTUAL_ENV|CONDA_DEFAULT_ENV"
    r"|HOST(?:NAME|_HEADING)?|(?:MY_|K8S_)?NODE_NAME|SM_CURRENT_HOST|TZ|LANG|RUST_MIN_STACK|RUST_BACKTRACE|CUDA_VISIBLE_DEVICES|AWS_(?:DEFAULT_)?REGION|AWS_BATCH_JOB_\w+"
    r"|NVTE_\w+|TF_\w+|EFA_\w+)"
)

#: Values that are secrets whatever their name is: URL with a password, AWS key id, Hugging Face, GitHub and JWT tokens.
_SECRET_VALUE = regex(
    r"://[^/\s:@]+:[^/\s@]+@|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bhf_[A-Za-z0-9]{20,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\beyJ[\w-]{20,}"
)

#: `name=value`, `--name value` and `"name": "value"` in running text where the name looks like a secret.
_ASSIGNED_SECRET = regex(
    r"((?<![\w-])[\w-]{0,60}?(?:token(?!s|iz)|secret|passw|passphrase|credential|api[_-]?key|access[_-]?key|private[_-]?key)"
    r"[\w-]{0,60}[\"']?(?:\s?[=:]\s?|\s))"
    r"(\"[^\"\n]*\"|'[^'\n]*'|[^\s\"',;]+)",
    re.IGNORECASE,
)


def masked(name: str, value: str) -> str:
    """The value where the variable is known to be harmless, else MASK. An empty value is shown: it tells nothing."""
    shown = _HARMLESS.fullmatch(name) and not _SECRET.search(name) and not _SECRET_VALUE.search(value)
    return value if shown or not value else MASK


#: What stands in every text that one of the two expressions above matches. Looking for these first is much quicker.
_SECRET_WORDS = ("token", "secret", "passw", "passphrase", "credential", "key")
_SECRET_MARKS = ("://", "AKIA", "ASIA", "hf_", "gh", "eyJ")


def without_secrets(text: str) -> str:
    """The text with every value masked that stands behind a name that looks like a secret, or that looks like one."""
    lower = text.lower()
    if any(word in lower for word in _SECRET_WORDS):
        text = _ASSIGNED_SECRET.sub(rf"\g<1>{MASK}", text)
    return _SECRET_VALUE.sub(MASK, text) if any(mark in text for mark in _SECRET_MARKS) else text
