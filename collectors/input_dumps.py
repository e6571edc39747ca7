"""Input tensors that the runtime dumped on an error: `input_dump_<rand>_h_nn_<id>/input<N>.bin` and model_name.txt.

Source: Neuron troubleshooting guide and runtime configuration guide (NEURON_RT_DBG_DUMP_INPUTS_ON_ERR). model_name.txt
is written last: without it the dump was cut short. Each file gives a fact; those of one `directory` belong together.
Tensors are not read.
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.engine.facts import Fact, Span, span_of
from neuron_doctor.engine.regexes import regex

_TENSOR = regex(r"input\d{1,6}\.bin")
_MODEL = "model_name.txt"
_DIRECTORY = regex(r"(?P<all>(?:.*[/!])?(?P<name>input_dump_\w{1,64}_h_nn_(?P<handle>\d{1,18})))[/!][^/!]*$")
_LIMIT = 4096


def _sniff(head: bytes, name: str) -> bool:
    return _TENSOR.fullmatch(name) is not None or (name == _MODEL and len(head) < _LIMIT)


def _collect(inp: Input) -> Iterator[Fact]:
    directory = _DIRECTORY.match(inp.path)
    if directory is None:
        return
    complete = inp.name == _MODEL
    raw = inp.stream.read(_LIMIT) if complete else b""
    inp.records = 1
    yield Fact(
        "input-dump",
        {
            "directory": directory["all"],
            "file": inp.name,
            "complete": complete,
            "files": 0 if complete else 1,
            "handle": int(directory["handle"]),
            "model": raw.decode("utf-8", "replace").strip(),
        },
        inp.place,
        span_of(inp.path, raw, 0, 1, 1) if complete else Span(inp.path),
        inp.source_id,
    )


COLLECTORS = (Collector("input-dump", "dumped input tensors", _sniff, _collect),)
