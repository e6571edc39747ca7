"""Lines that the rules' own examples hold: hits, near misses, and what ripgrep is to look for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from neuron_doctor.engine.loosening import sought
from neuron_doctor.engine.patterns import Pattern
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.rulefile import ExampleDoc
from neuron_doctor.packs import load_with_examples
from neuron_doctor.request import Packs
from neuron_doctor.rulefiles import texts_of

_LONGEST = 2000
_NAME = re.compile(r"\(\?P<\w+>")
#: What must be written as bytes: beyond ASCII, since `rg` looks at bytes, and line ends, since a pattern is a line of its file.
_NOT_PLAIN = re.compile(r"[^\x00-\x7f]|\n")


@dataclass(frozen=True)
class CatalogueLines:
    """What a rulebook gives for making logs."""

    rulebook: Rulebook

    @classmethod
    def builtin(cls) -> CatalogueLines:
        """Of the rules that come with neuron-doctor."""
        return cls(load_with_examples(Packs()))

    @cached_property
    def expressions(self) -> list[str]:
        """What the database looks for, one for each pattern."""
        return [sought(pattern) for pattern in self._patterns]

    @property
    def for_ripgrep(self) -> str:
        """The same for `rg -f`: what both look for, though the doctor asks the rules' whole expressions on top."""
        return _for_ripgrep(self.expressions)

    @property
    def whole_for_ripgrep(self) -> str:
        """The rules' whole expressions for `rg -f`, which find what the doctor finds in the end."""
        return _for_ripgrep(pattern.search for pattern in self._patterns)

    @cached_property
    def hits(self) -> list[str]:
        """Lines of positive examples that a pattern finds, each once, in order."""
        return sorted(line for line in self._lines(positive=True) if self._found(line))

    @cached_property
    def storm(self) -> list[str]:
        """Hits on which no rule counts: those may be capped."""
        return [line for line in self.hits if not any(pattern.counted for pattern in self._found(line))]

    @cached_property
    def near_misses(self) -> list[str]:
        """Lines of negative examples that no pattern finds."""
        return sorted(line for line in self._lines(positive=False) if not self._found(line))

    def is_noise(self, line: str) -> bool:
        """Whether no pattern finds the line."""
        return not self._found(line)

    @property
    def _patterns(self) -> tuple[Pattern, ...]:
        return self.rulebook.patterns.patterns

    @cached_property
    def _compiled(self) -> list[tuple[re.Pattern[str], Pattern]]:
        return [(re.compile(one), pattern) for one, pattern in zip(self.expressions, self._patterns, strict=True)]

    def _found(self, line: str) -> list[Pattern]:
        return [pattern for regex, pattern in self._compiled if regex.search(line)]

    def _lines(self, *, positive: bool) -> set[str]:
        documents = [rule.examples for rule in self.rulebook.rules if rule.examples is not None]
        examples = [one for doc in documents for one in (doc.positive if positive else doc.negative)]
        lines = {line for example in examples for line in _lines_of(example)}
        # A JSON document in its head would make another kind of source of a log.
        return {line for line in lines if 0 < len(line) < _LONGEST and not line.lstrip().startswith(("{", "["))}


def _lines_of(example: ExampleDoc) -> Iterator[str]:
    for text in texts_of(example).values():
        yield from (line.rstrip() for line in text.split("\n"))


def _for_ripgrep(expressions: Iterable[str]) -> str:
    """A line each: without names, which must be unique there, and over bytes."""
    return "".join(f"{_NOT_PLAIN.sub(_as_bytes, _NAME.sub('(?:', one))}\n" for one in expressions)


def _as_bytes(character: re.Match[str]) -> str:
    return "".join(f"\\x{byte:02x}" for byte in character[0].encode())
