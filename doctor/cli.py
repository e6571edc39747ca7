"""The command line: its commands put together, and how the program ends when something goes wrong."""

from __future__ import annotations

import errno
import gc
import os
import sys
from typing import TYPE_CHECKING

import typer
from typer.core import TyperGroup

from neuron_doctor.__about__ import VERSION
from neuron_doctor.commands import diagnose, evaluate, explain, facts, part
from neuron_doctor.commands.completion import COMPLETE, completion, enable_completion
from neuron_doctor.commands.outputs import forsake_stdout
from neuron_doctor.engine.regexes import compiled
from neuron_doctor.exits import Exit, Nagios
from neuron_doctor.expressions import KeptExpressions

if TYPE_CHECKING:
    from typer._click.core import Command, Context

#: So many objects are made before Python looks for those that hold each other: hundreds of thousands of facts, findings and
#: links are made in a run and hardly any such circle, and looking for them took a sixth of a diagnosis.
_UNTIL_COLLECTED = 100_000
#: What a disk or a pipe says that takes no more.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
RULES = "Check, test and document rules."
EXAMPLES = """\b
Examples:
  neuron-doctor diagnose incident/            what failed, where, what to do
  neuron-doctor diagnose logs.tar.gz -f json  for scripts; exit status 1: failure
  journalctl -k | neuron-doctor diagnose -    from standard input
  neuron-doctor explain 1203                  what a code or a message means
  neuron-doctor facts incident/               what was read, a JSON object a line
  neuron-doctor part /var/log -o a.part       on each node; then: diagnose *.part
"""


class _RuleCommands(TyperGroup):
    """The commands for rule authors: made when one of them is asked for, as every diagnosis and every --help waits for what is
    made here."""

    def _made(self) -> TyperGroup:
        from neuron_doctor.commands import rulebook  # noqa: PLC0415

        return rulebook.group()

    def list_commands(self, ctx: Context) -> list[str]:
        """Their names."""
        return self._made().list_commands(ctx)

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """One of them."""
        return self._made().get_command(ctx, cmd_name)


app = typer.Typer(
    name="neuron-doctor",
    help="Finds out why a distributed job on AWS Trainium or Inferentia failed, hung or slowed down.",
    epilog=EXAMPLES,
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("diagnose")(diagnose.diagnose)
app.command("explain")(explain.explain)
app.command("facts")(facts.facts)
app.command("part")(part.part)
app.command("evaluate")(evaluate.evaluate)
app.command("completion")(completion)
app.add_typer(typer.Typer(cls=_RuleCommands, help=RULES, no_args_is_help=True), name="rules")


def _print_version(value: bool) -> None:
    if value:
        print(f"neuron-doctor {VERSION}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Finds out why a distributed job on AWS Trainium or Inferentia failed, hung or slowed down."""


def main() -> None:
    """Run the command line; whatever is not foreseen ends in exit status 4 with nothing on standard output."""
    if COMPLETE in os.environ:
        enable_completion()
    gc.set_threshold(_UNTIL_COLLECTED)
    kept = KeptExpressions()
    compiled.recall = kept.recall
    try:
        try:
            app(prog_name="neuron-doctor")
        finally:
            sys.stdout.flush()  # what is not written yet could not be told of later
    except (BrokenPipeError, SystemExit) as error:
        if not isinstance(error, BrokenPipeError) and not isinstance(error.__context__, BrokenPipeError):
            raise
        forsake_stdout()  # the reader (head, less) has gone: not our failure, and typer's 1 would say that one was found
        sys.exit(Exit.NOTHING)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
            forsake_stdout()
            print(f"neuron-doctor: standard output cannot be written: {error.strerror}", file=sys.stderr)
            sys.exit(Nagios.UNKNOWN if "--nagios" in sys.argv else Exit.USAGE)
        print(f"neuron-doctor: internal error: {type(error).__name__}: {error}", file=sys.stderr)
        if os.environ.get("NEURON_DOCTOR_DEBUG"):
            import traceback  # noqa: PLC0415

            traceback.print_exc()
        sys.exit(Nagios.UNKNOWN if "--nagios" in sys.argv else Exit.INTERNAL)
    finally:
        kept.remember(compiled.made)


if __name__ == "__main__":
    main()
