"""`neuron-doctor completion SHELL`: prints a completion script."""

from __future__ import annotations

from enum import StrEnum

import typer
from typer.completion import completion_init, get_completion_script  # type: ignore[attr-defined]

#: The shell sets this when it asks for completions.
COMPLETE = "_NEURON_DOCTOR_COMPLETE"


class Shell(StrEnum):
    """The shells that a script can be made for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(shell: Shell = typer.Argument(..., help="The shell to complete in.")) -> None:
    """Print a completion script, to be sourced from the shell's start-up file."""
    print(get_completion_script(prog_name="neuron-doctor", complete_var=COMPLETE, shell=shell.value))


def enable_completion() -> None:
    """Let typer answer the shell. It is not told to offer options of its own for that (`--install-completion`)."""
    completion_init()
