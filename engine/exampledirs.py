"""The folders of a pack that hold no rules but what rules are tried on: YAML in them is somebody's input."""

from __future__ import annotations

import os
from collections.abc import Iterator

from neuron_doctor.engine.regexes import regex

#: What such folders are called wherever they are: `input` beside what is expected of it, as in the corpus.
INPUT = "input"
#: What a rule must have in it to name one. It stands in logs too, so it is only a hint.
_WORD = b"directory"
_NAMED = regex(rb"(?m)(?:^[ \t-]*|[{,]\s*)[\"']?directory[\"']?[ \t]*:")


def example_directories(path: str, content: bytes) -> list[str]:
    """The folders that the rule at this path names for its examples; none that the rule itself is in."""
    if _WORD not in content or not _NAMED.search(content):  # the word alone is looked for fifty times faster
        return []
    beside = os.path.dirname(os.path.abspath(path))
    found = [os.path.normpath(os.path.join(beside, name)) for name in _names(content)]
    return [folder for folder in found if not is_inside(beside, folder)]


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is this folder or below it; both are absolute."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _names(content: bytes) -> Iterator[str]:
    """What stands behind `directory` in the examples of a rule; nothing where that cannot be read, which is told elsewhere."""
    from neuron_doctor.engine.errors import RulebookError  # noqa: PLC0415 - YAML: most rules name none, and a run has read all before
    from neuron_doctor.engine.yamlfile import read_yaml  # noqa: PLC0415

    try:
        rule = read_yaml(content.decode("utf-8"), "").data
    except (RulebookError, UnicodeDecodeError):
        return
    examples = rule.get("examples") if isinstance(rule, dict) else None
    for some in examples.values() if isinstance(examples, dict) else ():
        for example in some if isinstance(some, list) else ():
            name = example.get("directory") if isinstance(example, dict) else None
            if isinstance(name, str) and name:
                yield name
