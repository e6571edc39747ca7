"""Text that ends sooner than its author sees: behind a space and `#` stands a comment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from neuron_doctor.engine.errors import Location, RuleError
from neuron_doctor.engine.regexes import regex
from neuron_doctor.engine.yamlfile import Document

#: A comment that looks like text: nobody writes one without a space behind the sign. The first is quick, for whole files.
_LIKELY = regex(r"(?m)^[ -]*[\w-]+: .*[^\s:] #[^\s#!]")
_BEHIND = regex(r"[ \t]+(?P<rest>#[^\s#!].*)")


def cut_off(texts: Mapping[str, str], document: Callable[[str], Document]) -> Iterator[RuleError]:
    """The places in these files where text without quotes ends with what looks like more of it."""
    for path, text in texts.items():
        if not _LIKELY.search(text):
            continue
        here = document(path)
        for keys, (start, end) in here.spans.items():
            behind = _BEHIND.match(text, end) if end > start and text[start] not in "'\"|>[{" else None
            if behind and "\n" not in text[start:end]:
                where = here.value(*keys)
                at = Location(
                    path, where.line, where.column + behind.start("rest") - start, len(behind["rest"].rstrip())
                )
                said = f"{behind['rest'].rstrip()!r} is a comment, and no part of the text before it"
                yield RuleError(at, said, "put the text in quotes, or a space behind the #", "cut-off")
