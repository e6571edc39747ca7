"""All checks over all rules, and what is left of them when silences have been heard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from functools import cache
from pathlib import Path

from neuron_doctor.__about__ import VERSION
from neuron_doctor.engine.errors import RulebookError, RuleError
from neuron_doctor.engine.packfiles import PackFile
from neuron_doctor.engine.rule_loader import compile_rulebook
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.yamlfile import Document, read_yaml
from neuron_doctor.lint.cutoff import cut_off
from neuron_doctor.lint.never import never_fires
from neuron_doctor.lint.pairs import check_pairs
from neuron_doctor.lint.patterns import check_patterns
from neuron_doctor.lint.remarks import Remark, located
from neuron_doctor.lint.rules import check_parameters, check_rule
from neuron_doctor.lint.silences import heard
from neuron_doctor.lint.site import check_site
from neuron_doctor.rulefiles import with_directories


def lint(rulebook: Rulebook) -> Iterator[Remark]:
    """What is wrong with rules and patterns that load, whether it is silenced or not."""
    rules = {rule.id: rule for rule in rulebook.rules}
    patterns = {pattern.id: pattern for pattern in rulebook.patterns.patterns}
    for rule in rulebook.rules:
        yield from check_rule(rule, rules, patterns)
        yield from never_fires(rule, patterns)
    yield from check_parameters(rulebook)
    yield from check_pairs(rulebook)
    yield from check_patterns(rulebook)


def problems_of(
    files: Sequence[PackFile], today: date, packs: Sequence[Path] = (), site: PackFile | None = None
) -> tuple[list[RuleError], bool]:
    """All that is wrong with the rules of these files and with the site file, by place, and whether they can be used. `packs`
    are the directories that they are from: rules may name directories of examples beside them."""
    try:
        rulebook = with_directories(compile_rulebook(files, VERSION, site), packs)
    except RulebookError as error:
        return list(error.errors), False
    looked_at = [file for file in (*files, site) if file and not file.only_terms]
    texts = {file.shown: file.content.decode("utf-8") for file in looked_at}

    @cache
    def document(path: str) -> Document:
        return read_yaml(texts[path], path)

    remarks = [*lint(rulebook), *(check_site(rulebook, site.shown, today) if site else ())]
    found = [located(remark, document) for remark in remarks if remark.path in texts]
    found += cut_off(texts, document)
    return sorted(heard(found, texts, today)), True
