"""`neuron-doctor rules ...`: what a rule author needs."""

from __future__ import annotations

from pathlib import Path

import typer
from typer.core import TyperGroup
from typer.main import get_group

from neuron_doctor.commands import (
    rule_lint,
    rule_list,
    rule_new,
    rule_packs,
    rule_schema,
    rule_seal,
    rule_show,
    rule_test,
    rule_why,
)
from neuron_doctor.commands.inputs import NoBuiltin, Rules, packs_from
from neuron_doctor.commands.rule_inputs import loaded

app = typer.Typer(rich_markup_mode=None)
app.command("new")(rule_new.new)
app.command("lint")(rule_lint.lint)
app.command("test")(rule_test.test)
app.command("why")(rule_why.why)
app.command("show")(rule_show.show)
app.command("list")(rule_list.list_rules)
app.command("packs")(rule_packs.packs)
app.command("seal")(rule_seal.seal)
app.command("schema")(rule_schema.schema)


@app.command()
def docs(
    directory: Path = typer.Argument(Path("docs"), help="Where to write the pages."),
    rules: Rules = [],  # noqa: B006
    no_builtin_rules: NoBuiltin = False,
) -> None:
    """Write the generated pages: one for each rule, their indexes, the kinds of fact, and the checks of the lint."""
    from neuron_doctor.ruledocs import write_pages  # noqa: PLC0415

    write_pages(loaded(packs_from(rules, builtin=not no_builtin_rules, isolated=True)), directory)


def group() -> TyperGroup:
    """All of them."""
    return get_group(app)
