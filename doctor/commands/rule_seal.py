"""`neuron-doctor rules seal`: writes into the manifest of a pack what the pack consists of."""

from __future__ import annotations

from pathlib import Path

import typer

from neuron_doctor.commands.inputs import stop_on_usage_errors


def seal(directory: Path = typer.Argument(metavar="DIR", help="The folder of the pack, with its pack.yaml.")) -> None:
    """Write the digest of a pack into its manifest, so that a file that is changed, lost or added later is an error."""
    from neuron_doctor.seal import sealed  # noqa: PLC0415 - loaded when it runs, so that --help is quick

    with stop_on_usage_errors():
        print(sealed(directory))
