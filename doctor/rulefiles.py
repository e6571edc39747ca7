"""Where the files of rules are, and the directories of examples that stand beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from neuron_doctor.engine.errors import Location, RulebookError, RuleError
from neuron_doctor.engine.facts import Place
from neuron_doctor.engine.rulebook import Rule, Rulebook
from neuron_doctor.engine.rulefile import ExampleDoc, ExpectDoc
from neuron_doctor.engine.unlinked import near
from neuron_doctor.engine.yamlfile import Document, read_yaml

#: What an example may expect of the place of a finding.
PLACES = frozenset({*Place.__struct_fields__, "hosts"})


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
    where an example cannot be what its author means."""
    errors = [error for rule in rulebook.rules for error in _errors(rule, packs)]
    if errors:
        raise RulebookError(errors)
    return replace(rulebook, rules=tuple(_placed(rule, packs) for rule in rulebook.rules))


def place_of(rule: Rule, packs: Sequence[Path], *keys: str | int) -> Location:
    """Where a part of a rule stands; where the rule does, if its file is in none of these packs."""
    source = document_of(rule, packs)
    return source.value(*keys) if source.places else rule.location


def examples_of(rule: Rule) -> Iterator[tuple[tuple[str, str, int], ExampleDoc]]:
    """The examples of a rule, positives first, each with the keys under which it stands."""
    for sort in ("positive", "negative"):
        for i, example in enumerate(getattr(rule.examples, sort) if rule.examples else ()):
            yield ("examples", sort, i), example


def texts_of(example: ExampleDoc) -> dict[str, str]:
    """What an example has to read, by path: its text, its files, or the files of its directory (an absolute path) that are
    text."""
    if example.directory is None:
        return dict(example.files) or {"run.log": example.text or ""}
    folder = Path(example.directory)
    read = ((path, _text(path)) for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): text for path, text in read if text is not None}


def _text(path: Path) -> str | None:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return None if "\0" in text else text


def _errors(rule: Rule, packs: Sequence[Path]) -> Iterator[RuleError]:
    for keys, example in examples_of(rule):
        for more, said, hint in _faults(rule, example, packs, positive=keys[1] == "positive"):
            yield RuleError(place_of(rule, packs, *keys, *more), said, hint)


def _faults(
    rule: Rule, example: ExampleDoc, packs: Sequence[Path], *, positive: bool
) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """What is wrong with an example: the keys below it, what it is, and what to do."""
    called = f"example {example.name!r} of rule {rule.id!r}"
    given = [key for key in ("text", "files", "directory") if getattr(example, key)]
    if not given:
        yield ("name",), f"{called} has no input", "add text (one log), files by their path, or a directory"
    elif len(given) > 1:
        yield (given[1],), f"{called} has more than one of text, files and directory", "make two examples of it"
    elif example.directory and not _directory(rule, example.directory, packs):
        yield ("directory",), f"there is no directory {example.directory!r} beside it, for {called}", "name one"
    elif example.directory and _holds(rule, example.directory, packs):
        hint = "put the input into a folder of its own"
        yield ("directory",), f"the directory of {called} holds the rule itself", hint
    if not positive and example.expect != ExpectDoc():
        yield (
            ("expect",),
            f"{called} is a near miss: there is no finding of which something is expected",
            "leave it out",
        )
    for name in example.expect.place.keys() - PLACES:
        hint = near(name, PLACES) or f"there are: {', '.join(sorted(PLACES))}"
        yield ("expect", "place", name), f"a place has no {name!r}", hint


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


def _holds(rule: Rule, name: str, packs: Sequence[Path]) -> bool:
    """Whether a directory is one that the file of the rule is in."""
    file, directory = file_of(rule.location, packs), _directory(rule, name, packs)
    return bool(file and directory and file.resolve().is_relative_to(directory))


def _directory(rule: Rule, name: str, packs: Sequence[Path]) -> str | None:
    file = file_of(rule.location, packs)
    directory = file.resolve().parent / name if file else None
    return str(directory) if directory and directory.is_dir() else None
