"""`neuron-doctor rules schema`: what editors check files of packs by."""

from __future__ import annotations

from enum import StrEnum

import typer


class Sort(StrEnum):
    """What a file is."""

    RULE = "rule"
    PACK = "pack"
    SITE = "site"


def schema(
    of: Sort = typer.Argument(Sort.RULE, help="Of a rule file, of the manifest of a pack, or of a site file."),
) -> None:
    """Print the JSON schema of rule files, manifests or site files, for editors."""
    import json  # noqa: PLC0415 - `--help` loads this module

    from neuron_doctor.engine.manifest import manifest_schema  # noqa: PLC0415
    from neuron_doctor.engine.rulefile import rule_schema  # noqa: PLC0415
    from neuron_doctor.engine.sitefile import site_schema  # noqa: PLC0415

    schemas = {Sort.RULE: rule_schema, Sort.PACK: manifest_schema, Sort.SITE: site_schema}
    print(json.dumps(schemas[of](), indent=2))
