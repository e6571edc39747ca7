"""What a file went through on its way (other line ends, a byte order mark, UTF-16, blanks at line ends, gzip, the records of a
collector) changes no verdict."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.engine.verdict import Diagnosis
from neuron_doctor.labels import labelled
from neuron_doctor.pipeline import diagnose_paths
from neuron_doctor.request import Request

CORPUS = Path(__file__).parents[2] / "corpus"
INCIDENTS = [
    *sorted((CORPUS / "incidents").iterdir()),
    *(i for d in sorted(CORPUS.glob("heldout*")) for i in labelled(d)),
]
#: Files that are no text of lines, or have envelopes of their own.
_RECORDS = (".json", ".jsonl", ".yaml", ".yml", ".gz", ".zst", ".bz2", ".xz")
#: The beginning of JSON, and of no line as `[rank5]: ` or `[    0.000000] `.
_DOCUMENT = re.compile(rb"\s*(?:\{|\[\s*[\[{\"\]])")

Dress = Callable[[str], bytes]


def of_windows(text: str) -> bytes:
    return text.replace("\r\n", "\n").replace("\n", "\r\n").encode()


def marked(text: str) -> bytes:
    return b"\xef\xbb\xbf" + text.encode()


def wide(text: str) -> bytes:
    return text.encode("utf-16")


def padded(text: str) -> bytes:
    return "".join(f"{line}   \n" for line in text.splitlines()).encode()


def packed(text: str) -> bytes:
    return gzip.compress(text.encode(), 1, mtime=0)


DRESSES = (of_windows, marked, wide, padded, packed)


def _text_of(path: Path) -> str | None:
    raw = path.read_bytes()
    if path.name.endswith(_RECORDS) or b"\0" in raw or _DOCUMENT.match(raw):
        return None
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def dressed(incident: Path, dress: Dress, to: Path) -> Path:
    """A copy of the input with all its texts dressed."""
    shutil.copytree(incident / "input", to / "input")
    for path in sorted(path for path in to.rglob("*") if path.is_file()):
        if (text := _text_of(path)) is not None:
            path.write_bytes(dress(text))
            if dress is packed:
                path.rename(path.with_name(f"{path.name}.gz"))
    return to / "input"


def verdict(path: Path) -> tuple[object, ...]:
    found: Diagnosis = diagnose_paths(Request((str(path),), labels={str(path): "x"}), rulebook())
    roots = [finding for finding in found.findings if finding.id in found.root_causes]
    return (
        found.verdict.status.value,
        sorted((root.cause, root.place.host or "", root.place.ranks, root.place.rank or -1) for root in roots),
    )


@pytest.mark.heavy
@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_a_file_went_through_changes_no_verdict(incident: Path, tmp_path: Path) -> None:
    dress = DRESSES[sum(incident.name.encode()) % len(DRESSES)]
    assert verdict(dressed(incident, dress, tmp_path)) == verdict(incident / "input"), dress.__name__


LOG = """\
2026-05-01 12:00:00,113 INFO train: step 40 loss 2.1
2026-05-01 12:00:07,500 INFO train: reading the next shard
Traceback (most recent call last):
  File "/fsx/train/main.py", line 231, in <module>
    main()
ValueError: shard 417 has 8190 tokens
"""


def _docker(line: str, second: int) -> str:
    return json.dumps({"log": f"{line}\n", "stream": "stderr", "time": f"2026-05-01T12:00:{second:02}.5Z"})


def _fluent_bit(line: str, second: int) -> str:
    return json.dumps({"time": f"2026-05-01T12:00:{second:02}.5Z", "stream": "stderr", "_p": "F", "log": line})


def _fluentd(line: str, second: int) -> str:
    return json.dumps({"log": line, "stream": "stderr", "time": f"2026-05-01T12:00:{second:02}.5Z"})


def _cri(line: str, second: int) -> str:
    return f"2026-05-01T12:00:{second:02}.5Z stderr F {line}"


@pytest.mark.parametrize("record", [_docker, _fluent_bit, _fluentd, _cri])
def test_the_records_of_a_collector_are_lines(record: Callable[[str, int], str], tmp_path: Path) -> None:
    lines = [record(line, second) for second, line in enumerate(LOG.splitlines())]
    for name, text in (("plain", LOG), ("records", "".join(f"{line}\n" for line in lines))):
        (tmp_path / name / "ip-10-0-0-1").mkdir(parents=True)
        (tmp_path / name / "ip-10-0-0-1" / "rank_5.log").write_text(text)
    found = verdict(tmp_path / "records")
    assert found == verdict(tmp_path / "plain")
    assert found[0] == "root-cause"


def coloured(text: str) -> bytes:
    return "".join(f"\x1b[32m{line}\x1b[0m\n" if line.strip() else f"{line}\n" for line in text.splitlines()).encode()


@pytest.mark.parametrize(
    "incident",
    [
        "heldout2/kubectl-describe-last-state-oomkilled",
        "heldout/pod-evicted-for-ephemeral-storage",
        "heldout3/eks-previous-log-and-node-condition-hbm",
        "heldout/scancel-by-its-owner-looks-like-a-crash",
    ],
)
def test_what_a_terminal_coloured_is_read_as_well(incident: str, tmp_path: Path) -> None:
    assert verdict(dressed(CORPUS / incident, coloured, tmp_path)) == verdict(CORPUS / incident / "input")
