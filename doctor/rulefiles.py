"""Where the files of rules are, and the directories of examples that stand beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from neuron_doctor.engine.errors import Location, RulebookError, RuleError
from neuron_doctor.engine.rulebook import Rule, Rulebook
from neuron_doctor.engine.rulefile import ExampleDoc
from neuron_doctor.engine.yamlfile import Document, read_yaml


def file_of(where: Location, packs: Sequence[Path]) -> Path | None:
    """The file of a location, which errors call by the name of its pack or by its whole path; None where it is in none of
    these packs."""
    if Path(where.path).is_absolute():
        return Path(where.path)
    inner = ((pack, where.path.removeprefix(f"{pack.name}/")) for pack in packs)
    files = (pack / rest for pack, rest in inner if rest != where.path)
    return next((file for file in files if file.is_file()), None)


def document_of(rule: Rule, packs: Sequence[Path]) -> Document:
    """The file of a rule, to tell where its parts stand; empty where it is in none of these packs."""
    file = file_of(rule.location, packs)
    return read_yaml(file.read_text("utf-8"), rule.location.path) if file else Document(rule.location.path, None, {})


def with_directories(rulebook: Rulebook, packs: Sequence[Path]) -> Rulebook:
    """The rulebook with the directories of its examples as absolute paths. Raises RulebookError where one is not there, or
    where an example has its input twice."""
    errors = [error for rule in rulebook.rules for error in _errors(rule, packs)]
    if errors:
        raise RulebookError(errors)
    return replace(rulebook, rules=tuple(_placed(rule, packs) for rule in rulebook.rules))


def _errors(rule: Rule, packs: Sequence[Path]) -> Iterator[RuleError]:
    for example in _examples(rule):
        called = f"example {example.name!r} of rule {rule.id!r}"
        if sum(map(bool, (example.text, example.files, example.directory))) > 1:
            yield RuleError(rule.location, f"{called} has more than one of text, files and directory")
        elif example.directory and not _directory(rule, example.directory, packs):
            yield RuleError(rule.location, f"there is no directory {example.directory!r} beside it, for {called}")


def _placed(rule: Rule, packs: Sequence[Path]) -> Rule:
    if not any(example.directory for example in _examples(rule)) or rule.examples is None:
        return rule

    def placed(example: ExampleDoc) -> ExampleDoc:
        return replace(example, directory=example.directory and _directory(rule, example.directory, packs))

    positive, negative = (
        [placed(example) for example in some] for some in (rule.examples.positive, rule.examples.negative)
    )
    return replace(rule, examples=replace(rule.examples, positive=positive, negative=negative))


def _examples(rule: Rule) -> Sequence[ExampleDoc]:
    return (*rule.examples.positive, *rule.examples.negative) if rule.examples else ()


def _directory(rule: Rule, name: str, packs: Sequence[Path]) -> str | None:
    file = file_of(rule.location, packs)
    directory = file.resolve().parent / name if file else None
    return str(directory) if directory and directory.is_dir() else None
