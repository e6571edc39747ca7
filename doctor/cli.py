"""The command line: its commands put together, and how the program ends when something goes wrong."""

from __future__ import annotations

import os
import sys

import typer

from neuron_doctor.__about__ import VERSION
from neuron_doctor.commands import diagnose, evaluate, facts, part, rulebook
from neuron_doctor.commands.completion import COMPLETE, completion, enable_completion
from neuron_doctor.exits import Exit, Nagios

EXAMPLES = """\b
Examples:
  neuron-doctor diagnose incident/            what failed, where, what to do
  neuron-doctor diagnose logs.tar.gz -f json  for scripts; exit status 1: failure
  journalctl -k | neuron-doctor diagnose -    from standard input
  neuron-doctor facts incident/               what was read, a JSON object a line
  neuron-doctor part /var/log -o a.part       on each node; then: diagnose *.part
"""

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
app.command("facts")(facts.facts)
app.command("part")(part.part)
app.command("evaluate")(evaluate.evaluate)
app.command("completion")(completion)
app.add_typer(rulebook.app, name="rules")


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
    try:
        app(prog_name="neuron-doctor")
    except BrokenPipeError:
        # The reader (head, less) has gone: not our failure, and the interpreter must not complain at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(Exit.NOTHING)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        print(f"neuron-doctor: internal error: {type(error).__name__}: {error}", file=sys.stderr)
        if os.environ.get("NEURON_DOCTOR_DEBUG"):
            import traceback  # noqa: PLC0415

            traceback.print_exc()
        sys.exit(Nagios.UNKNOWN if "--nagios" in sys.argv else Exit.INTERNAL)


if __name__ == "__main__":
    main()
