"""Source code and scripts that lie beside the logs of a job: they quote the messages that they would print, and nothing happened.

A file of source code is told by its ending and what its lines begin with, a script or the description of a package by its
first line. A log that begins with the script that wrote it (`cat $0`) goes on with times or a traceback, and is a log.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.regexes import regex

_PYTHON = regex(
    rb"^(?:import \w|from [\w.]+ import |def \w+\(|async def \w|class \w+|@\w|if __name__ ==|[ru]?\"\"\"|#[ !])",
    re.MULTILINE,
)
_OF_C = regex(
    rb"^(?:\s{0,8}#\s{0,4}(?:include|define|undef|if|ifdef|ifndef|else|endif|pragma|error)\b|/\*|\*/| \*(?:[ /]|$)|//|\}"
    rb"|(?:static|struct|typedef|extern|namespace|template|using|enum|class|union|void|int|const|inline|unsigned) )",
    re.MULTILINE,
)
_OF_SCRIPT = regex(
    rb"^(?:import |export |const |let |var |function |class |async |'use strict'|\"use strict\"|//|/\*|\})",
    re.MULTILINE,
)
_OTHER = regex(
    rb"^(?:package |import |use |pub |fn |func |type |mod |impl |public |private |//|/\*| \*|\})", re.MULTILINE
)
_OF_SHELL = regex(
    rb"^(?:#|\s{0,16}(?:export |set -|if \[|fi$|for |done|echo |srun |module |source |cd |local |case |esac$))",
    re.MULTILINE,
)
_OF_A_PATCH = regex(
    rb"^(?:diff --git |index [\da-f]{4,40}\.\.|@@ -\d|(?:---|\+\+\+) (?:[ab]/|/dev/null))", re.MULTILINE
)
_MARKUP = regex(rb"^\s{0,40}</?[A-Za-z!]", re.MULTILINE)
#: What lines of source code begin with, by the ending of the file.
_LANGUAGES: Mapping[str, re.Pattern[bytes]] = MappingProxyType(
    {
        ending: marks
        for marks, endings in (
            (_PYTHON, "py pyi pyx"),
            (_OF_C, "c cc cpp cxx cu h hh hpp hxx"),
            (_OF_SCRIPT, "js mjs cjs ts tsx jsx"),
            (_OTHER, "go rs java kt scala"),
            (_OF_SHELL, "sh bash zsh ksh sbatch slurm pbs"),
            (_OF_A_PATCH, "diff patch"),
            (_MARKUP, "html htm xhtml svg"),
        )
        for ending in endings.split()
    }
)
#: A script, or what a package says of itself (PEP 566), often with examples.
_FIRST = regex(rb"\A(?:\xef\xbb\xbf)?(?:#! ?/[\w./-]{1,200}|Metadata-Version: \d)")
#: What happened has a time, or a traceback. (The version and date of a licence have no time.)
_HAPPENED = regex(rb"\d\d:\d\d:\d\d|^Traceback \(most recent call last\):$", re.MULTILINE)


def is_program(head: bytes, name: str) -> bool:
    """Whether it is source code, or a script."""
    if _FIRST.match(head):
        return _HAPPENED.search(head) is None
    marks = _LANGUAGES.get(name.rpartition(".")[2].lower())
    if marks is None or b"\0" in head:
        return False
    begun, happened = (sum(1 for _ in one.finditer(head)) for one in (marks, _HAPPENED))
    return begun > happened


def _collect(_inp: Input) -> Iterable[Fact]:
    return ()


COLLECTOR = Collector("program", "source code and scripts, which only quote messages", is_program, _collect)
