"""The page on the checks (docs/lint.md), made of their table."""

from __future__ import annotations

from collections.abc import Iterable

from neuron_doctor.__about__ import VERSION
from neuron_doctor.engine.checks import CHECKS, Check

_INTRODUCTION = """\
# What the lint checks

`neuron-doctor rules lint --rules my-rules` looks at all rules together, yours beside the built-in ones and those of
[packs](packs.md) that are found, and at the site file if there is one. The exit status is 0 if nothing is wrong, 1 if
something is, 2 if rules cannot be used at all; then every error of every file is told, and nothing else is looked at. It
starts no program and needs no network.

Each problem has its place, the id of its check (a section below), and what to do where that is known. `--format` is
`text` (the line with carets under what is meant), `json`, `sarif` (2.1.0, for code scanning), or `github` (workflow
commands, which GitHub shows beside the lines of a pull request).

## Before each commit

With [pre-commit](https://pre-commit.com), in `.pre-commit-config.yaml` beside your pack:

```yaml
repos:
  - repo: https://github.com/neuron-doctor/neuron-doctor
    rev: v%s
    hooks:
      - id: neuron-doctor-rules-lint
        args: [--isolated, --rules, my-rules]
```

## Silence a check

A comment above what is meant, for a time and with the reason:

```yaml
patterns:
  # lint: silence costly-pattern until 2027-01-31: the logs of this program are small
  acme-step: {regex: 'step (?P<step>\\d{1,9})'}
```

It holds for the line below it with all that is indented under that, and above the first line for the whole file. When
its day has passed the problem is back, and the silence is told too; so is one that has nothing to silence. The checks
that stop a rule from loading cannot be silenced.
"""


def lint_page() -> str:
    """The page, in Markdown."""
    loading = [check for check in CHECKS.values() if check.loading]
    others = [check for check in CHECKS.values() if not check.loading]
    return "\n".join(
        [
            _INTRODUCTION % VERSION,
            "## Rules that cannot be used\n",
            *_sections(loading),
            "## Rules that can be better\n",
            *_sections(others),
        ]
    )


def _sections(checks: Iterable[Check]) -> Iterable[str]:
    for check in checks:
        yield f"### {check.id}\n\n{check.what} ({check.weight})\n\n- why: {check.why}\n- what to do: {check.fix}\n"
